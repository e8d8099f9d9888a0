"""What `decisive run` says before its first run."""

import json
from pathlib import Path
from xml.etree import ElementTree

from click.testing import Result

from tests.fakes.unrestarted_configs import HYPOTHESIS, unrestarted_configs
from tests.runner.cli.calls import decisive

_SAID = (
    "hypothesis sampling: CANNOT ANSWER: Cannot confirm: 1 launch of 120 sessions without a "
    "corrupt one leaves a rate of up to 7.7\u2009%, tolerated are 5.0\u2009% (ICC 0.05); "
    "`decisive plan first-look` says more"
)


def _run(folder: Path, *options: str, hypothesis: str = HYPOTHESIS) -> Result:
    """Against a server that does not answer, for as short as a campaign may take."""
    configs = unrestarted_configs(folder, blocks=3, hypothesis=hypothesis)
    places = ("--configs", configs, "--store", f"sqlite:///{folder / 'run.db'}")
    return decisive("run", "first-look", *places, "--budget-minutes", "0.01", *options)


def test_a_hypothesis_that_the_plan_cannot_answer_is_told_before_anything_else(
    tmp_path: Path,
) -> None:
    first, *others = _run(tmp_path).stderr.splitlines()

    assert first == _SAID
    assert any(line.startswith("campaign c-1 first-look") for line in others)


def test_it_is_not_told_where_scripts_read(tmp_path: Path) -> None:
    result = _run(tmp_path, "--json")

    assert json.loads(result.stdout)["campaign"]
    assert _SAID in result.stderr


def test_nothing_is_told_of_a_campaign_that_only_counts(tmp_path: Path) -> None:
    assert "CANNOT ANSWER" not in _run(tmp_path, hypothesis="").stderr


def test_a_job_is_told_that_its_budget_ended_the_campaign(tmp_path: Path) -> None:
    result = _run(tmp_path, "--junit", str(tmp_path / "out.xml"))

    *_, ending = ElementTree.parse(tmp_path / "out.xml").getroot().iter("testcase")
    assert result.exit_code == 3
    assert "the budget is spent" in ending[0].attrib["message"]
