"""Takes secrets out of what passing errors say, before anybody prints or keeps it."""

from collections.abc import Iterator
from contextlib import contextmanager

from runner.control.secrets import Secrets

_TEXTS_OF_THE_SYSTEM = ("strerror", "filename", "filename2")


@contextmanager
def errors_without(secrets: Secrets) -> Iterator[None]:
    """While open. The errors stay the same objects: only their texts change."""
    try:
        yield
    except BaseException as error:
        if secrets:
            for each in _with_causes(error):
                _hide(each, secrets)
        raise


def _with_causes(error: BaseException) -> Iterator[BaseException]:
    """The error, what a group holds, and whatever led to each."""
    waiting: list[BaseException | None] = [error]
    seen: set[int] = set()
    while waiting:
        each = waiting.pop()
        if each is None or id(each) in seen:
            continue
        seen.add(id(each))
        yield each
        waiting += [each.__cause__, each.__context__]
        if isinstance(each, BaseExceptionGroup):
            waiting += each.exceptions


def _hide(error: BaseException, secrets: Secrets) -> None:
    error.args = tuple(_hidden(value, secrets) for value in error.args)
    if isinstance(error, OSError):  # its text is not made of its args
        for name in _TEXTS_OF_THE_SYSTEM:
            value = getattr(error, name)
            if isinstance(value, str):
                setattr(error, name, secrets.hidden_text(value))
    for index, note in enumerate(getattr(error, "__notes__", ())):
        error.__notes__[index] = secrets.hidden_text(note)


def _hidden(value: object, secrets: Secrets) -> object:
    if isinstance(value, str):
        return secrets.hidden_text(value)
    return secrets.hidden(value) if isinstance(value, bytes) else value
