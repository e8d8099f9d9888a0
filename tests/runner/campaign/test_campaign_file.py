"""Campaign files: what they mean."""

from pathlib import Path

import pytest

from db.vocabulary import Outcome
from runner.campaign.campaign import (
    Deadlines,
    RestartPolicy,
    ScenarioName,
    Schedule,
    StopRule,
    ToolLatency,
)
from runner.campaign.campaign_file import load_campaign
from tests.runner.campaign.files import CAMPAIGN, campaign, spoiled, written


def test_a_campaign_is_what_its_file_says(tmp_path: Path) -> None:
    path = written(tmp_path, CAMPAIGN)

    loaded = load_campaign(path)

    assert (loaded.name, loaded.stack) == ("host-pool", "little")
    assert list(loaded.factors.items()) == [
        ("keys", ("fp8", "bf16")),
        ("cache", ("off", "on")),
        ("pool", ("fp8-sized", "dtype-aware")),
        ("concurrency", (1, 80)),
    ]
    assert loaded.tags["pool"] == {"dtype-aware": "FIXED"}
    assert loaded.baseline == {
        "keys": "bf16",
        "cache": "on",
        "pool": "fp8-sized",
        "concurrency": 80,
    }
    assert loaded.corrupt == (Outcome.LEAK, Outcome.NO_TOOL)
    assert loaded.schedule == Schedule(blocks=2, order_seed=7)
    assert (loaded.source_path, loaded.source_text) == (str(path), CAMPAIGN)
    [hypothesis] = loaded.hypotheses
    assert hypothesis.versus == loaded.baseline
    assert hypothesis.arm == {**loaded.baseline, "pool": "dtype-aware"}
    assert str(hypothesis.predict) == "corrupt == 0 and wedges == 0"
    assert hypothesis.tolerate == 0.05


def test_a_short_file_means_the_documented_defaults() -> None:
    loaded = campaign(
        "campaign: c\nquestion: q\nstack: s\nfactors: {concurrency: [4]}\nworkload: {sessions: 9}\n"
    )

    workload = loaded.workload
    assert workload.scenario is ScenarioName.TOOL_DIALOGUE
    assert (workload.rounds, workload.context_tokens, workload.max_tokens) == (4, 300, 2500)
    assert workload.deadlines == Deadlines(
        connect_s=10, first_token_s=60, no_progress_s=60, session_s=200
    )
    assert (workload.tool_latency, workload.stream, workload.seed) == (None, True, 0)
    assert workload.sessions_at(4) == 9
    assert loaded.schedule.restart is RestartPolicy.EVERY_RUN
    assert loaded.stop is StopRule.FIXED
    assert loaded.corrupt == (Outcome.LEAK, Outcome.MALFORMED, Outcome.DEGENERATE)
    assert (loaded.exclude, loaded.baseline, loaded.hypotheses) == ((), None, ())


@pytest.mark.parametrize("latency", ["0", "0.0", "{median_ms: 0}", "{median_ms: 0, sigma: 1}", "~"])
def test_a_latency_of_zero_is_none(latency: str) -> None:
    text = spoiled(CAMPAIGN, "workload:\n", f"workload:\n  tool_latency: {latency}\n")

    assert campaign(text).workload.tool_latency is None


def test_a_latency_has_the_mean_of_its_lognormal_law() -> None:
    # scipy.stats.lognorm(1.2, scale=100).mean() = 205.4433210643888
    assert ToolLatency(median_ms=100, sigma=1.2).mean_s == pytest.approx(0.2054433210643888)


def test_levels_are_compared_as_they_are_written() -> None:
    text = spoiled(CAMPAIGN, "baseline: {keys: bf16,", "baseline: {concurrency: '80', keys: bf16,")
    text = spoiled(text, "pool: fp8-sized, concurrency: 80}\nwork", "pool: fp8-sized}\nwork")

    assert campaign(text).baseline == campaign().baseline


def test_a_factor_with_one_level_need_not_be_named() -> None:
    text = spoiled(CAMPAIGN, "  concurrency: [1, 80]", "  pages: [264]\n  concurrency: [1, 80]")

    loaded = campaign(text)

    assert loaded.baseline is not None
    assert loaded.baseline["pages"] == 264
    assert list(loaded.baseline) == list(loaded.factors)


def test_the_levels_of_versus_may_be_spelled_out() -> None:
    other = "{keys: fp8, cache: on, pool: fp8-sized, concurrency: 80}"
    text = spoiled(CAMPAIGN, "versus: baseline", f"versus: {other}")

    assert campaign(text).hypotheses[0].versus["keys"] == "fp8"


FP8 = "{keys: fp8, cache: on, pool: fp8-sized, concurrency: 80}"


def test_a_claim_says_what_would_count_and_against_which_background() -> None:
    text = spoiled(CAMPAIGN, "workload:\n", f"known_good: {FP8}\nworkload:\n")
    text = spoiled(text, "versus: baseline", "goal: reduce\n    predicted_rate: 0.06")

    loaded = campaign(text)

    assert loaded.known_good == {
        "keys": "fp8",
        "cache": "on",
        "pool": "fp8-sized",
        "concurrency": 80,
    }
    assert (loaded.hypotheses[0].goal, loaded.hypotheses[0].predicted_rate) == ("reduce", 0.06)
    assert (campaign().hypotheses[0].goal, campaign().known_good) == ("eliminate", None)


def test_two_planned_looks_take_four_blocks() -> None:
    text = spoiled(CAMPAIGN, "blocks: 2", "blocks: 4")

    loaded = campaign(spoiled(text, "corrupt: [leak", "stop: two_looks\ncorrupt: [leak"))

    assert loaded.stop is StopRule.TWO_LOOKS
