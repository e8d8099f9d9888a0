"""What a report is about, and the report on it from a store; the dashboard and the command line
both take it from here, so that they give the same bytes.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from db.identifiers import IdKind, format_id
from db.reads.campaigns import CampaignFacts, campaign, campaign_definition, campaign_of_arm
from db.reads.runs import launch, launch_reports, run, runs
from db.reads.sessions import session as stored_session
from db.store import Store
from runner.errors import UsageError
from runner.report.arm_report import arm_report
from runner.report.campaign_report import campaign_report
from runner.report.comparison_report import comparison_report
from runner.report.document import ReportDocument, with_texts
from runner.report.known_hosts import hosts_in
from runner.report.redaction import Redacted, Redactor
from runner.report.session_report import session_report
from runner.report.stored_record import (
    arm_record,
    campaign_record,
    comparison_record,
    session_record,
)

ALWAYS_TAKEN_OUT = (Redacted.KEYS,)
_LEAST_HOST = 3


class ReportScope(NamedTuple):
    """What a report is about: a campaign, one arm of it, two arms, or one session."""

    campaign: CampaignFacts
    arm_id: int | None = None
    versus_id: int | None = None
    session_id: int | None = None

    @property
    def name(self) -> str:
        """For a file: `decisive-test`, `a-5`, `a-6-v-a-5`, `s-81`."""
        if self.session_id is not None:
            return format_id(IdKind.SESSION, self.session_id)
        if self.arm_id is None:
            return self.campaign.name
        arm = format_id(IdKind.ARM, self.arm_id)
        return arm if self.versus_id is None else f"{arm}-v-{format_id(IdKind.ARM, self.versus_id)}"


def scope_of_arm(store: Store, arm_id: int, versus_id: int | None = None) -> ReportScope:
    """Raises UsageError."""
    with store.session() as session:
        connection = session.connection()
        campaign_id = campaign_of_arm(connection, arm_id)
        facts = None if campaign_id is None else campaign(connection, campaign_id)
    if facts is None:
        raise UsageError(f"the store {store.url} has no arm {format_id(IdKind.ARM, arm_id)}")
    return ReportScope(facts, arm_id=arm_id, versus_id=versus_id)


def scope_of_session(store: Store, session_id: int) -> ReportScope:
    """Raises UsageError."""
    with store.session() as session:
        connection = session.connection()
        found = stored_session(connection, session_id)
        own = None if found is None else run(connection, found.run_id)
        facts = None if own is None else campaign(connection, own.campaign_id)
    if facts is None:
        name = format_id(IdKind.SESSION, session_id)
        raise UsageError(f"the store {store.url} has no session {name}")
    return ReportScope(facts, session_id=session_id)


def redactor_for(store: Store, scope: ReportScope, kinds: Iterable[Redacted]) -> Redactor:
    """It knows the hosts that the campaign's record names."""
    with store.session() as session:
        connection = session.connection()
        stored = runs(connection, [scope.campaign.id])
        launches = sorted({each.launch_id for each in stored if each.launch_id is not None})
        reports = launch_reports(connection, launches)
        started = [launch(connection, each) for each in launches]
        definition = campaign_definition(connection, scope.campaign.id) or {}
    workers = [each.worker.rpartition("@")[2] for each in stored if each.worker]
    stack = definition.get("stack") or {}
    commands = [each.commands for each in started if each is not None]
    told = [*hosts_in(list(reports.values())), *hosts_in(commands), *hosts_in(stack)]
    services = {name for each in reports.values() for name in each}
    hosts = [host for host in (*workers, *told) if len(host) >= _LEAST_HOST]
    return Redactor(kinds, hosts=[host for host in hosts if host not in services])


def stored_report(
    store: Store, scope: ReportScope, *, redactor: Redactor, base_url: str | None = None
) -> ReportDocument:
    """The whole report as data. Raises UsageError where the scope names what is not there."""
    document = replace(
        _document(store, scope, hides_prompts=redactor.hides_prompts), base_url=base_url
    )
    taken_out = [kind for kind in redactor.kinds if kind not in ALWAYS_TAKEN_OUT]
    if taken_out:
        said = f"{document.made_from} Taken out: {' and '.join(taken_out)}."
        document = replace(document, made_from=said)
    return with_texts(document, redactor)


def _document(store: Store, scope: ReportScope, *, hides_prompts: bool) -> ReportDocument:
    if scope.session_id is not None:
        return session_report(session_record(store, scope.session_id, hides_prompts=hides_prompts))
    if scope.arm_id is None:
        return campaign_report(campaign_record(store, scope.campaign, hides_prompts=hides_prompts))
    if scope.versus_id is None:
        return arm_report(arm_record(store, scope.arm_id, hides_prompts=hides_prompts))
    return comparison_report(
        comparison_record(store, scope.arm_id, scope.versus_id, hides_prompts=hides_prompts)
    )
