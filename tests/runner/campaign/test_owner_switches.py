"""What whoever runs a server is asked to change, by the levels of this arm and of the others."""

from itertools import pairwise

import pytest

from runner.campaign.campaign import Campaign, Levels
from runner.campaign.campaign_file import campaign_of
from runner.campaign.owner_switches import proving_services, wanted_change
from runner.campaign.plan import make_plan
from runner.campaign.stack_file import Stack
from runner.campaign.yaml_source import parse_yaml
from runner.execute.rehearsal import rehearse
from tests.runner.campaign.files import stack as stack_of

STACK = """\
stack: mine
description: Started by hand.
model: my-model
services:
  server: {controller: external, base_url: "http://h:1", server_info: /i, switch_within_s: 20}
factors:
  hicache:
    "off":
      verify: [{server_info: hicache, equals: false}]
    "on":
      args: [--enable-hierarchical-cache, --hicache-ratio, "2"]
      env: {POOL: dtype aware}
      verify: [{server_info: hicache, equals: true}]
  temperature:
    "0": {request: {temperature: 0}}
    "1": {request: {temperature: 1}}
"""
CAMPAIGN = """\
campaign: look
question: Is it?
stack: mine
factors: {hicache: ["off", "on"], temperature: ["0", "1"], concurrency: [4]}
workload: {sessions: 8}
schedule: {blocks: 1, restart: when_needed}
"""


@pytest.fixture
def stack() -> Stack:
    return stack_of(STACK)


@pytest.fixture
def campaign() -> Campaign:
    return campaign_of(parse_yaml("look.yaml", CAMPAIGN))


@pytest.mark.parametrize(
    ("levels", "said"),
    [
        (
            {"hicache": "on"},
            "add --enable-hierarchical-cache --hicache-ratio 2, set 'POOL=dtype aware'",
        ),
        (
            {"hicache": "off"},
            "remove --enable-hierarchical-cache --hicache-ratio 2, unset POOL",
        ),
        ({"temperature": "0"}, ""),
    ],
    ids=["a level that adds", "a level that others add to", "a level of requests"],
)
def test_flags_and_variables_are_named_to_add_and_to_take_away(
    stack: Stack, campaign: Campaign, levels: Levels, said: str
) -> None:
    assert wanted_change(stack, campaign.factors, levels, "server") == said


def test_a_flag_of_this_arm_is_not_taken_away_because_another_level_has_it_too(
    campaign: Campaign,
) -> None:
    both = STACK.replace(
        '    "off":\n', '    "off":\n      args: [--hicache-ratio, "2", --no-hicache]\n'
    )

    assert wanted_change(stack_of(both), campaign.factors, {"hicache": "on"}, "server") == (
        "add --enable-hierarchical-cache --hicache-ratio 2, set 'POOL=dtype aware', "
        "remove --no-hicache"
    )


def test_nobody_is_asked_for_what_nothing_proves(stack: Stack) -> None:
    assert proving_services(stack, {"hicache": "on"}) == ("server",)
    assert proving_services(stack, {"temperature": "0"}) == ()


def test_a_plan_says_how_often_the_server_is_to_be_switched(
    stack: Stack, campaign: Campaign
) -> None:
    plan = make_plan(campaign, stack)

    hicache = [run.arm.levels["hicache"] for run in plan.runs]
    changes = 1 + sum(one != other for one, other in pairwise(hicache))
    assert (plan.launches, plan.switches) == (0, changes)
    assert plan.starts_text() == (
        f"whoever runs the server is asked up to {changes} times to switch it to the next arm"
    )
    assert "nothing for the time until others have switched the server" in plan.assumptions


def test_a_rehearsal_tells_the_request_where_the_arm_changes(
    stack: Stack, campaign: Campaign
) -> None:
    said: list[str] = []
    plan = make_plan(campaign, stack)

    rehearse(campaign, stack, plan.runs, say=said.append)

    asked = [line for line in said if "please bring" in line]
    assert len(asked) == plan.switches
    assert any(
        "into the arm hicache=off · temperature=" in line
        and line.endswith(
            "within 20 s: server (http://h:1): remove --enable-hierarchical-cache "
            "--hicache-ratio 2, unset POOL"
        )
        for line in asked
    )
