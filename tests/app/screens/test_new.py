"""Queueing a campaign file: seen before it is queued, and only files that lie on the server."""

from pathlib import Path

import pytest

from app.settings import CONFIGS_VARIABLE
from db.reads import work
from db.store import Store
from tests.app.conftest import Open, words_of
from tests.runner.campaign.files import CAMPAIGN, STACK

CONFIGS = Path(__file__).parents[3] / "configs"


def test_arms_and_sessions_are_shown_before_anything_is_queued(
    open_page: Open, store: Store
) -> None:
    page = open_page("new", file="smoke")

    assert not page.exception
    arms = next(table.value for table in page.table if "arm" in table.value)
    metrics = {metric.label: metric.value for metric in page.metric}
    assert metrics["Arms"] == str(len(arms))
    assert int(metrics["Sessions"].replace(",", "")) > 0
    assert _requests(store) == []


def test_queueing_writes_one_request_and_goes_to_the_campaigns(
    open_page: Open, store: Store
) -> None:
    page = open_page("new", file="smoke")

    _queue(page)

    (request,) = _requests(store)
    assert request.campaign_file == "smoke"
    assert request.levels == {}
    assert request.order_seed is None
    assert "smoke queued" in words_of(page)


def test_fewer_levels_and_another_seed_are_part_of_the_request(
    open_page: Open, store: Store
) -> None:
    page = open_page("new", file="decisive-test")

    page.multiselect(key="levels decisive-test concurrency").set_value([80])
    page.number_input[0].set_value(11)
    page.run()
    _queue(page)

    (request,) = _requests(store)
    assert request.levels == {"concurrency": [80]}
    assert request.order_seed == 11


def test_no_level_chosen_means_nothing_to_run(open_page: Open, store: Store) -> None:
    page = open_page("new", file="decisive-test")

    page.multiselect(key="levels decisive-test concurrency").set_value([]).run()

    assert not page.exception
    assert "Nothing to run with this choice" in words_of(page)


def test_the_first_launch_creates_the_store(open_page: Open, store_path: Path) -> None:
    assert not store_path.exists()
    page = open_page("new", file="smoke")

    _queue(page)

    assert store_path.exists()
    assert not page.exception


def test_a_file_that_is_not_there_is_named_and_another_shown(open_page: Open, store: Store) -> None:
    page = open_page("new", file="../../etc/passwd")

    assert not page.exception
    assert "Ignored in the address: file=../../etc/passwd" in words_of(page)


def test_what_makes_a_plan_worthless_is_told_before_it_is_queued(
    open_page: Open, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder, name, text in (("campaigns", "host-pool", CAMPAIGN), ("stacks", "little", STACK)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / f"{name}.yaml").write_text(text, "utf-8")
    monkeypatch.setenv(CONFIGS_VARIABLE, str(tmp_path))

    page = open_page("new", file="host-pool")

    said = [warning.value for warning in page.warning]
    assert any("verdicts on these arms stay inconclusive" in each for each in said), said


def test_a_file_with_a_mistake_says_what_and_where(
    open_page: Open, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaigns = tmp_path / "configs" / "campaigns"
    campaigns.mkdir(parents=True)
    (campaigns / "broken.yaml").write_text("campaign: broken\nquestion: 7\nworkload: none\n")
    monkeypatch.setenv(CONFIGS_VARIABLE, str(campaigns.parent))

    page = open_page("new")

    assert not page.exception
    words = words_of(page)
    assert "This file cannot be run" in words
    assert "broken.yaml" in words


def test_a_folder_without_campaigns_says_so(
    open_page: Open, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "empty").mkdir()
    monkeypatch.setenv(CONFIGS_VARIABLE, str(tmp_path / "empty"))

    page = open_page("new")

    assert not page.exception
    assert "holds no campaign file" in words_of(page)


def test_a_folder_that_does_not_exist_says_so(
    open_page: Open, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CONFIGS_VARIABLE, str(tmp_path / "nowhere"))

    page = open_page("new")

    assert not page.exception
    assert "does not exist" in words_of(page)


def _queue(page: object) -> None:
    buttons = page.button  # type: ignore[attr-defined]
    next(button for button in buttons if button.label.startswith("Queue")).click().run()


def _requests(store: Store) -> list[work.LaunchRequestFacts]:
    with store.session() as session:
        return work.recent_requests(session.connection())
