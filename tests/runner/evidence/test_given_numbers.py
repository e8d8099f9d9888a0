import pytest

from runner.evidence.given_numbers import agrees, read_json


def given(text: str) -> object:
    return read_json(f"[{text}]")[0]


@pytest.mark.parametrize(
    ("text", "computed", "fits"),
    [
        ("0.0921", 0.09209287, True),
        ("0.0921", 0.09216, False),
        ("0.0921", 0.09204, False),
        ("7.861e-13", 7.8612e-13, True),
        ("7.861e-13", 7.8618e-13, False),
        ("1.0", 0.97, True),
        ("1.0", 0.90, False),
        ("0", 0.00001, True),
        ("0", 0.01, False),
        ("1", 1.0, True),
        ("-0.0076", -0.007576, True),
        ('"Infinity"', float("inf"), True),
        ('"Infinity"', 5.0, False),
        ("0.5", float("inf"), False),
        ("true", 1.0, False),
        ("null", 0.0, False),
        ('"0.5"', 0.5, False),
    ],
)
def test_a_number_agrees_to_the_precision_that_the_file_gives(
    text: str, computed: float, fits: bool
) -> None:
    assert agrees(computed, given(text)) is fits


def test_a_tolerance_stands_over_the_precision_of_the_text() -> None:
    assert agrees(0.5000009, given("0.5000000000"), tolerance=1e-6)
    assert not agrees(0.5000011, given("0.5000000000"), tolerance=1e-6)


def test_a_half_that_was_rounded_either_way_agrees() -> None:
    assert agrees(0.00625, given("0.0063")) and agrees(0.00625, given("0.0062"))
