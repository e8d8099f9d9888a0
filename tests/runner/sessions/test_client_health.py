import asyncio

from runner.sessions.client_health import (
    LAG_LIMIT_S,
    HealthSample,
    HealthWatch,
    assess,
    health_of_all,
)
from tests.runner.sessions.fast_forward import run_in_no_time

CALM = HealthSample(wall_s=0.1, lag_s=0.0, kept_waiting_s=0.0, cpu_s=0.01)
LATE_BY_OWN_WORK = CALM._replace(lag_s=0.08, cpu_s=0.05)
LATE_BY_OTHERS = CALM._replace(lag_s=0.08, kept_waiting_s=0.07)


def test_a_calm_client_is_neither_saturated_nor_starved() -> None:
    health = assess([CALM] * 100, most_in_flight=80)

    assert not health.saturated
    assert not health.starved
    assert round(health.cpu_share, 3) == 0.1
    assert health.most_in_flight == 80


def test_lag_of_our_own_making_saturates() -> None:
    health = assess([CALM] * 96 + [LATE_BY_OWN_WORK] * 4, most_in_flight=1)

    assert health.saturated
    assert round(health.own_lag_p99_s, 3) == 0.08


def test_lag_because_the_machine_ran_others_starves_and_does_not_saturate() -> None:
    health = assess([CALM] * 96 + [LATE_BY_OTHERS] * 4, most_in_flight=1)

    assert not health.saturated
    assert health.starved


def test_lag_on_a_machine_that_keeps_us_waiting_is_not_called_our_own() -> None:
    naps = [HealthSample(wall_s=0.4, lag_s=0.3, kept_waiting_s=0.2, cpu_s=0.01)] * 50

    health = assess(naps, most_in_flight=80)

    assert health.own_lag_p99_s > LAG_LIMIT_S
    assert (health.saturated, health.starved) == (False, True)


def test_a_single_pause_in_a_short_run_does_not_saturate() -> None:
    assert not assess([CALM] * 20 + [LATE_BY_OWN_WORK] * 2, most_in_flight=1).saturated


def test_five_busy_seconds_saturate_however_calm_the_rest_was() -> None:
    busy = CALM._replace(cpu_s=0.08)

    assert assess([CALM] * 600 + [busy] * 55 + [CALM] * 600, most_in_flight=1).saturated
    assert not assess([CALM] * 600 + [busy] * 30 + [CALM] * 600, most_in_flight=1).saturated


def test_a_run_of_two_to_five_seconds_is_taken_whole() -> None:
    busy = CALM._replace(cpu_s=0.09)

    assert assess([busy] * 25, most_in_flight=1).saturated
    assert not assess([busy] * 25 + [CALM] * 20, most_in_flight=1).saturated


def test_the_busy_first_moments_of_a_run_that_is_over_at_once_do_not_saturate() -> None:
    busy = CALM._replace(cpu_s=0.1)

    assert not assess([busy] * 10, most_in_flight=1).saturated


def test_no_samples_say_nothing_bad() -> None:
    health = assess([], most_in_flight=0)

    assert (health.samples, health.saturated, health.starved) == (0, False, False)


def test_health_is_stored_as_json() -> None:
    stored = assess([CALM] * 10, most_in_flight=3).to_json()

    assert stored["most_in_flight"] == 3
    assert stored["saturated"] is False


def test_the_watch_samples_while_it_is_open_only() -> None:
    class Gauge:
        most_in_flight = 7

    async def watch_for_a_second() -> HealthWatch:
        watch = HealthWatch(Gauge())
        async with watch.watching():
            await asyncio.sleep(1.05)
        await asyncio.sleep(5)
        return watch

    health = run_in_no_time(watch_for_a_second()).health()

    assert health.samples == 10
    assert health.most_in_flight == 7


def test_a_loop_that_hears_its_threads_late_is_saturated_though_its_naps_were_on_time() -> None:
    health = assess([CALM] * 100, most_in_flight=1, dispatch_s=[0.001] * 90 + [0.2] * 10)

    assert health.saturated
    assert health.reasons == ("one in a hundred requests to its event loop waited for 200 ms",)


def test_a_pause_of_the_collector_is_named_as_the_cause() -> None:
    health = assess(
        [CALM] * 90 + [LATE_BY_OWN_WORK] * 10, most_in_flight=1, gc_pauses_s=[0.002, 0.075]
    )

    assert (health.gc_collections, health.gc_longest_s) == (2, 0.075)
    assert health.reasons == (
        "one in a hundred naps of its event loop was late by 80 ms; "
        "its garbage collector paused it for up to 75 ms",
    )


def test_a_starved_client_blames_the_machine_and_not_itself() -> None:
    late = CALM._replace(wall_s=0.4, lag_s=0.3, kept_waiting_s=0.24)

    health = assess([late] * 50, most_in_flight=1, dispatch_s=[0.3] * 50)

    assert (health.saturated, health.starved) == (False, True)
    assert health.reasons == ("the machine kept it waiting for 60% of the time",)


def test_a_calm_client_gives_no_reason() -> None:
    assert assess([CALM] * 100, most_in_flight=1, dispatch_s=[0.001] * 100).reasons == ()


def test_one_saturated_process_makes_the_whole_client_so_and_is_named() -> None:
    here = assess([CALM] * 100, most_in_flight=500)
    calm = assess([CALM] * 50, most_in_flight=250)
    late = assess([CALM] * 96 + [LATE_BY_OWN_WORK] * 4, most_in_flight=250)

    health = health_of_all(here, [("client process 1", calm), ("client process 2", late)])

    assert (health.saturated, health.starved) == (True, True)
    assert [reason.split(":")[0] for reason in health.reasons] == ["client process 2"]
    assert (health.samples, health.most_in_flight, health.processes) == (250, 500, 3)
    assert round(health.cpu_share, 2) == 0.32  # 0.1 + 0.1 + 0.116 of a core
    assert health.lag_p99_s == late.lag_p99_s


def test_calm_processes_make_a_calm_client() -> None:
    calm = assess([CALM] * 50, most_in_flight=250)

    health = health_of_all(calm, [("client process 1", calm)])

    assert (health.saturated, health.starved, health.reasons) == (False, False, ())
