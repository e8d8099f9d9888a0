"""Why the sessions of each arm fell silent, in a line an arm, most frequent reason first.

Those that failed by a fault of our own have a line beside it: they stand in no rate.
"""

from collections.abc import Iterator

from db.reads.campaigns import arms
from db.reads.own_faults import OwnFaults, own_faults
from db.reads.runs import runs
from db.reads.sessions import SilentKind, silent_kinds
from db.store import Store
from db.vocabulary import RunState
from runner.evidence.number_words import counted_text

_MOST_KINDS = 3
_MOST_DETAIL = 200


def silence_lines(store: Store, campaign_id: int, *, with_details: bool = True) -> tuple[str, ...]:
    """Of the runs that count; an arm whose sessions all spoke has none. Details are the words of
    servers, which may quote what they were asked.
    """
    with store.session() as session:
        connection = session.connection()
        known = arms(connection, [campaign_id])
        done = [r for r in runs(connection, [campaign_id]) if r.run_state is RunState.DONE]
        of_arms = []
        for arm in known:
            ids = [run.id for run in done if run.arm_id == arm.id]
            of_arms.append((arm.name, silent_kinds(connection, ids), own_faults(connection, ids)))
    return tuple(
        line
        for name, kinds, faults in of_arms
        for line in _lines(name, kinds, faults, with_details=with_details)
    )


def _lines(
    arm_name: str, kinds: list[SilentKind], faults: OwnFaults, *, with_details: bool
) -> Iterator[str]:
    if kinds:
        yield _line(arm_name, kinds, with_details=with_details)
    if faults.sessions:
        such_as = _such_as(faults.detail, with_details=with_details)
        failed = counted_text(faults.sessions, "session")
        count = "counts" if faults.sessions == 1 else "count"
        yield f"{arm_name}: {failed} failed by our own fault and {count} nowhere{such_as}"


def _line(arm_name: str, kinds: list[SilentKind], *, with_details: bool) -> str:
    total = sum(kind.sessions for kind in kinds)
    said = ", ".join(_text(kind, with_details=with_details) for kind in kinds[:_MOST_KINDS])
    rest = sum(kind.sessions for kind in kinds[_MOST_KINDS:])
    others = f", {rest:,} for other reasons" if rest else ""
    return f"{arm_name}: {counted_text(total, 'silent session')}: {said}{others}"


def _text(kind: SilentKind, *, with_details: bool) -> str:
    return f"{kind.sessions:,} {kind.reason}{_such_as(kind.detail, with_details=with_details)}"


def _such_as(detail: str | None, *, with_details: bool) -> str:
    """What a server said may be long and may break lines."""
    said = " ".join((detail or "").split()) if with_details else ""
    if len(said) > _MOST_DETAIL:
        said = f"{said[:_MOST_DETAIL]}..."
    return f" (such as: {said})" if said else ""
