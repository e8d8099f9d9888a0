"""What two arms differ in besides their levels, by what their launches said of themselves."""

from typing import Any

import pytest

from runner.evidence.fingerprint_differences import (
    Launch,
    declared_settings,
    fingerprint_differences,
)

CLIENT = {"system": "Linux 6", "packages": {"httpx": "0.28"}}


def launch(client: dict[str, Any] | None = None, **server: Any) -> Launch:
    return {"server": {"version": "0.5.1", **server}, "client": client or CLIENT}


def differences(after: list[Launch], before: list[Launch], *declared: str) -> tuple[str, ...]:
    return fingerprint_differences(after, before, declared=frozenset(declared))


def test_a_setting_that_no_level_declares_is_named_with_both_values() -> None:
    after, before = launch(page_size=64, tp_size=8), launch(page_size=1, tp_size=8)

    assert differences([after], [before]) == ("server page_size: 64 v 1",)


def test_what_the_levels_set_or_prove_is_declared() -> None:
    declared = declared_settings(
        ["--index-k-dtype", "fp8", "--tp=2", "x"], ["internal_states.*.memory_usage.host_bytes"]
    )
    after = launch(index_k_dtype="fp8", tp_size=2, host_bytes=1)
    before = launch(index_k_dtype="bf16", tp_size=4, host_bytes=2)

    assert declared == {"index_k_dtype", "tp", "host_bytes"}
    assert differences([after], [before], *declared) == ()


def test_what_is_of_the_moment_or_follows_from_a_setting_is_no_difference() -> None:
    after = launch(pid=1, startup_time=2.0, random_seed=3, max_total_num_tokens=9, status="ready")
    before = launch(pid=2, startup_time=3.0, random_seed=4, max_total_num_tokens=8, status="up")

    assert differences([after], [before]) == ()


def test_the_marker_that_llama_cpp_draws_at_each_start_is_no_difference() -> None:
    after, before = (launch(media_marker=f"<__media_{drawn}__>") for drawn in ("WpC2", "02Fk"))

    assert differences([after], [before]) == ()


def test_the_state_below_the_top_level_is_no_setting() -> None:
    assert differences([launch(internal=[{"a": 1}])], [launch(internal=[{"a": 2}])]) == ()


def test_a_value_that_is_another_at_each_launch_is_of_the_moment() -> None:
    after = [launch(token="a"), launch(token="b")]
    before = [launch(token="c"), launch(token="d")]

    assert differences(after, before) == ()


def test_a_setting_that_changed_in_the_middle_of_one_arm_only_is_a_difference() -> None:
    after = [launch(page_size=n) for n in (64, 64, 1)]
    before = [launch(page_size=64)] * 3

    assert differences(after, before) == ("server page_size: 1 or 64 v 64",)


@pytest.mark.parametrize("name", ["version", "model_path"])
def test_what_was_served_is_compared_even_where_it_changed_at_each_launch(name: str) -> None:
    after = [launch(**{name: "a"}), launch(**{name: "b"})]
    before = [launch(**{name: "b"})] * 2

    assert differences(after, before) == (f"server {name}: a or b v b",)
    assert differences(after, before, name) == ()


def test_a_change_that_both_arms_went_through_is_none_between_them() -> None:
    after = [launch(version=v) for v in ("1", "2", "2")]
    before = [launch(version=v) for v in ("1", "1", "2")]

    assert differences(after, before) == ()


def test_machines_commits_and_clients_are_compared_whole() -> None:
    after = {
        "host gpu1": {"gpus": [{"name": "H200", "driver_version": "550"}]},
        "server facts": {"image": "sha256:1"},
        "client": CLIENT,
    }
    before = {
        "host gpu1": {"gpus": [{"name": "H200", "driver_version": "560"}]},
        "server facts": {"image": "sha256:2"},
        "client": {"system": "Linux 6", "packages": {"httpx": "0.29"}},
    }

    assert differences([after], [before]) == (
        "client packages.httpx: 0.28 v 0.29",
        "host-gpu1 gpus.0.driver_version: 550 v 560",
        "server-facts image: sha256:1 v sha256:2",
    )


def test_what_could_not_be_had_is_no_difference() -> None:
    after = {"server facts": {"image": "could not be had: no docker"}}
    before = {"server facts": {"image": "sha256:2"}}

    assert differences([after], [before]) == ()


def test_a_service_that_one_arm_lacks_by_design_is_not_compared() -> None:
    assert differences([{"prefill": {"version": "1"}}], [{"decode": {"version": "2"}}]) == ()


def test_a_setting_that_one_arm_does_not_have_is_absent() -> None:
    assert differences([launch(extra=1)], [launch()]) == ("server extra: 1 v absent",)


def test_long_values_are_cut() -> None:
    (said,) = differences([launch(x="a" * 500)], [launch(x="b")])

    assert len(said) < 100
