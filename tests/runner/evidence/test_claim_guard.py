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
        "The fault is not eliminated.",
        "This does not show that corruption was lower.",
        "No improvement shown, because 75 of 80 sessions gave no evidence.",
        "Availability is not shown worse.",
        'The prediction "the bug is fixed" failed.',
        "3 more clean runs would lower the limit to 1.0 %.",
    ],
)
def test_what_is_negated_quoted_or_planned_claims_nothing(text: str) -> None:
    assert claims(text) == ()


def test_answers_license_their_own_words_and_no_others() -> None:
    lower = claims("Corruption was lower.", Headline.IMPROVED_NOT_ELIMINATED, Direction.LOWER)
    higher = claims("Corruption was lower.", Headline.WORSE, Direction.HIGHER)
    confirmed = claims("Confirmed, so it is fixed.", Headline.CONFIRMED, Direction.LOWER)

    assert (lower, higher, confirmed) == ((), ("lower",), ("fixed",))
