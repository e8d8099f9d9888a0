"""A whole reduction over a store: what it runs, what it finds, and how it goes on."""

from pathlib import Path

import pytest

from db.store import Store
from db.vocabulary import Outcome
from runner.campaign.campaign import Campaign
from runner.campaign.stack_fit import check_campaign_on_stack
from runner.reduce.account import account_json, account_lines, is_shown, step_line
from runner.reduce.campaign_reduction import Before, ReductionEnd
from runner.reduce.event_counts import Flips
from runner.reduce.factor_search import NothingToReduce
from runner.reduce.reduction import Reduced
from runner.reduce.standing import Standing
from tests.db.fresh_stores import fresh_store
from tests.runner.reduce.played_reductions import (
    CAMPAIGN,
    F1,
    FAILING,
    SESSIONS,
    STACK,
    Bench,
    Columns,
    Levels,
    ends_of,
    fails_with,
    played,
    reduction_of,
    with_events,
)


def store_in(folder: Path) -> Store:
    folder.mkdir()
    return fresh_store(folder)


@pytest.fixture(scope="module")
def f1(tmp_path_factory: pytest.TempPathFactory) -> tuple[Bench, ReductionEnd]:
    """Played to its end, for tests that only look at it."""
    bench = Bench(fresh_store(tmp_path_factory.mktemp("f1")), fails_with(F1))
    return bench, played(bench)


def test_the_three_factors_that_are_needed_together_are_found(
    f1: tuple[Bench, ReductionEnd],
) -> None:
    bench, end = f1

    assert isinstance(end.found, Reduced)
    assert end.found.smallest.change == F1.keys()
    assert is_shown(end)
    assert end.spent.runs == len(bench.levels)
    assert end.spent.sessions == SESSIONS * len(bench.levels)


def test_the_end_is_played_in_turns_as_a_campaign_with_a_claim(
    f1: tuple[Bench, ReductionEnd],
) -> None:
    bench, _ = f1

    last = bench.campaigns[-1]
    clean, reduced = last.hypotheses[0].arm, last.hypotheses[0].versus
    turns = [dict(levels) for levels in bench.levels[-4:]]
    assert turns == [dict(clean), dict(reduced)] * 2
    assert last.baseline == reduced
    assert str(last.hypotheses[0].predict) == "corrupt == 0"
    assert reduced["gate"] == "all"


def test_every_trial_could_be_run_by_itself_and_none_is_run_that_is_known(
    f1: tuple[Bench, ReductionEnd],
) -> None:
    bench, _ = f1

    for campaign in bench.campaigns:
        check_campaign_on_stack(campaign, STACK)
        assert campaign.name.startswith("suspects.reduce")
    names = [campaign.name for campaign in bench.campaigns]
    blocks = [campaign.schedule.blocks for campaign in bench.campaigns]
    assert len(set(zip(names, blocks, strict=True))) == len(names)


def test_an_interrupted_reduction_goes_on_where_it_was(
    f1: tuple[Bench, ReductionEnd], tmp_path: Path
) -> None:
    whole, wanted = f1
    store = fresh_store(tmp_path)
    first = Bench(store, fails_with(F1), most_runs=4)
    second = Bench(store, fails_with(F1))

    cut = played(first)
    end = played(second)

    assert cut.found is None
    assert cut.cut_by is not None
    assert cut.spent.runs == 4
    assert first.levels + second.levels == whole.levels
    assert end.found == wanted.found


def test_a_finished_reduction_is_told_again_without_a_run(
    f1: tuple[Bench, ReductionEnd],
) -> None:
    bench, first = f1
    runs = len(bench.levels)

    again = played(bench)

    assert again.found == first.found
    assert len(bench.levels) == runs


def test_a_changed_size_is_not_mixed_with_what_was_run(f1: tuple[Bench, ReductionEnd]) -> None:
    bench, _ = f1
    smaller = Bench(bench.store, fails_with(F1), most_runs=1)

    end = played(smaller, ends_of(CAMPAIGN.replace("rounds: 4", "rounds: 3")))

    assert end.spent.runs == 1
    assert dict(smaller.levels[0]) == FAILING


def test_an_arm_that_cannot_be_run_is_tried_twice_and_told(tmp_path: Path) -> None:
    def result(levels: Levels, campaign: Campaign) -> Columns | None:
        if levels["hicache"] == "off" and levels["index_keys"] == "bf16":
            return None
        return fails_with(F1)(levels, campaign)

    bench = Bench(fresh_store(tmp_path), result)

    end = played(bench)

    assert isinstance(end.found, Reduced)
    assert end.found.smallest.without["hicache"] is Standing.BARRED
    assert not is_shown(end)
    failed = [dict(x) for x in bench.levels if x["hicache"] == "off" and x["index_keys"] == "bf16"]
    assert len(failed) == 2 * len({tuple(x.values()) for x in failed})
    said = "\n".join(account_lines(end, ends_of()))
    assert "Could not be run: " in said
    assert "it did not start" in said
    assert "hicache: nobody can say whether it is needed" in said


def test_what_the_campaign_excludes_is_run_only_when_it_may(tmp_path: Path) -> None:
    text = CAMPAIGN + "exclude:\n  - {index_keys: fp8, host_pool: fp8-sized}\n"
    obedient = Bench(store_in(tmp_path / "a"), fails_with(F1))
    free = Bench(store_in(tmp_path / "b"), fails_with(F1))

    held_back = played(obedient, ends_of(text))
    found = played(free, ends_of(text), with_excluded=True)

    assert not any(
        x["index_keys"] == "fp8" and x["host_pool"] == "fp8-sized" for x in obedient.levels
    )
    assert not is_shown(held_back)
    assert "the campaign excludes it" in "\n".join(account_lines(held_back, ends_of(text)))
    assert is_shown(found)


def test_arms_that_do_not_differ_as_they_should_are_nothing_to_reduce(tmp_path: Path) -> None:
    bench = Bench(fresh_store(tmp_path), fails_with({"gate": "none of them"}))

    end = played(bench)

    assert isinstance(end.found, NothingToReduce)
    assert next(account_lines(end, ends_of())) == (
        "Nothing to reduce: the arm that should fail does not: it is clean after its runs."
    )


def test_the_load_is_lowered_as_far_as_it_still_fails(tmp_path: Path) -> None:
    def result(levels: Levels, campaign: Campaign) -> Columns:
        is_enough = levels["concurrency"] >= 10 and campaign.workload.rounds >= 2
        has_gate = levels["gate"] == "kv_only"
        return with_events(20 if has_gate and is_enough else 0)

    bench = Bench(fresh_store(tmp_path), result)

    end = played(bench, lowers=True)

    assert isinstance(end.found, Reduced)
    assert end.found.smallest.change == {"gate"}
    assert 10 <= (end.found.load.concurrency or 0) <= 13
    assert end.found.load.rounds == 2
    assert (end.found.load.tools, end.found.load.context_tokens) == (1, 1)
    assert bench.levels[-1]["concurrency"] == bench.levels[-2]["concurrency"]
    assert is_shown(end)
    assert played(bench, lowers=True).found == end.found


def test_a_wedge_is_looked_for_by_runs_which_end_at_it(tmp_path: Path) -> None:
    def result(levels: Levels, campaign: Campaign) -> Columns:
        return {"n_done": SESSIONS, "wedges": int(levels["hicache"] == "on")}

    bench = Bench(fresh_store(tmp_path), result)

    end = played(bench, ends_of(flips=Flips.WEDGE))

    assert isinstance(end.found, Reduced)
    assert end.found.smallest.change == {"hicache"}
    assert is_shown(end)
    assert {str(campaign.on_wedge) for campaign in bench.campaigns} == {"restart"}
    assert str(bench.campaigns[-1].hypotheses[0].predict) == "wedges == 0"


def test_silence_is_looked_for_where_it_is_asked_for(tmp_path: Path) -> None:
    def result(levels: Levels, campaign: Campaign) -> Columns:
        return with_events(20 if levels["gate"] == "kv_only" else 0, Outcome.ERROR)

    bench = Bench(fresh_store(tmp_path), result)

    end = played(bench, ends_of(flips=Flips.SILENT))

    assert isinstance(end.found, Reduced)
    assert end.found.smallest.change == {"gate"}


def test_a_clean_arm_with_silent_sessions_is_told_with_their_number(tmp_path: Path) -> None:
    def result(levels: Levels, campaign: Campaign) -> Columns:
        if levels["gate"] == "kv_only" and levels["hicache"] == "on":
            return with_events(20)
        silent = 20 if levels["gate"] == "kv_only" else 0
        return {"n_done": SESSIONS - silent, "n_error": silent}

    bench = Bench(fresh_store(tmp_path), result)

    end = played(bench)

    said = "\n".join(account_lines(end, ends_of()))
    assert is_shown(end)
    assert "20 of 40 were silent" in said or "40 of 80 were silent" in said
    assert "Silence may hide" in said


def test_the_account_says_what_was_found_and_on_what_it_rests(
    f1: tuple[Bench, ReductionEnd],
) -> None:
    bench, end = f1
    lines = list(account_lines(end, ends_of()))

    assert lines[0] == (
        "Smallest change that flips clean to corrupt (3 of 4 factors): index_keys fp8 → bf16, "
        "hicache off → on, host_pool dtype-aware → fp8-sized."
    )
    assert lines[1].startswith("index_keys is needed. Without it: 0 of ")
    assert any(line.startswith("It came back in fresh runs: 0 of 40") for line in lines)
    assert lines[-1].startswith(f"It took {len(bench.levels)} runs, ")
    described = account_json(end, ends_of())
    assert described["shown"] is True
    assert set(described["change"]) == set(F1)
    assert described["change"]["hicache"] == {"from": "off", "to": "on", "without": "clean"}
    assert sum(arm["runs"] for arm in described["arms"]) + 4 == described["runs"]


def test_before_each_run_the_cost_so_far_and_to_go_is_told(tmp_path: Path) -> None:
    bench = Bench(fresh_store(tmp_path), fails_with({"gate": "kv_only"}))
    told: list[Before] = []

    reduction_of(bench).run(bench.play, told=told.append)

    assert step_line(told[0]).startswith("0 runs, 0 sessions, 0.0 s so far; to go about ")
    assert step_line(told[0]).endswith("whether the failing arm fails")
    assert step_line(told[-1]).endswith("the clean and the reduced arm in turns")
    assert told[-1].to_go.least_runs == 4
    spent = [before.spent.runs for before in told]
    assert spent == sorted(spent)
    left = [before.to_go.most_runs for before in told]
    assert left[-1] < left[0] <= 40
