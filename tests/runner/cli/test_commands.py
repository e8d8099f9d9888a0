import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from db.errors import StoreError
from db.vocabulary import Outcome, RunState
from runner.cli.main import app
from runner.errors import RunnerError
from tests.db.factories import stored_campaign, stored_run
from tests.db.fresh_stores import fresh_store

ROOT = Path(__file__).resolve().parents[3]
CONFIGS = str(ROOT / "configs")
CASES = ROOT / "tests" / "data" / "cases" / "cases.jsonl"


def _decisive(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


def _refusal(*arguments: str) -> str:
    """The sentence with which a command is refused."""
    error = _decisive(*arguments).exception
    assert isinstance(error, RunnerError | StoreError), error
    return str(error)


@pytest.fixture
def store_url(tmp_path: Path) -> str:
    with fresh_store(tmp_path) as store:
        made = stored_campaign(store)
        stored_run(store, made.arms[0], counts={Outcome.DONE: 68, Outcome.LEAK: 12})
        stored_run(store, made.arms[1], counts={Outcome.LEAK: 5, Outcome.ERROR: 75}, block=1)
        stored_run(store, made.arms[2], state=RunState.INVALID, reason="not in this arm")
        return store.url


def test_a_plan_names_arms_order_sessions_and_time_and_makes_no_store(tmp_path: Path) -> None:
    result = _decisive("plan", "decisive-test", "--configs", CONFIGS, "--json")

    plan = json.loads(result.stdout)
    assert result.exit_code == 0
    assert len(plan["arms"]) == 7
    assert plan["sessions"] == sum(
        next(arm["sessions_per_run"] for arm in plan["arms"] if arm["name"] == run["arm"])
        for run in plan["runs"]
    )
    assert plan["estimated_s"] > 0
    assert list(tmp_path.iterdir()) == []


def test_a_plan_for_people_says_the_order_of_every_block() -> None:
    result = _decisive("plan", "smoke", "--configs", CONFIGS)

    assert "block 1: " in result.stdout
    assert "2 runs, 80 sessions, 2 starts of the servers" in result.stdout


def test_a_campaign_that_does_not_exist_is_refused_with_those_that_do() -> None:
    said = _refusal("plan", "decisive-tset", "--configs", CONFIGS)

    assert "did you mean decisive-test?" in said
    assert "smoke" in said


def test_a_wrong_level_is_refused_with_its_place_and_the_allowed_ones(tmp_path: Path) -> None:
    text = (ROOT / "configs" / "campaigns" / "smoke.yaml").read_text("utf-8")
    (tmp_path / "campaigns").mkdir()
    (tmp_path / "campaigns" / "mine.yaml").write_text(
        text.replace("hicache: [on]", "hicache: [onn]")
    )
    (tmp_path / "stacks").symlink_to(ROOT / "configs" / "stacks")

    said = _refusal("plan", "mine", "--configs", str(tmp_path))

    assert "mine.yaml:8:13: " in said
    assert "found onn; allowed: off, on" in said


def test_the_shipped_cases_are_all_read_right() -> None:
    result = _decisive("cases", str(CASES), "--json")

    assert result.exit_code == 0
    read = json.loads(result.stdout)
    assert read["sse"] == {"right": 65, "of": 65}
    assert read["log"] == {"right": 26, "of": 26}
    assert read["metrics"] == {"right": 13, "of": 13}
    assert read["differ"] == []


def test_a_case_that_is_read_otherwise_is_named_and_changes_the_exit_status(
    tmp_path: Path,
) -> None:
    case = json.loads(CASES.read_text("utf-8").splitlines()[0])
    case["expect"] = {"outcome": "done", "accept": [], "never": [], "flags": []}
    file = tmp_path / "mine.jsonl"
    file.write_text(json.dumps(case) + "\n", "utf-8")

    result = _decisive("cases", str(file))

    assert result.exit_code == 1
    assert "sse-dsml-block: got leak, expected done" in result.stdout


@pytest.mark.parametrize("content", ["{", "[]", '{"id": "x"}', "\x00"])
def test_a_line_that_is_no_case_is_refused_with_its_number(tmp_path: Path, content: str) -> None:
    file = tmp_path / "mine.jsonl"
    file.write_text(f"{content}\n", "utf-8")

    assert "mine.jsonl:1" in _refusal("cases", str(file))


def test_a_case_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    assert "cannot read" in _refusal("cases", str(tmp_path / "absent.jsonl"))


def test_show_lists_the_campaigns_of_a_store(store_url: str) -> None:
    listed = json.loads(_decisive("show", "--store", store_url, "--json").stdout)

    (campaign,) = listed["campaigns"]
    assert campaign["campaign"] == "decisive-test"
    assert campaign["campaign_id"] == "c-1"
    assert campaign["runs_done"] == 2


def test_what_a_reduction_made_is_one_row_under_its_campaign(tmp_path: Path) -> None:
    with fresh_store(tmp_path) as store:
        stored_campaign(store)
        for digest in ("0123abcd", "0123abce"):
            stored_campaign(store, name=f"decisive-test.reduce-{digest}", definition_key=digest)

    said = _decisive("show", "--store", store.url).stdout
    told = json.loads(_decisive("show", "--store", store.url, "--json").stdout)["campaigns"]

    assert "c-2...c-3" in said and "2 campaigns of its reduction" in said
    assert "reduce-0123abcd" not in said
    assert [(each["campaign_id"], each["reduces"]) for each in told] == [
        ("c-1", None),
        ("c-3", "c-1"),
        ("c-2", "c-1"),
    ]


def test_the_newest_campaign_is_none_that_a_reduction_made(tmp_path: Path) -> None:
    with fresh_store(tmp_path) as store:
        stored_campaign(store)
        stored_campaign(store, name="decisive-test.reduce-0123abcd", definition_key="x")

    assert "# decisive-test (c-1)" in _decisive("report", "--store", store.url).stdout


@pytest.mark.parametrize("reference", ["c-1", "C-1", "decisive-test"])
def test_show_finds_a_campaign_by_id_and_by_name(store_url: str, reference: str) -> None:
    shown = json.loads(_decisive("show", reference, "--store", store_url, "--json").stdout)

    assert [run["state"] for run in shown["runs"]] == ["done", "invalid", "done"]
    real = next(run for run in shown["runs"] if run["counts"].get("error") == 75)
    assert (real["sessions"], real["corrupt"], real["evidence"]) == (80, 5, 5)
    assert real["tag"] == "FIXED"
    assert set(real) >= {
        "arm", "block", "tag", "state", "counts", "sessions", "corrupt", "evidence",
        "wedges", "wedge_requests", "wedge_lines", "wall_s",
    }  # fmt: skip
    assert {"id", "headline", "sentence"} <= set(shown["verdicts"][0])


def test_show_prints_the_five_lines_of_the_real_case(store_url: str) -> None:
    shown = _decisive("show", "c-1", "--store", store_url, "--lines").stdout

    assert "CORRUPTION sessions: 5/80 = 6%  (leak=5 no_tool=0 error=75 " in shown
    assert "evidence: 5 of 80 sessions; corrupt 5/5 of those; bounds 6%..100%" in shown
    assert "not in this arm" in shown


def test_a_campaign_that_is_not_stored_is_refused_with_those_that_are(store_url: str) -> None:
    assert "it has: decisive-test" in _refusal("show", "c-99", "--store", store_url)


def test_a_store_that_does_not_exist_is_named_and_not_made(tmp_path: Path) -> None:
    path = tmp_path / "none.db"

    said = _refusal("show", "--store", f"sqlite:///{path}")

    assert str(path) in said
    assert not path.exists()


def test_the_report_never_reads_the_real_case_as_six_percent_halved(store_url: str) -> None:
    text = _decisive("report", "c-1", "--store", store_url).stdout

    assert "5/80" in text
    assert "5 of 80 gave evidence" in text
    assert "too few for a rate" in text
    assert "halved" not in text


def test_a_report_can_go_to_a_file(store_url: str, tmp_path: Path) -> None:
    file = tmp_path / "report.md"

    result = _decisive("report", "--store", store_url, "-o", str(file))

    assert result.exit_code == 0
    assert file.read_text("utf-8").startswith("# decisive-test (c-1)\n")
    assert result.stdout == ""


def test_a_report_into_a_folder_that_does_not_exist_is_refused(
    store_url: str, tmp_path: Path
) -> None:
    said = _refusal("report", "--store", store_url, "-o", str(tmp_path / "no" / "r.md"))

    assert "cannot write" in said


def test_rejudging_keeps_the_counts_that_the_bytes_still_show(tmp_path: Path) -> None:
    with fresh_store(tmp_path) as store:
        made = stored_campaign(store)
        stored_run(store, made.arms[0], counts={Outcome.HARNESS_ERROR: 2})
        url = store.url

    result = json.loads(_decisive("rejudge", "c-1", "--store", url, "--json").stdout)

    assert result["sessions"] == 2
    assert result["changed"] == []


@pytest.mark.parametrize("url", ["127.0.0.1:30000", "ftp://host", ""])
def test_what_is_no_address_is_not_tried(url: str, tmp_path: Path) -> None:
    said = _refusal("try", url, "--store", f"sqlite:///{tmp_path / 'try.db'}")

    assert "is no address of a server" in said


def test_a_server_that_does_not_answer_is_named(tmp_path: Path) -> None:
    from runner.control.ports import free_port

    url = f"http://127.0.0.1:{free_port()}"

    assert f"no server answers at {url}" in _refusal(
        "try", url, "--store", f"sqlite:///{tmp_path / 'try.db'}"
    )
