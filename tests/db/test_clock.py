import time

from db.clock import SystemClock

MINUTE_US = 60 * 1_000_000


def test_the_time_is_in_utc_microseconds() -> None:
    assert abs(SystemClock().utc_us() - time.time() * 1_000_000) < MINUTE_US


def test_durations_never_run_backwards() -> None:
    clock = SystemClock()

    readings = [clock.monotonic_s() for _ in range(1000)]

    assert readings == sorted(readings)
