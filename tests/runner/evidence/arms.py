"""Runs and arms for tests, as short as a reader wants them."""

from collections.abc import Mapping

from db.vocabulary import RunState
from runner.evidence.arm_evidence import ArmEvidence, RunEvidence
from runner.evidence.counts import counted


def run(
    outcomes: Mapping[str, int],
    *,
    block: int = 1,
    label: str | None = None,
    state: RunState = RunState.DONE,
    wedges: int | None = None,
    wedge_requests: int = 0,
    wedge_lines: int = 0,
    flags: tuple[str, ...] = (),
    reason: str | None = None,
) -> RunEvidence:
    return RunEvidence(
        label=label or f"r-{block}",
        block=block,
        state=state,
        counts=counted(outcomes),
        wedges=wedges,
        wedge_requests=wedge_requests,
        wedge_lines=wedge_lines,
        flags=flags,
        reason=reason,
    )


def arm(*runs: RunEvidence, name: str = "after", blocks: int | None = None) -> ArmEvidence:
    return ArmEvidence(name, runs, len(runs) if blocks is None else blocks)
