from runner.observe.log_events import LogEvent, count_wedge_events, read_line

WAITING = (
    "[2026-08-22 09:15:02 TP{rank}] Decode transfer failed for request rank={rank} "
    "decode_req.req.rid='{rid}' decode_req.req.bootstrap_room=77 with exception "
    "KVTransferError(bootstrap_room=77): Request 77 timed out after 300.0s in "
    "KVPoll.WaitingForInput"
)
ABORTED = (
    "[2026-08-22 09:15:02 TP0] Prefill bootstrap failed for request rank=0 req.rid='{rid}' "
    "req.bootstrap_room=78 with exception KVTransferError(bootstrap_room=78): Aborted by AbortReq."
)


def _events(*lines: str) -> list[LogEvent]:
    return [event for event in map(read_line, lines) if event is not None]


def test_a_waiting_timeout_names_its_request() -> None:
    (event,) = _events(WAITING.format(rank=0, rid="abc"))

    assert (event.kind, event.event_class, event.request_ref) == (
        "pd_waiting_timeout",
        "wedge",
        "abc",
    )


def test_every_rank_prints_its_line_but_it_is_one_request() -> None:
    events = _events(*(WAITING.format(rank=rank, rid="abc") for rank in range(8)))

    counts = count_wedge_events(events, own_cancellations=())

    assert (counts.lines, counts.requests) == (8, 1)


def test_an_abort_that_we_caused_is_a_line_but_no_wedged_request() -> None:
    events = _events(ABORTED.format(rid="ours"), ABORTED.format(rid="theirs"))

    counts = count_wedge_events(events, own_cancellations={"ours"})

    assert (counts.lines, counts.requests) == (2, 1)


def test_a_client_that_left_is_no_wedge() -> None:
    (event,) = _events(
        "[2026-08-22 09:15:02] Request is disconnected from the client side (type 1). "
        "Abort request obj.rid='d0'"
    )

    assert event.event_class == "benign"
    assert event.request_ref == "d0"


def test_colour_codes_do_not_hide_a_line() -> None:
    (event,) = _events("\x1b[31m" + ABORTED.format(rid="r1") + "\x1b[0m")

    assert event.request_ref == "r1"


def test_ordinary_lines_and_arguments_with_the_words_are_no_events() -> None:
    assert not _events(
        "[2026-08-22 09:15:02 TP0] Decode batch, #running-req: 21, #token: 1450112",
        "server_args=ServerArgs(watchdog_timeout=300, soft=False)",
        "user: what does WaitingForInput mean, and why AbortReq?",
    )


def test_a_soft_watchdog_dump_is_no_wedge() -> None:
    assert not _events("Scheduler watchdog timeout (self.watchdog_timeout=300, self.soft=True)")
