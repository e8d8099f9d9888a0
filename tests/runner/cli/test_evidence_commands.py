import json
from pathlib import Path
from typing import Any

import pytest

from db.vocabulary import Outcome, RunState
from runner.evidence.given_numbers import agrees, read_json
from tests.db.factories import stored_campaign, stored_run
from tests.db.fresh_stores import fresh_store
from tests.runner.cli.calls import decisive, json_of, refusal

ROOT = Path(__file__).resolve().parents[3]
CASES = ROOT / "tests" / "data" / "cases"
VERDICTS: dict[str, Any] = read_json((CASES / "verdict_cases.json").read_text("utf-8"))
GOLDEN = sorted(name for name in VERDICTS if name != "meta")


def _typed(runs: list[dict[str, int]]) -> tuple[str, str]:
    """Runs of a recorded case as counts and as silent sessions."""
    sizes = [run["clean"] + run["corrupt"] + run["error"] for run in runs]
    counts = "+".join(f"{run['corrupt']}/{n}" for run, n in zip(runs, sizes, strict=True))
    return counts, "+".join(str(run["error"]) for run in runs)


@pytest.fixture
def store_url(tmp_path: Path) -> str:
    """r-1 is 12/80 with the leaks last, r-2 the real case with the leaks first, r-3 invalid."""
    with fresh_store(tmp_path) as store:
        made = stored_campaign(store)
        stored_run(store, made.arms[0], counts={Outcome.DONE: 68, Outcome.LEAK: 12})
        stored_run(store, made.arms[1], counts={Outcome.LEAK: 5, Outcome.ERROR: 75})
        stored_run(store, made.arms[2], state=RunState.INVALID, reason="not in this arm")
        return store.url


@pytest.mark.parametrize("name", GOLDEN)
def test_typed_counts_get_the_recorded_verdicts(name: str) -> None:
    case = VERDICTS[name]
    (after, silent_after), (before, silent_before) = (
        _typed(case[arm]) for arm in ("treatment", "control")
    )
    expected = case["expected"]

    said = json_of("compare", after, before, "--silent", f"{silent_after},{silent_before}")

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

    numbers = json_of("compare", "5/80", "12/80")["numbers"]

    for name, computed in (
        ("wilson_arm1", numbers["after"]["wilson"]),
        ("clopper_pearson_arm2", numbers["before"]["clopper_pearson"]),
        ("newcombe_diff", numbers["difference"]["newcombe"]),
        ("koopman_ratio", numbers["ratio"]["koopman"]),
        ("boschloo_less", numbers["independent"]["boschloo_less"]),
        ("fisher_less", numbers["independent"]["fisher_less"]),
    ):
        assert computed == pytest.approx(values[name]["value"], abs=1e-5), name


def test_the_calculator_says_first_what_came_of_the_comparison() -> None:
    said = decisive("compare", "5/80", "12/80").stdout

    first, after, before, independent, gone, *_ = said.splitlines()
    assert first.startswith("NO DIFFERENCE SHOWN: 5 of 80 v 12 of 80 corrupt")
    assert "tipping ICC 0.00026" in first
    assert after.startswith("after: 5/80  6.3")
    assert before.startswith("before: 12/80  15.0")
    assert "Boschloo p = 0.0483 for fewer" in independent
    assert gone == "Is after free of corruption? No: 5 corrupt sessions were seen."


@pytest.mark.parametrize(
    ("after", "before", "first"),
    [
        ("0/80+0/80", "40/80+35/80", "LESS CORRUPTION: Corruption was lower"),
        ("40/80+35/80", "0/80+0/80", "MORE CORRUPTION: Corruption was higher"),
        ("0/80", "0/80", "NO DIFFERENCE SHOWN: The arm compared with did not fail either"),
    ],
)
def test_nobody_is_told_of_a_prediction_that_nobody_made(
    after: str, before: str, first: str
) -> None:
    said = decisive("compare", after, before).stdout

    assert said.startswith(first)
    assert "REFUTED" not in said and "corrupt == 0" not in said


def test_a_worse_availability_is_said_with_the_comparison_and_once() -> None:
    said = decisive("compare", "5/80", "12/80", "--silent", "75,0").stdout

    assert "Availability is worse: 75 of 80 silent" in said.splitlines()[0]
    assert said.count("Availability is worse") == 1


def test_no_difference_of_rates_is_said_where_sessions_were_silent() -> None:
    said = decisive("compare", "5/80", "12/80", "--silent", "75,0").stdout

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
    assert what in refusal("compare", *arguments)


def test_stored_runs_are_compared_as_their_counts_would_be(store_url: str) -> None:
    stored = json_of("compare", "r-2", "r-1", "--store", store_url)
    typed = json_of("compare", "5/80", "12/80", "--silent", "75,0")

    assert stored["numbers"] == typed["numbers"]
    for key in ("headline", "elimination", "direction", "availability", "reasons"):
        assert stored[key] == typed[key]
    # Who picks two runs has seen them.
    assert stored["sentence"] == f"Exploratory: {typed['sentence']}"
    assert stored["runs"]["after"]["run"] == "r-2"


def test_the_same_dialogues_of_two_runs_are_paired(store_url: str) -> None:
    paired = json_of("compare", "r-2", "r-1", "--store", store_url)["paired"]

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
    said = decisive("compare", "r-1", "r-2", "--store", store_url).stdout

    assert "after is r-1 (bf16 · on · fp8-sized · C=80, block 0, done)" in said
    assert "0 corrupt in r-1 only, 5 in r-2 only; 75 further pairs silent" in said
    assert "Exact McNemar p = 0.031 for fewer" in said
    assert "s-1 done v s-81 leak" in said and "s-5 done v s-85 leak" in said


def test_a_run_that_does_not_count_is_named_and_nothing_is_compared(store_url: str) -> None:
    said = json_of("compare", "r-3", "r-1", "--store", store_url)

    assert said["runs"]["after"]["reason"] == "not in this arm"
    assert said["numbers"] is None
    assert said["headline"] == "inconclusive"
    first, *_ = decisive("compare", "r-3", "r-1", "--store", store_url).stdout.splitlines()
    assert first.startswith("NOT COMPARED: 1 of 1 runs of r-3 missing")


def test_runs_without_a_dialogue_in_common_say_so(store_url: str) -> None:
    said = decisive("compare", "r-3", "r-1", "--store", store_url).stdout

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

    said = json_of("compare", "r-1", "r-2", "--store", url)

    assert said["numbers"]["after"]["corrupt"] == 0
    assert (said["paired"]["both_clean"], said["paired"]["only_before_corrupt"]) == (10, 10)


@pytest.mark.parametrize(
    ("pair", "named"),
    [
        (("r-3", "r-2"), "Not the first of its name in this store: c-1 had begun before"),
        (("r-3", "r-1"), "Not the first of its name in this store: c-2 had begun before"),
        (("r-2", "r-1"), None),
        (("r-1", "r-3"), None),
    ],
)
def test_of_the_campaigns_of_a_name_those_are_noted_of_which_nothing_is_compared(
    tmp_path: Path, pair: tuple[str, str], named: str | None
) -> None:
    with fresh_store(tmp_path) as store:
        for key in ("first", "second", "third"):
            made = stored_campaign(store, definition_key=key)
            stored_run(store, made.arms[0], counts={Outcome.DONE: 20}, sessions_planned=20)
        url = store.url

    caveats = json_of("compare", *pair, "--store", url)["caveats"]

    noted = [each for each in caveats if "Not the first of its name" in each]
    assert bool(noted) == (named is not None)
    assert named is None or noted[0].startswith(named)


@pytest.mark.parametrize("pair", [("r-9", "r-1"), ("r-1", "r-9")])
def test_a_run_that_is_not_stored_is_refused(store_url: str, pair: tuple[str, str]) -> None:
    assert "has no run r-9" in refusal("compare", *pair, "--store", store_url)


def test_a_run_is_not_compared_with_itself(store_url: str) -> None:
    assert "with itself" in refusal("compare", "r-1", "R-1", "--store", store_url)


@pytest.mark.parametrize("name", ["statistics_vectors.json", "verdict_cases.json"])
def test_the_recorded_evidence_agrees_whole(name: str) -> None:
    check = json_of("evidence", str(CASES / name))

    assert check["differ"] == []
    assert check["right"] == check["of"] > 200


def test_a_changed_number_is_printed_and_changes_the_exit_status(tmp_path: Path) -> None:
    content = json.loads((CASES / "verdict_cases.json").read_text("utf-8"))
    content["02_three_clean_runs"]["expected"]["upper_used"] = 0.0209
    file = tmp_path / "mine.json"
    file.write_text(json.dumps(content), "utf-8")

    result = decisive("evidence", str(file))

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

    result = decisive("evidence", str(file))

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

    said = refusal("evidence", str(file))

    assert what in said and "mine.json" in said
