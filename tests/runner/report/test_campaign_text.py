import pytest

from runner.campaign.yaml_source import parse_yaml
from runner.report.campaign_text import without_prompts


def test_what_is_left_reads_as_the_same_campaign_with_other_words() -> None:
    text = "factors: {hicache: [on, off], depth: [1, '1']}\nworkload: {system: Be kind., rounds: 4}"

    left = without_prompts(text)

    assert left is not None
    assert parse_yaml("x", left).data == {
        "factors": {"hicache": ("on", "off"), "depth": (1, "1")},
        "workload": {"system": "[8 characters]", "rounds": 4},
    }


@pytest.mark.parametrize("text", ["", "a: [", "- list", "\x00", "just words", "a: 1\na: 2"])
def test_a_text_that_is_no_campaign_file_is_left_out(text: str) -> None:
    assert without_prompts(text) is None


@pytest.mark.parametrize("workload", ["words", "[words]", "{request: words}", "{system: null}"])
def test_a_workload_of_another_shape_has_no_prompt_or_none_that_stays(workload: str) -> None:
    left = without_prompts(f"workload: {workload}")

    assert left is not None
    assert "words" not in left
