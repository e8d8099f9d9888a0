"""Tables and verdicts beyond the recorded ones, with the answers of the oracles beside.

`python -m tests.runner.evidence.oracle_answers` computes them (minutes) and writes them to where
the tests read them, in the two formats that `decisive evidence` reads.
"""

import json
import random
import warnings
from collections.abc import Iterator
from typing import Any

from tests.runner.evidence.recorded_answers import ORACLE_TABLES, ORACLE_VERDICTS
from tests.runner.evidence.table_oracles import Cells, table_values
from tests.runner.evidence.verdict_oracle import expected_of

SEED = 20
TABLES, VERDICTS = 340, 40


def tables() -> Iterator[Cells]:
    """All edges of small and of unequal arms, huge arms, then random ones."""
    seen: set[Cells] = set()
    for cells in _tables(random.Random(SEED)):
        if cells not in seen:
            seen.add(cells)
            yield cells
        if len(seen) == TABLES:
            return


def _tables(rng: random.Random) -> Iterator[Cells]:
    for n in (1, 2, 3, 7, 20, 59, 80):
        for a, b in ((0, 0), (0, n), (n, 0), (n, n), (0, n // 2), (n // 2, 0), (n, n // 2)):
            yield a, n, b, n
    for n1, n2 in ((1, 80), (80, 1), (2, 240), (5, 80), (80, 60), (240, 160), (10, 20)):
        for a, b in ((0, 0), (0, n2), (n1, 0), (n1, n2), (n1 // 2, n2 // 2), (n1 - 1, 1)):
            yield a, n1, b, n2
    for n1, n2 in ((10_000, 10_000), (10_000, 80), (80, 10_000), (10_000, 1)):
        for a, b in ((0, 0), (0, n2), (n1, 0), (n1, n2), (n1 // 10, n2 // 8), (3, 0)):
            yield a, n1, b, n2
    while True:
        n1, n2 = (rng.choice([3, 4, 5, 8, 10, 17, 34, 40, 60, 80, 105, 160]) for _ in range(2))
        yield rng.randint(0, rng.choice([n1, 3])), n1, rng.randint(0, rng.choice([n2, n2, 12])), n2


def oracle_table(number: int, cells: Cells) -> dict[str, Any]:
    alpha = 0.1 if number % 10 == 0 else 0.05
    cells = cells[0], cells[1], min(cells[2], cells[3]), cells[3]
    names = dict(zip(("x1", "n1", "x2", "n2"), cells, strict=True))
    values = table_values(cells, confidence=1 - alpha)
    return {"id": f"O{number:03}", **names, "alpha": alpha, "values": _rounded(values, 10)}


def _run(rng: random.Random, corrupt: list[int], *, calm: bool) -> dict[str, int]:
    sessions = 80 if calm else rng.choice([80, 60, 40])
    silent = rng.choice([0, 0, 0, 0, 1] if calm else [0, 0, 2, 4, 20, sessions])
    bad = min(sessions - silent, rng.choice(corrupt))
    wedges = 0 if calm else rng.choice([0, 0, 0, 3])
    return {"clean": sessions - silent - bad, "corrupt": bad, "error": silent, "wedges": wedges}


def oracle_case(rng: random.Random) -> dict[str, Any]:
    """From spotless to worse, with silence and wedges here and there."""
    after, before = rng.choice(
        [
            ([0], [12, 10, 14]),
            ([0], [12, 10, 14]),
            ([0, 0, 1], [12, 9]),
            ([2, 3, 4], [12, 14, 16]),
            ([12, 15, 16], [3, 4]),
            ([0], [0]),
            ([12], [12]),
            ([0, 0, 1], [0, 1]),
        ]
    )
    calm = rng.random() < 0.7
    case: dict[str, Any] = {
        "treatment": [_run(rng, after, calm=calm) for _ in range(rng.choice([1, 2, 3]))],
        "control": [_run(rng, before, calm=calm) for _ in range(rng.choice([1, 2, 3]))],
        "plan": rng.choice([{}, {}, {"p_max": 0.1}, {"rho_floor": 0.05, "rho_single": 0.1}]),
    }
    return {**case, "expected": _rounded(expected_of(case), 5)}  # as a person would


def _rounded(answer: Any, digits: int) -> Any:
    if isinstance(answer, dict):
        return {name: _rounded(each, digits) for name, each in answer.items()}
    if isinstance(answer, tuple):
        return [_rounded(each, digits) for each in answer]
    return float(f"{answer:.{digits}g}") if isinstance(answer, float) else answer


def main() -> None:
    warnings.simplefilter("ignore")
    _write_tables()
    _write_verdicts()


def _write_tables() -> None:
    made = [oracle_table(number, cells) for number, cells in enumerate(tables(), start=1)]
    about = {"note": "computed by tests/runner/evidence/table_oracles.py"}
    lines = ",\n".join(json.dumps(each) for each in made)
    text = f'{{"meta": {json.dumps(about)}, "tables": [\n{lines}\n]}}\n'
    ORACLE_TABLES.write_text(text, encoding="utf-8")


def _write_verdicts() -> None:
    rng = random.Random(SEED)
    cases = [f'"V{i:02}": {json.dumps(oracle_case(rng))}' for i in range(1, VERDICTS + 1)]
    about = {"note": "computed by tests/runner/evidence/verdict_oracle.py"}
    text = f'{{"meta": {json.dumps(about)},\n' + ",\n".join(cases) + "\n}\n"
    ORACLE_VERDICTS.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
