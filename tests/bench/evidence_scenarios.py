"""The worlds that the bench of the verdicts plays, by name."""

from tests.bench.evidence_world import World

# name, world, runs after, runs before
SCENARIOS: tuple[tuple[str, World, int, int], ...] = (
    ("perfect change", World(rate_after=0, rate_before=0.15), 3, 2),
    ("perfect change, rho .05", World(rate_after=0, rate_before=0.15, rho=0.05), 3, 2),
    (
        "perfect change, 2 % errors, rho .02",
        World(rate_after=0, rate_before=0.15, rho=0.02, errors=0.02),
        3,
        3,
    ),
    ("perfect change, single runs", World(rate_after=0, rate_before=0.15, rho=0.02), 1, 1),
    ("residual .05, rho .02", World(rate_after=0.05, rate_before=0.15, rho=0.02), 3, 3),
    ("residual .05, rho .15", World(rate_after=0.05, rate_before=0.15, rho=0.15), 3, 3),
    ("no effect, rho 0", World(rate_after=0.15, rate_before=0.15), 3, 3),
    ("no effect, rho .05", World(rate_after=0.15, rate_before=0.15, rho=0.05), 3, 3),
    ("no effect, rho .15", World(rate_after=0.15, rate_before=0.15, rho=0.15), 3, 3),
    ("no effect, bad runs", World(rate_after=0.15, rate_before=0.15, bad_runs=True), 3, 3),
    ("no effect, single runs, rho .05", World(rate_after=0.15, rate_before=0.15, rho=0.05), 1, 1),
    (
        "no effect, drift 1.4 to 0.7, rho .02",
        World(rate_after=0.15, rate_before=0.15, rho=0.02, drift=1.4),
        4,
        4,
    ),
    (
        "no effect, early wedge",
        World(rate_after=0.15, rate_before=0.15, rho=0.02, early_wedge=True),
        3,
        3,
    ),
    (
        "no effect, early wedge, single runs",
        World(rate_after=0.15, rate_before=0.15, early_wedge=True),
        1,
        1,
    ),
    (
        "no effect, all hidden in the changed arm",
        World(rate_after=0.15, rate_before=0.15, rho=0.02, hidden=1.0),
        3,
        3,
    ),
    (
        "no effect, half hidden in the changed arm",
        World(rate_after=0.15, rate_before=0.15, rho=0.02, hidden=0.5),
        3,
        3,
    ),
    (
        ".04 in both, all hidden in the changed arm",
        World(rate_after=0.04, rate_before=0.04, rho=0.02, hidden=1.0),
        3,
        3,
    ),
    (".15 to .06, rho .02", World(rate_after=0.06, rate_before=0.15, rho=0.02), 3, 3),
    (".05 to .15, rho .02", World(rate_after=0.15, rate_before=0.05, rho=0.02), 3, 3),
    ("fault gone in both arms", World(rate_after=0, rate_before=0), 3, 3),
)

# name, world, the least runs an arm of a fixed plan that would do, the correlation declared
SAVINGS: tuple[tuple[str, World, int, float], ...] = (
    (".15 to 0, rho .02", World(rate_after=0, rate_before=0.15, rho=0.02), 2, 0.02),
    (".15 to 0, rho .05", World(rate_after=0, rate_before=0.15, rho=0.05), 3, 0.05),
    (
        "failing: .15 to .15, rho .02",
        World(rate_after=0.15, rate_before=0.15, rho=0.02),
        2,
        0.02,
    ),
    (
        "failing: .15 to .06, rho .02",
        World(rate_after=0.06, rate_before=0.15, rho=0.02),
        2,
        0.02,
    ),
)
