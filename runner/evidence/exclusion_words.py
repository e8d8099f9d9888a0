"""Which runs stand outside a verdict, and why; decides nothing."""

from runner.evidence.arm_evidence import ArmEvidence, RunEvidence

_MOST_SHOWN = 6


def exclusion_sentences(arm: ArmEvidence, versus: ArmEvidence) -> tuple[str, ...]:
    """Attempts that were begun and do not count, those of the changed arm first."""
    each = [
        _sentence(run, arm_of_run)
        for arm_of_run in (arm, versus)
        for run in arm_of_run.runs
        if run.is_left_out
    ]
    if len(each) <= _MOST_SHOWN:
        return tuple(each)
    rest = f"{len(each) - _MOST_SHOWN + 1} more attempts, not shown here"
    return (*each[: _MOST_SHOWN - 1], rest)


def _sentence(run: RunEvidence, arm: ArmEvidence) -> str:
    said = f"{run.label} of {arm.name}, block {run.block}, is {run.state}"
    sessions = run.counts.all
    ended = f", with {sessions:,} sessions that ended" if sessions else ""
    if run.counts.corrupt:
        ended += f", {run.counts.corrupt:,} of them corrupt"
    return f"{said}{ended}: {run.reason}" if run.reason else f"{said}{ended}"
