"""Gathers what the report on a campaign is made of."""

from db.reads.campaigns import ArmFacts, CampaignFacts, arms, campaign_source
from db.reads.campaigns import verdicts as stored_verdicts
from db.reads.runs import RunCounts, runs
from db.reads.sessions import SessionFacts, sessions_of_runs, turns
from db.store import Store
from runner.execute.attribution import attribution_lines
from runner.execute.campaign_evidence import gather_evidence
from runner.execute.silence import silence_lines
from runner.execute.verdicts import reach_verdicts
from runner.report.campaign_report import CampaignRecord, ReportedSession, ReportedVerdict

MAX_EXAMPLES = 5
MAX_TEXT = 2_000


def campaign_record(store: Store, facts: CampaignFacts) -> CampaignRecord:
    with store.session() as session:
        connection = session.connection()
        known_arms = arms(connection, [facts.id])
        stored_runs = runs(connection, [facts.id])
        source = campaign_source(connection, facts.id) or ""
    return CampaignRecord(
        campaign=facts,
        source_text=source,
        arms=known_arms,
        runs=stored_runs,
        verdicts=_reported_verdicts(store, facts, known_arms),
        examples=_examples(store, facts, known_arms, stored_runs),
        attribution=attribution_lines(gather_evidence(store, facts.id)),
        silence=silence_lines(store, facts.id),
    )


def _reported_verdicts(
    store: Store, facts: CampaignFacts, known_arms: list[ArmFacts]
) -> list[ReportedVerdict]:
    names = {arm.id: arm.name for arm in known_arms}
    with store.session() as session:
        hypotheses = stored_verdicts(session.connection(), [facts.id])
    judged = {each.slug: each.verdict for each in reach_verdicts(store, facts.id)}
    return [
        ReportedVerdict(
            slug=each.slug,
            claim=each.claim,
            arm_name=names[each.arm_id],
            versus_name=names[each.versus_arm_id],
            predict=each.predict,
            verdict=judged[each.slug],
        )
        for each in hypotheses
    ]


def _examples(
    store: Store, facts: CampaignFacts, known_arms: list[ArmFacts], stored: list[RunCounts]
) -> list[ReportedSession]:
    names = {arm.id: arm.name for arm in known_arms}
    arm_of_run = {run.id: names[run.arm_id] for run in stored}
    with store.session() as session:
        connection = session.connection()
        corrupt = sessions_of_runs(
            connection,
            list(arm_of_run),
            outcomes=facts.corrupt_outcomes,
            limit=MAX_EXAMPLES,
        )
        return [
            ReportedSession(
                session_id=each.id,
                run_id=each.run_id,
                arm_name=arm_of_run[each.run_id],
                outcome=each.outcome,
                detail=each.detail or "",
                text=_decisive_text(
                    each, {t.turn_index: t.got for t in turns(connection, each.id)}
                ),
            )
            for each in corrupt
        ]


def _decisive_text(session: SessionFacts, got_by_turn: dict[int, dict[str, object]]) -> str:
    """Content, reasoning and calls of the turn that decided, cut to a readable length."""
    got = got_by_turn.get(session.decisive_turn or 0, {})
    parts = [str(got.get(name) or "") for name in ("reasoning", "content")]
    calls = got.get("tool_calls")
    if isinstance(calls, list):
        parts += [f"{call.get('name')}({call.get('arguments')})" for call in calls]
    return "\n".join(part for part in parts if part)[:MAX_TEXT]
