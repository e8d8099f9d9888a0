"""Takes secrets out of files that servers have written, in their place and at their size."""

from pathlib import Path

from runner.control.secrets import Secrets

_PIECE_BYTES = 4 * 1024 * 1024


def hide_in_file(path: Path, secrets: Secrets) -> None:
    """Every secret becomes as many asterisks; a server may go on appending meanwhile.

    Raises OSError.
    """
    overlap = secrets.longest_bytes - 1
    if not secrets:
        return
    with path.open("r+b") as file:
        at, piece = 0, file.read(_PIECE_BYTES)
        while piece:
            hidden = secrets.hidden(piece)
            if hidden != piece:
                file.seek(at)
                file.write(hidden)
            if len(piece) < _PIECE_BYTES:
                return
            at += len(piece) - overlap
            file.seek(at)
            piece = file.read(_PIECE_BYTES)
