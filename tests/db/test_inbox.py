from threading import Thread

import pytest

from db.inbox import Inbox, InboxClosedError, InboxFullError

LONG_S = 10.0
HOURS_S = 10_000.0


def inbox(*, capacity: int = 3, linger_s: float = 0.0, patience_s: float = HOURS_S) -> Inbox[str]:
    return Inbox(capacity=capacity, linger_s=linger_s, patience_s=patience_s)


def test_what_is_put_in_comes_out_in_order() -> None:
    box = inbox()
    box.put("a")
    box.put("b")

    assert box.take() == ["a", "b"]


def test_a_full_inbox_takes_no_offer() -> None:
    box = inbox(capacity=3)

    assert box.offer("a", weight=2)
    assert not box.offer("b", weight=2)
    assert box.take() == ["a"]
    assert box.offer("b", weight=2)


def test_something_heavier_than_the_inbox_fits_when_it_is_empty() -> None:
    box = inbox(capacity=3)

    assert box.offer("heavy", weight=100)
    assert not box.offer("light", weight=1)


def test_a_giver_waits_until_there_is_room() -> None:
    box = inbox(capacity=1)
    box.put("first")
    giver = Thread(target=box.put, args=("second",))
    giver.start()

    taken = box.take()
    giver.join(LONG_S)

    assert taken == ["first"]
    assert box.take() == ["second"]


def test_a_giver_for_whom_no_room_is_made_is_told_so() -> None:
    box = inbox(capacity=1, patience_s=0.0)
    box.put("first")

    with pytest.raises(InboxFullError):
        box.put("second")

    assert box.take() == ["first"]


def test_a_full_batch_does_not_linger() -> None:
    box = inbox(capacity=2, linger_s=HOURS_S)
    box.put("a")
    box.put("b")

    assert taken_soon(box) == ["a", "b"]


def test_enough_company_ends_the_lingering() -> None:
    box: Inbox[str] = Inbox(capacity=9, linger_s=HOURS_S, patience_s=HOURS_S, company=3)
    box.put("a")
    box.put("b")
    box.put("c")

    assert taken_soon(box) == ["a", "b", "c"]


def test_who_waits_in_vain_for_company_waits_no_longer() -> None:
    box: Inbox[str] = Inbox(capacity=9, linger_s=HOURS_S, patience_s=HOURS_S, quiet_s=0.01)
    box.put("a")

    assert taken_soon(box) == ["a"]


def test_company_that_keeps_coming_is_not_waited_for_without_end() -> None:
    box: Inbox[str] = Inbox(capacity=9, linger_s=0.01, patience_s=HOURS_S, quiet_s=HOURS_S)
    box.put("a")
    box.put("b")

    assert taken_soon(box) == ["a", "b"]


def test_something_urgent_ends_the_lingering() -> None:
    box = inbox(capacity=9, linger_s=HOURS_S)
    box.put("a")
    box.put_urgent("now")

    assert taken_soon(box) == ["a", "now"]


def test_something_urgent_needs_no_room() -> None:
    box = inbox(capacity=1)
    box.put("a")
    box.put_urgent("now")

    assert box.take() == ["a", "now"]


def test_what_was_in_when_it_closed_can_still_be_taken() -> None:
    box = inbox(linger_s=HOURS_S)
    box.put("last")
    box.close()

    assert taken_soon(box) == ["last"]
    assert box.take() == []


def test_a_closed_inbox_takes_nothing_more() -> None:
    box = inbox()
    box.close()

    for give in (box.put, box.offer, box.put_urgent):
        with pytest.raises(InboxClosedError):
            give("late")


def test_closing_wakes_a_giver_that_waits_for_room() -> None:
    box = inbox(capacity=1)
    box.put("first")
    refused: list[type[BaseException]] = []

    def give() -> None:
        try:
            box.put("second")
        except InboxClosedError as error:
            refused.append(type(error))

    giver = Thread(target=give)
    giver.start()
    box.close()
    giver.join(LONG_S)

    assert refused == [InboxClosedError]


def taken_soon(box: Inbox[str]) -> list[str] | None:
    """What is taken without lingering; None where the taker still lingers."""
    taken: list[list[str]] = []
    taker = Thread(target=lambda: taken.append(box.take()), daemon=True)
    taker.start()
    taker.join(LONG_S)
    return taken[0] if taken else None
