"""`decisive try` names corrupt sessions, says what leaked, and how to go on from there."""

import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from db.store import Store
from db.store_url import DEFAULT_STORE_URL
from db.vocabulary import Outcome
from runner.cli.corrupt_examples import corrupt_examples
from tests.db.factories import stored_campaign, stored_run, stored_session
from tests.db.fresh_stores import fresh_store
from tests.db.unstored_rows import LEAKED_TURNS
from tests.runner.cli.calls import decisive


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with fresh_store(tmp_path) as opened:
        made = stored_campaign(opened)
        run = stored_run(opened, made.arms[0], counts={Outcome.DONE: 1})
        for index in range(1, 5):
            decisive_turn = len(LEAKED_TURNS) - 1
            stored_session(opened, run, Outcome.LEAK, index=index, decisive_turn=decisive_turn)
        yield opened


def test_three_corrupt_sessions_are_named_with_what_leaked(store: Store) -> None:
    lines = corrupt_examples(store, 1, ["leak"], store_option=DEFAULT_STORE_URL)

    sessions = [line for line in lines if line.startswith("s-")]
    turn = f"turn {len(LEAKED_TURNS)}"
    assert [line.partition(": ")[0] for line in sessions] == [
        f"s-{number} leak, {turn}" for number in (2, 3, 4)
    ]
    assert all("DSML" in line and "\n" not in line for line in sessions)
    assert lines[3:] == [
        "all of them:         decisive sessions --where 'campaign:c-1 outcome:leak'",
        "what they share:     decisive clusters c-1",
        "one to send again:   decisive repro s-2 --to s-2",
    ]


def test_the_commands_run_as_they_are_printed_and_name_the_store(store: Store) -> None:
    lines = corrupt_examples(store, 1, ["leak", "malformed"], store_option=store.url)

    listing, clusters, repro = (shlex.split(line.partition("decisive ")[2]) for line in lines[3:])
    assert "4 sessions pass: 4 leak" in decisive(*listing).stdout
    assert decisive(*clusters).exit_code == 0
    assert repro[-2:] == ["--store", store.url]


def test_a_try_without_corrupt_sessions_names_none(store: Store) -> None:
    assert corrupt_examples(store, 1, ["degenerate"], store_option=store.url) == []
