"""No process outlives a fault of the store, and none is started that nobody could find again."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from db.campaigns import register_campaign
from db.errors import LeaseLostError
from db.process_liveness import this_host
from db.stack_lease import Holder, release_stack, stack_holder
from db.store import Store, open_store
from runner.campaign.config_folder import ConfigFolder
from runner.cli.opening import OpenedCampaign, open_campaign
from runner.control.process_group import ProcessMark
from runner.execute.campaign_registration import new_campaign
from runner.execute.launcher import Launcher
from tests.fakes.oracle_configs import write_oracle_configs

HOLDER = Holder("test", this_host(), 1)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(f"sqlite:///{tmp_path / 'decisive.db'}") as opened:
        yield opened


@pytest.fixture
def opened(tmp_path: Path) -> OpenedCampaign:
    """Its server would leave a file behind when it begins."""
    configs = write_oracle_configs(tmp_path, levels=["fp8"])
    stack = configs / "stacks" / "oracle.yaml"
    words = json.dumps(["touch", str(tmp_path / "begun")])
    text = re.sub(r"command: .*", f"command: {words}", stack.read_text("utf-8"))
    stack.write_text(text, "utf-8")
    return open_campaign("oracle-test", ConfigFolder(configs))


def _launcher(
    store: Store, opened: OpenedCampaign, http: httpx.AsyncClient, logs: Path
) -> Launcher:
    registered = register_campaign(store, new_campaign(opened.campaign, opened.stack))
    assert registered.campaign.id is not None
    return Launcher(
        store=store,
        stack=opened.stack,
        campaign_id=registered.campaign.id,
        restart=opened.campaign.schedule.restart,
        holder=HOLDER,
        http=http,
        log_folder=logs,
    )


async def test_a_service_that_cannot_be_noted_never_begins(
    store: Store, opened: OpenedCampaign, tmp_path: Path
) -> None:
    async with httpx.AsyncClient() as http:
        launcher = _launcher(store, opened, http, tmp_path)
        await launcher.take_lease()
        release_stack(store, opened.stack.name, HOLDER)

        with pytest.raises(LeaseLostError):
            await launcher.enter({"index_keys": "fp8", "concurrency": 4}, label="r-1")

    assert not (tmp_path / "begun").exists()
    assert (tmp_path / "r-1-server.log").read_bytes() == b""


async def test_a_service_that_begins_is_noted_with_the_stack(
    store: Store, opened: OpenedCampaign, tmp_path: Path
) -> None:
    async with httpx.AsyncClient() as http:
        launcher = _launcher(store, opened, http, tmp_path)
        await launcher.take_lease()

        launched = await launcher.enter({"index_keys": "fp8", "concurrency": 4}, label="r-1")

        lease = stack_holder(store, opened.stack.name)
        assert lease is not None
        noted = ProcessMark.from_json(lease.process_ids["server"])
        assert noted == launched.running.marks()["server"]
        await launcher.close()

    assert stack_holder(store, opened.stack.name) is None
