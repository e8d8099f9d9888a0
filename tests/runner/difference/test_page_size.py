"""How large a KV page is, by what servers say."""

from runner.difference.page_size import page_tokens


def test_the_names_of_sglang_and_vllm_are_known() -> None:
    assert page_tokens([{"page_size": 64, "internal_states": [{"page_size": 64}]}]) == 64
    assert page_tokens([{"cache_config": {"block_size": 16}}]) == 16


def test_what_nobody_tells_or_two_tell_otherwise_is_unknown() -> None:
    assert page_tokens([{"page_size": None}, {}]) is None
    assert page_tokens([{"page_size": 64}, {"page_size": 1}]) is None
