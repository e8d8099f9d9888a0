"""A client that the machine held up is told of, and one that is flagged is not told of twice."""

from runner.execute.starved_client import starved_client_note
from runner.sessions.client_health import HealthSample, assess

KEPT_WAITING = HealthSample(wall_s=3.0, lag_s=2.9, kept_waiting_s=2.8, cpu_s=0.1)
ON_TIME = HealthSample(wall_s=0.1, lag_s=0.0, kept_waiting_s=0.0, cpu_s=0.01)
BUSY = HealthSample(wall_s=3.0, lag_s=2.9, kept_waiting_s=0.0, cpu_s=3.0)


def test_a_client_that_the_machine_kept_waiting_is_told_of() -> None:
    note = starved_client_note(assess([KEPT_WAITING] * 5, most_in_flight=2_000))

    assert note == (
        "the load client was held up (the machine kept it waiting for 93% of the time): the times "
        "of this run are not to be trusted, its counts are"
    )


def test_nothing_is_said_of_one_that_was_on_time_or_saturated_or_unknown() -> None:
    for samples in ([ON_TIME] * 50, [BUSY] * 5):
        assert starved_client_note(assess(samples, most_in_flight=1)) is None
    assert starved_client_note(None) is None
