"""What runs cost in launches, wall time and GPU minutes, from what one run takes."""

from dataclasses import dataclass

from runner.evidence.launch_words import RUN
from runner.evidence.number_words import counted_text
from runner.evidence.wording import duration_text, rounded


@dataclass(frozen=True, slots=True)
class RunCost:
    """Measured or assumed times of one run, and how many GPUs it holds (0: none)."""

    launch_s: float
    drive_s: float
    gpus: int = 1


@dataclass(frozen=True, slots=True)
class Cost:
    """`wall_s` is None where nobody said what a run takes, `sessions` 0 where no run has told how
    many it plays; `unit` is what counts as one.
    """

    launches: int
    sessions: int
    wall_s: float | None = None
    gpu_minutes: float | None = None
    unit: str = RUN

    def __str__(self) -> str:
        if self.launches == 0:
            return "no run"
        parts = [counted_text(self.launches, self.unit)]
        if self.sessions:
            parts.append(counted_text(self.sessions, "session"))
        if self.wall_s is not None:
            parts.append(duration_text(self.wall_s))
        if self.gpu_minutes:
            parts.append(f"{rounded(self.gpu_minutes, 0)} GPU minutes")
        return ", ".join(parts)


NO_COST = Cost(0, 0, 0.0, 0.0)


def cost_of(
    runs: int,
    *,
    sessions: int,
    each: RunCost | None,
    launches: int | None = None,
    unit: str = RUN,
) -> Cost:
    """Of `runs` runs of so many sessions; `launches` where runs share some. `unit` is what was
    counted as a run.
    """
    started = runs if launches is None else launches
    if each is None:
        return Cost(started, runs * sessions, unit=unit)
    wall_s = started * each.launch_s + runs * each.drive_s
    return Cost(started, runs * sessions, wall_s, wall_s / 60 * each.gpus, unit)
