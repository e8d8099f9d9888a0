"""Numbers of many ranks and engines: summed over engines, once for ranks that repeat others."""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runner.campaign.stack_shape import MetricRole, MetricsDialect, MetricsEndpoint
from runner.observe.engine_readings import PageReading, read_page
from runner.observe.exposition import read_exposition
from runner.observe.metric_dialects import (
    SGLANG,
    VLLM,
    Dialect,
    dialect_of,
    dialect_of_endpoint,
)
from runner.observe.scrape_verdict import Interval, ServerState, judge_page

OURS = MetricsEndpoint(
    path="/metrics",
    dialect=MetricsDialect.OTHER,
    names={MetricRole.RUNNING: "busy_slots", MetricRole.QUEUE: "backlog"},
    progress=("emitted_tokens_total",),
    engine_labels=("replica",),
    repeated_labels=("shard",),
)


def _mapped() -> Dialect:
    dialect = dialect_of_endpoint(OURS)
    assert dialect is not None
    return dialect


def _page(text: str, dialect: Dialect) -> PageReading:
    return read_page(read_exposition(text.encode()), dialect)


def _series(name: str, value: float, **labels: object) -> str:
    inner = ",".join(f'{label}="{each}"' for label, each in labels.items())
    return f"{name}{{{inner}}} {value}\n" if inner else f"{name} {value}\n"


@given(
    running=st.lists(st.integers(0, 500), min_size=1, max_size=8),
    ranks=st.integers(1, 8),
    order=st.randoms(use_true_random=False),
)
@settings(max_examples=60, deadline=None)
def test_the_sum_is_over_data_parallel_engines_whatever_number_of_ranks_repeats_them(
    running: list[int], ranks: int, order: object
) -> None:
    lines = [
        _series("sglang:num_running_reqs", value, dp_rank=engine, tp_rank=rank, model_name="m")
        for engine, value in enumerate(running)
        for rank in range(ranks)
    ]
    order.shuffle(lines)  # type: ignore[attr-defined]

    reading = _page("".join(lines), SGLANG)

    assert reading.totals()[MetricRole.RUNNING] == sum(running)
    assert len(reading.engines) == len(running)


def test_a_mapping_names_engines_and_the_ranks_that_repeat_them() -> None:
    text = "".join(
        _series("busy_slots", value, replica=replica, shard=shard)
        for replica, value in (("a", 3), ("b", 4))
        for shard in range(4)
    )

    reading = _page(text + _series("backlog", 2, replica="a", shard=0), _mapped())

    assert reading.totals() == {MetricRole.RUNNING: 7, MetricRole.QUEUE: 2}


def test_a_mapping_without_labels_goes_by_the_usual_ones() -> None:
    bare = dialect_of_endpoint(OURS.model_copy(update={"engine_labels": (), "repeated_labels": ()}))
    by_rank = dialect_of_endpoint(
        OURS.model_copy(update={"engine_labels": ("rank",), "repeated_labels": ()})
    )
    assert bare is not None and by_rank is not None
    text = "".join(
        _series("busy_slots", 3, dp_rank=engine, tp_rank=rank)
        for engine in range(2)
        for rank in range(4)
    )
    ranks = "".join(_series("busy_slots", 3, rank=rank) for rank in range(4))

    assert _page(text, bare).totals()[MetricRole.RUNNING] == 6
    assert _page(ranks, bare).totals()[MetricRole.RUNNING] == 3
    assert _page(ranks, by_rank).totals()[MetricRole.RUNNING] == 12


def test_what_a_mapping_names_and_the_page_lacks_is_missing_and_not_zero() -> None:
    reading = _page(_series("something_else", 1), _mapped())

    assert reading.totals() == {}
    assert judge_page(reading).state is ServerState.INCONCLUSIVE


def test_a_replica_of_a_mapping_that_stands_still_is_found_while_the_sum_grows() -> None:
    def page(a: int, b: int) -> PageReading:
        return _page(
            "".join(
                _series("busy_slots", 2, replica=name, shard=0)
                + _series("emitted_tokens_total", tokens, replica=name, shard=0)
                for name, tokens in (("a", a), ("b", b))
            ),
            _mapped(),
        )

    verdict = judge_page(page(9_000, 50), Interval(before=page(100, 50), elapsed_s=90))

    assert (verdict.state, verdict.where) == (ServerState.WEDGE, ("replica=b",))


def test_a_counter_without_an_engines_label_is_of_all_of_them() -> None:
    """One token counter of the process in front cannot tell which engine stands still."""

    def page(tokens: int) -> PageReading:
        return _page(
            _series("busy_slots", 2, replica="a")
            + _series("busy_slots", 2, replica="b")
            + _series("emitted_tokens_total", tokens),
            _mapped(),
        )

    moving = judge_page(page(900), Interval(before=page(100), elapsed_s=90))
    still = judge_page(page(900), Interval(before=page(900), elapsed_s=90))

    assert (moving.state, still.state) == (ServerState.BUSY, ServerState.WEDGE)


def test_pipeline_stages_and_expert_ranks_of_one_engine_are_not_added() -> None:
    text = "".join(
        _series("sglang:num_running_reqs", 6, pp_rank=stage, moe_ep_rank=expert, tp_rank=expert)
        for stage in range(2)
        for expert in range(8)
    )

    assert _page(text, SGLANG).totals()[MetricRole.RUNNING] == 6


def test_workers_on_several_machines_are_added() -> None:
    text = "".join(
        _series("sglang:num_running_reqs", value, worker_addr=f"10.0.0.{value}:30000", dp_rank=0)
        for value in (1, 2, 3)
    )

    assert _page(text, SGLANG).totals()[MetricRole.RUNNING] == 6


def test_a_request_of_a_prefill_and_a_decode_worker_on_one_page_is_one_request() -> None:
    text = "".join(
        _series(name, 20, engine_type=kind, worker_addr=f"http://10.0.0.1:{port}")
        for name in ("sglang:num_running_reqs", "sglang:num_requests_total")
        for kind, port in (("prefill", 30001), ("decode", 30002))
    )

    totals = _page(text, SGLANG).totals()

    assert totals[MetricRole.RUNNING] == 20
    assert totals[MetricRole.REQUESTS] == 20


@pytest.mark.parametrize("own", [SGLANG, VLLM])
def test_a_router_that_passes_the_pages_of_its_workers_on_hides_nothing_of_them(
    own: Dialect,
) -> None:
    def page(spelled: Callable[[str], str]) -> str:
        return "".join(
            _series(spelled(name), 7, model_name="m", worker_addr=f"http://127.0.0.1:{port}")
            for name in (*_first_names(own), *own.progress[-1][:1])
            for port in (30001, 30002)
        )

    passed_on = page(lambda name: name.replace(":", "_"))
    dialect = dialect_of(read_exposition(passed_on.encode()))

    assert dialect == own
    reading = _page(passed_on, own)
    assert reading.totals() == _page(page(str), own).totals()
    assert reading.totals()[MetricRole.RUNNING] == 14
    assert [len(engine.progress) > 0 for engine in reading.engines] == [True, True]


def _first_names(dialect: Dialect) -> list[str]:
    return [names[0] for names in dialect.roles.values()]


def _guessed_page(name: str, *workers: str) -> PageReading:
    text = "".join(_series(name, 20, worker=worker) for worker in workers)
    dialect = dialect_of(read_exposition(text.encode()))
    assert dialect is not None
    return _page(text, dialect)


@pytest.mark.parametrize("name", ["smg_worker_requests_active", "sgl_router_running_requests"])
@pytest.mark.parametrize(
    "address", ["http://10.0.0.{}:30000", "10.0.0.{}:30000", "http_//10.0.0.{}_30000"]
)
def test_what_runs_behind_a_router_that_does_not_say_which_worker_decodes_is_not_known(
    name: str, address: str
) -> None:
    page = _guessed_page(name, address.format(1), address.format(2))

    assert MetricRole.RUNNING not in page.totals()
    assert [engine.held for engine in page.engines] == [20, 20]


@pytest.mark.parametrize(
    ("workers", "running"), [(["http://10.0.0.1:30000"], 20), (["0", "1"], 40)]
)
def test_what_runs_at_the_only_worker_of_a_router_and_at_workers_of_one_engine_is_known(
    workers: list[str], running: int
) -> None:
    page = _guessed_page("my_server_running_requests", *workers)

    assert page.totals()[MetricRole.RUNNING] == running


@pytest.mark.parametrize(
    "line",
    [
        'vllm_requests_running{engine="0"',
        "a{b=} 1\n",
        "\x00\x01\x02",
        '{"status": "ok"}',
        "a 1e999999\n" * 3,
        'x{le="+Inf"} NaN\n',
        "# TYPE a histogram\na_bucket 1\na_bucket 2\n",
        'a{b="' + "\\" * 5_000 + '"} 1\n',
        "a{" + ",".join(f'l{n}="v"' for n in range(2_000)) + "} 1\n",
    ],
)
def test_a_page_of_any_kind_is_read_or_refused_with_one_error(line: str) -> None:
    try:
        samples = read_exposition(line.encode())
    except ValueError as error:
        assert "no page of metrics" in str(error)
    else:
        dialect = dialect_of(samples)
        assert dialect is None or read_page(samples, dialect).engines


@pytest.mark.parametrize("lie", ["-5", "-1e308", "1e308", "NaN", "+Inf"])
def test_a_number_that_is_no_count_is_not_known_and_holds_nothing(lie: str) -> None:
    page = _page(
        _series("sglang:num_running_reqs", 3, dp_rank=0)
        + f'sglang:num_running_reqs{{dp_rank="1"}} {lie}\n'
        + f"sglang:num_queue_reqs {lie}\n",
        SGLANG,
    )

    assert page.totals() == {MetricRole.RUNNING: 3}
    assert {each.held for each in page.engines} <= {3, None}


@pytest.mark.parametrize("lie", ["-5", "1e308", "NaN"])
def test_a_page_of_nothing_but_lies_says_nothing(lie: str) -> None:
    page = _page(f"sglang:num_running_reqs {lie}\nsglang:num_queue_reqs {lie}\n", SGLANG)

    assert page.totals() == {}
    assert judge_page(page).state is not ServerState.BUSY
