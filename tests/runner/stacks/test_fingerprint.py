import pytest

from runner.stacks.fingerprint import REDACTED, client_facts, own_version, redacted


@pytest.mark.parametrize("name", ["api_key", "admin_api_key", "hf_token", "password", "S3_SECRET"])
def test_a_value_that_is_named_like_a_secret_is_not_kept(name: str) -> None:
    report = {"internal_states": [{name: "canary-4711"}]}

    assert redacted(report) == {"internal_states": [{name: REDACTED}]}


@pytest.mark.parametrize(
    "name", ["index_key_bytes_per_token", "max_total_num_tokens", "index_k_dtype", "tokenizer_path"]
)
def test_facts_about_keys_and_tokens_are_no_secrets(name: str) -> None:
    assert redacted({name: 256}) == {name: 256}


def test_a_secret_that_is_not_set_stays_visibly_unset() -> None:
    assert redacted({"api_key": None}) == {"api_key": None}


def test_our_own_version_is_known_once_installed() -> None:
    assert own_version()[0].isdigit() or own_version() == "unknown"
    assert client_facts()["python"].startswith("3.")
