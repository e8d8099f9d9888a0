"""What the README shows can be saved and run as it stands there."""

import re
from pathlib import Path

import pytest

from runner.campaign.campaign_file import campaign_of
from runner.campaign.plan import make_plan
from runner.campaign.stack_file import stack_of
from runner.campaign.stack_fit import check_campaign_on_stack
from runner.campaign.yaml_source import parse_yaml
from runner.evidence.plan_assessment import Assumptions, assess_hypotheses

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
    assert campaign.hypotheses == ()


def test_the_example_of_a_unit_on_another_host_can_answer_the_hypothesis_beside_it(
    examples: list[str],
) -> None:
    stack = stack_of(parse_yaml("README.md", examples[2]))
    campaign = campaign_of(parse_yaml("README.md", examples[3]))

    check_campaign_on_stack(campaign, stack)
    plan = make_plan(campaign, stack)
    (assessed,) = assess_hypotheses(plan, stack, assumptions=Assumptions())

    assert stack.services["server"].unit == "sglang.service"
    assert stack.factors["hicache"]["on"].verify
    assert (len(plan.runs), plan.launches) == (6, 6)
    assert assessed.assessment.can_answer, assessed.assessment.shortcomings
    assert len(examples) == 4
