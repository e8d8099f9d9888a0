import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from db.errors import StoreError
from db.vocabulary import Availability, Direction, Headline, Outcome, RunState
from runner.cli.main import app
from runner.errors import RunnerError
from runner.evidence.claim_guard import unlicensed_claims
from runner.evidence.given_numbers import agrees, read_json
from tests.db.factories import fresh_store, stored_campaign, stored_run

ROOT = Path(__file__).resolve().parents[3]
CONFIGS = str(ROOT / "configs")
CASES = ROOT / "tests" / "data" / "cases"
VERDICTS: dict[str, Any] = read_json((CASES / "verdict_cases.json").read_text("utf-8"))
GOLDEN = sorted(name for name in VERDICTS if name != "meta")

REAL_CASE = """
wall=485.7s counts={"error": 75, "leak": 5}
CORRUPTION sessions: 5/80 = 6%  (leak=5 no_tool=0 error=75 ok-ish[done/maxrounds]=0)
peak decode #running: 2.0
WaitingForInput/aborts during run: 168
"""


def _decisive(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


def _json(*arguments: str, status: int = 0) -> Any:
    result = _decisive(*arguments, "--json")
    assert result.exit_code == status, result.exception or result.stderr
    return json.loads(result.stdout)


def _refusal(*arguments: str) -> str:
    """The one sentence with which a command is refused."""
    error = _decisive(*arguments).exception
    assert isinstance(error, RunnerError | StoreError), error
    assert "\n" not in str(error)
    return str(error)


def _typed(runs: list[dict[str, int]]) -> tuple[str, str]:
    """Runs of a recorded case as counts and as silent sessions."""
    sizes = [run["clean"] + run["corrupt"] + run["error"] for run in runs]
    counts = "+".join(f"{run['corrupt']}/{n}" for run, n in zip(runs, sizes, strict=True))
    return counts, "+".join(str(run["error"]) for run in runs)


@pytest.fixture
def seed(tmp_path: Path) -> str:
    file = tmp_path / "seed.txt"
    file.write_text(f"some noise\n{REAL_CASE}", "utf-8")
    return str(file)


@pytest.fixture
def store_url(tmp_path: Path) -> str:
    """r-1 is 12/80 with the leaks last, r-2 the real case with the leaks first, r-3 invalid."""
    with fresh_store(tmp_path) as store:
        made = stored_campaign(store)
        stored_run(store, made.arms[0], counts={Outcome.DONE: 68, Outcome.LEAK: 12})
        stored_run(store, made.arms[1], counts={Outcome.LEAK: 5, Outcome.ERROR: 75})
        stored_run(store, made.arms[2], state=RunState.INVALID, reason="not in this arm")
        return store.url


def test_power_gives_the_published_sessions_and_runs() -> None:
    table = _json("power", "0.15", "0.03")

    eighty, ninety = table["rows"]
    assert (eighty["sessions_per_arm"], ninety["sessions_per_arm"]) == (71, 95)
    assert [(x["icc"], x["runs"]) for x in eighty["runs_per_arm"]][:2] == [(0.0, 2), (0.02, 3)]


def test_power_for_people_says_sessions_and_runs_of_the_size_asked_for() -> None:
    said = _decisive("power", "0.15", "0", "--sessions", "40").stdout

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
    assert what in _refusal("power", *rates)


def test_a_rate_that_never_shows_in_sixteen_runs_says_so() -> None:
    assert "more than 16" in _decisive("power", "0.15", "0.14").stdout


@pytest.mark.parametrize("name", GOLDEN)
def test_typed_counts_get_the_recorded_verdicts(name: str) -> None:
    case = VERDICTS[name]
    (after, silent_after), (before, silent_before) = (
        _typed(case[arm]) for arm in ("treatment", "control")
    )
    expected = case["expected"]

    said = _json("compare", after, before, "--silent", f"{silent_after},{silent_before}")

    assert (said["direction"], said["availability"]) == (
        expected["direction"],
        expected["availability"].replace(" ", "_"),
    )
    numbers = said["numbers"]
    for ours in ("p_lower", "p_higher", "p_clean_down"):
        assert agrees(numbers[ours], expected[ours]), ours
    assert agrees(numbers["p_silent_up"], expected["p_errors_up"])
    assert numbers["after"]["bounds"] == pytest.approx(expected["bounds"], abs=5e-5)
    assert numbers["after"]["sessions"] == expected["n"]
    if not any(run["wedges"] for run in case["treatment"]):
        assert said["elimination"] == expected["elimination"]
        assert said["headline"].casefold() == expected["headline"].casefold()


def test_the_calculator_gives_the_numbers_of_the_recorded_table() -> None:
    tables = json.loads((CASES / "statistics_vectors.json").read_text("utf-8"))["tables"]
    (values,) = [
        each["values"]
        for each in tables
        if [each[x] for x in ("x1", "n1", "x2", "n2")] == [5, 80, 12, 80]
    ]

    numbers = _json("compare", "5/80", "12/80")["numbers"]

    for name, computed in (
        ("wilson_arm1", numbers["after"]["wilson"]),
        ("clopper_pearson_arm2", numbers["before"]["clopper_pearson"]),
        ("newcombe_diff", numbers["difference"]["newcombe"]),
        ("koopman_ratio", numbers["ratio"]["koopman"]),
        ("boschloo_less", numbers["independent"]["boschloo_less"]),
        ("fisher_less", numbers["independent"]["fisher_less"]),
    ):
        assert computed == pytest.approx(values[name]["value"], abs=1e-5), name


def test_the_calculator_says_both_arms_what_independence_would_give_and_the_verdict() -> None:
    said = _decisive("compare", "5/80", "12/80").stdout

    assert said.startswith("after: 5/80  6.3")
    assert "before: 12/80  15.0" in said
    assert "Boschloo p = 0.0483 for fewer" in said
    assert "REFUTED. " in said
    assert "tipping ICC 0.00026" in said


def test_no_difference_of_rates_is_said_where_sessions_were_silent() -> None:
    said = _decisive("compare", "5/80", "12/80", "--silent", "75,0").stdout

    assert "5 of 80 gave evidence" in said
    assert "independent" not in said
    assert "75 of 80 sessions gave no evidence" in said


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (("5", "12/80"), "5/80"),
        (("81/80", "12/80"), "no part of its sessions"),
        (("5/80", "12/80", "--silent", "75"), "AFTER,BEFORE"),
        (("5/80", "12/80", "--silent", "76,0"), "more than 80 sessions"),
        (("r-1", "12/80"), "two counts or two runs"),
        (("1/9000", "1/9000"), "too many for exact tests"),
        (("r-1", "r-2", "--silent", "1,0"), "stored runs know theirs"),
    ],
)
def test_counts_that_do_not_fit_are_refused(arguments: tuple[str, ...], what: str) -> None:
    assert what in _refusal("compare", *arguments)


def test_stored_runs_are_compared_as_their_counts_would_be(store_url: str) -> None:
    stored = _json("compare", "r-2", "r-1", "--store", store_url)
    typed = _json("compare", "5/80", "12/80", "--silent", "75,0")

    assert stored["numbers"] == typed["numbers"]
    for key in ("headline", "elimination", "direction", "availability", "reasons"):
        assert stored[key] == typed[key]
    # Who picks two runs has seen them.
    assert stored["sentence"] == f"Exploratory: {typed['sentence']}"
    assert stored["runs"]["after"]["run"] == "r-2"


def test_the_same_dialogues_of_two_runs_are_paired(store_url: str) -> None:
    paired = _json("compare", "r-2", "r-1", "--store", store_url)["paired"]

    assert (paired["only_after_corrupt"], paired["only_before_corrupt"]) == (5, 0)
    assert (paired["both_clean"], paired["silent_pairs"]) == (0, 75)
    assert paired["mcnemar_less"] == 1.0
    assert paired["mcnemar_two_sided"] == pytest.approx(2 / 2**5)
    assert paired["changed"][0] == {
        "session_index": 0,
        "first": "s-81",
        "first_outcome": "leak",
        "second": "s-1",
        "second_outcome": "done",
    }


def test_runs_with_the_arms_turned_around_give_the_opposite_pairs(store_url: str) -> None:
    said = _decisive("compare", "r-1", "r-2", "--store", store_url).stdout

    assert "after is r-1 (bf16 · on · fp8-sized · C=80, block 0, done)" in said
    assert "0 corrupt in r-1 only, 5 in r-2 only; 75 further pairs silent" in said
    assert "Exact McNemar p = 0.031 for fewer" in said
    assert "s-1 done v s-81 leak" in said and "s-5 done v s-85 leak" in said


def test_a_run_that_does_not_count_is_named_and_nothing_is_compared(store_url: str) -> None:
    said = _json("compare", "r-3", "r-1", "--store", store_url)

    assert said["runs"]["after"]["reason"] == "not in this arm"
    assert said["numbers"] is None
    assert said["headline"] == "inconclusive"


def test_runs_without_a_dialogue_in_common_say_so(store_url: str) -> None:
    said = _decisive("compare", "r-3", "r-1", "--store", store_url).stdout

    assert "no dialogue in common" in said


def test_an_outcome_that_the_campaign_does_not_count_is_evidence_and_clean(tmp_path: Path) -> None:
    with fresh_store(tmp_path) as store:
        made = stored_campaign(store)
        with store.write() as session:
            made.campaign.corrupt_outcomes = ["leak"]
            session.add(made.campaign)
        weak, leaky = {Outcome.NO_TOOL: 20}, {Outcome.DONE: 10, Outcome.LEAK: 10}
        stored_run(store, made.arms[0], counts=weak, sessions_planned=20)
        stored_run(store, made.arms[1], counts=leaky, sessions_planned=20)
        url = store.url

    said = _json("compare", "r-1", "r-2", "--store", url)

    assert said["numbers"]["after"]["corrupt"] == 0
    assert (said["paired"]["both_clean"], said["paired"]["only_before_corrupt"]) == (10, 10)


@pytest.mark.parametrize("pair", [("r-9", "r-1"), ("r-1", "r-9")])
def test_a_run_that_is_not_stored_is_refused(store_url: str, pair: tuple[str, str]) -> None:
    assert "has no run r-9" in _refusal("compare", *pair, "--store", store_url)


def test_a_run_is_not_compared_with_itself(store_url: str) -> None:
    assert "with itself" in _refusal("compare", "r-1", "R-1", "--store", store_url)


@pytest.mark.parametrize("name", ["statistics_vectors.json", "verdict_cases.json"])
def test_the_recorded_evidence_agrees_whole(name: str) -> None:
    check = _json("evidence", str(CASES / name))

    assert check["differ"] == []
    assert check["right"] == check["of"] > 200


def test_a_changed_number_is_printed_and_changes_the_exit_status(tmp_path: Path) -> None:
    content = json.loads((CASES / "verdict_cases.json").read_text("utf-8"))
    content["02_three_clean_runs"]["expected"]["upper_used"] = 0.0209
    file = tmp_path / "mine.json"
    file.write_text(json.dumps(content), "utf-8")

    result = _decisive("evidence", str(file))

    assert result.exit_code == 1
    first, last = result.stdout.splitlines()
    assert first.startswith("02_three_clean_runs upper_used: the file gives 0.0209, computed is 0.")
    assert last == "233 of 234 entries of 9 cases agree"


def test_an_entry_that_cannot_be_checked_is_named_and_has_a_status_of_its_own(
    tmp_path: Path,
) -> None:
    case = json.loads((CASES / "verdict_cases.json").read_text("utf-8"))["03_one_clean_run"]
    file = tmp_path / "mine.json"
    file.write_text(json.dumps({"x": {**case, "expected": {"n": 80, "banana": 1}}}), "utf-8")

    result = _decisive("evidence", str(file))

    assert result.exit_code == 3
    assert result.stdout.splitlines() == [
        "x banana: not checked, nothing of this name is computed",
        "1 of 1 entries of 1 case agree",
    ]


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"{", "line 1"),
        (b"[]", "neither"),
        (b"\xff", "not UTF-8"),
        (b'{"a": 1}', "not in the format"),
        (b'{"a":' + b"[" * 100_000, "too large to be computed"),
        (b'{"a":' + b"9" * 5_000 + b"}", "too large to be computed"),
    ],
)
def test_a_file_that_is_no_evidence_is_refused(tmp_path: Path, content: bytes, what: str) -> None:
    file = tmp_path / "mine.json"
    file.write_bytes(content)

    said = _refusal("evidence", str(file))

    assert what in said and "mine.json" in said


@pytest.mark.parametrize("command", [("evidence",), ("import", "--versus", "12/80")])
def test_a_file_that_is_not_there_is_refused(command: tuple[str, ...], tmp_path: Path) -> None:
    assert "cannot read" in _refusal(*command, str(tmp_path / "absent"))


def test_the_real_case_reads_refuted_without_improvement_and_with_worse_availability(
    seed: str,
) -> None:
    read = _json("import", seed, "--versus", "12/80", status=1)

    expected = VERDICTS["01_real_case"]["expected"]
    assert read["headline"] == Headline.REFUTED == expected["headline"].casefold()
    assert (read["direction"], read["availability"]) == (Direction.UNCLEAR, Availability.WORSE)
    assert read["run"]["wedge_lines"] == 168
    assert (read["run"]["sessions"], read["run"]["evidence"]) == (80, 5)
    assert agrees(read["numbers"]["p_silent_up"], expected["p_errors_up"])
    assert agrees(read["numbers"]["p_higher_evidence_only"], expected["p_higher_pp"])


def test_the_real_case_claims_no_more_than_its_verdict(seed: str) -> None:
    said = _decisive("import", seed, "--versus", "12/80").stdout

    assert "CORRUPTION sessions: 5/80 = 6%" in said
    assert "REFUTED. " in said
    assert "no improvement shown, because 75 of 80 sessions gave no evidence" in said
    assert "Availability is worse" in said
    assert "Next 1: Find what wedged the server" in said
    assert not unlicensed_claims(
        said,
        headline=Headline.REFUTED,
        direction=Direction.UNCLEAR,
        availability=Availability.WORSE,
    )


def test_another_prediction_and_silent_sessions_of_the_other_arm_are_used(seed: str) -> None:
    read = _json(
        *("import", seed, "--versus", "12/80", "--silent", "3", "--predict", "leak <= 9"), status=3
    )

    assert read["numbers"]["before"]["silent"] == 3
    assert read["inputs"]["predict"] == "leak <= 9"


def test_lines_can_come_from_standard_input() -> None:
    result = CliRunner().invoke(app, ["import", "-", "--versus", "12/80"], input=REAL_CASE)

    assert "REFUTED. " in result.stdout


@pytest.mark.parametrize(
    ("text", "arguments", "what"),
    [
        ("nothing", (), "no line like"),
        (REAL_CASE.replace("5/80", "6/80"), (), "contradict"),
        (REAL_CASE.replace("485.7", "4.8.5"), (), "a number in its lines"),
        (REAL_CASE, ("--silent", "x"), "whole numbers"),
        (REAL_CASE, ("--predict", "corrupt = 0"), "--predict: a count is compared by"),
    ],
)
def test_what_cannot_be_imported_is_refused(
    tmp_path: Path, text: str, arguments: tuple[str, ...], what: str
) -> None:
    file = tmp_path / "seed.txt"
    file.write_text(text, "utf-8")

    assert what in _refusal("import", str(file), "--versus", "12/80", *arguments)


def test_a_plan_says_what_it_cannot_answer_before_it_runs() -> None:
    plan = _json("plan", "smoke", "--configs", CONFIGS)

    assert plan["can_answer"] is False
    (fp8,) = plan["hypotheses"]
    assert (fp8["id"], fp8["runs_after"], fp8["runs_before"]) == ("fp8", 1, 1)
    assert fp8["icc"] == 0.05
    assert len(fp8["shortcomings"]) == 2
    assert fp8["smallest_effect_after_rate"] is None


def test_a_plan_of_three_blocks_answers_at_a_cost_that_is_stated() -> None:
    plan = _json("plan", "decisive-test", "--configs", CONFIGS, "--gpus", "8")

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
    said = _decisive("plan", "smoke", "--configs", CONFIGS).stdout

    assert "hypothesis fp8: " in said
    assert "  CANNOT ANSWER: Cannot confirm: 1 run of 40 sessions" in said
    assert "smallest detectable effect: none from 15.0" in said
    assert "GPU minutes at 1 GPU" in said
    assert said.rstrip().endswith("This plan cannot answer its hypothesis: fp8.")


def test_more_correlation_and_a_rarer_fault_need_more_runs() -> None:
    def runs(*options: str) -> tuple[int, int]:
        (each,) = _json("plan", "smoke", "--configs", CONFIGS, *options)["hypotheses"]
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

    plan = _json("plan", "mine", "--configs", str(tmp_path))

    (fp8,) = plan["hypotheses"]
    assert fp8["cost"]["launches"] == plan["launches"] < 12
    assert fp8["cost"]["sessions"] == plan["sessions"] == 480
    said = _decisive("plan", "mine", "--configs", str(tmp_path)).stdout
    assert "runs that share a launch count as one" in said


@pytest.mark.parametrize(
    ("option", "value"),
    [("--icc", "1"), ("--icc", "nan"), ("--before-rate", "0"), ("--before-rate", "1.5")],
)
def test_assumptions_that_cannot_be_meant_are_refused(option: str, value: str) -> None:
    assert option in _refusal("plan", "smoke", "--configs", CONFIGS, option, value)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
def test_a_log_that_a_windows_shell_wrote_is_imported(tmp_path: Path, encoding: str) -> None:
    seed = tmp_path / "seed.txt"
    seed.write_bytes(REAL_CASE.replace("\n", "\r\n").encode(encoding))

    result = _decisive("import", str(seed), "--versus", "12/80")

    assert result.exit_code == 1
    assert "REFUTED. " in result.stdout


def test_an_import_that_cannot_say_ends_like_one(tmp_path: Path) -> None:
    seed = tmp_path / "seed.txt"
    seed.write_text('wall=9.0s counts={"done": 80}\n', "utf-8")

    result = _decisive("import", str(seed), "--versus", "12/80")

    assert result.exit_code == 3
    assert "WaitingForInput/aborts during run: unknown" in result.stdout
