"""Limits for one rate from independent sessions; knows nothing of runs or of arms.

Wilson is shown (`rates`), Clopper-Pearson decides: its coverage never falls below the nominal one.
"""

from scipy.special import betainccinv, betaincinv

from runner.evidence.rates import CONFIDENCE, Interval, Rate


def clopper_pearson(rate: Rate, confidence: float = CONFIDENCE) -> Interval:
    """Exact interval from the binomial tails (Clopper & Pearson, Biometrika 26, 1934)."""
    tail = (1 - confidence) / 2
    return Interval(_exact_low(rate, tail), _exact_high(rate, tail))


def jeffreys(rate: Rate, confidence: float = CONFIDENCE) -> Interval:
    """Equal tails of Beta(k + 1/2, n - k + 1/2), ends set to 0 and 1 at k = 0 and k = n.

    Brown, Cai & DasGupta, Statistical Science 16 (2001), section 4.1.
    """
    tail = (1 - confidence) / 2
    a, b = rate.count + 0.5, rate.of - rate.count + 0.5
    low = 0.0 if rate.count == 0 else float(betaincinv(a, b, tail))
    high = 1.0 if rate.count == rate.of else float(betainccinv(a, b, tail))
    return Interval(low, high)


def exact_upper_limit(rate: Rate, confidence: float = CONFIDENCE) -> float:
    """One-sided Clopper-Pearson; of 0 it is the exact rule of three."""
    if rate.count == 0:
        return zero_upper_limit(rate.of, confidence)
    return _exact_high(rate, 1 - confidence)


def exact_lower_limit(rate: Rate, confidence: float = CONFIDENCE) -> float:
    """One-sided Clopper-Pearson from below."""
    return _exact_low(rate, 1 - confidence)


def zero_upper_limit(sessions: int, confidence: float = CONFIDENCE) -> float:
    """The highest rate that 0 of so many leaves: 1 - alpha^(1/n), the rule of three made exact.

    Raises ValueError below one session.
    """
    if sessions < 1:
        raise ValueError("no sessions exclude no rate")
    return float(1.0 - (1 - confidence) ** (1.0 / sessions))


def _exact_low(rate: Rate, tail: float) -> float:
    k, n = rate.count, rate.of
    return 0.0 if k == 0 else float(betaincinv(k, n - k + 1, tail))


def _exact_high(rate: Rate, tail: float) -> float:
    k, n = rate.count, rate.of
    return 1.0 if k == n else float(betainccinv(k + 1, n - k, tail))
