"""`decisive reduce` as a user calls it: which arms it takes, what it refuses, what it finds."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from db.reads.campaigns import ArmFacts
from runner.cli.main import app
from runner.cli.stored_arm import find_arm
from runner.errors import RunnerError, UsageError
from runner.reduce.time_budget import TimeBudget
from tests.fakes.oracle_configs import write_oracle_configs
from tests.runner.execute.campaign_bench import run_once, store_url


def arm(arm_id: int, name: str, *, is_baseline: bool = False, **levels: str) -> ArmFacts:
    return ArmFacts(
        id=arm_id,
        campaign_id=1,
        position=arm_id,
        name=name,
        levels={**levels, "concurrency": 80},
        tag=None,
        concurrency=80,
        sessions_per_run=80,
        is_baseline=is_baseline,
    )


ARMS = (
    arm(1, "fp8 · C=80", keys="fp8", hicache="on"),
    arm(2, "bf16 · on · C=80", keys="bf16", hicache="on", is_baseline=True),
    arm(3, "bf16 · off · C=80", keys="bf16", hicache="off"),
)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a-3", 3),
        ("fp8 · C=80", 1),
        ("baseline", 2),
        ("keys=fp8", 1),
        ("keys=bf16, hicache=off", 3),
        ("hicache=off,concurrency=80", 3),
    ],
)
def test_an_arm_is_found_by_id_name_role_or_levels(text: str, found: int) -> None:
    assert find_arm(ARMS, text).id == found


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a-9", r"no arm 'a-9'; it has: a-1 fp8 · C=80; a-2 "),
        ("keys=bf16", r"2 arms have keys=bf16: name one of a-2 bf16 · on · C=80; a-3 "),
        ("keys", r"no arm 'keys'"),
        ("colour=red", r"no arm 'colour=red'"),
        ("", r"no arm ''"),
    ],
)
def test_an_arm_that_is_not_there_or_not_alone_is_refused_with_those_that_are(
    text: str, said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        find_arm(ARMS, text)


def test_a_budget_is_shared_by_all_runs() -> None:
    now = [100.0]
    budget = TimeBudget(60.0, now_s=lambda: now[0])

    now[0] = 130.0
    assert (budget.left_s, budget.is_spent) == (30.0, False)
    now[0] = 160.0
    assert budget.is_spent
    assert (TimeBudget(None).left_s, TimeBudget(None).is_spent) == (None, False)


@pytest.fixture(scope="module")
def configs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with a clean and a leaking arm, one run each."""
    folder = write_oracle_configs(tmp_path_factory.mktemp("reduced"), sessions=12)
    run_once(folder)
    return folder


def reduced(configs: Path, *arguments: str) -> Result:
    places = ("--store", store_url(configs), "--configs", str(configs))
    return CliRunner().invoke(app, ["reduce", "oracle-test", *arguments, *places])


@pytest.mark.end_to_end
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--from", "baseline", "--to", "index_keys=fp8"), "are one arm"),
        (("--from", "a-1", "--to", "a-2", "--sessions", "3"), "an arm has 4 at a time"),
        (("--from", "a-1", "--to", "a-77"), "no arm 'a-77'"),
    ],
)
def test_arms_that_cannot_be_reduced_are_refused(
    configs: Path, arguments: tuple[str, ...], said: str
) -> None:
    result = reduced(configs, *arguments)

    assert isinstance(result.exception, RunnerError)
    assert said in str(result.exception)


@pytest.mark.end_to_end
def test_the_leaking_level_is_found_with_real_servers_and_a_spent_budget_costs_nothing(
    configs: Path,
) -> None:
    ends = ("--from", "index_keys=fp8", "--to", "index_keys=bf16", "--keep-load")

    cut = reduced(configs, *ends, "--budget-minutes", "0.01")
    found = reduced(configs, *ends, "--json")

    assert cut.exit_code == 3
    assert "stopped; the same command goes on" in cut.stderr
    assert found.exit_code == 0, found.output
    told = json.loads(found.stdout)
    assert told["shown"] is True
    assert told["change"] == {"index_keys": {"from": "fp8", "to": "bf16", "without": "clean"}}
    assert told["sandwich_holds"] is True
