"""`decisive verdict`: what a campaign's hypotheses came to, why, and what to run next."""

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from db.identifiers import IdKind, format_id
from db.reads.campaigns import ArmFacts, CampaignFacts, VerdictFacts, arms, verdicts
from db.store import Store, open_store_read_only
from db.store_url import DEFAULT_STORE_URL
from runner.cli.campaign_summary import NOTHING_CLAIMED, exit_status
from runner.cli.console import say, say_json
from runner.cli.counted_verdict import verdict_json
from runner.cli.opening import find_stored_campaign
from runner.cli.options import CampaignReference, JsonOption, StoreOption
from runner.errors import UsageError
from runner.evidence.number_words import share_text
from runner.evidence.verdict_text import verdict_lines
from runner.evidence.wording import moment_text
from runner.execute.verdicts import JudgedHypothesis, reach_verdicts


def verdict(
    campaign: CampaignReference = None,
    store: StoreOption = DEFAULT_STORE_URL,
    hypothesis: Annotated[
        str | None, typer.Option("--hypothesis", help="Only the one with this id.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Say what each hypothesis came to: three answers, reasons, what was left out, what is next."""
    with open_store_read_only(store) as opened:
        facts = find_stored_campaign(opened, campaign)
        judged = _chosen(reach_verdicts(opened, facts.id), hypothesis, facts)
        known = _Known(opened, facts)
        if as_json:
            say_json(_as_json(facts, judged, known))
        else:
            _say(judged, known)
        status = exit_status(opened, facts, judged)
    raise typer.Exit(status)


class _Known:
    """What the store says of hypotheses beside their verdicts."""

    def __init__(self, store: Store, facts: CampaignFacts) -> None:
        with store.session() as session:
            connection = session.connection()
            self._facts = {each.slug: each for each in verdicts(connection, [facts.id])}
            self._arms = {arm.id: arm for arm in arms(connection, [facts.id])}

    def hypothesis(self, slug: str) -> VerdictFacts:
        return self._facts[slug]

    def arm(self, arm_id: int) -> ArmFacts:
        return self._arms[arm_id]


def _chosen(
    judged: Sequence[JudgedHypothesis], slug: str | None, facts: CampaignFacts
) -> tuple[JudgedHypothesis, ...]:
    if slug is None:
        return tuple(judged)
    chosen = tuple(each for each in judged if each.slug == slug)
    if not chosen:
        known = ", ".join(each.slug for each in judged) or "none"
        raise UsageError(f"{facts.name} has no hypothesis {slug!r}; it has: {known}")
    return chosen


def _say(judged: Sequence[JudgedHypothesis], known: _Known) -> None:
    if not judged:
        say(NOTHING_CLAIMED)
    for number, each in enumerate(judged):
        first, *others = verdict_lines(each.verdict)
        if number:
            say("")
        say(f"{each.slug}: {first}")
        for line in _about(each, known):
            say(f"  {line}")
        for line in others:
            say(f"  {line}")


def _about(judged: JudgedHypothesis, known: _Known) -> tuple[str, ...]:
    facts = known.hypothesis(judged.slug)
    arm, versus = known.arm(facts.arm_id).name, known.arm(facts.versus_arm_id).name
    reasons = "; ".join(sorted(judged.verdict.reason_codes)) or "none that weakens it"
    return (
        f"Claim: {facts.claim}",
        f"Predicted of {arm}, compared with {versus}: {facts.predict}. {_what_counts(facts)}",
        f"{_registered(facts)} {_stored(judged, facts)}",
        f"Reasons: {reasons}.",
    )


def _what_counts(facts: VerdictFacts) -> str:
    if facts.predicted_rate is not None:
        return f"It counts if corruption is lower; predicted is {share_text(facts.predicted_rate)}."
    return f"It counts if at most {share_text(facts.tolerate)} is left and corruption is lower."


def _registered(facts: VerdictFacts) -> str:
    if facts.is_registered:
        return "Registered before the first run."
    return "Written down after the first run had begun: exploratory."


def _stored(judged: JudgedHypothesis, facts: VerdictFacts) -> str:
    if facts.decided_at_us is None:
        return "Not stored yet."
    if list(facts.said or ()) == list(verdict_lines(judged.verdict)):
        return f"Judged {moment_text(facts.decided_at_us)}."
    return "Its runs have changed since it was stored; this is how they stand now."


def _as_json(
    facts: CampaignFacts, judged: Sequence[JudgedHypothesis], known: _Known
) -> dict[str, Any]:
    return {
        "campaign": facts.name,
        "campaign_id": format_id(IdKind.CAMPAIGN, facts.id),
        "verdicts": [_hypothesis_json(each, known) for each in judged],
    }


def _hypothesis_json(judged: JudgedHypothesis, known: _Known) -> dict[str, Any]:
    facts = known.hypothesis(judged.slug)
    return {
        "id": judged.slug,
        "claim": judged.claim,
        "arm": known.arm(facts.arm_id).name,
        "versus": known.arm(facts.versus_arm_id).name,
        "predict": facts.predict,
        "goal": facts.goal,
        "tolerate": facts.tolerate,
        "predicted_rate": facts.predicted_rate,
        "registered": facts.is_registered,
        **verdict_json(judged.verdict),
        "left_out": list(judged.verdict.exclusions),
        "said": list(verdict_lines(judged.verdict)),
    }
