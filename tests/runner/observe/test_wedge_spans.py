"""A span in which nothing moved: when it began and ended, where it was, and whom it hit."""

from collections.abc import Iterable

import pytest

from runner.observe.wedge_rules import WedgeTracker
from runner.observe.wedge_spans import (
    Look,
    OpenRequest,
    PageTimes,
    Silence,
    WedgePatience,
)
from tests.runner.observe.metric_pages import page, sglang
from tests.runner.observe.wedge_scene import PATIENCE, Scene, worker


def test_patience_is_over_before_sessions_give_up_and_never_above_a_minute() -> None:
    def pauses(deadlines: Iterable[float]) -> list[float]:
        return [
            WedgePatience.of(shortest_deadline_s=deadline_s).longest_pause_s
            for deadline_s in deadlines
        ]

    assert pauses([6, 60, 600]) == pytest.approx([4.2, 42, 60])
    assert WedgePatience.of(shortest_deadline_s=60, chosen_s=30).quiet_s == 15


def wedged() -> Scene:
    scene = Scene()
    scene.send("a")
    scene.look(sglang(1, 100))
    scene.for_seconds(44, sglang(1, 100))
    scene.confirmed()
    return scene


def test_a_span_ends_when_tokens_are_made_again() -> None:
    scene = wedged()
    scene.for_seconds(10, sglang(1, 100))
    scene.for_seconds(4, sglang(1, 150))

    (span,) = scene.tracker.spans
    assert (span.started_s, span.ended_s) == (1000.0, 1056.0)
    assert span.victims["a"] == pytest.approx(56, abs=2.1)


def test_a_span_ends_with_a_restart() -> None:
    scene = wedged()
    scene.for_seconds(2, sglang(0, 3))

    (span,) = scene.tracker.spans
    assert span.end == "the server was restarted"


def test_a_span_that_never_ends_says_so() -> None:
    scene = wedged()
    scene.for_seconds(100, sglang(1, 100))
    scene.tracker.finish()

    (span,) = scene.tracker.spans
    assert span.ended_s is None and span.end is not None
    assert span.seconds(scene.at_s) == 144.0


def test_one_episode_is_one_span_however_long_it_lasts() -> None:
    scene = wedged()
    scene.for_seconds(300, sglang(1, 100))

    assert scene.tracker.canary_unanswered("again") is None
    assert len(scene.tracker.spans) == 1


def test_a_second_episode_is_a_second_span() -> None:
    scene = wedged()
    scene.sent.clear()
    scene.for_seconds(10, sglang(1, 500))
    scene.send("b")
    scene.for_seconds(30, sglang(1, 500))
    scene.confirmed()

    assert [set(span.victims) for span in scene.tracker.spans] == [{"a"}, {"b"}]


def test_an_engine_is_named_only_where_its_service_has_several() -> None:
    scene = Scene()
    scene.look(sglang(2, 100))
    scene.for_seconds(30, sglang(2, 100))

    assert scene.confirmed().where == ("s0",)


def test_a_server_that_was_restarted_ends_the_span_of_the_old_one() -> None:
    scene = Scene()
    scene.send("a")
    scene.look(worker(10, 900))
    scene.for_seconds(30, worker(10, 900))
    span = scene.confirmed()

    scene.for_seconds(2, worker(50, 3))

    assert span.end == "the server was restarted"


def test_a_victim_that_no_look_has_met_is_named_by_its_silence() -> None:
    scene = Scene()
    scene.send("a")
    scene.look(sglang(2, 100))
    scene.for_seconds(30, sglang(2, 100))
    span = scene.confirmed()

    scene.tracker.finish(
        [
            Silence("waited through it", 1004.0, 1026.0),
            Silence("paused for less", 1010.0, 1025.0),
            Silence("paused before it", 950.0, 1015.0),
        ]
    )

    assert span.victims == {"a": 30.0, "waited through it": 22.0}


def test_a_span_begins_with_our_last_token_where_that_fits_what_the_pages_show() -> None:
    scene = Scene()
    scene.send("a")
    scene.look(sglang(2, 100))
    scene.at_s += 2
    scene.progress_s = scene.at_s - 1.5
    scene.look(sglang(2, 130))
    scene.for_seconds(40, sglang(2, 130))

    assert scene.confirmed().started_s == 1000.5


def test_a_page_that_was_long_under_way_moves_no_span_behind_our_last_token() -> None:
    scene = Scene()
    scene.page_took_s = 1.5
    scene.send("a")
    scene.look(sglang(2, 90))
    scene.at_s += 2
    scene.look(sglang(2, 100))
    scene.progress_s = scene.at_s - 1.0  # while the page was under way: it may not show this token
    scene.at_s += 2
    scene.look(sglang(2, 130))
    scene.for_seconds(40, sglang(2, 130))

    assert scene.confirmed().started_s == 1001.0


def test_a_token_after_the_last_page_that_came_is_where_the_span_begins() -> None:
    scene = Scene()
    scene.send("a")
    scene.look(sglang(2, 100))
    scene.at_s += 2
    scene.look(sglang(2, 130))
    scene.progress_s = scene.at_s + 1.2
    scene.for_seconds(40, None)

    assert scene.confirmed().started_s == 1003.2


def test_a_page_that_came_before_the_look_dates_what_it_shows() -> None:
    tracker = WedgeTracker(PATIENCE)
    for at_s, tokens in ((1000.0, 100), (1005.0, 130), (1030.0, 130)):
        look = Look(
            at_s=at_s,
            pages={"s0": page(sglang(2, tokens))},
            times={"s0": PageTimes(at_s - 3, at_s - 3)},
            open_requests=(OpenRequest("a", at_s - 990, at_s - 990),),
        )
        tracker.look(look)

    span = tracker.canary_unanswered("no answer")

    assert span is not None and span.started_s == 1002.0
