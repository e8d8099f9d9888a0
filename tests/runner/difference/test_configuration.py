"""Two configurations side by side: every setting once, and nothing that is of the moment."""

from typing import Any

from db.reads.runs import FingerprintFacts, LaunchFacts
from runner.difference.configuration import ConfigSide, config_rows, flattened
from tests.app.values import arm_facts


def side(
    *, argv: list[str] | None = None, facts: dict[str, Any] | None = None, **levels: Any
) -> ConfigSide:
    launch = LaunchFacts(
        id=1,
        stack="testbed",
        commands={"server": {"argv": argv or [], "env": {}}},
        started_at_us=0,
        ready_at_us=None,
        ended_at_us=None,
        end_reason=None,
    )
    fingerprint = FingerprintFacts(service="server", facts=facts or {}, taken_at_us=0)
    return ConfigSide(arm_facts(levels=levels), launch, [fingerprint])


def test_declared_factors_come_first() -> None:
    rows = config_rows(
        side(host_pool="fp8-sized", argv=["--x", "1"], facts={"a": 1}),
        side(host_pool="dtype-aware", argv=["--x", "2"], facts={"a": 2}),
    )

    assert [(row.kind, row.name, row.a, row.b) for row in rows] == [
        ("factor", "host_pool", "fp8-sized", "dtype-aware"),
        ("command", "server --x", "1", "2"),
        ("server", "server a", "1", "2"),
    ]


def test_equal_settings_do_not_differ() -> None:
    (row,) = config_rows(side(hicache="on"), side(hicache="on"))

    assert not row.differs


def test_a_flag_that_one_side_lacks_differs_from_nothing() -> None:
    (row,) = config_rows(side(argv=["serve", "--fast"]), side(argv=["serve"]))

    assert (row.name, row.a, row.b) == ("server --fast", "on", "–")


def test_ports_process_ids_start_times_and_drawn_markers_are_no_configuration() -> None:
    drawn = {"media_marker": "<__media_WpC2__>"}
    facts = {"port": 1, "pid": 2, "startup_time": 3.5, "page_size": 64, **drawn}

    assert dict(flattened(facts)) == {"page_size": "64"}
    assert config_rows(side(argv=["--port", "1"]), side(argv=["--port", "2"])) == []


def test_a_fact_that_a_nested_state_repeats_is_told_once() -> None:
    def facts(level: str) -> dict[str, Any]:
        return {"index_k_dtype": level, "internal_states": [{"index_k_dtype": level}]}

    (row,) = config_rows(side(facts=facts("fp8")), side(facts=facts("bf16")))

    assert row.name == "server index_k_dtype"


def test_the_short_name_drops_the_path_inside_a_report() -> None:
    facts = {"internal_states": [{"memory_usage": {"bytes_per_token": 132}}]}

    (row,) = config_rows(side(facts=facts), side())

    assert row.short_name == "server bytes_per_token"


def test_a_run_without_a_launch_shows_its_levels() -> None:
    bare = ConfigSide(arm_facts(levels={"hicache": "on"}), None, [])

    assert [row.name for row in config_rows(bare, bare)] == ["hicache"]
