"""A campaign is held against its stack before anything starts."""

import pytest

from runner.campaign.campaign import RestartPolicy
from runner.campaign.definition import definition_key
from runner.campaign.narrowing import narrow_campaign
from runner.campaign.stack_file import Stack
from runner.campaign.stack_fit import campaign_on_stack, check_campaign_on_stack
from runner.errors import ConfigError
from tests.runner.campaign.files import CAMPAIGN, STACK, campaign, spoiled, stack

UNRESTARTED = spoiled(STACK, "may_restart: true", "may_restart: false")
EVERY_RUN = spoiled(CAMPAIGN, "order_seed: 7}", "order_seed: 7, restart: every_run}")


def misfits(campaign_text: str = CAMPAIGN, stack_text: str = STACK) -> list[str]:
    with pytest.raises(ConfigError) as raised:
        check_campaign_on_stack(campaign(campaign_text), stack(stack_text))
    return str(raised.value).splitlines()


def test_a_campaign_that_fits_passes() -> None:
    check_campaign_on_stack(campaign(), stack())


def test_a_factor_that_the_stack_lacks_is_named_where_the_campaign_has_it() -> None:
    text = spoiled(CAMPAIGN, "  concurrency: [1, 80]", "  pages: [264]\n  concurrency: [1, 80]")

    assert misfits(text) == [
        "file.yaml:8:3: stack little defines no such factor; found pages; "
        "allowed: keys, cache, pool, concurrency"
    ]


def test_levels_that_the_stack_lacks_are_all_named() -> None:
    text = spoiled(STACK, "    bf16: {args", "    bf17: {args")
    text = spoiled(text, "    dtype-aware:", "    dtype:")

    assert misfits(stack_text=text) == [
        "file.yaml:5:15: stack little defines no such level of keys; found bf16; "
        "allowed: fp8, bf17; did you mean bf17?",
        "file.yaml:7:25: stack little defines no such level of pool; found dtype-aware; "
        "allowed: fp8-sized, dtype; did you mean dtype?",
    ]


def test_a_level_that_a_narrowed_campaign_leaves_out_need_not_fit() -> None:
    text = spoiled(STACK, "    bf16: {args", "    bf17: {args")

    check_campaign_on_stack(narrow_campaign(campaign(), {"keys": ["fp8"]}), stack(text))


def test_a_stack_of_another_name_is_refused() -> None:
    assert misfits(stack_text=spoiled(STACK, "stack: little", "stack: large")) == [
        "file.yaml:3:8: stack.yaml defines another stack; found large"
    ]


def test_where_the_file_is_silent_the_stack_decides_whether_runs_get_new_servers() -> None:
    free, bound = stack(), stack(UNRESTARTED)

    assert campaign_on_stack(campaign(), free).schedule.restart is RestartPolicy.EVERY_RUN
    assert campaign_on_stack(campaign(), bound).schedule.restart is RestartPolicy.WHEN_NEEDED
    assert campaign_on_stack(campaign(EVERY_RUN), bound) == campaign(EVERY_RUN)
    assert not [line for line in misfits(stack_text=UNRESTARTED) if "for a run" in line]


def test_a_campaign_has_the_key_of_the_one_that_writes_down_what_it_gets() -> None:
    written_down = spoiled(EVERY_RUN, "every_run", "when_needed")
    bound = stack(UNRESTARTED)

    def key(text: str, on: Stack) -> str:
        return definition_key(campaign_on_stack(campaign(text), on), on)

    assert key(CAMPAIGN, bound) == key(written_down, bound)
    assert key(CAMPAIGN, stack()) == key(EVERY_RUN, stack()) == definition_key(campaign(), stack())


def test_a_stack_that_may_not_be_restarted_takes_no_flags_and_no_restart() -> None:
    lines = misfits(EVERY_RUN, stack_text=UNRESTARTED)

    assert lines[0] == (
        "file.yaml:5:10: keys fp8 needs other flags, and stack little may not be restarted"
    )
    assert lines[-1] == (
        "file.yaml:15:38: this stack may not be restarted for a run; found every_run; "
        "allowed: when_needed"
    )
    assert len(lines) == 6
