"""Every sentence template on every recorded verdict case, as one text.

A case is judged as it was registered, and once more under each variant of its question, of which
only the lines that the variant changes are shown; then come the sentences beside verdicts. Each
case ends with the templates that do not apply to it.

`python -m tests.runner.evidence.rendered_templates` writes the text to where it is kept.
"""

from dataclasses import dataclass

from db.vocabulary import Headline
from runner.evidence.campaign_verdict import CampaignVerdict
from runner.evidence.next_experiment import ExperimentKind
from runner.evidence.question import Question
from runner.evidence.recorded_verdicts import recorded_question
from runner.evidence.stopping import StopReason
from runner.evidence.verdict_caveats import CaveatKind
from runner.evidence.verdict_decision import ReasonCode
from runner.evidence.verdict_text import verdict_lines
from tests.runner.evidence.question_variants import VARIANTS, verdict_under
from tests.runner.evidence.recorded_answers import TEMPLATES, verdict_cases
from tests.runner.evidence.sentences_beside import Said, beside_verdicts


def said_of(verdict: CampaignVerdict) -> list[Said]:
    return [
        Said(line, verdict.headline, verdict.direction, verdict.availability)
        for line in verdict_lines(verdict)
    ]


@dataclass(frozen=True, slots=True)
class CaseRendered:
    """`sections` in order; `unused` are the templates that no variant of the case called for."""

    name: str
    sections: tuple[tuple[str, tuple[Said, ...]], ...]
    used: frozenset[str]

    @property
    def unused(self) -> tuple[str, ...]:
        return tuple(sorted(ALL_TEMPLATES - self.used))


ALL_TEMPLATES = frozenset(
    f"{kind.__name__} {member}"
    for kind in (Headline, ReasonCode, CaveatKind, ExperimentKind, StopReason)
    for member in kind
)


def rendered_cases() -> tuple[CaseRendered, ...]:
    return tuple(_rendered(name, recorded_question(case)) for name, case in verdict_cases().items())


def _rendered(name: str, question: Question) -> CaseRendered:
    sections: list[tuple[str, tuple[Said, ...]]] = []
    used: set[str] = set()
    registered: frozenset[str] = frozenset()
    for variant in VARIANTS:
        verdict = verdict_under(variant, question)
        used |= _templates_of(verdict)
        said = [each for each in said_of(verdict) if each.text not in registered]
        registered = registered or frozenset(each.text for each in said)
        sections.append((variant, tuple(said)))
    for section, said in beside_verdicts(question):
        sections.append((section, tuple(said)))
        if section == "stopping":
            used |= {f"StopReason {each.text.split(':')[0]}" for each in said}
    return CaseRendered(name, tuple(sections), frozenset(used))


def _templates_of(verdict: CampaignVerdict) -> set[str]:
    return {
        f"Headline {verdict.headline}",
        *(f"ReasonCode {reason.code}" for reason in verdict.reasons),
        *(f"CaveatKind {caveat.kind}" for caveat in verdict.caveats),
        *(f"ExperimentKind {experiment.kind}" for experiment in verdict.experiments),
    }


def as_text(cases: tuple[CaseRendered, ...]) -> str:
    lines: list[str] = []
    for case in cases:
        lines.append(f"# {case.name}")
        for section, said in case.sections:
            lines += ["", f"## {section}", *(each.text for each in said)]
            lines += [] if said else ["(nothing else is said)"]
        lines += ["", "## templates that do not apply here", *case.unused, ""]
    return "\n".join(lines)


if __name__ == "__main__":
    TEMPLATES.write_text(as_text(rendered_cases()), encoding="utf-8")
