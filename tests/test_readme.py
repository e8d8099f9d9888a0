"""What the README shows can be saved and run as it stands there."""

import re
from pathlib import Path

import pytest

from runner.campaign.campaign_file import campaign_of
from runner.campaign.plan import make_plan
from runner.campaign.stack_file import stack_of
from runner.campaign.stack_fit import check_campaign_on_stack
from runner.campaign.yaml_source import parse_yaml

README = Path(__file__).resolve().parents[1] / "README.md"
_YAML = re.compile(r"^```yaml\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def examples() -> list[str]:
    return _YAML.findall(README.read_text("utf-8"))


def test_the_example_of_a_server_that_one_starts_oneself_is_a_campaign_that_can_be_run(
    examples: list[str],
) -> None:
    stack = stack_of(parse_yaml("README.md", examples[0]))
    campaign = campaign_of(parse_yaml("README.md", examples[1]))

    check_campaign_on_stack(campaign, stack)
    plan = make_plan(campaign, stack)

    assert (len(plan.arms), len(plan.runs), plan.launches) == (4, 12, 0)
    assert plan.warnings == ()


def test_the_example_of_a_unit_on_another_host_is_a_stack_that_can_be_used(
    examples: list[str],
) -> None:
    stack = stack_of(parse_yaml("README.md", examples[2]))

    assert stack.services["server"].unit == "sglang.service"
    assert stack.factors["hicache"]["on"].verify
    assert len(examples) == 3
