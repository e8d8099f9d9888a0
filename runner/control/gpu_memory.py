"""Which memory of the GPUs is taken, and waiting until that of an ended service is given back.

The driver frees it after the process has gone; a server that starts before finds too little.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from runner.control.host import Host
from runner.control.machine import Machine
from runner.errors import StackControlError

WAIT_S = 60.0
TOLERANCE_MIB = 256
_POLL_S = 0.25
_DEADLINE_S = 15.0
_VISIBLE = "CUDA_VISIBLE_DEVICES"
_QUERY = ("--query-gpu=index,memory.used", "--format=csv,noheader,nounits")


@dataclass(frozen=True, slots=True)
class GpuMemory:
    """The GPUs of one host. `sleep` and `clock` are time's."""

    host: Host
    machine: Machine
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep

    def taken_mib(self) -> Mapping[str, int] | None:
        """Index of the GPU -> MiB that are taken; None where there is no GPU that we can see."""
        try:
            done = self.machine.run(
                self.host.argv((*self.host.nvidia_smi, *_QUERY)), deadline_s=_DEADLINE_S
            )
        except StackControlError:
            return None
        return read_taken(done.stdout) or None if done.status == 0 else None

    def wait_until_free(self, before: Mapping[str, int], *, within_s: float = WAIT_S) -> str | None:
        """Until the GPUs in `before` hold no more than then, give or take a context's worth.

        None once it is so; else a sentence about the GPU that holds on to it.
        """
        ends_s = self.clock() + within_s
        while True:
            taken = self.taken_mib()
            held = _held(taken or {}, before)
            if not held:
                return None
            if self.clock() >= ends_s:
                index = held[0]
                return (
                    f"GPU {index} of {self.host.name} still holds {(taken or {})[index]} MiB "
                    f"{within_s:g} s after the end of the service; before it were "
                    f"{before.get(index, 0)} MiB"
                )
            self.sleep(_POLL_S)


def read_taken(said: str) -> Mapping[str, int]:
    """From lines `index, MiB`; a GPU that does not tell its memory is left out."""
    rows = [line.split(",") for line in said.splitlines()]
    return {
        row[0].strip(): int(row[1]) for row in rows if len(row) == 2 and row[1].strip().isdecimal()
    }


def visible_to(taken: Mapping[str, int], environment: Mapping[str, str]) -> Mapping[str, int]:
    """Of these GPUs those that a service with these variables may use.

    All, where they are not named by their numbers: on the others somebody else may work.
    """
    named = [name.strip() for name in environment.get(_VISIBLE, "").split(",") if name.strip()]
    if not named or not all(name in taken for name in named):
        return taken
    return {index: taken[index] for index in named}


def _held(taken: Mapping[str, int], before: Mapping[str, int]) -> list[str]:
    return [index for index, mib in before.items() if taken.get(index, mib) > mib + TOLERANCE_MIB]
