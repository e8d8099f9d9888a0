"""What an attribution says, in one sentence and a line for each level that was taken away."""

from runner.evidence.factorial_attribution import Attribution, Removal, Role
from runner.evidence.number_words import counted_text, of_text, p_text, points_text
from runner.evidence.rates import Interval

_MOST_UNTESTED = 2


def attribution_sentence(attribution: Attribution) -> str:
    """`Corruption needs index_keys=bf16 *and* hicache=on: 12 of 80 with both, ...`."""
    failing = attribution.failing.totals
    with_all = of_text(failing.corrupt, failing.sessions)
    named = _named(attribution, attribution.together)
    if not named:
        return f"Not attributed: {with_all} in the failing cell; {_why_not(attribution)}."
    needs = "needs" if _is_clean_without(attribution) else "beyond a background needs"
    all_of = "with it" if len(named) == 1 else "with both" if len(named) == 2 else "with all"
    without = ", ".join(
        f"{_of(removal)} {_instead(removal)}"
        for removal in attribution.removals
        if removal.factor in attribution.together
    )
    p = p_text(attribution.largest_p)
    strength = p if len(named) == 1 else f"largest {p}"
    return (
        f"Corruption {needs} {' *and* '.join(named)}: {with_all} {all_of}; {without} ({strength})."
    )


def removal_lines(attribution: Attribution) -> tuple[str, ...]:
    """One for each level, then the excess of each two, then what no cell tested."""
    excesses = [
        f"{' and '.join(e.factors)} together exceed their sum by "
        f"{points_text(e.excess, Interval(*e.limits))}."
        for e in attribution.excesses
    ]
    return (*map(_removal_line, attribution.removals), *excesses, *_untested(attribution))


def _removal_line(removal: Removal) -> str:
    what = {
        Role.NEEDED: "no corruption was seen",
        Role.CONTRIBUTES: "corruption was lower, but seen",
        Role.NOT_NEEDED: (
            f"corruption was seen, so it does not need {removal.factor}={removal.level}"
        ),
        Role.UNCLEAR: "none was seen, which is not shown to be lower",
    }[removal.role]
    return f"{_instead(removal)}: {_of(removal)}, {what} ({p_text(removal.p)})."


def _untested(attribution: Attribution) -> tuple[str, ...]:
    """The smallest combinations are the cheapest to run and tell the most; the rest is counted."""
    untested = sorted(attribution.untested, key=len)
    if not untested:
        return ()
    shown = ", or without ".join(" and ".join(each) for each in untested[:_MOST_UNTESTED])
    rest = len(untested) - _MOST_UNTESTED
    others = f", nor for {counted_text(rest, 'other combination')}" if rest > 0 else ""
    return (f"Not tested: there is no cell without {shown}{others}.",)


def _why_not(attribution: Attribution) -> str:
    lowering = [
        removal.factor
        for removal in attribution.removals
        if removal.role in (Role.NEEDED, Role.CONTRIBUTES)
    ]
    if not lowering:
        return "no single level was shown to matter"
    if any(excess.limits.low <= 0 for excess in attribution.excesses):
        return f"{' and '.join(lowering)} matter, but not shown to need each other"
    return f"{' and '.join(lowering)} matter one by one, but not every combination was shown"


def _named(attribution: Attribution, factors: tuple[str, ...]) -> list[str]:
    return [f"{factor}={attribution.failing.levels[factor]}" for factor in factors]


def _is_clean_without(attribution: Attribution) -> bool:
    return all(
        removal.cell.totals.corrupt == 0
        for removal in attribution.removals
        if removal.factor in attribution.together
    )


def _instead(removal: Removal) -> str:
    return f"with {removal.factor}={removal.instead}"


def _of(removal: Removal) -> str:
    totals = removal.cell.totals
    silent = f" and {totals.silent:,} silent" if totals.silent else ""
    return f"{of_text(totals.corrupt, totals.sessions)}{silent}"
