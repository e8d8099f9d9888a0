"""The sentences on whether wedges and corruption are one fault; they name no cause. Pure."""

from runner.evidence.linked_faults import Linkage, LinkTest
from runner.evidence.number_words import counted_text, p_text
from runner.evidence.wording import duration_text

_ALPHA = 0.05


def linkage_lines(linkage: Linkage) -> list[str]:
    """Empty where nothing went corrupt, or nothing stood still and nothing was aborted."""
    if not linkage.runs_with_corruption or not linkage.runs_with_disturbance:
        return []
    lines = []
    if linkage.corrupt_in_quiet_runs:
        lines.append(
            f"In {counted_text(linkage.quiet_runs_with_corruption, 'run')} without any wedge or "
            f"abort, {counted_text(linkage.corrupt_in_quiet_runs, 'session')} went corrupt: "
            "corruption does not need one there."
        )
    if linkage.test is None:
        lines.append(
            "Whether wedges and corruption are linked cannot be asked: no run had both "
            f"(corruption in {counted_text(linkage.runs_with_corruption, 'run')}, wedges or aborts "
            f"in {linkage.runs_with_disturbance:,})."
        )
        return lines
    return [*lines, _seen(linkage.test), _meaning(linkage.test)]


def _seen(test: LinkTest) -> str:
    return (
        f"In {counted_text(test.runs, 'run')} with both, {counted_text(test.corrupt, 'turn')} that "
        f"went corrupt stood {duration_text(test.corrupt_median_s)} from the nearest wedge or "
        f"abort (median; {counted_text(test.disturbances, 'event')}), {test.others:,} other turns "
        f"{duration_text(test.others_median_s)}: {p_text(test.p)} for nearer, the larger of two "
        f"permutations within runs (which turn went corrupt: {p_text(test.p_exchange)}; when: "
        f"{p_text(test.p_clock)})."
    )


def _meaning(test: LinkTest) -> str:
    if test.p < _ALPHA:
        return (
            "They come together in time. Whether one brings the other, or a third brings both "
            "(such as the load), is not said by that: an arm without the wedges would say it."
        )
    return (
        "A link is not shown, and not excluded either: with so few events only a close one would "
        "have been seen."
        if test.disturbances < 10
        else "A link is not shown, and not excluded either."
    )
