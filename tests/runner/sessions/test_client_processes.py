import pytest

from runner.sessions.client_processes import client_processes


@pytest.mark.parametrize(
    ("concurrency", "cores", "processes"),
    [
        (1, 64, 1),
        (250, 64, 1),
        (251, 64, 2),
        (500, 64, 2),
        (2_000, 64, 8),
        (2_000, 4, 3),  # a core is left to whoever stores the sessions
        (2_000, 2, 1),
        (2_000, 1, 1),
    ],
)
def test_there_is_a_process_for_each_250_sessions_while_there_are_cores(
    concurrency: int, cores: int, processes: int
) -> None:
    assert client_processes(None, concurrency=concurrency, cores=cores) == processes


def test_a_number_that_was_chosen_holds_but_for_processes_without_a_session() -> None:
    assert client_processes(4, concurrency=80, cores=2) == 4
    assert client_processes(4, concurrency=3, cores=64) == 3
