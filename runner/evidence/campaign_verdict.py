"""The verdict on a hypothesis: three answers, one headline, why, and what to do next.

Made from counts by run and from how the runs were made; it reads no record and asks no server.
Invalid comparisons are told before any statistics.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from db.vocabulary import Availability, Direction, Elimination, Headline
from runner.evidence.arm_comparison import ArmComparison
from runner.evidence.criteria import CriterionResult
from runner.evidence.decision_rule import DecisionRule
from runner.evidence.direction_strength import DirectionP, direction_p
from runner.evidence.exclusion_words import exclusion_sentences
from runner.evidence.launch_words import Unit
from runner.evidence.multiplicity import holm
from runner.evidence.next_experiment import Experiment, more_clean_runs, next_experiments
from runner.evidence.question import Assessment, assess
from runner.evidence.question import Question as Question
from runner.evidence.stopping import ends_at_first_corrupt
from runner.evidence.uncompared_arms import BASIS as UNCOMPARED_BASIS
from runner.evidence.uncompared_arms import uncompared_arms
from runner.evidence.unreproduced import unreproduced
from runner.evidence.verdict_caveats import (
    Caveat,
    basis_sentence,
    caveats_of,
    caveats_of_numbers,
)
from runner.evidence.verdict_decision import (
    Decision,
    ReasonCode,
    decide,
)
from runner.evidence.verdict_reasons import reason_codes, reasons_of
from runner.evidence.verdict_record import inputs_of
from runner.evidence.verdict_validity import (
    Doubt,
    is_cut_short,
    unit_of_evidence,
)
from runner.evidence.verdict_words import Answers, Matter, answers_of

METHOD = "evidence 1"


@dataclass(frozen=True, slots=True, kw_only=True)
class CampaignVerdict:
    """`sentence` claims no more than the three answers; `inputs` is all it was made from, as JSON.

    `exclusions` names the runs without a say. `comparison` is None where the arms could not be
    compared.
    """

    headline: Headline
    elimination: Elimination
    direction: Direction
    availability: Availability
    answers: Answers
    basis: str
    reasons: tuple[Doubt, ...]
    caveats: tuple[Caveat, ...]
    exclusions: tuple[str, ...]
    experiments: tuple[Experiment, ...]
    criteria: tuple[CriterionResult, ...]
    comparison: ArmComparison | None
    inputs: dict[str, Any]
    is_exploratory: bool
    method: str = METHOD

    @property
    def sentence(self) -> str:
        """What stands under the headline."""
        label = "Exploratory: " if self.is_exploratory else ""
        return f"{label}{self.answers.headline}"

    @property
    def reason_codes(self) -> frozenset[str]:
        """As recorded verdicts write them, each failed criterion with what was seen."""
        return reason_codes(self.reasons)


def judge_hypothesis(question: Question) -> CampaignVerdict:
    return _judged(question, assess(question), adjusted=None, hypotheses=1)


def judge_campaign(questions: Mapping[str, Question]) -> dict[str, CampaignVerdict]:
    """All hypotheses of a campaign; p-values of direction are adjusted for their number (Holm).

    The registered ones among themselves: what was written down later weakens none of them, and is
    adjusted for all. One whose arms cannot be compared yet counts all the same.
    """
    assessed = {key: assess(question) for key, question in questions.items()}
    p_values = {
        key: _p_of(assessed[key].comparison, question.rule) for key, question in questions.items()
    }
    registered = {key for key, question in questions.items() if question.rule.is_registered}
    adjusted = {
        **_holm_adjusted(p_values),
        **_holm_adjusted({key: p for key, p in p_values.items() if key in registered}),
    }
    return {
        key: _judged(
            question,
            assessed[key],
            adjusted=adjusted[key],
            hypotheses=len(registered) if key in registered else len(questions),
        )
        for key, question in questions.items()
    }


def _p_of(comparison: ArmComparison | None, rule: DecisionRule) -> DirectionP:
    return DirectionP(1.0, 1.0) if comparison is None else direction_p(comparison, rule=rule)


def _holm_adjusted(p_values: Mapping[str, DirectionP]) -> dict[str, DirectionP]:
    lower = holm([p.lower for p in p_values.values()])
    higher = holm([p.higher for p in p_values.values()])
    pairs = zip(lower, higher, strict=True)
    return {key: DirectionP(*pair) for key, pair in zip(p_values, pairs, strict=True)}


def _judged(
    question: Question, assessed: Assessment, *, adjusted: DirectionP | None, hypotheses: int
) -> CampaignVerdict:
    caveats = caveats_of(
        question.arm,
        question.versus,
        rule=question.rule,
        setting=question.setting,
        hypotheses=hypotheses,
    )
    if assessed.comparison is None:
        return _of_uncompared(question, assessed.criteria, assessed.doubts, caveats)
    decision = decide(
        assessed.comparison,
        assessed.criteria,
        rule=question.rule,
        is_stopped_early=_is_stopped_early(question),
        adjusted=adjusted,
    )
    return _of_decision(question, assessed.criteria, assessed.comparison, decision, caveats)


def _is_stopped_early(question: Question) -> bool:
    """Whether a run may have been cut short where it was corrupt or wedged: it has no usable rate.

    Also where the first corrupt session was the last of its run: its rule let no more be counted.
    """
    arm, versus, setting = question.arm, question.versus, question.setting
    if any(is_cut_short(run, setting) for run in (*arm.done, *versus.done)):
        return True
    may_end = setting.ended_by_rule and ends_at_first_corrupt(question.prediction, question.rule)
    return may_end and arm.counts.corrupt > 0


def _of_decision(
    question: Question,
    criteria: tuple[CriterionResult, ...],
    comparison: ArmComparison,
    decision: Decision,
    caveats: tuple[Caveat, ...],
) -> CampaignVerdict:
    arm, versus, rule, setting = question.arm, question.versus, question.rule, question.setting
    unit = unit_of_evidence(arm, versus, setting=setting)
    answers = answers_of(_matter(question, criteria, comparison, decision, unit))
    numeric = caveats_of_numbers(comparison, decision, arm=arm, versus=versus, rule=rule, unit=unit)
    wedged = bool(arm.wedges or arm.wedge_lines)
    return CampaignVerdict(
        headline=decision.headline,
        elimination=decision.elimination,
        direction=decision.direction,
        availability=decision.availability,
        answers=answers,
        basis=basis_sentence(comparison, rule=rule, unit=unit),
        reasons=reasons_of(decision, criteria, answers),
        caveats=(*caveats, *numeric),
        exclusions=exclusion_sentences(arm, versus),
        experiments=next_experiments(
            comparison, decision, rule=rule, setting=setting, wedged=wedged, unit=unit
        ),
        criteria=criteria,
        comparison=comparison,
        inputs=_inputs(question),
        is_exploratory=not rule.is_registered,
    )


def _of_uncompared(
    question: Question,
    criteria: tuple[CriterionResult, ...],
    doubts: tuple[Doubt, ...],
    caveats: tuple[Caveat, ...],
) -> CampaignVerdict:
    uncompared = uncompared_arms(
        question.prediction,
        criteria,
        doubts,
        arm=question.arm,
        versus=question.versus,
        setting=question.setting,
    )
    refuted = uncompared.is_refuted
    return CampaignVerdict(
        headline=Headline.REFUTED if refuted else Headline.INCONCLUSIVE,
        elimination=Elimination.REFUTED if refuted else Elimination.INCONCLUSIVE,
        direction=Direction.UNCLEAR,
        availability=Availability.NOT_SHOWN_WORSE,
        answers=uncompared.answers,
        basis=UNCOMPARED_BASIS,
        reasons=uncompared.reasons,
        caveats=(*uncompared.caveats, *caveats),
        exclusions=exclusion_sentences(question.arm, question.versus),
        experiments=(uncompared.experiment,),
        criteria=criteria,
        comparison=None,
        inputs=_inputs(question),
        is_exploratory=not question.rule.is_registered,
    )


def _matter(
    question: Question,
    criteria: tuple[CriterionResult, ...],
    comparison: ArmComparison,
    decision: Decision,
    unit: Unit,
) -> Matter:
    too_few = ReasonCode.ELIMINATION_TOO_FEW_SESSIONS in decision.codes
    rule, setting = question.rule, question.setting
    return Matter(
        prediction=question.prediction,
        criteria=criteria,
        comparison=comparison,
        decision=decision,
        rule=rule,
        scope=setting.scope,
        more_clean_runs=more_clean_runs(comparison, rule=rule) if too_few else None,
        unit=unit,
        unreproduced=(
            unreproduced(comparison, rule=rule, setting=setting, unit=unit)
            if ReasonCode.DIRECTION_NOT_REPRODUCED in decision.codes
            else None
        ),
    )


def _inputs(question: Question) -> dict[str, Any]:
    return inputs_of(
        question.prediction,
        question.arm,
        question.versus,
        rule=question.rule,
        setting=question.setting,
    )
