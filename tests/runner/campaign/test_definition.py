"""When two campaigns are the same, and when not."""

from pathlib import Path

import pytest

from runner.campaign.campaign import Workload
from runner.campaign.campaign_file import load_campaign
from runner.campaign.definition import definition_key, definition_of, hypothesis_key, run_key
from runner.campaign.matrix import expand_arms
from tests.runner.campaign.files import CAMPAIGN, STACK, campaign, spoiled, stack, written

FP8 = "{keys: fp8, cache: on, pool: fp8-sized, concurrency: 80}"


def key_of(campaign_text: str = CAMPAIGN, stack_text: str = STACK) -> str:
    return definition_key(campaign(campaign_text), stack(stack_text))


def claim_key_of(campaign_text: str) -> str:
    loaded = campaign(campaign_text)
    return hypothesis_key(loaded.hypotheses[0], loaded.known_good)


def test_a_later_key_that_is_not_given_is_no_part_of_what_is_dumped() -> None:
    assert "strict" not in Workload(sessions=1).model_dump(mode="json")
    assert Workload(sessions=1, strict=True).model_dump(mode="json")["strict"] is True
    assert "tools" not in Workload(sessions=1).model_dump(mode="json")
    assert Workload(sessions=1, tools=2).model_dump(mode="json")["tools"] == 2
    assert "sessions" not in Workload(sessions=1, tools=2).model_dump(exclude={"sessions"})


def test_a_key_is_the_same_on_every_machine() -> None:
    key = key_of()

    assert len(key) == 64
    assert key == key_of()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("question: Is the host pool the cause?", "question: Who knows?"),
        ("claim: The pool is the cause.", "claim: So we think."),
        ("exclude:\n", "# only where it matters\nexclude:\n"),
        ("corrupt: [leak, no_tool]", "corrupt:\n  - no_tool\n  - leak"),
        ("  sessions: {1: 10, 80: 80}", "  rounds: 4\n  sessions: {1: 10, 80: 80}"),
        ("versus: baseline", "versus: {concurrency: 80, keys: bf16, cache: on, pool: fp8-sized}"),
    ],
)
def test_what_only_readers_need_changes_no_campaign(old: str, new: str) -> None:
    assert key_of(spoiled(CAMPAIGN, old, new)) == key_of()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("campaign: host-pool", "campaign: other"),
        ("[fp8, bf16]", "[bf16, fp8]"),
        ("  - {keys: fp8, pool: dtype-aware}\n", ""),
        ("80: 80}", "80: 81}"),
        ("workload:\n", "workload:\n  seed: 1\n"),
        ("workload:\n", "workload:\n  request: {temperature: 0}\n"),
        ("workload:\n", "workload:\n  deadlines: {session_s: 100}\n"),
        ("order_seed: 7", "order_seed: 8"),
        ("corrupt: [leak, no_tool]", "corrupt: [leak]"),
        ("corrupt: [leak, no_tool]", "corrupt: [leak, no_tool]\nstop: first_corrupt"),
    ],
)
def test_what_decides_the_evidence_makes_another_campaign(old: str, new: str) -> None:
    assert key_of(spoiled(CAMPAIGN, old, new)) != key_of()


def test_more_blocks_extend_a_campaign_and_make_no_other() -> None:
    assert key_of(spoiled(CAMPAIGN, "blocks: 2", "blocks: 3")) == key_of()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("corrupt == 0 and wedges == 0", "corrupt == 0"),
        ("versus: baseline", "versus: baseline\n    tolerate: 0.1"),
        ("versus: baseline", "versus: baseline\n    goal: cause"),
        ("versus: baseline", "goal: reduce\n    predicted_rate: 0.06"),
        ("pool: dtype-aware, concurrency: 80", "pool: dtype-aware, concurrency: 1"),
        ("  - id: pool", "  - id: other"),
        ("workload:\n", f"known_good: {FP8}\nworkload:\n"),
    ],
)
def test_what_is_claimed_has_a_key_of_its_own_and_decides_no_session(old: str, new: str) -> None:
    changed = spoiled(CAMPAIGN, old, new)

    assert key_of(changed) == key_of()
    assert claim_key_of(changed) != claim_key_of(CAMPAIGN)


def test_a_claim_in_other_words_is_the_same_claim() -> None:
    reworded = spoiled(CAMPAIGN, "claim: The pool is the cause.", "claim: So we think.")

    assert claim_key_of(reworded) == claim_key_of(CAMPAIGN)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("description: A little server.", "description: Another word for it."),
        ("    log: process\n", "    log: process\n    ready_within_s: 300\n"),
        ("  pool:\n", "  unused: {x: {args: [--x]}}\n  pool:\n"),
    ],
)
def test_a_stack_may_change_where_the_campaign_does_not_look(old: str, new: str) -> None:
    assert key_of(stack_text=spoiled(STACK, old, new)) == key_of()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("[--keys, bf16]", "[--index-keys, bf16]"),
        ("model: tiny", "model: large"),
        ("-m, server", "-m, another_server"),
        ("{POOL: dtype}", "{POOL: DTYPE}"),
        ("equals: bf16", "equals: bfloat16"),
    ],
)
def test_a_stack_that_serves_otherwise_makes_another_campaign(old: str, new: str) -> None:
    assert key_of(stack_text=spoiled(STACK, old, new)) != key_of()


def test_a_definition_says_what_it_is_made_of() -> None:
    definition = definition_of(campaign(), stack())

    assert definition["factors"]["cache"] == ["off", "on"]
    assert definition["workload"]["deadlines"]["session_s"] == 200
    assert definition["stack"]["factors"]["cache"]["on"]["args"] == ["--cache"]
    assert definition["hypotheses"][0]["predict"] == "corrupt == 0 and wedges == 0"


def test_a_run_is_the_same_while_its_arm_its_workload_and_its_block_are() -> None:
    loaded = campaign()
    arm, other = expand_arms(loaded)[:2]
    slower = campaign(spoiled(CAMPAIGN, "workload:\n", "workload:\n  rounds: 5\n"))

    assert run_key(loaded, arm, 1) == run_key(loaded, arm, 1)
    keys = [run_key(loaded, arm, 1), run_key(loaded, arm, 2), run_key(loaded, other, 1)]
    assert len({*keys, run_key(slower, arm, 1)}) == 4


def test_a_scenario_that_lies_beside_the_campaign_is_part_of_what_defines_it(
    tmp_path: Path,
) -> None:
    text = spoiled(CAMPAIGN, "workload:", "workload:\n  scenario: own.mine:Mine")
    path = written(tmp_path, text, name="campaign.yaml")
    (tmp_path / "own").mkdir()

    keys = []
    for content in ("class Mine: ...", "class Mine: pass"):
        written(tmp_path / "own", content, name="mine.py")
        keys.append(definition_key(load_campaign(path), stack()))

    assert keys[0] != keys[1]
    assert list(load_campaign(path).workload_files) == ["own/mine.py"]
