"""Files that a command writes: whole or not at all, and never over another unless told to."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp, mkstemp
from typing import BinaryIO

from runner.errors import UsageError


def refuse_to_replace(path: Path, *, force: bool) -> None:
    """Raises UsageError where `path` is there already: a file, or a folder that is not empty."""
    try:
        is_taken = any(path.iterdir()) if path.is_dir() else path.is_file()
    except OSError as error:
        raise _unwritable(path, error) from error
    if is_taken and not force:
        raise UsageError(f"{path} exists already: --force replaces it")


@contextmanager
def write_file(path: Path, *, force: bool) -> Iterator[BinaryIO]:
    """A file that stands at `path` once all is written. What is no regular file (a pipe, a
    terminal) is written to straight.

    Raises UsageError where `path` cannot be written or has come to be meanwhile.
    """
    refuse_to_replace(path, force=force)
    if path.is_dir():
        raise UsageError(f"{path} is a folder: name a file")
    if path.exists() and not path.is_file():
        with _told(path), path.open("wb") as straight:
            yield straight
        return
    with _told(path):
        descriptor, name = mkstemp(dir=path.parent, prefix=f".{path.name}.")
    written = Path(name)
    try:
        with _told(path), os.fdopen(descriptor, "wb") as temporary:
            yield temporary
        with _told(path):
            written.chmod(_usual_mode())
            _put(written, path, force=force)
    finally:
        written.unlink(missing_ok=True)


@contextmanager
def write_folder(path: Path, *, force: bool) -> Iterator[Path]:
    """A new folder that becomes `path` once all is written; with `force` its files go into the one
    that is there, in place of those of their names.

    Raises UsageError.
    """
    refuse_to_replace(path, force=force)
    if path.exists() and not path.is_dir():
        raise UsageError(f"{path} is no folder: name one for the tables")
    with _told(path):
        made = Path(mkdtemp(dir=path.parent, prefix=f".{path.name}."))
    try:
        with _told(path):
            yield made
            path.mkdir(exist_ok=True)
            for file in sorted(made.iterdir()):
                file.chmod(_usual_mode())
                file.replace(path / file.name)
    finally:
        rmtree(made, ignore_errors=True)


def append_text(path: Path, text: str) -> None:
    """To what is there, as programs do that share a file one after the other. Raises UsageError."""
    with _told(path), path.open("a", encoding="utf-8") as file:
        file.write(text)


def _put(written: Path, path: Path, *, force: bool) -> None:
    if force:
        written.replace(path)
        return
    try:
        path.hardlink_to(written)
    except FileExistsError:
        raise UsageError(f"{path} has come to be meanwhile: --force replaces it") from None
    except OSError:  # a file system without hard links
        written.replace(path)


def _usual_mode() -> int:
    """What a file gets that is simply opened."""
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


@contextmanager
def _told(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise _unwritable(path, error) from error


def _unwritable(path: Path, error: OSError) -> UsageError:
    return UsageError(f"cannot write {path}: {error.strerror or error}")
