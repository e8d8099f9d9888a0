"""What an arm must show in the servers' reports, and which of its factors nothing can prove."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from runner.campaign.campaign import Levels
from runner.campaign.file_shape import level_text
from runner.campaign.stack_file import Stack
from runner.stacks.verification import Check, CheckResult, check_report


class ArmProof(NamedTuple):
    """`unverifiable` are the factors whose level no report was asked for."""

    results: tuple[CheckResult, ...]
    unverifiable: tuple[str, ...]

    @property
    def failures(self) -> tuple[CheckResult, ...]:
        return tuple(result for result in self.results if not result.holds)

    def to_json(self) -> list[dict[str, Any]]:
        """One object a check; an unverifiable factor stands there with `holds` null."""
        proven = [result.to_json() for result in self.results]
        return proven + [{"factor": name, "holds": None} for name in self.unverifiable]


def prove_arm(stack: Stack, levels: Levels, reports: Mapping[str, Mapping[str, Any]]) -> ArmProof:
    """Holds every report against every check of the arm: each process must state each fact."""
    checks = arm_checks(stack, levels)
    results = tuple(
        result
        for service, report in reports.items()
        for result in check_report(checks, report, service=service)
    )
    proven = {result.factor for result in results}
    unverifiable = tuple(name for name, _ in stack.effects_of(levels) if name not in proven)
    return ArmProof(results, unverifiable)


def arm_checks(stack: Stack, levels: Levels) -> tuple[Check, ...]:
    return tuple(
        Check(factor, level_text(levels[factor]), check.server_info, check.equals)
        for factor, effect in stack.effects_of(levels)
        for check in effect.verify
    )
