"""Numbers as a file gives them: with the precision that their text has."""

import json
from decimal import Decimal
from math import inf, isclose, isinf
from typing import Any

MOST_COUNTED = 1_000_000
"""Sessions, or incidents, of one run: more are a slip of the file."""


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

COMPUTED_PRECISION = 1e-6
"""Relative: maxima and roots that two programs search for agree no further, whatever the digits."""

# A correctly rounded number may stand exactly half a unit off; binary fractions blur the edge.
_EDGE = 1.0 + 1e-6


def read_json(text: str) -> Any:
    """JSON whose decimal numbers are GivenNumber. Raises json.JSONDecodeError."""
    return json.loads(text, parse_float=GivenNumber)


def agrees(computed: float, given: Any, *, tolerance: float | None = None) -> bool:
    """Whether `given` is `computed` to within `tolerance`, else to the precision of its text.

    A text with more than six digits is not taken at its word beyond COMPUTED_PRECISION.
    """
    if given == "Infinity":
        return computed == inf
    if isinstance(given, bool) or not isinstance(given, int | float):
        return False
    if isinf(computed):
        return computed == given
    if tolerance is None:
        half = given.half_unit if isinstance(given, GivenNumber) else WHOLE_NUMBER_TOLERANCE
        tolerance = max(half * _EDGE, COMPUTED_PRECISION * abs(given))
    return abs(computed - given) <= tolerance or isclose(computed, given, rel_tol=1e-12)


def whole_number(given: Any, *, name: str) -> int:
    """A count as a file gives it, 80 or 80.0; ValueError with what is wrong for anything else."""
    is_number = isinstance(given, int | float) and not isinstance(given, bool)
    if not is_number or given != given or given in (inf, -inf) or given != int(given) or given < 0:
        raise ValueError(f"{name} is a whole number from 0, not {_shown(given)}")
    if given > MOST_COUNTED:
        raise ValueError(f"{name} is at most {MOST_COUNTED:,}, not {_shown(given)}")
    return int(given)


def share(given: Any, *, name: str) -> float:
    """A rate or a level as a file gives it; ValueError outside 0 to 1."""
    is_number = isinstance(given, int | float) and not isinstance(given, bool)
    if not is_number or not 0 <= given <= 1:
        raise ValueError(f"{name} is a number from 0 to 1, not {_shown(given)}")
    return float(given)


def _shown(given: Any) -> str:
    text = str(float(given)) if isinstance(given, GivenNumber) else json.dumps(given, default=str)
    return text if len(text) <= 40 else f"{text[:37]}..."
