"""How many starts the launches of a server count as that others run, by its stored samples."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from db.launches import record_launch
from runner.evidence.campaign_verdict import CampaignVerdict
from runner.evidence.verdict_caveats import CaveatKind
from runner.execute.verdicts import reach_verdicts
from tests.db.factories import stored_id, stored_samples
from tests.runner.execute.stored_evidence import BASELINE, CHANGED, NAMES, StoredEvidence

SGLANG_REQUESTS = "sglang:num_requests_total"
VLLM_REQUESTS = "vllm:request_success_total"
PROCESS_START = "process_start_time_seconds"
WENT_ON = ([1, 960], [960, 1920], [1921, 2880])
FELL = ([1, 960], [1, 960], [1, 960])


def stack(**service: Any) -> dict[str, Any]:
    return {
        "stack": "theirs",
        "model": "m",
        "services": {"server": {"controller": "external", "role": "engine", **service}},
        "factors": {},
    }


def judged(
    folder: Path,
    samples: Sequence[Sequence[float]] = (),
    *,
    name: str = SGLANG_REQUESTS,
    of_stack: dict[str, Any] | None = None,
) -> CampaignVerdict:
    """On three launches, each with one run of both arms; `samples` of the series by launch."""
    stored = StoredEvidence(folder, stack=stack() if of_stack is None else of_stack)
    for block in (1, 2, 3):
        launch = record_launch(
            stored.store, stored.campaign_id, stack="theirs", commands={}, process_ids={}
        )
        launch_id = stored_id(launch)
        run = stored.add_run(CHANGED, block, launch_id=launch_id, started_at_us=2 * block)
        if samples:
            stored_samples(stored.store, run, samples[block - 1], name=name)
        stored.add_run(
            BASELINE, block, (0, 80, 0), launch_id=launch_id, started_at_us=2 * block + 1
        )
    (found,) = reach_verdicts(stored.store, stored.campaign_id)
    return found.verdict


def launches(verdict: CampaignVerdict) -> list[str]:
    return [run["launch"] for run in verdict.inputs["arm"]["runs"]]


def said(verdict: CampaignVerdict) -> str:
    kind = CaveatKind.RESTARTS_NOT_SHOWN
    return " ".join(caveat.text for caveat in verdict.caveats if caveat.kind is kind)


def test_three_launches_of_one_process_confirm_nothing(tmp_path: Path) -> None:
    verdict = judged(tmp_path, WENT_ON)

    assert launches(verdict) == ["launch 1"] * 3
    assert verdict.headline == "inconclusive"
    assert said(verdict) == ""


def test_three_starts_that_the_count_of_requests_shows_confirm(tmp_path: Path) -> None:
    verdict = judged(tmp_path, FELL)

    assert launches(verdict) == ["launch 1", "launch 2", "launch 3"]
    assert verdict.headline == "confirmed"
    assert said(verdict) == ""


def test_three_launches_of_which_nothing_is_known_confirm_and_say_so(tmp_path: Path) -> None:
    verdict = judged(tmp_path)

    assert verdict.headline == "confirmed"
    assert said(verdict) == (
        "3 launches of a server that others run were counted as 3 starts; nothing shows whether "
        "it was restarted between them."
    )


@pytest.mark.parametrize(
    ("name", "metrics"),
    [
        (VLLM_REQUESTS, None),
        (VLLM_REQUESTS, {"path": "/metrics", "dialect": "vllm"}),
        (
            "our_requests",
            {"path": "/metrics", "dialect": "other", "names": {"requests_total": "our_requests"}},
        ),
    ],
)
def test_the_count_is_read_in_the_dialect_of_the_server(
    tmp_path: Path, name: str, metrics: dict[str, Any] | None
) -> None:
    verdict = judged(tmp_path, WENT_ON, name=name, of_stack=stack(metrics=metrics))

    assert launches(verdict) == ["launch 1"] * 3


def test_a_process_that_began_once_is_one_start(tmp_path: Path) -> None:
    verdict = judged(tmp_path, [[1000.5, 1000.5], [1000.5], [1300.5]], name=PROCESS_START)

    assert launches(verdict) == ["launch 1", "launch 1", "launch 3"]


@pytest.mark.parametrize(
    "of_stack", [stack(controller="process"), {}], ids=["ours", "a definition without its stack"]
)
def test_servers_of_ours_are_started_with_each_launch(
    tmp_path: Path, of_stack: dict[str, Any]
) -> None:
    verdict = judged(tmp_path, WENT_ON, of_stack=of_stack)

    assert launches(verdict) == ["launch 1", "launch 2", "launch 3"]
    assert said(verdict) == ""


def test_a_router_that_runs_on_says_nothing_of_its_engines(tmp_path: Path) -> None:
    verdict = judged(tmp_path, WENT_ON, of_stack=stack(role="router"))

    assert launches(verdict) == ["launch 1", "launch 2", "launch 3"]
    assert said(verdict).startswith("3 launches of a server that others run")


def test_arms_at_addresses_of_their_own_are_other_servers(tmp_path: Path) -> None:
    urls = {pool: {"url": f"http://gpu-{i}:1"} for i, pool in enumerate(NAMES)}
    stored = StoredEvidence(tmp_path, stack={**stack(), "factors": {"pool": urls}})
    for position in (CHANGED, BASELINE):
        launch = record_launch(
            stored.store, stored.campaign_id, stack="theirs", commands={}, process_ids={}
        )
        stored.add_run(position, 1, launch_id=stored_id(launch))

    (found,) = reach_verdicts(stored.store, stored.campaign_id)

    assert said(found.verdict) == ""


@pytest.mark.parametrize(
    ("factor_proved", "expected"), [(True, ""), (False, "6 launches of a server that others run")]
)
def test_arms_that_a_start_switches_show_their_starts_where_they_are_proved(
    tmp_path: Path, factor_proved: bool, expected: str
) -> None:
    effects = {pool: {"args": ["--pool", pool]} for pool in NAMES} | {NAMES[BASELINE]: {}}
    stored = StoredEvidence(tmp_path, stack={**stack(), "factors": {"pool": effects}})
    holds = [{"factor": "pool", "holds": True if factor_proved else None}]
    for block in (1, 2, 3):
        for position in (CHANGED, BASELINE):
            launch = record_launch(
                stored.store, stored.campaign_id, stack="theirs", commands={}, process_ids={}
            )
            stored.add_run(position, block, launch_id=stored_id(launch), verification=holds)

    (found,) = reach_verdicts(stored.store, stored.campaign_id)

    assert len(set(launches(found.verdict))) == 3
    assert said(found.verdict).startswith(expected)
    assert bool(said(found.verdict)) is bool(expected)
