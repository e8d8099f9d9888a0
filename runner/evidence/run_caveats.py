"""What a reader must know of an arm's runs, whatever their numbers are."""

from collections.abc import Iterator

from db.vocabulary import RunFlag
from runner.evidence.arm_evidence import ArmEvidence
from runner.evidence.caveat import Caveat, CaveatKind
from runner.evidence.number_words import counted_text

_FLAGS = {
    RunFlag.SERVER_DIED: (CaveatKind.SERVER_DIED, "the server died"),
    RunFlag.NOT_DRAINED: (CaveatKind.NOT_DRAINED, "the server had not drained at the end"),
    RunFlag.FLUSH_REFUSED: (CaveatKind.FLUSH_REFUSED, "the cache flush was refused"),
    RunFlag.RECORD_CAPPED: (CaveatKind.RECORD_CAPPED, "the raw record was capped"),
    RunFlag.FOREIGN_TRAFFIC: (
        CaveatKind.FOREIGN_TRAFFIC,
        "the server counted more requests than were sent",
    ),
    RunFlag.ARRIVALS_LATE: (
        CaveatKind.ARRIVALS_LATE,
        "sessions began late, so that the load was not the one asked for",
    ),
}


def caveats_of_runs(arm: ArmEvidence) -> Iterator[Caveat]:
    uncounted = arm.counts.uncounted
    if uncounted:
        said = ", ".join(f"{number:,} {outcome}" for outcome, number in uncounted.items())
        yield Caveat(
            CaveatKind.UNCOUNTED_OUTCOMES,
            f"{arm.name}: {said} seen, which this campaign does not count as corrupt.",
        )
    if arm.counts.harness_errors:
        sessions = counted_text(arm.counts.harness_errors, "session")
        yield Caveat(
            CaveatKind.HARNESS_ERRORS,
            f"{arm.name}: {sessions} failed by our own fault, in no rate.",
        )
    if not arm.wedges_are_known and arm.wedge_lines:
        yield Caveat(
            CaveatKind.WEDGE_SIGNS,
            f"{arm.name}: wedges were not counted; {arm.wedge_lines:,} lines tell of requests that "
            "waited for input or were aborted.",
        )
    for flag, (kind, what) in _FLAGS.items():
        labels = ", ".join(run.label for run in arm.flagged(flag))
        if labels:
            yield Caveat(kind, f"{arm.name}: {what} ({labels}).")
