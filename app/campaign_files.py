"""The campaign files on this server: which there are, and what one of them would run."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from app.errors import NoConfigsError
from app.settings import read_settings
from runner.campaign.campaign import Campaign
from runner.campaign.campaign_file import load_campaign
from runner.campaign.config_folder import ConfigFolder, find_config_folder
from runner.campaign.file_shape import LevelValue
from runner.campaign.narrowing import narrow_campaign
from runner.campaign.plan import Plan, make_plan
from runner.campaign.stack_file import Stack, load_stack
from runner.errors import RunnerError


@dataclass(frozen=True, slots=True)
class OfferedFile:
    """A campaign file by its name in the folder; `problem` says why it cannot be run."""

    name: str
    campaign: Campaign | None
    stack: Stack | None
    problem: str = ""


def config_folder() -> ConfigFolder:
    """Raises NoConfigsError."""
    try:
        return find_config_folder(
            read_settings().configs, environment=os.environ, working_directory=Path.cwd()
        )
    except RunnerError as error:
        raise NoConfigsError(str(error)) from error


def file_names(folder: ConfigFolder) -> list[str]:
    """Raises NoConfigsError where the folder holds no campaign."""
    names = [path.stem for path in folder.campaign_files()]
    if not names:
        raise NoConfigsError(f"{folder.path / 'campaigns'} holds no campaign file.")
    return names


def read_file(folder: ConfigFolder, name: str) -> OfferedFile:
    """The file of that name with its stack; what is wrong with either becomes `problem`."""
    try:
        campaign = load_campaign(folder.campaign_path(name))
        stack = load_stack(folder.stack_path(campaign.stack))
    except RunnerError as error:
        return OfferedFile(name, None, None, problem=str(error))
    return OfferedFile(name, campaign, stack)


def plan_of(
    offered: OfferedFile,
    levels: Mapping[str, Sequence[LevelValue]],
    *,
    order_seed: int | None,
) -> Plan:
    """What would be run with these levels. Raises NoConfigsError with the reason if nothing can."""
    if offered.campaign is None or offered.stack is None:
        raise NoConfigsError(offered.problem)
    try:
        narrowed = narrow_campaign(offered.campaign, levels, order_seed=order_seed)
        return make_plan(narrowed, offered.stack)
    except RunnerError as error:
        raise NoConfigsError(str(error)) from error
