"""Every read finds its rows by an index; the plans are SQLite's own."""

from collections.abc import Callable

import pytest
from sqlalchemy import Connection
from sqlmodel import SQLModel

from db.reads import campaigns, observations, runs, sessions, wedges, work
from db.store import Store
from db.vocabulary import Outcome, RawKind
from tests.db.factories import stored_campaign, stored_id, stored_run
from tests.db.reads.conftest import PlanOf

Read = Callable[[Connection], object]

READS: dict[str, Read] = {
    "arms": lambda connection: campaigns.arms(connection, [1]),
    "campaign": lambda connection: campaigns.campaign(connection, 1),
    "campaign of a run": lambda connection: campaigns.campaign_of_run(connection, 1),
    "campaign of a session": lambda connection: campaigns.campaign_of_session(connection, 1),
    "campaign of an arm": lambda connection: campaigns.campaign_of_arm(connection, 1),
    "campaign of a hypothesis": lambda connection: campaigns.campaign_of_hypothesis(connection, 1),
    "judgements": lambda connection: campaigns.judgements(connection, 1),
    "notes": lambda connection: campaigns.notes(connection, 1),
    "runs": lambda connection: runs.runs(connection, [1]),
    "run": lambda connection: runs.run(connection, 1),
    "proof": lambda connection: runs.run_proof(connection, 1),
    "fingerprints": lambda connection: runs.fingerprints(connection, 1),
    "wedges": lambda connection: runs.wedge_spans(connection, 1),
    "stillness": lambda connection: wedges.run_stillness(connection, 1),
    "sessions": lambda connection: sessions.sessions(connection, 1),
    "sessions of an outcome": lambda connection: sessions.sessions(
        connection, 1, outcomes=["leak"]
    ),
    "sessions of runs": lambda connection: sessions.sessions_of_runs(
        connection, [1, 2], outcomes=["leak"]
    ),
    "reasons": lambda connection: sessions.reason_counts(connection, [1]),
    "failing dialogues": lambda connection: sessions.failing_dialogues(
        connection, [1], outcomes=["leak"]
    ),
    "waits": lambda connection: sessions.first_token_waits(connection, [1]),
    "quantile": lambda connection: sessions.first_token_quantile(connection, [1], share=0.99),
    "log density": lambda connection: observations.log_density(connection, 1, bin_us=1_000_000),
    "turns": lambda connection: sessions.turns(connection, 1),
    "twins": lambda connection: sessions.twins(connection, 1, 2),
    "spans": lambda connection: sessions.session_spans(connection, 1),
    "pairs": lambda connection: sessions.paired_outcomes(connection, 1, 2),
    "metric names": lambda connection: observations.metric_names(connection, 1),
    "metric samples": lambda connection: observations.metric_samples(connection, 1, ["x"]),
    "outer samples": lambda connection: observations.outer_samples(connection, 1, ["x"]),
    "values of a series": lambda connection: observations.values_of_series(connection, 1, "x"),
    "log events": lambda connection: observations.log_events(connection, 1),
    "log event counts": lambda connection: observations.log_event_counts(connection, 1),
    "log event counts of runs": lambda connection: observations.log_event_counts_of_runs(
        connection, [1, 2]
    ),
    "raw of turns": lambda connection: observations.raw_of_turns(connection, [1, 2]),
    "raw of a run": lambda connection: observations.raw_of_run(
        connection, 1, [RawKind.SERVICE_LOG]
    ),
    "raw bytes": lambda connection: observations.raw_bytes(connection, 1),
    "open requests": work.open_requests,
}


@pytest.mark.parametrize("name", READS)
def test_a_read_searches_by_index_and_scans_no_table(name: str, plan_of: PlanOf) -> None:
    steps = plan_of(READS[name])

    assert any(step.startswith("SEARCH") for step in steps)
    scanned = [step.split()[1] for step in steps if step.startswith("SCAN")]
    assert [name for name in scanned if name in SQLModel.metadata.tables] == []


def test_verdicts_search_the_hypotheses_of_the_campaign(plan_of: PlanOf) -> None:
    steps = plan_of(lambda connection: campaigns.verdicts(connection, [1]))

    scanned = [step for step in steps if step.startswith("SCAN") and "newest" not in step]
    assert not [step for step in scanned if "hypothesis" in step or "verdict" in step]


def test_the_matrix_reads_counters_and_never_a_session(
    store: Store, connection: Connection, plan_of: PlanOf
) -> None:
    stored = stored_campaign(store)
    stored_run(store, stored.arms[0], counts={Outcome.LEAK: 1})
    campaign_id = stored_id(stored.campaign)

    def read_matrix(connection: Connection) -> None:
        campaigns.campaign(connection, campaign_id)
        campaigns.arms(connection, [campaign_id])
        runs.runs(connection, [campaign_id])
        campaigns.verdicts(connection, [campaign_id])

    steps = plan_of(read_matrix)

    assert steps
    assert [step for step in steps if "session" in step] == []
