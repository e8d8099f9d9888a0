"""Takes a stack from a holder that is gone, and brings back what that one had found."""

import asyncio
from typing import NamedTuple

from db.process_liveness import this_host
from db.stack_lease import Holder, acquire_stack, note_found, note_processes
from db.store import Store
from db.tables.work import StackLeaseRow
from db.workers import liveness_now
from runner.control.machine import Machine
from runner.control.process_group import ProcessMark, end_members
from runner.control.restore_steps import restore, steps_from_json
from runner.execute.off_loop import off_loop


class TakeOver(NamedTuple):
    """What was done for a holder that is gone, and what could not be, in sentences."""

    done: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()


async def take_over(store: Store, stack: str, holder: Holder, machine: Machine) -> TakeOver:
    """Takes the lease; ends the processes that a dead holder started, and restores what it found.

    What could not be restored stays noted in the lease. Raises StackLeasedError where the holder
    lives.
    """
    acquired = await off_loop(acquire_stack, store, stack, holder, liveness=liveness_now(store))
    # What is noted there was started by a dead holder, or by one that had our very name.
    left = acquired.left_behind or acquired.lease
    taken = await asyncio.to_thread(_bring_back, left, machine)
    if not taken.failures:
        await off_loop(note_processes, store, stack, holder, process_ids={})
        await off_loop(note_found, store, stack, holder, found={})
    return taken


def _bring_back(left: StackLeaseRow, machine: Machine) -> TakeOver:
    steps = steps_from_json(left.found)
    if steps and left.found["host"] != this_host():
        said = f"the stack was left changed by a worker on {left.found['host']}: restore it there"
        return TakeOver(failures=(said,))
    if left.host != this_host():
        return TakeOver()
    marks = [ProcessMark.from_json(value) for value in left.process_ids.values()]
    ended = sum(end_members(mark) for mark in marks)
    done = [f"ended {ended} service(s) that a killed worker had left running"] if ended else []
    failures = restore(steps, machine)
    if steps and not failures:
        parts = ", ".join(dict.fromkeys(step.part for step in steps))
        done.append(f"brought back what a killed worker had left changed: {parts}")
    return TakeOver(tuple(done), failures)
