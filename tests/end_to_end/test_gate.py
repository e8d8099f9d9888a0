"""A job that guards a stack: one command, an exit status, and files that say the same."""

from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.end_to_end.processes import decisive
from tests.fakes.oracle_configs import write_oracle_configs

pytestmark = pytest.mark.end_to_end


def test_a_guarded_campaign_runs_until_decided_and_tells_the_job(tmp_path: Path) -> None:
    configs = write_oracle_configs(tmp_path, levels=["fp8", "bf16"], sessions=8)
    junit, summary = tmp_path / "out.xml", tmp_path / "summary.md"

    ended = decisive(
        *("run", "oracle-test", "--until-decided", "--blocks", "2"),
        *("--junit", str(junit), "--summary", str(summary)),
        configs=configs,
    )

    # 16 clean sessions leave more than the 5 % that are tolerated.
    assert ended.returncode == 3, ended.stderr
    assert "not decided yet: first-is-clean; block 2 is added" in ended.stderr
    assert "not decided after 2 blocks: first-is-clean" in ended.stderr
    root = ElementTree.parse(junit).getroot()
    assert root.attrib["errors"] == "1"
    assert len(root.findall("testsuite[@name='runs']/testcase")) == 4
    assert "| first-is-clean | inconclusive |" in summary.read_text("utf-8")
