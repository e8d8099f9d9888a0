"""The options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

from db.store_url import DEFAULT_STORE_URL
from runner.campaign.config_folder import ENVIRONMENT_VARIABLE
from runner.campaign.file_shape import MAX_BLOCKS, MAX_SEED

StoreOption = Annotated[
    str,
    typer.Option(
        "--store",
        envvar="DECISIVE_STORE",
        help="Where runs are kept: sqlite:///FILE or a PostgreSQL address.",
        show_default=DEFAULT_STORE_URL,
    ),
]
ConfigsOption = Annotated[
    Path | None,
    typer.Option(
        "--configs",
        envvar=ENVIRONMENT_VARIABLE,
        help="The folder with campaigns/ and stacks/.",
        show_default="./configs, else the shipped one",
    ),
]
JsonOption = Annotated[
    bool, typer.Option("--json", help="One JSON object on standard output, and nothing else there.")
]
CampaignFile = Annotated[
    str, typer.Argument(metavar="FILE", help="A campaign file, or the name of one in the configs.")
]
CampaignReference = Annotated[
    str | None,
    typer.Argument(metavar="[CAMPAIGN]", help="An id such as c-3, or a name: its newest is taken."),
]
BlocksOption = Annotated[
    int | None,
    typer.Option(
        "--blocks",
        min=1,
        max=MAX_BLOCKS,
        help="Another number of blocks than the file's: more of them extend the campaign.",
    ),
]
SeedOption = Annotated[
    int | None,
    typer.Option(
        "--order-seed", min=0, max=MAX_SEED, help="Another order of the runs than the file's."
    ),
]
