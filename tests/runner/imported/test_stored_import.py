"""Imported runs in a store: marked, judged by what is there, and nothing made up."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from db.errors import DuplicateImportError
from db.filters.keys import SESSION_KEYS
from db.filters.parsing import parse_filter
from db.reads.campaigns import arms, campaigns
from db.reads.runs import RunCounts, run_proof, runs
from db.reads.session_search import search_sessions
from db.reads.sessions import TurnFacts, session_spans, sessions, turns
from db.reads.time_cap import TimeCap
from db.store import Store
from db.tables.runs import RunRow
from db.vocabulary import ErrorReason, RunFlag, RunState
from runner.errors import UsageError
from runner.execute.rejudging import rejudge_campaign
from runner.imported.imported_run import ImportedRequest, ImportedRun
from runner.imported.result_files import read_result_file
from runner.imported.stored_import import ImportAs, coverage_text, store_imported
from runner.report.campaign_report import campaign_report
from runner.report.markdown import to_markdown
from runner.report.session_report import session_report
from runner.report.stored_record import campaign_record, session_record
from runner.reproduction.recorded_load import recorded_load
from tests.db.factories import stored_id
from tests.db.fresh_stores import FakeClock, fresh_store
from tests.db.unstored_rows import LEAKED_TEXT

AS = ImportAs(campaign="imported", arm=None, levels={}, source_path="result.json")
FAILED = ImportedRequest(error="no worker", reason=ErrorReason.HTTP_5XX, http_status=503)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with fresh_store(tmp_path) as made:
        yield made


def bench(*requests: ImportedRequest, **more: Any) -> ImportedRun:
    values: dict[str, Any] = {"tool": "some bench", "model": "m", "concurrency": 4}
    return ImportedRun(**{**values, "requests": requests, "requests_made": len(requests), **more})


def add(store: Store, run: ImportedRun, content: str = "one") -> RunRow:
    (row,) = store_imported(store, [run], content, AS)
    return row


def stored_turns(store: Store, run: RunRow) -> Sequence[TurnFacts]:
    with store.session() as session:
        connection = session.connection()
        found = sessions(connection, stored_id(run))
        return [turn for each in found for turn in turns(connection, each.id)]


def test_an_answer_that_is_not_in_the_file_says_nothing() -> None:
    """Tools that time answers keep no calls: an empty text may have been one."""
    assert not ImportedRequest(content="", completion_tokens=9).is_told
    assert FAILED.is_told


def test_a_run_is_marked_and_counts_only_what_its_file_tells(store: Store) -> None:
    run = add(
        store,
        bench(
            ImportedRequest(content="All is fine, thank you."),
            ImportedRequest(content=LEAKED_TEXT),
            ImportedRequest(content="", completion_tokens=20),
            FAILED,
            ImportedRequest(content="half", was_cancelled=True),
        ),
    )

    assert (run.state, run.flags) == (RunState.DONE, [RunFlag.IMPORTED])
    assert (run.sessions_planned, run.n_ended) == (5, 3)
    assert (run.n_done, run.n_leak, run.n_error) == (1, 1, 1)
    assert (run.wedges, run.launch_id, run.peak_running) == (None, None, None)
    assert run.reason is not None
    assert "5 requests; 3 of them with an answer or error in the file" in run.reason
    assert "1 request that it cut off itself left out" in run.reason


def test_turns_keep_what_was_told_and_no_bytes_that_were_not(store: Store) -> None:
    told = ImportedRequest(
        content="fine", started_at_s=9.0, first_token_s=0.5, duration_s=2.0, prompt_tokens=7
    )

    (turn,) = stored_turns(store, add(store, bench(told, started_at_s=1_700_000_000.0)))

    assert turn.got["content"] == "fine"
    assert (turn.first_token_s, turn.duration_s, turn.prompt_tokens) == (0.5, 2.0, 7)
    assert turn.due == {}
    assert turn.started_at_us == 1_700_000_000_000_000


def test_a_session_whose_moment_is_not_in_the_file_has_none_anywhere(store: Store) -> None:
    row = add(store, bench(ImportedRequest(content="fine", duration_s=2.0)))

    cap = TimeCap(1, monotonic_s=FakeClock().monotonic_s)

    with store.session() as session:
        connection = session.connection()
        (found,) = sessions(connection, stored_id(row))
        spans = session_spans(connection, stored_id(row))
        dated = search_sessions(connection, parse_filter("duration:>=0", SESSION_KEYS), cap=cap)
    report = to_markdown(session_report(session_record(store, found.id)))

    assert not found.is_timed
    assert found.took_s is None
    assert spans.empty
    assert dated.found == []
    assert "Played at a time that the imported file does not tell" in report
    assert "1970" not in report
    assert "none came" not in report  # the answer did, at a moment that is not told


def test_sessions_without_times_do_not_all_begin_with_their_run(store: Store) -> None:
    row = add(
        store,
        bench(
            ImportedRequest(content="a", conversation="x", started_at_s=3.0, duration_s=1.0),
            ImportedRequest(content="b", conversation="x", turn_index=1),
            ImportedRequest(content="fine"),
            started_at_s=1_700_000_000.0,
        ),
    )

    with store.session() as session:
        found = sessions(session.connection(), stored_id(row))
        spans = session_spans(session.connection(), stored_id(row))

    assert [each.is_timed for each in found] == [False, False]
    assert spans.empty
    assert row.started_at_us == 1_700_000_000_000_000


def test_a_duration_that_no_file_tells_is_no_number(store: Store) -> None:
    add(store, bench(ImportedRequest(content="fine")))

    report = to_markdown(session_report(session_record(store, 1)))

    assert "| not told | not told |" in report
    assert "0 s |" not in report


def test_wedged_requests_that_no_file_tells_are_no_zero(store: Store) -> None:
    add(store, bench(FAILED))
    with store.session() as session:
        (facts,) = campaigns(session.connection())

    (result,) = campaign_record(store, facts).results

    assert (result.wedges, result.wedge_requests) == (None, None)


def test_a_campaign_of_imports_has_no_file_that_could_be_left_out(store: Store) -> None:
    add(store, bench(FAILED))
    with store.session() as session:
        (facts,) = campaigns(session.connection())

    report = to_markdown(campaign_report(campaign_record(store, facts, hides_prompts=True)))

    assert "None: other tools made the runs of this campaign." in report
    assert "no worker" not in report


@pytest.mark.parametrize(
    ("told", "sentence"),
    [
        (0, "2 requests; none of them with an answer or error in the file that can be judged."),
        (1, "2 requests; 1 of them with an answer or error in the file that can be judged."),
    ],
)
def test_what_a_file_tells_is_counted_in_words(told: int, sentence: str) -> None:
    requests = [ImportedRequest(content="fine" if number < told else "") for number in range(2)]

    assert sentence in coverage_text(bench(*requests, requests_failed=0))


def test_failures_that_a_file_does_not_tell_are_not_taken_for_none() -> None:
    said = coverage_text(bench(requests_made=1))

    assert "1 request, not counting those that failed, which it does not tell; none" in said


def test_a_session_whose_requests_are_not_in_the_file_cannot_be_sent_again(store: Store) -> None:
    add(store, bench(ImportedRequest(content="fine")))

    with pytest.raises(UsageError, match="what s-1 was asked is not in the store"):
        recorded_load(store, "s-1")


def test_sessions_of_unknown_times_are_not_taken_to_have_been_under_way_together(
    store: Store,
) -> None:
    asked = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
    add(store, bench(*(ImportedRequest(content="fine", asked=asked) for _ in range(2))))

    load = recorded_load(store, "s-1")

    assert [play.session.id for play in load.plays] == [1]


@pytest.mark.parametrize("started_at_s", [12_345.6, 1_796_000_000_000.0, -5.0, float("inf")])
def test_a_number_that_can_be_no_date_is_an_unknown_time(store: Store, started_at_s: float) -> None:
    row = add(store, bench(ImportedRequest(content="fine", started_at_s=started_at_s)))

    with store.session() as session:
        (found,) = sessions(session.connection(), stored_id(row))

    assert not found.is_timed


def test_an_error_is_told_in_the_words_of_the_tool(store: Store) -> None:
    (turn,) = stored_turns(store, add(store, bench(FAILED)))

    assert (turn.outcome, turn.reason, turn.http_status) == ("error", "http_5xx", 503)
    assert turn.detail == "some bench says: no worker"


def test_turns_of_a_conversation_are_one_session(store: Store) -> None:
    run = add(
        store,
        bench(
            ImportedRequest(content="b", conversation="x", turn_index=1),
            ImportedRequest(content="a", conversation="x", turn_index=0),
            ImportedRequest(content="", conversation="y"),
        ),
    )

    assert (run.sessions_planned, run.n_done) == (2, 1)
    assert [turn.got["content"] for turn in stored_turns(store, run)] == ["a", "b"]


def test_a_recorded_call_for_a_tool_that_was_not_offered_is_malformed(store: Store) -> None:
    asked = {
        "model": "m",
        "messages": [{"role": "user", "content": "look"}],
        "tools": [{"type": "function", "function": {"name": "look", "parameters": {}}}],
    }
    call = b'{"function": {"name": "jump", "arguments": "{}"}, "id": "1", "type": "function"}'
    response = (
        b'{"choices": [{"index": 0, "finish_reason": "tool_calls", "message": {"tool_calls": ['
        + call
        + b"]}}]}"
    )

    run = add(store, bench(ImportedRequest(asked=asked, response=response)))

    assert run.n_malformed == 1


def test_the_next_file_of_the_arm_is_its_next_block_and_the_same_one_is_refused(
    store: Store,
) -> None:
    first = add(store, bench(FAILED))
    second = add(store, bench(FAILED), "another")

    assert (first.arm_id, first.block) == (second.arm_id, 1)
    assert second.block == 2
    with pytest.raises(DuplicateImportError, match=r"result\.json is already there as r-2"):
        add(store, bench(FAILED), "another")


def test_nothing_proves_the_levels_of_an_imported_arm(store: Store) -> None:
    as_ = ImportAs(campaign="mine", arm="fp8", levels={"keys": "fp8"}, source_path="x")
    (run,) = store_imported(store, [bench(FAILED, figures={"p99": 3.0})], "x", as_)

    with store.session() as session:
        connection = session.connection()
        proof = run_proof(connection, stored_id(run))
        (campaign,) = campaigns(connection)
        (arm,) = arms(connection, [campaign.id])
    assert proof is not None
    assert [check["holds"] for check in proof.verification] == [None] * 4
    assert proof.client_health["imported"]["figures"] == {"p99": 3.0}
    assert (campaign.name, campaign.stack) == ("mine", "imported")
    assert arm.levels == {"tool": "some bench", "model": "m", "keys": "fp8", "concurrency": 4}


def test_printed_counts_are_a_run_without_sessions_that_is_never_judged_again(
    store: Store,
) -> None:
    run = add(store, bench(counts={"leak": 5, "error": 75}, wedge_lines=168, requests_made=80))

    rejudge_campaign(store, run.campaign_id)

    with store.session() as session:
        (found,) = runs(session.connection(), [run.campaign_id])
    assert isinstance(found, RunCounts)
    assert (found.n_leak, found.n_error, found.n_ended, found.wedge_lines) == (5, 75, 80, 168)


def test_half_a_surrogate_pair_and_a_null_character_can_be_stored(store: Store) -> None:
    line = {"choices": [{"message": {"content": "a\ud800b\x00c"}, "finish_reason": "stop"}]}
    (run,) = read_result_file(json.dumps(line))

    (turn,) = stored_turns(store, add(store, run))

    assert turn.got["content"].startswith("a")
    assert turn.got["content"].endswith("c")
