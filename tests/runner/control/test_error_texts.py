"""An error that passes says nothing that is secret, nor does anything that led to it."""

import traceback

import pytest

from runner.control.error_texts import errors_without
from runner.control.secrets import Secrets, likely_secrets
from runner.errors import StackControlError

KEY = "sk-abcabd"
SECRETS = Secrets([KEY])


def told(error: BaseException) -> str:
    return "".join(traceback.format_exception(error))


def test_an_error_and_its_causes_lose_the_secret_and_stay_what_they_are() -> None:
    with pytest.raises(StackControlError) as raised, errors_without(SECRETS):
        try:
            raise ValueError(f"illegal header value b'Bearer {KEY}'", KEY.encode())
        except ValueError as error:
            error.add_note(f"sent with {KEY}")
            raise StackControlError(f"the command said {KEY}") from error

    text = told(raised.value)
    assert KEY not in text
    assert "the command said *********" in text and "illegal header value" in text


def test_every_error_of_a_group_is_looked_through() -> None:
    with pytest.raises(ExceptionGroup) as raised, errors_without(SECRETS):
        raise ExceptionGroup(
            f"two of {KEY}", [OSError(2, f"no {KEY}", f"/keys/{KEY}"), KeyError(KEY)]
        )

    # The text of a group itself is made when the group is.
    inner = "".join(told(each) for each in raised.value.exceptions)
    assert KEY not in inner and "/keys/*********" in inner


def test_errors_pass_unchanged_where_nothing_is_secret() -> None:
    with pytest.raises(ValueError, match="as it was"), errors_without(Secrets()):
        raise ValueError("as it was")


def test_what_the_environment_calls_a_secret_is_hidden_in_reports_of_faults() -> None:
    environment = {
        "OPENAI_API_KEY": "sk-one-1",
        "TEAM_TOKEN": "tok-two-2\n",
        "HTTPS_PROXY": "http://me:pw-three@proxy:3128",
        "BROKEN_KEY": "caf\udce9-four",
        "MONKEY": "banana",
        "HOME": "/root",
    }

    hidden = likely_secrets(environment)

    said = "sk-one-1 tok-two-2 http://me:pw-three@proxy:3128 /root"
    assert hidden.hidden_text(said) == "******** ********* http://me:********@proxy:3128 /root"
