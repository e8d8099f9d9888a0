"""All templates on all recorded cases: the agreed words, and none that the answers do not allow."""

from functools import lru_cache

from runner.evidence.claim_guard import unlicensed_claims
from tests.runner.evidence.recorded_answers import TEMPLATES
from tests.runner.evidence.rendered_templates import (
    ALL_TEMPLATES,
    CaseRendered,
    as_text,
    rendered_cases,
)


@lru_cache
def rendered() -> tuple[CaseRendered, ...]:
    return rendered_cases()


def test_every_template_says_on_every_recorded_case_what_was_agreed() -> None:
    """Agreed anew with `python -m tests.runner.evidence.rendered_templates`, and read."""
    assert as_text(rendered()) == TEMPLATES.read_text(encoding="utf-8")


def test_each_template_applies_to_some_recorded_case() -> None:
    used = frozenset[str]().union(*(case.used for case in rendered()))

    assert sorted(ALL_TEMPLATES - used) == []
    assert sorted(used - ALL_TEMPLATES) == []


def test_no_rendered_sentence_claims_what_its_answers_do_not_license() -> None:
    said = [each for case in rendered() for _, section in case.sections for each in section]
    claims = {
        each.text: found
        for each in said
        if (
            found := unlicensed_claims(
                each.text,
                headline=each.headline,
                direction=each.direction,
                availability=each.availability,
            )
        )
    }

    assert len(said) > 1_000
    assert claims == {}
