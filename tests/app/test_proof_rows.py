"""What was proven is shown, and what could not be is named."""

from app.proof_rows import (
    check_rows,
    command_text,
    exposure_rows,
    flood_sentence,
    health_rows,
    value_text,
)


def test_expected_and_found_stand_side_by_side() -> None:
    check = {
        "factor": "index_keys",
        "level": "bf16",
        "path": "memory.index_key_bytes",
        "expected": 256,
        "found": 132,
        "holds": False,
    }

    (row,) = check_rows([check])

    assert row[""] == ":orange[:material/close:]"
    assert (row["expected"], row["found"]) == ("256", "132")
    assert "index\\_key\\_bytes" in row["factor"]


def test_a_factor_that_cannot_be_verified_is_listed_as_that() -> None:
    (row,) = check_rows([{"factor": "device_pages", "holds": None}])

    assert row["found"] == "not verifiable"


def test_a_path_that_was_not_used_is_marked() -> None:
    counter = {"factor": "hicache", "counter": "sglang:cached_tokens_total", "grown": None}

    (row,) = exposure_rows({"counters": [counter | {"labels": {"cache_source": "host"}}]})

    assert row[""] == ":orange[:material/close:]"
    assert row["grown by"] == "not reported"


def test_exposure_of_another_shape_gives_no_row() -> None:
    assert exposure_rows({"counters": 3}) == []
    assert exposure_rows({}) == []


def test_a_flood_before_the_run_is_told_with_its_size() -> None:
    flood = {"first_requests": 16, "prompts": 34, "tokens": 24712, "seconds": 4.9}

    told = flood_sentence({"evict_flood": flood})

    assert told is not None and "16 first requests and 34 prompts of 24,712 tokens" in told
    assert flood_sentence({}) is None
    assert flood_sentence({"evict_flood": 3}) is None


def test_figures_of_the_client_carry_their_unit() -> None:
    assert health_rows(
        {"lag_p99_s": 0.4548640209, "cpu_share_busiest": 0.377, "saturated": False, "samples": 107}
    ) == {
        "lag p99": "455 ms",
        "cpu share busiest": "37\\.7 %",
        "saturated": "no",
        "samples": "107",
    }


def test_a_command_is_written_as_typed() -> None:
    command = {"argv": ["python", "-m", "x"], "env": {"OMP_NUM_THREADS": "1"}}

    assert command_text(command) == "OMP_NUM_THREADS=1 python -m x"
    assert command_text(["a", "b"]) == "a b"


def test_a_long_value_is_cut() -> None:
    assert len(value_text("x" * 999)) == 160
