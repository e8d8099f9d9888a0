"""How probabilities, limits and counts are written in the sentences of a verdict."""

from math import floor, log10

from runner.evidence.rates import Interval
from runner.evidence.wording import MINUS, THIN_SPACE, rounded, signed_interval_text

_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_SMALLEST_PLAIN = 0.001
_NEAR_ALPHA = (0.04, 0.06)


def p_text(p: float) -> str:
    """`p = 0.049`, `p = 8 × 10⁻¹³`; a digit more where alpha is near."""
    if p >= 1.0:
        return "p = 1"
    if p < 1e-300:
        return "p < 10⁻³⁰⁰"
    if p >= _SMALLEST_PLAIN:
        near = _NEAR_ALPHA[0] <= p <= _NEAR_ALPHA[1]
        text = rounded(p, 4 if near else 3 if p < 0.1 else 2)
        return f"p = {text}" if float(text) < 1 else "p > 0.99"
    exponent = floor(log10(p))
    digit = rounded(p / 10.0**exponent, 0)
    if digit == "10":
        digit, exponent = "1", exponent + 1
    return f"p = {digit} × 10{str(exponent).translate(_SUPERSCRIPTS)}"


def share_text(rate: float) -> str:
    """`4.9 %`; what is not none or all never looks so."""
    if rate in (0.0, 1.0):
        return f"{100 * rate:.0f}{THIN_SPACE}%"
    text = rounded(100 * rate)
    text = {"0.0": "<0.1", "100.0": ">99.9"}.get(text, text)
    return f"{text}{THIN_SPACE}%"


def of_text(count: int, total: int) -> str:
    """`75 of 80`."""
    return f"{count:,} of {total:,}"


def confidence_text(confidence: float) -> str:
    """`95 %`, `97.5 %`."""
    return f"{rounded(100 * confidence, 1).removesuffix('.0')}{THIN_SPACE}%"


def points_text(difference: float, interval: Interval) -> str:
    """`−11.7 points [−18.1 to −5.6]`."""
    text = rounded(100 * difference)
    sign = "" if text.startswith(MINUS) or difference == 0 else "+"
    return f"{sign}{text} points {signed_interval_text(100 * interval.low, 100 * interval.high)}"


def rho_text(rho: float) -> str:
    """`0.05`, `0.0003`: as many digits as it takes."""
    return f"{rho:.2g}" if rho < 0.01 else f"{rho:.3f}".rstrip("0")


def e_text(e_value: float) -> str:
    """`e = 31`, `e = 0.4`."""
    return f"e = {rounded(e_value, 0 if e_value >= 10 else 1)}"


def counted_text(number: int, noun: str) -> str:
    """`1 run`, `2 runs`, `2 launches`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {plural_of(noun)}"


def plural_of(noun: str) -> str:
    return f"{noun}es" if noun.endswith("ch") else f"{noun}s"
