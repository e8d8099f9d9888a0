"""The campaign files on this server: which there are, and what one of them would run."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from app.errors import NoConfigsError
from app.settings import read_settings
from db.reads.earlier_runs import EarlierRun
from runner.campaign.campaign import Campaign
from runner.campaign.campaign_file import load_campaign
from runner.campaign.config_folder import ConfigFolder, find_config_folder
from runner.campaign.earlier_times import earlier_times
from runner.campaign.file_shape import LevelValue
from runner.campaign.narrowing import narrow_campaign
from runner.campaign.plan import Plan, make_plan
from runner.campaign.stack_file import Stack, load_stack
from runner.campaign.stack_fit import campaign_on_stack
from runner.errors import RunnerError


@dataclass(frozen=True, slots=True)
class OfferedFile:
    """A campaign file by its name in the folder; `problem` says why it cannot be run."""

    name: str
    campaign: Campaign | None
    stack: Stack | None
    problem: str = ""

    @property
    def known_campaign(self) -> Campaign:
        """Raises NoConfigsError with the reason where the file cannot be run."""
        if self.campaign is None:
            raise NoConfigsError(self.problem)
        return self.campaign

    @property
    def known_stack(self) -> Stack:
        """Raises NoConfigsError with the reason where the file cannot be run."""
        if self.stack is None:
            raise NoConfigsError(self.problem)
        return self.stack

    @property
    def stack_name(self) -> str:
        return self.known_campaign.stack


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
    return OfferedFile(name, campaign_on_stack(campaign, stack), stack)


def plan_of(
    offered: OfferedFile,
    levels: Mapping[str, Sequence[LevelValue]],
    *,
    order_seed: int | None,
    blocks: int | None = None,
    earlier: Sequence[EarlierRun] = (),
) -> Plan:
    """What would be run with these levels, and how long it takes by the `earlier` runs.

    Raises NoConfigsError with the reason if nothing can be run.
    """
    try:
        narrowed = narrow_campaign(
            offered.known_campaign, levels, order_seed=order_seed, blocks=blocks
        )
        return make_plan(narrowed, offered.known_stack, earlier=earlier_times(narrowed, earlier))
    except RunnerError as error:
        raise NoConfigsError(str(error)) from error
