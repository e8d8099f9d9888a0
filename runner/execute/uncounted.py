"""Sessions that went wrong in a way that the campaign does not count as corrupt, a line an arm.

A weak model calls no tool, or the wrong one, by itself; where such sessions are many, little is
left in which a fault of the server could show.
"""

from collections import Counter

from db.reads.campaigns import arms, campaign
from db.reads.runs import runs
from db.store import Store
from db.vocabulary import Outcome, OutcomeClass, RunState
from runner.evidence.number_words import counted_text
from runner.execute.run_counts import outcome_counts

_WRONG_WAYS = [each for each in Outcome if each.outcome_class is OutcomeClass.CORRUPT]


def uncounted_lines(store: Store, campaign_id: int) -> tuple[str, ...]:
    """Of the runs that count; an arm without such sessions has no line."""
    with store.session() as session:
        connection = session.connection()
        facts = campaign(connection, campaign_id)
        known = arms(connection, [campaign_id])
        stored = runs(connection, [campaign_id])
    if facts is None:
        return ()
    skipped = [each for each in _WRONG_WAYS if each not in facts.corrupt_outcomes]
    lines = []
    for arm in known:
        seen: Counter[str] = Counter()
        for run in stored:
            if run.arm_id == arm.id and run.run_state is RunState.DONE:
                seen.update(outcome_counts(run))
        found = [f"{seen[each]:,} {each}" for each in skipped if seen[each]]
        total = sum(seen[each] for each in skipped)
        if found:
            lines.append(
                f"{arm.name}: {counted_text(total, 'session')} not counted as corrupt "
                f"({', '.join(found)}): a weak model errs so by itself"
            )
    return tuple(lines)
