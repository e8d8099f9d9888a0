"""`decisive testbed`: the embedded serving stack by itself; its engine is loaded when asked."""

from collections.abc import Callable, Sequence

import typer

from runner.errors import UsageError

testbed = typer.Typer(
    name="testbed",
    help="The embedded miniature serving stack.",
    no_args_is_help=True,
    add_completion=False,
)
_PASS_ON = {"allow_extra_args": True, "ignore_unknown_options": True}
_Main = Callable[[Sequence[str]], int]


@testbed.command(
    context_settings=_PASS_ON,
    add_help_option=False,
    help="Serve it: a router, a prefill and a decode process; with --unified one process. "
    "Its switches are listed by: decisive testbed serve --help",
)
def serve(context: typer.Context) -> None:
    from runner.testbed.command_line import main

    _run(lambda: main, ["serve", "--split", *context.args])


@testbed.command(
    context_settings=_PASS_ON,
    add_help_option=False,
    help="Count how often its model is wrong while its caches are intact. "
    "Its switches are listed by: decisive testbed evaluate --help",
)
def evaluate(context: typer.Context) -> None:
    def load() -> _Main:
        from runner.testbed.evaluation import main

        return main

    _run(load, context.args)


@testbed.command(
    context_settings=_PASS_ON,
    add_help_option=False,
    help="Print every fault that it can be given: mechanism, symptom, and the arm where it shows. "
    "As JSON: decisive testbed faults --json",
)
def faults(context: typer.Context) -> None:
    def load() -> _Main:
        from runner.testbed.fault_list import main

        return main

    _run(load, context.args)


def _run(load: Callable[[], _Main], arguments: Sequence[str]) -> None:
    """Raises UsageError where the testbed's own packages are not installed."""
    try:
        main = load()
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise UsageError(
            f"the testbed needs {error.name}: install the package with its testbed extra"
        ) from error
    raise typer.Exit(main(arguments))
