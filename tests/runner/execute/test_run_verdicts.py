"""What keeps a comparison from being one reaches the verdict, from real runs."""

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from db.campaigns import find_campaign
from db.reads.campaigns import verdicts
from db.runs import flag_run
from db.store import open_store
from db.vocabulary import RunFlag
from runner.cli.main import app
from runner.evidence.campaign_verdict import CampaignVerdict
from runner.execute.verdicts import reach_verdicts
from tests.fakes.oracle_configs import write_oracle_configs
from tests.runner.execute.campaign_bench import run_once, store_url, stored_runs

pytestmark = pytest.mark.end_to_end


def verdict_in(folder: Path) -> CampaignVerdict:
    with open_store(store_url(folder)) as store:
        (judged,) = reach_verdicts(store, 1)
    return judged.verdict


def change(folder: Path, file: str, old: str, new: str) -> None:
    path = folder / file
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")


def test_a_version_that_no_level_declares_makes_the_comparison_invalid(tmp_path: Path) -> None:
    write_oracle_configs(tmp_path)
    change(
        tmp_path, "stacks/oracle.yaml", "    bf16:\n", "    bf16:\n      env: {ORACLE_VERSION: b}\n"
    )

    run_once(tmp_path)

    verdict = verdict_in(tmp_path)
    assert verdict.headline == "inconclusive"
    assert verdict.reason_codes == {"invalid:undeclared_differences"}
    assert "the arms also differ in server version: oracle v b" in verdict.sentence


def test_a_version_that_a_level_proves_is_declared(tmp_path: Path) -> None:
    write_oracle_configs(tmp_path)
    proof = "      verify:\n        - {server_info: version, equals: b}\n"
    change(
        tmp_path,
        "stacks/oracle.yaml",
        '    bf16:\n      args: [--index-k-dtype, bf16, --leak-every, "3"]\n      verify:\n',
        '    bf16:\n      args: [--index-k-dtype, bf16, --leak-every, "3"]\n'
        "      env: {ORACLE_VERSION: b}\n" + proof,
    )

    run_once(tmp_path)

    assert "invalid:undeclared_differences" not in verdict_in(tmp_path).reason_codes


def test_an_arm_that_the_server_never_was_in_leaves_its_runs_missing(tmp_path: Path) -> None:
    write_oracle_configs(tmp_path, levels=["mislabelled", "bf16"])

    run_once(tmp_path)

    verdict = verdict_in(tmp_path)
    # A busy machine may miss the page of metrics that shows the other arm in use.
    assert verdict.reason_codes - {"invalid:not_exercised"} == {"invalid:runs_missing"}
    (left_out,) = verdict.exclusions
    assert "is invalid: the stack is not in this arm" in left_out


def test_a_level_that_nothing_proves_makes_the_comparison_invalid(tmp_path: Path) -> None:
    write_oracle_configs(tmp_path)
    change(
        tmp_path,
        "stacks/oracle.yaml",
        "      verify:\n        - {server_info: internal_states.*.index_k_dtype, equals: fp8}\n"
        "        - {server_info: internal_states.*.memory_usage.index_key_bytes_per_token, "
        "equals: 132}\n    bf16",
        "    bf16",
    )

    run_once(tmp_path)

    verdict = verdict_in(tmp_path)
    assert "invalid:arm_not_verified" in verdict.reason_codes
    assert "not verified: index_keys" in verdict.sentence


def test_a_path_that_was_never_used_makes_the_comparison_invalid(tmp_path: Path) -> None:
    write_oracle_configs(tmp_path)
    change(tmp_path, "stacks/oracle.yaml", "cache_source: host", "cache_source: nowhere")

    run_once(tmp_path)

    assert "invalid:not_exercised" in verdict_in(tmp_path).reason_codes
    shown = CliRunner().invoke(app, ["show", "--store", store_url(tmp_path), "oracle-test"])
    assert "bf16 · C=4 (not exercised)" in shown.stdout


def test_a_client_that_was_too_slow_makes_the_comparison_invalid(tmp_path: Path) -> None:
    write_oracle_configs(tmp_path)
    run_once(tmp_path)
    with open_store(store_url(tmp_path)) as store:
        flag_run(store, stored_runs(tmp_path)[0].id, RunFlag.CLIENT_SATURATED)

    assert "invalid:client_saturated" in verdict_in(tmp_path).reason_codes


def test_a_changed_arm_that_fell_silent_is_no_improvement(tmp_path: Path) -> None:
    write_oracle_configs(tmp_path, levels=["fp8", "bf16"], sessions=12)
    change(
        tmp_path,
        "stacks/oracle.yaml",
        "args: [--index-k-dtype, fp8]\n      verify:\n        - {server_info: internal_states.*.ind"
        "ex_k_dtype, equals: fp8}",
        'args: [--index-k-dtype, fp8, --die-after, "10"]\n      verify:\n        - {server_info: '
        "internal_states.*.index_k_dtype, equals: fp8}",
    )

    run_once(tmp_path)

    verdict = verdict_in(tmp_path)
    assert verdict.headline == "inconclusive"
    assert (verdict.direction, verdict.availability) == ("unclear", "worse")
    shown = CliRunner().invoke(app, ["show", "--store", store_url(tmp_path), "oracle-test"])
    assert re.search(r"^fp8 · C=4: \d+ silent sessions: \d+ ", shown.stdout, re.MULTILINE)


def test_a_tolerance_that_is_raised_after_the_runs_is_labelled_and_runs_nothing(
    tmp_path: Path,
) -> None:
    write_oracle_configs(tmp_path, levels=["fp8", "bf16"])
    run_once(tmp_path)
    change(tmp_path, "campaigns/oracle-test.yaml", "tolerate: 0.05", "tolerate: 0.5")

    run_once(tmp_path)

    assert len(stored_runs(tmp_path)) == 2
    with open_store(store_url(tmp_path)) as store:
        assert len(find_campaign(store, 1).hypotheses) == 2
        with store.session() as session:
            first, second = verdicts(session.connection(), [1])
    assert (first.slug, first.tolerate, first.is_registered) == ("first-is-clean", 0.05, True)
    assert (second.slug, second.tolerate, second.is_registered) == ("first-is-clean~2", 0.5, False)
    assert first.sentence is not None and not first.sentence.startswith("Exploratory")
    assert second.sentence is not None and second.sentence.startswith("Exploratory: ")
    assert second.said is not None and "Exploratory: " in second.said[0]


def test_a_stored_verdict_is_there_after_the_first_run_and_says_that_runs_are_open(
    tmp_path: Path,
) -> None:
    write_oracle_configs(tmp_path, levels=["fp8", "mislabelled"])

    run_once(tmp_path)

    with open_store(store_url(tmp_path)) as store, store.session() as session:
        (stored,) = verdicts(session.connection(), [1])
    assert stored.headline == "inconclusive"
    assert stored.said is not None and "Note: Interim: runs are open." in stored.said
