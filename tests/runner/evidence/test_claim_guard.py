import pytest

from db.vocabulary import Availability, Direction, Headline
from runner.evidence.claim_guard import unlicensed_claims


def claims(
    text: str,
    headline: Headline = Headline.INCONCLUSIVE,
    direction: Direction = Direction.UNCLEAR,
    availability: Availability = Availability.NOT_SHOWN_WORSE,
) -> tuple[str, ...]:
    return unlicensed_claims(
        text, headline=headline, direction=direction, availability=availability
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The bug is fixed.", ("fixed",)),
        ("Corruption was halved by the change.", ("halved",)),
        ("The fault is gone, eliminated.", ("gone", "eliminated")),
        ("Both arms are the same.", ("same",)),
        ("This proves it.", ("proves",)),
        ("Corruption was lower.", ("lower",)),
        ("It had no effect.", ("no effect",)),
        ("Availability is worse.", ("worse",)),
        ("We saw nothing. The fault is fixed.", ("fixed",)),
    ],
)
def test_what_an_inconclusive_verdict_may_not_say(text: str, words: tuple[str, ...]) -> None:
    assert claims(text) == words


@pytest.mark.parametrize(
    "text",
    [
        "THE BUG IS FIXED",
        "The bug has been fixed by the new pool.",
        "It was resolved by the change.",
        "The fault is no longer there.",
        "Tool calls are no longer broken.",
        "The rate was cut in half.",
        "6 %, halved",
        "Corruption is down by half.",
        "Half as many sessions leaked.",
        "It leaked half of what it did.",
        "Both arms are identical.",
        "The arms behave in the same way.",
        "The rates are equal.",
        "The new build is equivalent.",
        "The fault is gone.",
        "The fault has disappeared.",
        "It vanished with the new pool.",
        "The model is cured.",
        "This cures it.",
        "It heals the cache.",
        "The change repaired the pool.",
        "The change solves it.",
        "The cause has been removed.",
        "This is proof that the pool was the cause.",
        "It proves the cause.",
        "The cause is proven.",
        "This demonstrates the cause.",
        "Clean runs are guaranteed.",
        "It is certainly the pool.",
        "Corruption is zero.",
        "The stack is corruption-free.",
        "The stack never leaks.",
        "It is safe to ship.",
        "It works again.",
        "Fewer sessions leaked.",
        "There was less corruption.",
        "Corruption dropped.",
        "The rate fell to 6 %.",
        "The change improves it.",
        "The change reduces corruption.",
        "The rate is better.",
        "More corruption was seen.",
        "The rate rose to 17 %.",
        "It doubled.",
        "The hypothesis is confirmed.",
        # a word of negation that negates something else, or nothing
        "Not surprisingly, the bug is fixed.",
        "The bug is not only rarer, it is fixed.",
        "There is no doubt the bug is fixed.",
        "Without doubt it is fixed.",
        "Nothing but fixed.",
        "No session leaked, so the bug is fixed.",
        "No session leaked because the bug is fixed.",
        "It did not leak; the fault is gone.",
        "It did not leak - the fault is gone.",
        "Nothing leaked (the bug is fixed).",
        "Did it not leak? It is fixed!",
        "No wedge was seen while the bug was gone.",
        "It is not slow but fixed.",
        'They asked "is it not?" and it is fixed.',
        "It did not leak\nThe bug is fixed",
    ],
)
def test_hostile_over_claims_are_caught_however_they_are_put(text: str) -> None:
    assert claims(text) != ()


@pytest.mark.parametrize(
    "text",
    [
        "The fault is not eliminated.",
        "This is not shown to be fixed.",
        "It is open whether it is fixed.",
        "It does not prove that the pool was the cause.",
        "It cannot be said that the rates are equal.",
        "Neither identical nor lower rates were shown.",
        "NOT SHOWN TO BE FIXED",
        "This does not show that corruption was lower.",
        "This does not show that the rate is zero, nor anything beyond this arm and load.",
        "No improvement shown, because 75 of 80 sessions gave no evidence.",
        "Availability is not shown worse.",
        'The prediction "the bug is fixed" failed.',
        "3 more clean runs would lower the limit to 1.0 %.",
        "No change shown: 5 of 80 v 12 of 80 corrupt (p = 0.3 for fewer, p = 1 for more).",
        "Find why sessions fell silent.",
    ],
)
def test_what_is_negated_quoted_or_planned_claims_nothing(text: str) -> None:
    assert claims(text) == ()


def test_answers_license_their_own_words_and_no_others() -> None:
    lower = claims("Corruption was lower.", Headline.IMPROVED_NOT_ELIMINATED, Direction.LOWER)
    higher = claims("Corruption was lower.", Headline.WORSE, Direction.HIGHER)
    confirmed = claims("Confirmed, so it is fixed.", Headline.CONFIRMED, Direction.LOWER)

    assert (lower, higher, confirmed) == ((), ("lower",), ("fixed",))


def test_worse_availability_and_a_worse_headline_license_worse() -> None:
    text = "Availability is worse."

    assert claims(text) == ("worse",)
    assert claims(text, availability=Availability.WORSE) == ()
    assert claims(text, Headline.WORSE, Direction.HIGHER) == ()
