"""Whole campaigns over real server processes that know the right answers."""

import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from db.launches import fingerprints_of
from db.reads.runs import run_proof
from db.store import open_store
from db.vocabulary import RunFlag, RunState
from runner.control.ports import free_port
from runner.errors import ConfigError
from runner.execute.progress import RunOfCampaign
from runner.execute.stop_request import StopRequest
from runner.execute.verdicts import reach_verdicts
from runner.sessions.played_session import PlayedSession
from tests.fakes.oracle_configs import write_oracle_configs
from tests.runner.execute.campaign_bench import Watching, run_once, store_url, stored_runs

pytestmark = pytest.mark.end_to_end

ROOT = Path(__file__).resolve().parents[3]


def test_a_clean_arm_and_a_leaking_arm_are_told_apart(tmp_path: Path) -> None:
    write_oracle_configs(tmp_path)
    watching = Watching()

    end = run_once(tmp_path, watching=watching)

    by_arm = {run.arm_id: run for run in stored_runs(tmp_path)}
    clean, leaking = by_arm[1], by_arm[2]
    assert (clean.state, clean.n_done, clean.n_leak) == ("done", 6, 0)
    assert leaking.state == "done"
    # Every third call leaks and a session ends at its first: of 6 sessions with up to 2 calls,
    # at least 2 and at most 4 can be hit, whatever their order.
    assert 2 <= leaking.n_leak <= 4
    assert leaking.n_leak + leaking.n_done == 6
    assert watching.states[:7] == [
        RunState.APPLYING,
        RunState.VERIFYING,
        RunState.WARMING,
        RunState.DRIVING,
        RunState.SETTLING,
        RunState.DONE,
        RunState.APPLYING,
    ]
    assert all(len(lines) == 5 for lines in watching.lines)
    assert end.gave_up is None


def test_a_campaign_that_is_complete_does_nothing_the_second_time(tmp_path: Path) -> None:
    write_oracle_configs(tmp_path, levels=["fp8"], sessions=4)
    run_once(tmp_path)
    again = Watching()

    run_once(tmp_path, watching=again)

    assert again.missing == 0
    assert [run.attempt for run in stored_runs(tmp_path)] == [1]


def test_a_server_that_is_not_in_the_arm_makes_the_run_invalid(tmp_path: Path) -> None:
    write_oracle_configs(tmp_path, levels=["mislabelled"], sessions=4)

    run_once(tmp_path)

    (run,) = stored_runs(tmp_path)
    assert run.state == "invalid"
    assert run.n_ended == 0
    assert "should be 'bf16', found 'fp8'" in (run.reason or "")
    with open_store(store_url(tmp_path)) as store, store.session() as session:
        proof = run_proof(session.connection(), run.id)
    assert proof is not None
    assert [check["holds"] for check in proof.verification] == [False]


def test_a_cache_that_cannot_be_flushed_makes_the_run_invalid(tmp_path: Path) -> None:
    write_oracle_configs(tmp_path, levels=["fp8"], sessions=4, switches=["--refuse-flush"])

    run_once(tmp_path)

    (run,) = stored_runs(tmp_path)
    assert run.state == "invalid"
    assert RunFlag.FLUSH_REFUSED in run.flags
    assert "refused to flush" in (run.reason or "")


def test_a_server_that_dies_leaves_silent_sessions_and_a_flag(tmp_path: Path) -> None:
    write_oracle_configs(tmp_path, levels=["fp8"], sessions=6, switches=["--die-after", "15"])

    run_once(tmp_path)

    (run,) = stored_runs(tmp_path)
    assert run.state == "done"
    assert RunFlag.SERVER_DIED in run.flags
    assert run.n_ended == 6
    assert run.n_error >= 2
    assert run.n_harness_error == 0


def test_runs_that_fail_one_after_the_other_end_the_campaign(tmp_path: Path) -> None:
    write_oracle_configs(tmp_path, levels=["fp8"], blocks=4, switches=["--no-such-switch"])

    end = run_once(tmp_path)

    states = [run.state for run in stored_runs(tmp_path)]
    assert states == ["failed", "failed", "failed", "planned"]
    assert end.gave_up is not None and "3 runs failed in a row" in end.gave_up
    assert "unrecognized arguments: --no-such-switch" in end.gave_up


OWN_SCENARIO = """
from runner.sessions.dialogue import Dialogue, Round, Step


class Mine:
    name = "mine"

    def __init__(self, workload):
        pass

    def dialogue(self, session_index):
        said = {"role": "user", "content": f"Question {session_index}?"}
        return Dialogue(f"mine/{session_index}", "", (), (Round((Step(say=(said,)),)),))
"""


def own_scenario_of(folder: Path) -> Path:
    """What the campaign in the folder plays from now on."""
    campaign = folder / "campaigns" / "oracle-test.yaml"
    text = campaign.read_text().replace("{sessions", '{scenario: "mine:Mine", sessions')
    campaign.write_text(text)
    scenario = campaign.with_name("mine.py")
    scenario.write_text(OWN_SCENARIO)
    return scenario


def test_a_scenario_that_is_edited_while_its_campaign_runs_ends_it(tmp_path: Path) -> None:
    write_oracle_configs(tmp_path, levels=["fp8"], sessions=4, blocks=2)
    scenario = own_scenario_of(tmp_path)

    def edit(played: PlayedSession) -> None:
        scenario.write_text(OWN_SCENARIO.replace("Question", "Riddle"))

    with pytest.raises(ConfigError, match=f"{scenario} was changed while the campaign ran"):
        run_once(tmp_path, watching=Watching(on_session=edit))
    scenario.write_text(OWN_SCENARIO)
    run_once(tmp_path)

    assert [(run.state, run.attempt) for run in stored_runs(tmp_path)] == [("done", 1), ("done", 1)]


class Editing(Watching):
    """Edits the scenario when the servers are up."""

    def __init__(self, scenario: Path) -> None:
        super().__init__()
        self._scenario = scenario

    def run_state(self, run: RunOfCampaign, state: RunState) -> None:
        super().run_state(run, state)
        if state is RunState.WARMING:
            self._scenario.write_text(OWN_SCENARIO.replace("Question", "Riddle"))


def test_no_session_is_played_of_a_scenario_that_was_edited_while_the_servers_started(
    tmp_path: Path,
) -> None:
    write_oracle_configs(tmp_path, levels=["fp8"], sessions=4)
    scenario = own_scenario_of(tmp_path)

    run_once(tmp_path, watching=Editing(scenario))

    (run,) = stored_runs(tmp_path)
    assert (run.state, run.n_ended) == ("invalid", 0)
    assert "mine.py was changed while the campaign ran" in (run.reason or "")


def test_a_stopped_run_keeps_its_sessions_and_is_run_again_whole(tmp_path: Path) -> None:
    write_oracle_configs(tmp_path, levels=["fp8"], sessions=12)
    stop = StopRequest()

    end = run_once(tmp_path, watching=Watching(on_session=lambda _: stop.soft.set()), stop=stop)
    (stopped,) = stored_runs(tmp_path)
    run_once(tmp_path)
    runs = stored_runs(tmp_path)

    assert end.was_stopped
    assert stopped.state == "stopped"
    assert 1 <= stopped.n_ended < 12
    assert [(run.attempt, run.state) for run in runs] == [(1, "stopped"), (2, "done")]
    assert runs[0].n_ended == stopped.n_ended
    assert runs[1].n_ended == 12


def test_an_arm_may_end_at_its_first_corrupt_session(tmp_path: Path) -> None:
    write_oracle_configs(tmp_path, levels=["bf16"], sessions=40, stop="first_corrupt")

    run_once(tmp_path)

    (run,) = stored_runs(tmp_path)
    assert run.state == "done"
    assert run.n_leak >= 1
    assert run.n_ended < 40


def test_an_arm_that_others_are_compared_with_plays_all_its_sessions(tmp_path: Path) -> None:
    write_oracle_configs(tmp_path, levels=["fp8", "bf16"], sessions=12, stop="first_corrupt")

    run_once(tmp_path)

    leaking = next(run for run in stored_runs(tmp_path) if run.arm_id == 2)
    assert leaking.n_leak >= 1
    assert leaking.n_ended == 12


def test_an_answered_hypothesis_gets_no_further_run_and_the_price_is_told(tmp_path: Path) -> None:
    write_oracle_configs(tmp_path, levels=["bf16", "fp8"], blocks=3, sessions=12, stop="decided")
    watching = Watching()

    run_once(tmp_path, watching=watching)

    states = [(run.block, run.state) for run in stored_runs(tmp_path)]
    assert sorted(states) == [(1, "done"), (1, "done")] + [
        (block, "planned") for block in (2, 2, 3, 3)
    ]
    not_run = [note for note in watching.notes if "not run" in note]
    assert len(not_run) == 4
    assert all("gives no usable rate" in note for note in not_run)
    with open_store(store_url(tmp_path)) as store:
        (judged,) = reach_verdicts(store, 1)
    assert judged.verdict.headline == "refuted"


def test_runs_that_share_their_flags_share_a_launch_when_restarts_are_not_asked_for(
    tmp_path: Path,
) -> None:
    write_oracle_configs(tmp_path, levels=["fp8"], sessions=4, blocks=3, restart="when_needed")

    run_once(tmp_path)

    assert [run.launch_id for run in stored_runs(tmp_path)] == [1, 1, 1]


def test_what_the_server_said_of_itself_is_kept_without_its_secrets(tmp_path: Path) -> None:
    write_oracle_configs(tmp_path, levels=["fp8"], sessions=4)

    run_once(tmp_path)

    with open_store(store_url(tmp_path)) as store:
        facts = {each.service: each.facts for each in fingerprints_of(store, 1)}
    assert facts["server"]["version"] == "oracle"
    assert facts["server"]["api_key"] == "<redacted>"
    assert "python" in facts["client"]
    assert b"s3cret" not in (tmp_path / "decisive.db").read_bytes()


def test_wedge_lines_of_the_log_are_counted_by_request(tmp_path: Path) -> None:
    line = (
        "Decode transfer failed for request rank=0 decode_req.req.rid='abc' timed out after "
        "300.0s in KVPoll.WaitingForInput"
    )
    write_oracle_configs(tmp_path, levels=["fp8"], sessions=4, switches=["--log-line", line])

    run_once(tmp_path)

    (run,) = stored_runs(tmp_path)
    # Four sessions of two rounds of two turns: sixteen lines about one request.
    assert (run.wedge_lines, run.wedge_requests) == (16, 1)


def test_a_path_that_was_used_is_not_flagged(tmp_path: Path) -> None:
    write_oracle_configs(tmp_path, levels=["bf16"], sessions=4)

    run_once(tmp_path)

    (run,) = stored_runs(tmp_path)
    assert RunFlag.NOT_EXERCISED not in run.flags
    with open_store(store_url(tmp_path)) as store, store.session() as session:
        proof = run_proof(session.connection(), run.id)
    assert proof is not None
    (counter,) = proof.exposure["counters"]
    assert counter["exercised"] and counter["grown"] > 0


def test_a_failed_prediction_is_refuted_and_nothing_else_is_claimed(tmp_path: Path) -> None:
    write_oracle_configs(tmp_path, levels=["bf16", "fp8"])

    run_once(tmp_path)

    with open_store(store_url(tmp_path)) as store:
        (judged,) = reach_verdicts(store, 1)
    assert judged.verdict.headline == "refuted"


def test_a_server_that_runs_already_is_never_measured_in_the_place_of_ours(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as foreign:
        port = foreign.getsockname()[1]
        write_oracle_configs(tmp_path, levels=["fp8"], sessions=4, port=port)

        run_once(tmp_path)

    (run,) = stored_runs(tmp_path)
    assert run.state == "failed"
    assert f"http://127.0.0.1:{port} is already served by process" in (run.reason or "")
    assert run.n_ended == 0


def test_a_stop_before_the_first_session_ends_the_run_stopped(tmp_path: Path) -> None:
    write_oracle_configs(tmp_path, levels=["fp8"], sessions=4, switches=["--answer-delay-s", "90"])
    stop = StopRequest()

    class Impatient(Watching):
        def run_state(self, run: RunOfCampaign, state: RunState) -> None:
            if state is RunState.VERIFYING:
                stop.ask()

    end = run_once(tmp_path, watching=Impatient(), stop=stop)

    (run,) = stored_runs(tmp_path)
    assert end.was_stopped
    assert (run.state, run.reason) == ("stopped", "stopped before its first session")


def test_a_server_of_somebody_else_that_dies_is_seen_to_be_gone(tmp_path: Path) -> None:
    port = free_port()
    write_oracle_configs(tmp_path, levels=["fp8"], sessions=6, restart="when_needed")
    _run_by_somebody_else(tmp_path, port)
    with _oracle("--port", str(port), "--die-after", "15") as server:
        watching = Watching()

        run_once(tmp_path, watching=watching)

        assert server.wait(timeout=60) == 9
    (run,) = stored_runs(tmp_path)
    assert (run.state, run.flags) == ("done", [RunFlag.SERVER_DIED])
    assert run.n_error >= 2
    assert any(f"http://127.0.0.1:{port} is gone" in note for note in watching.notes)


def test_caches_that_nothing_empties_between_runs_are_told(tmp_path: Path) -> None:
    write_oracle_configs(tmp_path, levels=["fp8"], sessions=4, blocks=2, restart="when_needed")
    stack = tmp_path / "stacks" / "oracle.yaml"
    stack.write_text(re.sub(r"\n.*flush_cache.*", "", stack.read_text("utf-8")), "utf-8")
    watching = Watching()

    run_once(tmp_path, watching=watching)

    (told,) = [note for note in watching.notes if "caches" in note]
    assert told.startswith("nothing empties the caches of server between runs")


def _run_by_somebody_else(configs: Path, port: int) -> None:
    stack = configs / "stacks" / "oracle.yaml"
    place = f"controller: external\n    base_url: http://127.0.0.1:{port}"
    text = stack.read_text("utf-8").replace("controller: process", place)
    text = re.sub(r"\nmay_restart: true", "", text)
    text = re.sub(r"\n +(command|log|port): .*", "", text)
    stack.write_text(text, "utf-8")


@contextmanager
def _oracle(*switches: str) -> Iterator[subprocess.Popen[bytes]]:
    argv = [sys.executable, "-m", "tests.fakes.oracle_server", *switches]
    with subprocess.Popen(argv, cwd=ROOT) as server:
        try:
            yield server
        finally:
            server.kill()
