"""Records sessions of the run given, several at once, and prints each index once it is stored."""

import asyncio
import itertools
import sys

from db.recorder import EndedSession, EndedTurn, Recorder
from db.store import open_store
from tests.db.programs.starting_line import say
from tests.db.unstored_rows import CLEAN_TURNS, session_row, turn_row


async def record_for_ever(recorder: Recorder, run_id: int) -> None:
    indices = itertools.count()

    async def record() -> None:
        for index in indices:
            turns = [
                EndedTurn(turn=turn_row(spec, index=position), request=b"{}", response=b"data: x")
                for position, spec in enumerate(CLEAN_TURNS)
            ]
            session = session_row(run_id, index=index)
            await recorder.session_ended(EndedSession(session=session, turns=tuple(turns)))
            say(index)

    async with asyncio.TaskGroup() as group:
        for _ in range(8):
            group.create_task(record())


with open_store(sys.argv[1]) as store, Recorder(store, linger_s=0.001) as recorder:
    asyncio.run(record_for_ever(recorder, int(sys.argv[2])))
