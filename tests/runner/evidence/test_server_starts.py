"""Which launches of a server that others run are one start of it."""

from runner.evidence.server_starts import LaunchSigns, ServiceSigns, starts_of


def counted(first: float | None, last: float | None, *processes: float) -> ServiceSigns:
    return ServiceSigns(frozenset(processes), first, last)


def process(*started: float) -> ServiceSigns:
    return ServiceSigns(frozenset(started))


def clusters(*launches: ServiceSigns | dict[str, ServiceSigns]) -> list[int]:
    """Of launches 1, 2, ... the launch whose start each belongs to."""
    return [start for start, _ in told(*launches)]


def told(*launches: ServiceSigns | dict[str, ServiceSigns]) -> list[tuple[int, int]]:
    """And the launch since which nothing shows a restart."""
    return starts(
        *(
            LaunchSigns(launch_id=i, services=x if isinstance(x, dict) else {"server": x})
            for i, x in enumerate(launches, start=1)
        )
    )


def starts(*launches: LaunchSigns) -> list[tuple[int, int]]:
    return [(each.launch_id, each.perhaps_since) for each in starts_of(launches).values()]


def test_a_process_that_had_begun_before_is_the_same_start() -> None:
    assert clusters(process(1000), process(1000), process(1000)) == [1, 1, 1]


def test_a_later_process_is_another_start() -> None:
    assert told(process(1000), process(1300), process(1300)) == [(1, 1), (2, 2), (2, 2)]


def test_of_several_processes_behind_one_address_one_that_is_known_is_enough() -> None:
    assert clusters(process(1000, 1001), process(1001, 1002), process(1003)) == [1, 1, 3]


def test_a_process_that_comes_back_is_the_start_that_it_was() -> None:
    assert clusters(process(1000), process(1300), process(1000)) == [1, 2, 1]


def test_a_count_of_requests_that_went_on_is_the_same_start() -> None:
    assert clusters(counted(1, 480), counted(480, 960), counted(975, 1400)) == [1, 1, 1]


def test_a_count_of_requests_that_fell_is_another_start() -> None:
    assert told(counted(1, 480), counted(1, 960), counted(1, 5)) == [(1, 1), (2, 2), (3, 3)]


def test_a_count_is_compared_with_the_last_one_before_it_only() -> None:
    assert clusters(counted(1, 5), counted(1, 960), counted(10, 20)) == [1, 2, 3]


def test_a_launch_that_counted_nothing_does_not_hide_the_count_before_it() -> None:
    assert clusters(counted(1, 480), {}, counted(480, 960)) == [1, 2, 1]


def test_a_count_of_before_a_restart_is_compared_with_nothing() -> None:
    restarted = counted(None, None, 1300)

    assert clusters(counted(1, 480, 1000), restarted, counted(500, 960)) == [1, 2, 3]


def test_a_count_of_zero_shows_nothing() -> None:
    assert told(counted(0, 0), counted(0, 480)) == [(1, 1), (2, 1)]


def test_the_moment_of_a_start_outweighs_counts() -> None:
    assert clusters(counted(1, 4, 1000), counted(9, 50, 1300), counted(2, 3, 1300)) == [1, 2, 2]


def test_without_a_sign_each_launch_counts_and_none_is_known_to_be_a_start() -> None:
    assert told({}, {}, {}) == [(1, 1), (2, 1), (3, 1)]


def test_what_is_not_shown_ends_at_a_restart_that_is() -> None:
    launches = process(1000), process(), process(1300), process()

    assert told(*launches) == [(1, 1), (2, 1), (3, 3), (4, 3)]


def test_of_several_services_one_that_was_restarted_makes_another_start() -> None:
    before = {"prefill": process(1000), "decode": counted(1, 480)}
    after = {"prefill": process(1000), "decode": counted(1, 20)}

    assert clusters(before, after, after) == [1, 2, 3]
    assert clusters(before, {"prefill": process(1000), "decode": counted(480, 500)}) == [1, 1]


def test_what_one_server_says_proves_nothing_of_another() -> None:
    one, other = (
        LaunchSigns(launch_id=i, servers=url, services={"endpoint": counted(500 * i, 500 * i)})
        for i, url in ((1, "http://one"), (2, "http://other"))
    )

    assert starts(one, other) == [(1, 1), (2, 2)]


def test_a_proved_level_that_takes_a_start_shows_one_whatever_was_counted() -> None:
    launches = [
        LaunchSigns(launch_id=i, services={"server": counted(9, 9)}, levels={"pool": pool})
        for i, pool in ((1, "fp8"), (2, "bf16"), (3, "bf16"))
    ]

    assert starts(*launches) == [(1, 1), (2, 2), (2, 2)]
