"""`decisive stack`: on the files that come along, and on the lease of a dead campaign."""

import json
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from db.process_liveness import this_host
from db.stack_lease import Holder, acquire_stack, note_found, stack_holder
from db.store import open_store
from db.workers import liveness_now
from runner.cli.main import app
from runner.control.restore_steps import RestoreStep, steps_to_json
from runner.errors import ConfigError, UsageError
from tests.runner.campaign.files import STACK, spoiled

CONFIGS = str(Path(__file__).resolve().parents[3] / "configs")
DEAD = Holder("run-999999999@here", this_host(), 999_999_999)


def decisive(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


def test_a_stack_is_shown_with_what_each_level_does_and_what_proves_it() -> None:
    said = decisive("stack", "show", "sglang-pd", "--configs", CONFIGS).stdout.splitlines()

    assert said[2].startswith(
        "service router: router, systemd (sglang-router.service) on gpu1 at http://gpu1:{port}"
    )
    at = said.index("factor hicache")
    assert said[at + 3] == "  on: --enable-hierarchical-cache --hicache-ratio 2 at prefill"
    assert "enable_hierarchical_cache: true at prefill" in said[at + 4]
    assert "exercised where sglang:cached_tokens_total grows by 1" in said[at + 4]


def test_a_stack_is_told_to_scripts_as_one_object() -> None:
    told = json.loads(decisive("stack", "show", "openai", "--configs", CONFIGS, "--json").stdout)

    assert told["services"]["endpoint"]["proofs"] == ["models"]
    assert told["factors"]["provider"]["another-one"]["does"] == (
        "sessions go to https://api.another.example.com"
    )


def test_a_file_outside_of_the_configs_can_be_named_by_its_path(tmp_path: Path) -> None:
    path = tmp_path / "little.yaml"
    path.write_text(STACK, "utf-8")

    assert decisive("stack", "show", str(path)).stdout.startswith("little: A little server.")

    path.write_text(spoiled(STACK, "controller: process", "controler: process"), "utf-8")
    error = decisive("stack", "show", str(path)).exception
    assert isinstance(error, ConfigError)
    assert "did you mean controller?" in str(error)


def test_a_service_whose_port_is_free_cannot_be_checked_without_its_address() -> None:
    error = decisive("stack", "check", "testbed", "--configs", CONFIGS).exception

    assert isinstance(error, UsageError)
    assert "--url server=http://HOST:PORT" in str(error)


def test_a_stack_that_nobody_holds_needs_no_restoring(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path / 's.db'}"

    result = decisive("stack", "restore", "anything", "--store", store)

    assert result.exit_code == 0
    assert "nothing to restore" in result.stdout


@pytest.fixture
def left_behind(tmp_path: Path) -> str:
    """A store in which a campaign died after it had noted its way back: a file to be written."""
    url = f"sqlite:///{tmp_path / 's.db'}"
    words = (sys.executable, "-c", f"open({str(tmp_path / 'restored')!r}, 'w')")
    with open_store(url) as store:
        acquire_stack(store, "mine", DEAD, liveness=liveness_now(store))
        steps = (RestoreStep("server", words),)
        note_found(store, "mine", DEAD, found=steps_to_json(steps, host=this_host()))
    return url


def test_what_a_dead_campaign_noted_is_done_once(left_behind: str, tmp_path: Path) -> None:
    told = decisive("stack", "restore", "mine", "--store", left_behind, "--dry-run")
    is_untouched = not (tmp_path / "restored").exists()
    done = decisive("stack", "restore", "mine", "--store", left_behind)

    assert "restored" in told.stdout and is_untouched
    assert done.exit_code == 0
    assert "brought back what a killed worker had left changed: server" in done.stdout
    assert (tmp_path / "restored").exists()
    with open_store(left_behind) as store:
        assert stack_holder(store, "mine") is None


def test_what_was_noted_on_another_machine_is_not_done_here(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 's.db'}"
    with open_store(url) as store:
        acquire_stack(store, "mine", DEAD, liveness=liveness_now(store))
        steps = (RestoreStep("server", ("touch", str(tmp_path / "restored"))),)
        note_found(store, "mine", DEAD, found=steps_to_json(steps, host="elsewhere"))

    result = decisive("stack", "restore", "mine", "--store", url)

    assert result.exit_code == 1
    assert "by a worker on elsewhere: restore it there" in result.stderr
    assert not (tmp_path / "restored").exists()
    with open_store(url) as store:
        lease = stack_holder(store, "mine")
        assert lease is not None and lease.found["host"] == "elsewhere"
