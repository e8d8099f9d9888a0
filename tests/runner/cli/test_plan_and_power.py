from pathlib import Path

import pytest

from tests.fakes.oracle_configs import write_oracle_configs
from tests.fakes.unrestarted_configs import unrestarted_configs
from tests.runner.cli.calls import decisive, json_of, refusal

ROOT = Path(__file__).resolve().parents[3]
CONFIGS = str(ROOT / "configs")


def test_power_gives_the_published_sessions_and_runs() -> None:
    table = json_of("power", "0.15", "0.03")

    eighty, ninety = table["rows"]
    assert (eighty["sessions_per_arm"], ninety["sessions_per_arm"]) == (71, 95)
    assert [(x["icc"], x["runs"]) for x in eighty["runs_per_arm"]][:2] == [(0.0, 2), (0.02, 3)]


def test_power_for_people_says_sessions_and_runs_of_the_size_asked_for() -> None:
    said = decisive("power", "0.15", "0", "--sessions", "40").stdout

    assert "a fall from 15.0\u2009% to 0\u2009%" in said
    assert "runs of 40 an arm" in said
    assert "36" in said and "43" in said


@pytest.mark.parametrize(
    ("rates", "what"),
    [
        (("0.06", "0.15"), "higher rate comes first"),
        (("0.15", "0.15"), "must differ"),
        (("15", "6"), "from 0 to 1"),
        (("nan", "0"), "from 0 to 1"),
    ],
)
def test_rates_that_do_not_fit_are_refused(rates: tuple[str, str], what: str) -> None:
    assert what in refusal("power", *rates)


def test_a_rate_that_never_shows_in_sixteen_runs_says_so() -> None:
    assert "more than 16" in decisive("power", "0.15", "0.14").stdout


def test_a_plan_says_what_it_cannot_answer_before_it_runs() -> None:
    plan = json_of("plan", "smoke", "--configs", CONFIGS)

    assert plan["can_answer"] is False
    (fp8,) = plan["hypotheses"]
    assert (fp8["id"], fp8["runs_after"], fp8["runs_before"]) == ("fp8", 1, 1)
    assert fp8["icc"] == 0.05
    assert len(fp8["shortcomings"]) == 2
    assert fp8["smallest_effect_after_rate"] is None


def test_a_plan_of_three_blocks_answers_at_a_cost_that_is_stated() -> None:
    plan = json_of("plan", "decisive-test", "--configs", CONFIGS, "--gpus", "8")

    host_pool = next(each for each in plan["hypotheses"] if each["id"] == "host-pool")
    assert host_pool["can_answer"] is True
    assert host_pool["limit_if_clean"] == pytest.approx(0.0208, abs=5e-5)
    assert host_pool["clean_runs_needed"] == 2
    assert host_pool["runs_needed_per_arm"] == 2
    assert host_pool["sessions_needed_per_arm"] == 160
    assert (host_pool["cost"]["launches"], host_pool["cost"]["sessions"]) == (6, 480)
    cost = host_pool["cost"]
    assert cost["gpu_minutes"] == pytest.approx(cost["wall_s"] / 60 * 8, abs=0.1)
    assert host_pool["cost_needed"]["launches"] == 4


def test_a_plan_for_people_names_the_hypothesis_that_it_cannot_answer() -> None:
    said = decisive("plan", "smoke", "--configs", CONFIGS).stdout

    assert "hypothesis fp8: " in said
    assert "  CANNOT ANSWER: Cannot confirm: 1 run of 40 sessions" in said
    assert "smallest detectable effect: none from 15.0" in said
    assert "GPU minutes at 1 GPU" in said
    assert said.rstrip().endswith("This plan cannot answer its hypothesis: fp8.")


def test_the_plan_of_a_reduction_asks_for_no_clean_runs(tmp_path: Path) -> None:
    text = (ROOT / "configs" / "campaigns" / "smoke.yaml").read_text("utf-8")
    (tmp_path / "campaigns").mkdir()
    (tmp_path / "stacks").symlink_to(ROOT / "configs" / "stacks")
    goal = "goal: reduce\n    predicted_rate: 0.05\n    predict: corrupt <= 2"
    text = text.replace("predict: corrupt == 0 and wedges == 0", goal)
    (tmp_path / "campaigns" / "mine.yaml").write_text(text, "utf-8")

    said = decisive("plan", "mine", "--configs", str(tmp_path)).stdout

    assert "without a corrupt one" not in said
    assert "runs an arm" in said and "to show a fall from 15.0\u2009% to 5.0\u2009%" in said
    (fp8,) = json_of("plan", "mine", "--configs", str(tmp_path))["hypotheses"]
    assert fp8["clean_runs_needed"] is None
    assert fp8["runs_needed_per_arm"] == fp8["runs_needed_for_power"]


def test_more_correlation_and_a_rarer_fault_need_more_runs() -> None:
    def runs(*options: str) -> tuple[int, int]:
        (each,) = json_of("plan", "smoke", "--configs", CONFIGS, *options)["hypotheses"]
        return each["clean_runs_needed"], each["runs_needed_for_power"]

    assert runs("--icc", "0") < runs("--icc", "0.1")
    assert runs("--before-rate", "0.3")[1] < runs("--before-rate", "0.1")[1]


def test_runs_that_share_a_launch_count_as_one(tmp_path: Path) -> None:
    """Six blocks of two arms, with a restart only where the levels change."""
    text = (ROOT / "configs" / "campaigns" / "smoke.yaml").read_text("utf-8")
    (tmp_path / "campaigns").mkdir()
    (tmp_path / "stacks").symlink_to(ROOT / "configs" / "stacks")
    text = text.replace("blocks: 1", "blocks: 6").replace("every_run", "when_needed")
    (tmp_path / "campaigns" / "mine.yaml").write_text(text, "utf-8")

    plan = json_of("plan", "mine", "--configs", str(tmp_path))

    (fp8,) = plan["hypotheses"]
    assert fp8["cost"]["launches"] == plan["launches"] < 12
    assert fp8["cost"]["sessions"] == plan["sessions"] == 480
    said = decisive("plan", "mine", "--configs", str(tmp_path)).stdout
    assert "runs that share a launch count as one" in said


@pytest.mark.parametrize(
    ("option", "value"),
    [("--icc", "1"), ("--icc", "nan"), ("--before-rate", "0"), ("--before-rate", "1.5")],
)
def test_assumptions_that_cannot_be_meant_are_refused(option: str, value: str) -> None:
    assert option in refusal("plan", "smoke", "--configs", CONFIGS, option, value)


def test_one_arm_and_one_run_are_not_several(tmp_path: Path) -> None:
    write_oracle_configs(tmp_path, levels=["fp8"], sessions=4)

    said = decisive("plan", "oracle-test", "--configs", str(tmp_path)).stdout

    assert "1 arm on stack oracle" in said
    assert "1 run, 4 sessions, 1 start of the servers" in said


def test_a_plan_on_servers_that_are_not_restarted_speaks_of_launches(tmp_path: Path) -> None:
    """Three blocks against one start of the servers."""
    configs = unrestarted_configs(tmp_path, blocks=3)

    said = decisive("plan", "first-look", "--configs", configs).stdout

    assert "planned: 3 + 3 runs; 0 restarts, 240 sessions" in said
    assert "runs that share a launch count as one: 1 + 1 launches of 120 sessions" in said
    assert "needed: 2 launches (240 sessions) without a corrupt one" in said
    assert "3 launches an arm (360 sessions)" in said
    assert "needed in all: 6 restarts, 720 sessions" in said
    assert "chance in 1 + 1 launches" in said
    assert "It takes 2 launches: restart the servers between blocks (`restart: every_run`" in said
    (sampling,) = json_of("plan", "first-look", "--configs", configs)["hypotheses"]
    assert sampling["counts_as_one"] == "launch"


def test_one_block_on_servers_that_are_not_restarted_asks_for_launches_too(tmp_path: Path) -> None:
    """A second block would share the launch of the first."""
    configs = unrestarted_configs(tmp_path, blocks=1)

    said = decisive("plan", "first-look", "--configs", configs).stdout

    assert "count as one" not in said
    assert "Cannot confirm: 1 launch of 40 sessions" in said
