"""The report on one session: what was asked and answered turn by turn, and how it was judged."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from db.identifiers import IdKind, format_id
from db.reads.sessions import TurnFacts
from db.vocabulary import Outcome, OutcomeClass
from runner.evidence.number_words import counted_text
from runner.evidence.wording import rounded
from runner.report.arm_result import class_in_campaign
from runner.report.document import (
    Block,
    Heading,
    Link,
    Paragraph,
    ReportDocument,
    Section,
    SectionRole,
    SectionTag,
    Table,
    TurnBar,
    TurnFigure,
    Verbatim,
    Words,
)
from runner.report.moments import clock_text, dated_text
from runner.report.page_addresses import arm_page, campaign_page, run_link, session_link
from runner.report.redaction import hidden_text
from runner.report.report_record import SessionRecord

MOST_TEXT = 8_000
_SECOND_US = 1_000_000


def session_report(record: SessionRecord) -> ReportDocument:
    session, campaign = record.session, record.campaign
    arm = Link(record.arm.name, arm_page(record.arm.id))
    told = Link(campaign.name, campaign_page(campaign.id))
    return ReportDocument(
        title=f"Session {format_id(IdKind.SESSION, session.id)}: {_outcome(session.outcome)}",
        summary=("A session of ", run_link(record.run.id), ", ", arm, ", in ", told, "."),
        made_from=(
            f"Played {_since(record)}, judged by version "
            f"{session.judge_version} of the judge; Decisive {campaign.code_version}."
        ),
        sections=(
            _judgement_section(record),
            Section("Turns", (*_turn_figure(record), _turn_table(record))),
            Section("Transcript", tuple(_transcript(record))),
            *_twins_section(record),
            *_log_section(record),
        ),
    )


def _judgement_section(record: SessionRecord) -> Section:
    session, run = record.session, record.run
    parts = [f"{_outcome(session.outcome)}."]
    if session.reason:
        parts.append(f"Reason: {session.reason.replace('_', ' ')}.")
    if session.detail and not record.hides_prompts:
        parts.append(session.detail)
    if session.flags:
        parts.append(f"Flags: {', '.join(map(str, session.flags))}.")
    counted = (
        f"{session.rounds_completed} of {counted_text(session.rounds_planned, 'round')} completed "
        f"{_within(record)}; dialogue {session.dialogue_key}."
    )
    said = [" ".join(parts), counted]
    if run.state != "done":
        why = f": {run.reason}" if run.reason else ""
        said.append(f"Its run is {run.state}{why}, so that it stands outside all rates.")
    failed = _class(record) in (OutcomeClass.CORRUPT, OutcomeClass.SILENT)
    tag = SectionTag.ACTION_NEEDED if failed else SectionTag.INFORMATION
    return Section("What became of it", tuple(map(Paragraph, said)), tag)


def _since(record: SessionRecord) -> str:
    if not record.session.is_timed:
        return "at a time that the imported file does not tell"
    return f"from {dated_text(record.session.started_at_us)} on"


def _within(record: SessionRecord) -> str:
    took_s = record.session.took_s
    return "in unknown time" if took_s is None else f"in {rounded(took_s)} s"


def _turn_figure(record: SessionRecord) -> tuple[TurnFigure, ...]:
    """None where it is not known how the turns lie in time."""
    began_us = record.session.started_at_us
    if not record.session.is_timed:
        return ()
    bars = tuple(_turn_bar(turn, began_us, record) for turn in record.turns)
    return (TurnFigure("Seconds since the session began: waiting, then streaming.", bars),)


def _turn_bar(turn: TurnFacts, began_us: int, record: SessionRecord) -> TurnBar:
    starts_s = (turn.started_at_us - began_us) / _SECOND_US
    first = None if turn.first_token_s is None else starts_s + turn.first_token_s
    decides = turn.turn_index == record.session.decisive_turn
    return TurnBar(
        label=f"turn {_number(turn)}",
        starts_s=max(0.0, starts_s),
        first_token_s=first,
        ends_s=max(0.0, starts_s) + turn.duration_s,
        outcome_class=_class(record) if decides else None,
        said=turn.reading.replace("_", " "),
    )


def _turn_table(record: SessionRecord) -> Table:
    header = ("turn", "due", "reading", "first token", "took", "prompt", "completion", "cached")
    rows = tuple(_turn_row(turn, record) for turn in record.turns)
    return Table(header, rows, numeric=frozenset({3, 4, 5, 6, 7}))


def _turn_row(turn: TurnFacts, record: SessionRecord) -> tuple[Words, ...]:
    decides = " (decisive)" if turn.turn_index == record.session.decisive_turn else ""
    return (
        f"{_number(turn)}{decides}",
        _due(turn, record),
        turn.reading.replace("_", " "),
        _first_token(turn),
        f"{rounded(turn.duration_s, 2)} s" if turn.duration_s else "not told",
        _count(turn.prompt_tokens),
        _count(turn.completion_tokens),
        _count(turn.cached_tokens.get("total")),
    )


def _first_token(turn: TurnFacts) -> str:
    if turn.first_token_s is not None:
        return f"{rounded(turn.first_token_s, 2)} s"
    came = any(turn.got.get(name) for name in ("reasoning", "content", "tool_calls"))
    return "not told" if came else "none came"


def _number(turn: TurnFacts) -> int:
    """As the pages count, from one."""
    return turn.turn_index + 1


def _due(turn: TurnFacts, record: SessionRecord) -> str:
    name = None if record.hides_prompts else turn.due.get("name")
    return str(name or turn.due.get("kind") or "nothing")


def _transcript(record: SessionRecord) -> list[Block]:
    blocks: list[Block] = []
    if record.hides_prompts:
        blocks.append(Paragraph("Prompts were taken out, and of the answers all but the markup."))
    for turn in record.turns:
        blocks.append(Heading(f"Turn {_number(turn)}"))
        said = turn.context.get("user")
        if said:
            blocks += [Paragraph("Asked:"), Verbatim(_prompt(str(said), record))]
        if turn.due:
            blocks += [Paragraph("Due:"), Verbatim(_prompt(_json(turn.due), record))]
        blocks += [Paragraph("Answered:"), Verbatim(_answer(turn, record) or "(no text)")]
        if turn.detail and not record.hides_prompts:
            blocks.append(Paragraph(turn.detail))
    return blocks


def _prompt(text: str, record: SessionRecord) -> str:
    return hidden_text(text) if record.hides_prompts else _cut(text)


def _answer(turn: TurnFacts, record: SessionRecord) -> str:
    """Of each field that has text its name, but for the content."""
    parts = []
    for name in ("reasoning", "content", "refusal"):
        text = str(turn.got.get(name) or "")
        if text:
            label = "" if name == "content" else f"[{name}] "
            shown = markup_only(text, name, turn.markup) if record.hides_prompts else _cut(text)
            parts.append(label + shown)
    for call in _calls(turn.got):
        arguments = str(call.get("arguments") or "")
        shown = hidden_text(arguments) if record.hides_prompts else _cut(arguments)
        called = str(call.get("name"))
        parts.append(f"[call] {hidden_text(called) if record.hides_prompts else called}({shown})")
    return "\n".join(parts)


def markup_only(text: str, field: str, markup: Sequence[Mapping[str, Any]]) -> str:
    """The spans of leaked markup of one field, with lengths in place of what is between them."""
    parts: list[str] = []
    end = 0
    for span in sorted(markup, key=lambda each: int(each.get("start", 0))):
        start, stop = int(span.get("start", 0)), int(span.get("end", 0))
        if span.get("field") != field or start < end:
            continue
        parts += [hidden_text(text[end:start])] if start > end else []
        parts.append(text[start:stop])
        end = max(end, stop)
    parts += [hidden_text(text[end:])] if end < len(text) else []
    return "".join(parts)


def _calls(got: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    calls = got.get("tool_calls")
    return [call for call in calls if isinstance(call, Mapping)] if isinstance(calls, list) else []


def _twins_section(record: SessionRecord) -> tuple[Section, ...]:
    rows: tuple[tuple[Words, ...], ...] = tuple(
        (
            (session_link(twin.session_id),),
            (Link(twin.arm_name, arm_page(twin.arm_id)),),
            (run_link(twin.run_id),),
            str(twin.block),
            _outcome(twin.outcome),
        )
        for twin in record.twins
        if twin.session_id != record.session.id
    )
    if not rows:
        return ()
    header = ("session", "arm", "run", "block", "outcome")
    table = Table(header, rows, numeric=frozenset({3}))
    title = "The same place in other runs"
    return (Section(title, (table,), role=SectionRole.DETAIL),)


def _log_section(record: SessionRecord) -> tuple[Section, ...]:
    if not record.log:
        return ()
    rows = tuple(
        (clock_text(each.at_us), each.service, each.kind, _line(each.line, record))
        for each in record.log
    )
    return (Section("Log events meanwhile", (Table(("at", "service", "kind", "line"), rows),)),)


def _line(line: str, record: SessionRecord) -> str:
    """Servers may log what they were asked."""
    return hidden_text(line) if record.hides_prompts else line


def _class(record: SessionRecord) -> OutcomeClass:
    return class_in_campaign(record.session.outcome, record.campaign.corrupt_outcomes)


def _outcome(outcome: str) -> str:
    known = Outcome(outcome)
    return f"{known.replace('_', ' ')} ({known.outcome_class})"


def _count(number: object) -> str:
    return f"{number:,}" if isinstance(number, int) else "not told"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _cut(text: str) -> str:
    rest = len(text) - MOST_TEXT
    return text if rest <= 0 else f"{text[:MOST_TEXT]}\n[{rest:,} more characters]"
