"""Gathers from the store what reports of each scope are made of."""

from collections.abc import Mapping, Sequence
from typing import Any

from db.reads.campaigns import ArmFacts, CampaignFacts, arms, campaign, campaign_source
from db.reads.campaigns import campaign_of_arm as stored_campaign_of_arm
from db.reads.observations import log_events
from db.reads.runs import RunCounts, launch, run, run_proof, runs
from db.reads.sessions import SessionFacts, TurnFacts, sessions_of_runs, turns, twins
from db.reads.sessions import session as stored_session
from db.store import Store
from runner.campaign.prediction import parse_prediction
from runner.errors import UsageError
from runner.evidence.campaign_verdict import Question, judge_hypothesis
from runner.evidence.counts_question import NO_CORRUPTION
from runner.evidence.decision_rule import DecisionRule
from runner.execute.attribution import attribution_lines
from runner.execute.campaign_evidence import CampaignEvidence, gather_evidence
from runner.execute.silence import silence_lines
from runner.execute.stored_failures import read_failures
from runner.execute.verdicts import reach_verdicts
from runner.report.campaign_text import without_prompts
from runner.report.redaction import hidden_text
from runner.report.report_record import (
    ArmRecord,
    CampaignRecord,
    ComparisonRecord,
    ReportedLaunch,
    ReportedSession,
    ReportedVerdict,
    SessionRecord,
)
from runner.report.session_report import markup_only

EXAMPLES_OF_ARM = 2
MAX_EXAMPLES = 6
MAX_TEXT = 2_000
MAX_LOG_EVENTS = 60


def campaign_record(
    store: Store, facts: CampaignFacts, *, hides_prompts: bool = False
) -> CampaignRecord:
    evidence = gather_evidence(store, facts.id)
    with store.session() as session:
        connection = session.connection()
        known_arms = arms(connection, [facts.id])
        stored_runs = runs(connection, [facts.id])
        source = campaign_source(connection, facts.id) or ""
    return CampaignRecord(
        campaign=facts,
        source_text=without_prompts(source) if source and hides_prompts else source,
        arms=known_arms,
        runs=stored_runs,
        verdicts=_reported_verdicts(store, facts.id, evidence),
        examples=_examples(store, facts, known_arms, stored_runs, hides_prompts=hides_prompts),
        attribution=attribution_lines(evidence),
        silence=silence_lines(store, facts.id, with_details=not hides_prompts),
        launches=_launches(store, stored_runs, evidence),
        failures=read_failures(store, facts),
        hides_prompts=hides_prompts,
    )


def arm_record(store: Store, arm_id: int, *, hides_prompts: bool = False) -> ArmRecord:
    """Raises UsageError."""
    facts = _campaign_of_arm(store, arm_id)
    whole = campaign_record(store, facts, hides_prompts=hides_prompts)
    arm = next(each for each in whole.arms if each.id == arm_id)
    own = [each for each in whole.runs if each.arm_id == arm_id]
    with store.session() as session:
        proofs = [run_proof(session.connection(), each.id) for each in own]
    return ArmRecord(
        whole=whole,
        arm=arm,
        proofs=[proof for proof in proofs if proof is not None],
        silent=[line for line in whole.silence if line.startswith(f"{arm.name}: ")],
        examples=_examples(
            store, facts, [arm], own, hides_prompts=hides_prompts, of_arm=MAX_EXAMPLES
        ),
    )


def comparison_record(
    store: Store, arm_id: int, versus_id: int, *, hides_prompts: bool = False
) -> ComparisonRecord:
    """The verdict is a registered hypothesis's where one asks just this. Raises UsageError."""
    if arm_id == versus_id:
        raise UsageError(f"a-{arm_id} cannot be compared with itself")
    facts, other = _campaign_of_arm(store, arm_id), _campaign_of_arm(store, versus_id)
    if facts.id != other.id:
        raise UsageError(
            f"a-{arm_id} and a-{versus_id} are arms of c-{facts.id} and c-{other.id}: only arms of "
            "one campaign are compared"
        )
    whole = campaign_record(store, facts, hides_prompts=hides_prompts)
    evidence = gather_evidence(store, facts.id)
    pair = [evidence.arm(each) for each in (arm_id, versus_id)]
    setting = evidence.setting(arm_id, versus_id)
    of_pair = [each for each in whole.runs if each.arm_id in (arm_id, versus_id)]
    return ComparisonRecord(
        whole=whole,
        arm=pair[0],
        versus=pair[1],
        verdict=_verdict_between(whole, evidence, *pair),
        undeclared=setting.undeclared_differences,
        examples=_examples(store, facts, pair, of_pair, hides_prompts=hides_prompts),
    )


def session_record(store: Store, session_id: int, *, hides_prompts: bool = False) -> SessionRecord:
    """Raises UsageError."""
    with store.session() as session:
        connection = session.connection()
        found = stored_session(connection, session_id)
        own = None if found is None else run(connection, found.run_id)
        facts = None if own is None else campaign(connection, own.campaign_id)
        if found is None or own is None or facts is None:
            raise UsageError(f"the store {store.url} has no session s-{session_id}")
        return SessionRecord(
            campaign=facts,
            arm=next(a for a in arms(connection, [facts.id]) if a.id == own.arm_id),
            run=own,
            session=found,
            turns=turns(connection, session_id),
            twins=twins(connection, facts.id, found.session_index),
            log=log_events(
                connection,
                own.id,
                from_us=found.started_at_us,
                to_us=found.ended_at_us,
                limit=MAX_LOG_EVENTS,
            ),
            hides_prompts=hides_prompts,
        )


def _campaign_of_arm(store: Store, arm_id: int) -> CampaignFacts:
    with store.session() as session:
        connection = session.connection()
        campaign_id = stored_campaign_of_arm(connection, arm_id)
        facts = None if campaign_id is None else campaign(connection, campaign_id)
    if facts is None:
        raise UsageError(f"the store {store.url} has no arm a-{arm_id}")
    return facts


def _reported_verdicts(
    store: Store, campaign_id: int, evidence: CampaignEvidence
) -> list[ReportedVerdict]:
    judged = {each.slug: each.verdict for each in reach_verdicts(store, campaign_id)}
    return [
        ReportedVerdict(
            hypothesis_id=each.hypothesis_id,
            slug=each.slug,
            claim=each.claim,
            arm_name=evidence.arm(each.arm_id).name,
            versus_name=evidence.arm(each.versus_arm_id).name,
            predict=each.predict,
            verdict=judged[each.slug],
        )
        for each in evidence.hypotheses
    ]


def _verdict_between(
    whole: CampaignRecord, evidence: CampaignEvidence, arm: ArmFacts, versus: ArmFacts
) -> ReportedVerdict:
    """Of the first hypothesis on the two; else exploratory, since who asks has seen them."""
    for each in evidence.hypotheses:
        if (each.arm_id, each.versus_arm_id) == (arm.id, versus.id):
            return next(v for v in whole.verdicts if v.hypothesis_id == each.hypothesis_id)
    question = Question(
        prediction=parse_prediction(NO_CORRUPTION),
        arm=evidence.of_arm(arm.id),
        versus=evidence.of_arm(versus.id),
        rule=DecisionRule(is_registered=False, ending=evidence.ending),
        setting=evidence.setting(arm.id, versus.id),
    )
    return ReportedVerdict(
        hypothesis_id=None,
        slug=f"a-{arm.id} v a-{versus.id}",
        claim="",
        arm_name=arm.name,
        versus_name=versus.name,
        predict=NO_CORRUPTION,
        verdict=judge_hypothesis(question),
    )


def _launches(
    store: Store, stored: Sequence[RunCounts], evidence: CampaignEvidence
) -> list[ReportedLaunch]:
    """In their order; commands are read of the first launch of each arm alone."""
    arms_of: dict[int, list[int]] = {}
    for each in stored:
        if each.launch_id is not None:
            arms_of.setdefault(each.launch_id, []).append(each.arm_id)
    seen: set[int] = set()
    found = []
    with store.session() as session:
        for launch_id, arm_ids in sorted(arms_of.items()):
            is_first = not seen.issuperset(arm_ids)
            seen.update(arm_ids)
            facts = launch(session.connection(), launch_id) if is_first else None
            found.append(
                ReportedLaunch(
                    launch_id=launch_id,
                    arm_ids=tuple(dict.fromkeys(arm_ids)),
                    commands={} if facts is None else facts.commands,
                    facts=evidence.reports.get(launch_id, {}),
                )
            )
    return found


def _examples(
    store: Store,
    facts: CampaignFacts,
    known_arms: Sequence[ArmFacts],
    stored: Sequence[RunCounts],
    *,
    hides_prompts: bool,
    of_arm: int = EXAMPLES_OF_ARM,
) -> list[ReportedSession]:
    """The first corrupt sessions of each arm, at most `MAX_EXAMPLES` in all."""
    examples: list[ReportedSession] = []
    with store.session() as session:
        connection = session.connection()
        for arm in known_arms:
            corrupt = sessions_of_runs(
                connection,
                [each.id for each in stored if each.arm_id == arm.id],
                outcomes=facts.corrupt_outcomes,
                limit=min(of_arm, MAX_EXAMPLES - len(examples)),
            )
            examples += [
                _example(each, arm, turns(connection, each.id), hides_prompts=hides_prompts)
                for each in corrupt
            ]
    return examples


def _example(
    session: SessionFacts, arm: ArmFacts, played: Sequence[TurnFacts], *, hides_prompts: bool
) -> ReportedSession:
    decisive = next((t for t in played if t.turn_index == session.decisive_turn), None)
    return ReportedSession(
        session_id=session.id,
        run_id=session.run_id,
        arm_name=arm.name,
        outcome=session.outcome,
        detail="" if hides_prompts else session.detail or "",
        text="" if decisive is None else _decisive_text(decisive, hides_prompts=hides_prompts),
    )


def _decisive_text(turn: TurnFacts, *, hides_prompts: bool) -> str:
    """Reasoning, content and calls of the turn that decided, cut to a readable length."""
    got: Mapping[str, Any] = turn.got
    parts = []
    for name in ("reasoning", "content"):
        text = str(got.get(name) or "")
        parts.append(markup_only(text, name, turn.markup) if hides_prompts else text)
    calls = got.get("tool_calls")
    if isinstance(calls, list):
        written = [f"{call.get('name')}({call.get('arguments')})" for call in calls]
        parts += [hidden_text(each) if hides_prompts else each for each in written]
    return "\n".join(part for part in parts if part)[:MAX_TEXT]
