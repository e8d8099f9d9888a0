"""An arm compared with that did not fail either: what that leaves open, and what would show it."""

from dataclasses import dataclass
from math import ceil, log

from runner.evidence.arm_comparison import ArmComparison
from runner.evidence.clustered_limits import clustered_upper_limit
from runner.evidence.comparison_setting import ComparisonSetting
from runner.evidence.decision_rule import DecisionRule
from runner.evidence.launch_words import Unit
from runner.evidence.number_words import confidence_text, counted_text, rho_text, share_text

DEFAULT_HISTORICAL_RATE = 0.15


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreproduced:
    """`sessions` gave evidence in `units` runs or launches and were all clean, which leaves the
    rate `limit`, as many again `limit_of_twice`. `rate`: at which the fault was seen or is assumed.
    """

    sessions: int
    units: int
    unit: Unit
    limit: float
    limit_of_twice: float
    rho: float
    confidence: float
    rate: float
    was_seen: bool

    @property
    def sessions_needed(self) -> int:
        return sessions_to_reproduce(self.rate)

    @property
    def has_played_enough(self) -> bool:
        """Whether so many sessions as show the rate have shown nothing."""
        return self.sessions >= self.sessions_needed


def unreproduced(
    comparison: ArmComparison, *, rule: DecisionRule, setting: ComparisonSetting, unit: Unit
) -> Unreproduced:
    """Of an arm compared with in which no session was corrupt."""
    before = comparison.before
    sizes = [launch.evidence for launch in before.launches if launch.evidence]

    def limit_of(played: list[int]) -> float:
        if not played:
            return 1.0
        return clustered_upper_limit(0, played, rho=comparison.rho, confidence=rule.confidence)

    return Unreproduced(
        sessions=before.evidence,
        units=len(sizes),
        unit=unit,
        limit=limit_of(sizes),
        limit_of_twice=limit_of([*sizes, *sizes]),
        rho=comparison.rho,
        confidence=rule.confidence,
        rate=setting.historical_rate or DEFAULT_HISTORICAL_RATE,
        was_seen=bool(setting.historical_rate),
    )


def sessions_to_reproduce(historical_rate: float, *, probability: float = 0.95) -> int:
    """Sessions that show a fault of this rate at least once: ln(1 - P) / ln(1 - rate)."""
    return ceil(log(1 - probability) / log(1 - historical_rate))


def shown_text(found: Unreproduced) -> str:
    """`120 sessions there (1 launch) showed nothing at this load, which leaves a rate of ...`."""
    return (
        f"{counted_text(found.sessions, 'session')} there "
        f"({counted_text(found.units, found.unit.noun)}) showed nothing at this load, which leaves "
        f"a rate of at most {share_text(found.limit)} ({confidence_text(found.confidence)} "
        f"confidence, ICC {rho_text(found.rho)})"
    )


def next_step_text(found: Unreproduced) -> str:
    if found.has_played_enough:
        return (
            "Raise the load of the arm compared with or the number of its sessions, or bring back "
            f"the conditions under which the fault was seen: {shown_text(found)}. As many again "
            f"without a corrupt one would leave at most {share_text(found.limit_of_twice)}."
        )
    source = "seen before" if found.was_seen else "assumed"
    return (
        "First reproduce the fault in the arm compared with, under more load if need be: "
        f"{found.sessions_needed:,} sessions show a rate of {share_text(found.rate)} ({source}) "
        "with 95\u2009% probability."
    )
