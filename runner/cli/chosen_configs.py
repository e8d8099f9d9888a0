"""The folder of campaigns and stacks that a command goes by."""

import os
from pathlib import Path

from runner.campaign.config_folder import ConfigFolder, find_config_folder


def open_configs(chosen: Path | None) -> ConfigFolder:
    """The chosen one, else that of the environment, of the working directory, or the shipped one.

    Raises UsageError.
    """
    return find_config_folder(chosen, environment=os.environ, working_directory=Path.cwd())
