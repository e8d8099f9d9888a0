"""Numbers as a file gives them: with the precision that their text has."""

import json
from decimal import Decimal
from math import inf, isclose, isinf
from typing import Any


class GivenNumber(float):
    """A number that remembers half a unit of its last digit."""

    half_unit: float

    def __new__(cls, text: str) -> "GivenNumber":
        number = super().__new__(cls, text)
        exponent = Decimal(text).as_tuple().exponent
        number.half_unit = 0.5 * 10.0**exponent if isinstance(exponent, int) else 0.0
        return number


WHOLE_NUMBER_TOLERANCE = 5e-5
"""For a rate that a file writes as 0 or 1 without a decimal point."""

# A correctly rounded number may stand exactly half a unit off; binary fractions blur the edge.
_EDGE = 1.0 + 1e-6


def read_json(text: str) -> Any:
    """JSON whose decimal numbers are GivenNumber. Raises json.JSONDecodeError."""
    return json.loads(text, parse_float=GivenNumber)


def agrees(computed: float, given: Any, *, tolerance: float | None = None) -> bool:
    """Whether `given` is `computed` to within `tolerance`, else to the precision of its text."""
    if given == "Infinity":
        return computed == inf
    if isinstance(given, bool) or not isinstance(given, int | float):
        return False
    if isinf(computed):
        return computed == given
    if tolerance is None:
        half = given.half_unit if isinstance(given, GivenNumber) else WHOLE_NUMBER_TOLERANCE
        tolerance = half * _EDGE
    return abs(computed - given) <= tolerance or isclose(computed, given, rel_tol=1e-12)
