"""`decisive testbed`: the embedded serving stack by itself; its engine is loaded when asked."""

import typer

from runner.errors import UsageError

testbed = typer.Typer(
    name="testbed", help="The embedded miniature serving stack.", no_args_is_help=True
)
_PASS_ON = {"allow_extra_args": True, "ignore_unknown_options": True}


@testbed.command(
    context_settings=_PASS_ON,
    add_help_option=False,
    help="Serve it: a router, a prefill and a decode process; with --unified one process. "
    "Its switches are listed by: decisive testbed serve --help",
)
def serve(context: typer.Context) -> None:
    try:
        from runner.testbed.command_line import main
    except ModuleNotFoundError as error:
        if error.name not in ("torch", "safetensors"):
            raise
        raise UsageError(
            f"the testbed needs {error.name}: install the package with its testbed extra"
        ) from error
    raise typer.Exit(main(["serve", "--split", *context.args]))
