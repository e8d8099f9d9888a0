"""A machine that services run on: which words reach it, and which programs act there."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Host:
    """`ssh` are the words before a command that runs there, empty for this machine.

    `become` stand before a command that changes something, such as `sudo -n`.
    """

    name: str = "this machine"
    ssh: tuple[str, ...] = ()
    become: tuple[str, ...] = ()
    systemctl: tuple[str, ...] = ("systemctl",)
    journalctl: tuple[str, ...] = ("journalctl",)
    nvidia_smi: tuple[str, ...] = ("nvidia-smi",)
    drop_ins: str = "/run/systemd/system"

    def argv(self, words: Sequence[str], *, privileged: bool = False) -> tuple[str, ...]:
        """The command as this machine runs it.

        ssh joins its words with blanks and a shell of the other side reads them, so that each is
        quoted for it.
        """
        whole = (*self.become, *words) if privileged else tuple(words)
        return (*self.ssh, shlex.join(whole)) if self.ssh else whole
