"""A campaign in a store with runs of given counts, for what reads evidence and drives nothing."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from sqlmodel import select

from db.campaigns import NewArm, NewCampaign, NewHypothesis, RegisteredCampaign, register_campaign
from db.store import Store
from db.tables.campaigns import ArmRow
from db.tables.runs import RunRow
from db.vocabulary import Outcome, RunState
from tests.db.factories import stored_id, stored_run
from tests.db.fresh_stores import fresh_store

CHANGED, BASELINE, KNOWN_GOOD = 0, 1, 2  # positions of the arms
NAMES = ("dtype-aware", "fp8-sized", "fp8 keys")


class StoredEvidence:
    """Two arms and a known-good one, and one hypothesis unless told otherwise."""

    def __init__(
        self,
        folder: Path,
        *,
        stop: str = "fixed",
        hypotheses: Sequence[NewHypothesis] | None = None,
        stack: Mapping[str, Any] | None = None,
    ) -> None:
        """`stack`: as the definition of the campaign has it, which has none without it."""
        self.store: Store = fresh_store(folder)
        self._new = new_campaign(stop, [hypothesis()] if hypotheses is None else hypotheses)
        if stack:
            definition = {**self._new.definition, "stack": dict(stack)}
            self._new = replace(self._new, definition=definition)
        self.registered = register_campaign(self.store, self._new)

    @property
    def campaign_id(self) -> int:
        return stored_id(self.registered.campaign)

    def change(self, *hypotheses: NewHypothesis) -> RegisteredCampaign:
        """As if the file had been changed and run again."""
        new = new_campaign(str(self._new.definition["stop"]), hypotheses)
        return register_campaign(self.store, new)

    def arm(self, position: int) -> ArmRow:
        return self.registered.arms[position]

    def add_run(
        self,
        position: int,
        block: int,
        counts: tuple[int, int, int] = (80, 0, 0),
        *,
        state: RunState = RunState.DONE,
        **columns: Any,
    ) -> RunRow:
        """`counts`: clean, corrupt, silent."""
        clean, corrupt, silent = counts
        numbers: Mapping[str, Any] = {
            "n_ended": sum(counts),
            f"n_{Outcome.DONE}": clean,
            f"n_{Outcome.LEAK}": corrupt,
            f"n_{Outcome.ERROR}": silent,
            "wedges": 0,
            "sessions_planned": 80,
        }
        return stored_run(
            self.store,
            self.arm(position),
            state=state,
            block=block,
            **{**numbers, **columns},
        )

    def plan(self, blocks: int) -> None:
        """Runs that wait for their turn, beside those that were added."""
        with self.store.session() as session:
            known = set(session.exec(select(RunRow.run_key)))
        for position in range(len(NAMES)):
            for block in range(1, blocks + 1):
                if f"{position}-{block}" not in known:
                    stored_run(self.store, self.arm(position), state=RunState.PLANNED, block=block)


def hypothesis(**changes: Any) -> NewHypothesis:
    values: dict[str, Any] = {
        "slug": "pool",
        "claim": "the pool is the cause",
        "arm_position": CHANGED,
        "versus_position": BASELINE,
        "predict": "corrupt == 0 and wedges == 0",
        "tolerate": 0.05,
        "definition_key": "registered",
    }
    return NewHypothesis(**{**values, **changes})


def new_campaign(stop: str, hypotheses: Sequence[NewHypothesis]) -> NewCampaign:
    return NewCampaign(
        name="pool-test",
        question="Is it the pool?",
        stack="testbed",
        source_path="pool-test.yaml",
        source_text="campaign: pool-test\n",
        definition={"campaign": "pool-test", "stop": stop},
        definition_key="pool-test",
        order_seed=1,
        corrupt_outcomes=[Outcome.LEAK],
        code_version="0",
        arms=[
            NewArm(
                position=position,
                name=name,
                levels={"pool": name, "concurrency": 80},
                concurrency=80,
                sessions_per_run=80,
                is_baseline=position == BASELINE,
            )
            for position, name in enumerate(NAMES)
        ],
        hypotheses=hypotheses,
    )
