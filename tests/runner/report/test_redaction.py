import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.report.redaction import TAKEN_OUT, Redacted, Redactor, hidden_text

KEYS = Redactor([Redacted.KEYS])


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Authorization: Bearer sk-live-0123456789ab", f"Authorization: Bearer {TAKEN_OUT}"),
        ('{"api_key": "abcdefgh", "n": 1}', f'{{"api_key": "{TAKEN_OUT}", "n": 1}}'),
        ('{\\"api_key\\": \\"abcdefgh\\"}', f'{{\\"api_key\\": \\"{TAKEN_OUT}\\"}}'),
        ("serve --api-key s3cr3tkey --port 8000", f"serve --api-key {TAKEN_OUT} --port 8000"),
        ('["--api-key", "s3cr3tkey"]', f'["--api-key", "{TAKEN_OUT}"]'),
        ("- --api-key\n- s3cr3tkey\n", f"- --api-key\n- {TAKEN_OUT}\n"),
        ("HF_TOKEN=hf_abcdefghijklmnop", f"HF_TOKEN={TAKEN_OUT}"),
        ("x-api-key: 0123456789", f"x-api-key: {TAKEN_OUT}"),
        ("http://ann:pass@gpu7:3000/v1", f"http://{TAKEN_OUT}@gpu7:3000/v1"),
        ("the key was ghp_0123456789abcdef.", f"the key was {TAKEN_OUT}."),
    ],
)
def test_keys_are_told_by_their_shape(text: str, left: str) -> None:
    assert KEYS(text) == left


@pytest.mark.parametrize(
    "text",
    [
        "index_key_bytes_per_token: 256",
        "max_tokens: 2500, 0 of 240 silent",
        "A call of refund_order was due; raw DSML markup came as text.",
        "r2-s3-t6 12:03:04.123 bf16 · on · fp8-sized · C=80",
        "the authorization header was missing",
    ],
)
def test_what_is_no_key_stays(text: str) -> None:
    assert KEYS(text) == text


def test_a_host_has_one_number_wherever_it_is_named() -> None:
    redact = Redactor([Redacted.HOSTS], hosts=["gpu-node7", "127.0.0.1"])

    assert (
        redact("from 10.0.0.3 to http://gpu-node7:3000/v1")
        == "from host-2 to http://host-1:3000/v1"
    )
    assert redact("10.0.0.3 and 2001:db8::17") == "host-2 and host-3"
    assert redact("http://127.0.0.1:3000 and localhost") == "http://127.0.0.1:3000 and localhost"


def test_a_host_is_the_same_in_large_and_small_letters() -> None:
    redact = Redactor([Redacted.HOSTS], hosts=["gpu-node7"])

    assert redact("GPU-NODE7 refused http://Gpu-Node7:3000") == "host-1 refused http://host-1:3000"


def test_a_login_tells_neither_its_user_nor_its_host() -> None:
    redact = Redactor([Redacted.HOSTS])

    assert (
        redact("ssh -o BatchMode=yes ops@gpu-7 systemctl")
        == "ssh -o BatchMode=yes host-1 systemctl"
    )
    assert redact("http://ann@gpu-8:3000/v1") == "http://host-2:3000/v1"
    assert redact("repo/image@sha256:0f") == "repo/image@sha256:0f"
    assert redact("rank@0 and @pytest.fixture") == "rank@0 and @pytest.fixture"


def test_folders_tell_no_user_and_no_place() -> None:
    redact = Redactor([Redacted.HOSTS])

    assert redact("/home/ann/sglang/.venv/bin/python -m sglang") == "/.../python -m sglang"
    assert redact("POST /v1/chat/completions") == "POST /v1/chat/completions"


def test_what_is_not_asked_for_stays() -> None:
    text = "Bearer 0123456789 from 10.0.0.3 in /home/ann/x"

    assert Redactor([])(text) == text


@given(st.text(max_size=200))
def test_redacting_twice_changes_nothing_more(text: str) -> None:
    redact = Redactor([Redacted.KEYS, Redacted.HOSTS], hosts=["gpu-node7"])

    once = redact(text)

    assert redact(once) == once


def test_a_hidden_text_tells_its_length_alone() -> None:
    assert hidden_text("please refund order A-20417") == "[27 characters]"
