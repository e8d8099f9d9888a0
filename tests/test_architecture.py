"""Reads the import graph and fails with the sentence of the rule that was broken."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("app", "runner", "db")
PURE_PARTS = (
    *("runner.campaign", "runner.evidence", "runner.report"),
    *("runner.difference", "runner.failures"),
)
BANNED_NAMES = frozenset(
    {"utils", "helpers", "common", "misc", "manager", "base", "core", "handler", "service"}
)
FIXED_TOP_LEVEL = frozenset(
    {"pyproject.toml", "README.md", "Makefile", "LICENSE", "CHANGELOG.md"}
    | {"app", "runner", "db", "tests", "configs"}
)

RULES: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("db imports nothing of ours", "db", ("runner", "app")),
    ("runner does not import app", "runner", ("app",)),
    ("db imports no torch and no streamlit", "db", ("torch", "streamlit", "plotly")),
    ("runner imports no streamlit and no plotly", "runner", ("streamlit", "plotly")),
    ("app imports no torch", "app", ("torch",)),
    ("figures know nothing of streamlit", "app.figures", ("streamlit",)),
    ("the judge does no I/O of its own", "runner.judge", ("httpx", "sqlmodel", "asyncio")),
    ("campaigns are pure", "runner.campaign", ("httpx", "torch", "sqlmodel", "asyncio")),
    ("evidence is pure", "runner.evidence", ("httpx", "torch", "sqlmodel", "asyncio")),
    *(
        ("the search of a reduction is pure", f"runner.reduce.{name}", ("db", "asyncio", "httpx"))
        for name in ("standing", "cause_beliefs", "factor_search", "load_search", "reduction")
    ),
    ("reports are pure", "runner.report", ("httpx", "torch", "asyncio")),
    ("differences are pure", "runner.difference", ("httpx", "torch", "sqlmodel", "asyncio")),
    ("failures are pure", "runner.failures", ("httpx", "torch", "sqlmodel", "asyncio")),
    (
        "the testbed stands alone: nothing of ours is in it",
        "runner.testbed",
        ("db", "app", "runner.sessions", "runner.judge", "runner.campaign", "runner.execute"),
    ),
)


def _modules() -> Iterator[tuple[str, Path]]:
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            yield name, path


def _imports(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            found.add(node.module or "")
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


GRAPH = {name: _imports(path) for name, path in _modules()}


def _is_within(name: str, package: str) -> bool:
    return name == package or name.startswith(f"{package}.")


@pytest.mark.parametrize(("sentence", "package", "forbidden"), RULES, ids=[r[0] for r in RULES])
def test_imports_point_one_way(sentence: str, package: str, forbidden: tuple[str, ...]) -> None:
    broken = [
        f"{module} imports {imported}"
        for module, imports in GRAPH.items()
        if _is_within(module, package)
        for imported in sorted(imports)
        if any(_is_within(imported, name) for name in forbidden)
    ]

    assert not broken, f"{sentence}: {'; '.join(broken)}"


def test_app_takes_only_the_pure_parts_of_runner() -> None:
    broken = [
        f"{module} imports {imported}"
        for module, imports in GRAPH.items()
        if _is_within(module, "app")
        for imported in sorted(imports)
        if _is_within(imported, "runner")
        and not any(_is_within(imported, part) for part in (*PURE_PARTS, "runner.errors"))
    ]

    assert not broken, f"app may import only {', '.join(PURE_PARTS)}: {'; '.join(broken)}"


def test_nothing_imports_the_testbed_at_module_level_of_a_process_that_is_not_it() -> None:
    importers = {
        module
        for module, imports in GRAPH.items()
        if not _is_within(module, "runner.testbed")
        and any(_is_within(imported, "runner.testbed") for imported in imports)
    }

    assert importers <= {"runner.cli.testbed_commands"}


def test_modules_are_named_after_things_of_the_domain() -> None:
    banned = [name for name in GRAPH if BANNED_NAMES & set(name.split("."))]

    assert not banned, f"say what is in it: {banned}"


def test_no_module_of_app_shadows_the_standard_library() -> None:
    shadowing = [
        path.name for path in (ROOT / "app").glob("*.py") if path.stem in sys.stdlib_module_names
    ]

    assert not shadowing, "app/ is on the import path of every Streamlit script"


def test_package_init_files_are_empty() -> None:
    filled = [
        str(path.relative_to(ROOT))
        for name, path in _modules()
        if path.name == "__init__.py" and path.read_text(encoding="utf-8").strip()
    ]

    assert not filled, f"names are imported from where they are defined: {filled}"


def test_the_top_level_stays_as_designed() -> None:
    seen = {
        path.name
        for path in ROOT.iterdir()
        if not path.name.startswith(".")
        and path.suffix not in {".db", ".db-wal", ".db-shm", ".egg-info"}
        and path.name not in {"__pycache__", "build", "dist", "decisive-logs"}
    }

    assert seen <= FIXED_TOP_LEVEL, f"not in the layout: {sorted(seen - FIXED_TOP_LEVEL)}"
