"""The files that come along, and the page that documents every key."""

import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from db.vocabulary import CORRUPT_OUTCOMES
from runner.campaign.campaign import (
    Campaign,
    Deadlines,
    EvictFlood,
    ReplayFile,
    Schedule,
    ToolLatency,
    Workload,
)
from runner.campaign.campaign_file import load_campaign
from runner.campaign.campaign_shape import CampaignShape, HypothesisShape, LevelOptions
from runner.campaign.config_folder import ConfigFolder
from runner.campaign.level_effect import CounterCheck, LevelCheck, LevelEffect, ServiceEffect
from runner.campaign.matrix import expand_arms, matches
from runner.campaign.prediction import COUNT_NAMES
from runner.campaign.stack_file import Stack, load_stack
from runner.campaign.stack_fit import check_campaign_on_stack
from runner.campaign.stack_shape import (
    HostDefinition,
    MetricsEndpoint,
    ServiceCommands,
    ServiceDefinition,
    StackShape,
)
from runner.testbed.launch_options import parse_launch_options

CONFIGS = Path(__file__).parents[3] / "configs"
FOLDER = ConfigFolder(CONFIGS)
SECTIONS: Mapping[str, type[BaseModel]] = {
    "campaign file": CampaignShape,
    "level options": LevelOptions,
    "workload": Workload,
    "replay": ReplayFile,
    "evict_flood": EvictFlood,
    "deadlines": Deadlines,
    "tool_latency": ToolLatency,
    "schedule": Schedule,
    "hypothesis": HypothesisShape,
    "stack file": StackShape,
    "host": HostDefinition,
    "service": ServiceDefinition,
    "commands": ServiceCommands,
    "metrics": MetricsEndpoint,
    "level effect": LevelEffect,
    "service effect": ServiceEffect,
    "verify": LevelCheck,
    "exercise": CounterCheck,
}
README = (CONFIGS / "README.md").read_text(encoding="utf-8")


def documented(section: str) -> dict[str, str]:
    """Key -> default, as the table under the heading has them."""
    body = README.split(f"\n### {section}\n")[1].split("\n#")[0]
    rows = re.findall(r"^\| `([a-z_]+)` \|[^|]*\| ([^|]*) \|", body, re.MULTILINE)
    return {key: default.strip("`") for key, default in rows}


def shipped(name: str) -> tuple[Campaign, Stack]:
    campaign = load_campaign(FOLDER.campaign_path(name))
    return campaign, load_stack(FOLDER.stack_path(campaign.stack))


def test_every_table_of_keys_in_the_page_is_checked() -> None:
    headings = re.findall(r"^### (.*)\n\n\| key", README, re.MULTILINE)

    assert headings == list(SECTIONS)


@pytest.mark.parametrize("section", SECTIONS)
def test_the_page_lists_every_key_and_no_other(section: str) -> None:
    assert list(documented(section)) == list(SECTIONS[section].model_fields)


@pytest.mark.parametrize("section", SECTIONS)
def test_the_page_gives_the_defaults_that_hold(section: str) -> None:
    for key, default in documented(section).items():
        field = SECTIONS[section].model_fields[key]
        actual = field.get_default(call_default_factory=True)
        if default == "*required*":
            assert actual is PydanticUndefined, key
        elif default == "none":
            assert actual in (None, "none"), key
        elif default == "see below":
            assert isinstance(actual, BaseModel), key
        else:
            assert _as_documented(actual) == default, key


def _as_documented(value: object) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(value)}]"
    return str(value).lower() if isinstance(value, bool) else f"{value}"


def test_the_page_names_every_count_that_can_be_predicted() -> None:
    paragraph = README.split("A prediction is one")[1].split("\n\n")[0]

    assert set(re.findall(r"`([a-z_]+)`", paragraph)) == {*COUNT_NAMES, "and"}


@pytest.mark.parametrize("path", FOLDER.campaign_files(), ids=lambda path: path.stem)
def test_every_campaign_that_comes_along_fits_its_stack(path: Path) -> None:
    campaign, stack = shipped(path.stem)

    check_campaign_on_stack(campaign, stack)

    assert campaign.name == path.stem


@pytest.mark.parametrize("path", FOLDER.campaign_files(), ids=lambda path: path.stem)
def test_the_testbed_knows_every_switch_of_its_campaigns(path: Path) -> None:
    campaign, stack = shipped(path.stem)
    servers = {
        name: each
        for name, each in stack.services.items()
        if {"runner.testbed", "serve"} <= set(each.command)
    }

    for arm in expand_arms(campaign):
        for name, settings in stack.launch_settings(arm.levels).services:
            if name in servers:
                command = servers[name].command
                words = [*command[command.index("serve") + 1 :], *settings.args]
                own = [word.replace("{port}", "0") for word in words]
                assert parse_launch_options(own).host == "127.0.0.1"


@pytest.mark.parametrize("path", FOLDER.stack_files(), ids=lambda path: path.stem)
def test_every_stack_that_comes_along_has_the_name_of_its_file(path: Path) -> None:
    assert load_stack(path).name == path.stem


def test_the_decisive_campaign_asks_for_both_causes_and_for_three_eliminations() -> None:
    campaign, _ = shipped("decisive-test")

    arms = expand_arms(campaign)
    varied = [name for name, levels in campaign.factors.items() if len(levels) > 1]
    assert varied == ["index_keys", "hicache", "host_pool", "gate", "concurrency"]
    assert len(arms) == 7
    assert campaign.schedule.blocks >= 3
    assert set(campaign.corrupt) == set(CORRUPT_OUTCOMES)
    assert [each.id for each in campaign.hypotheses] == [
        "host-pool",
        "pool-and-gate",
        "hicache-off",
        "fp8",
        "sequential",
    ]
    fixed = [arm for arm in arms if arm.levels["host_pool"] == "dtype-aware"]
    assert [(arm.levels["gate"], arm.tag) for arm in fixed] == [("kv_only", None), ("all", "FIXED")]


@pytest.mark.parametrize("name", ["decisive-test", "smoke"])
def test_each_hypothesis_differs_in_one_factor_from_what_it_is_compared_with(name: str) -> None:
    campaign, _ = shipped(name)

    for each in campaign.hypotheses:
        other = each.versus
        differing = [key for key in other if not matches(each.arm, {key: other[key]})]
        assert len(differing) == 1, each.id


def test_the_smoke_campaign_is_two_arms_at_forty_sessions() -> None:
    arms = expand_arms(shipped("smoke")[0])

    assert [(arm.name, arm.sessions) for arm in arms] == [("fp8 · C=40", 40), ("bf16 · C=40", 40)]
