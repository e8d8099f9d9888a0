"""Why the sessions of each arm fell silent, in a line an arm, most frequent reason first."""

from db.reads.campaigns import arms
from db.reads.runs import runs
from db.reads.sessions import SilentKind, silent_kinds
from db.store import Store
from db.vocabulary import RunState
from runner.evidence.number_words import counted_text

_MOST_KINDS = 3
_MOST_DETAIL = 100


def silence_lines(store: Store, campaign_id: int, *, with_details: bool = True) -> tuple[str, ...]:
    """Of the runs that count; an arm whose sessions all spoke has no line. Details are the words of
    servers, which may quote what they were asked.
    """
    with store.session() as session:
        connection = session.connection()
        known = arms(connection, [campaign_id])
        done = [r for r in runs(connection, [campaign_id]) if r.run_state is RunState.DONE]
        kinds = {
            arm.name: silent_kinds(connection, [run.id for run in done if run.arm_id == arm.id])
            for arm in known
        }
    return tuple(
        _line(name, of_arm, with_details=with_details) for name, of_arm in kinds.items() if of_arm
    )


def _line(arm_name: str, kinds: list[SilentKind], *, with_details: bool) -> str:
    total = sum(kind.sessions for kind in kinds)
    said = ", ".join(_text(kind, with_details=with_details) for kind in kinds[:_MOST_KINDS])
    rest = sum(kind.sessions for kind in kinds[_MOST_KINDS:])
    others = f", {rest:,} for other reasons" if rest else ""
    return f"{arm_name}: {counted_text(total, 'silent session')}: {said}{others}"


def _text(kind: SilentKind, *, with_details: bool) -> str:
    """What a server said may be long and may break lines."""
    detail = " ".join((kind.detail or "").split()) if with_details else ""
    if len(detail) > _MOST_DETAIL:
        detail = f"{detail[:_MOST_DETAIL]}..."
    such_as = f" (such as: {detail})" if detail else ""
    return f"{kind.sessions:,} {kind.reason}{such_as}"
