"""Every message comes back as it was, however its bytes were cut into reads."""

import asyncio
from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from runner.sessions.client_health import ClientHealth
from runner.sessions.open_request import OpenRequest
from runner.sessions.shard_messages import (
    Begin,
    Cancel,
    Farewell,
    Finish,
    FromShard,
    Play,
    Played,
    Ready,
    Refused,
    Status,
    ToShard,
    framed,
    next_from_shard,
    next_to_shard,
)

floats = st.floats(allow_nan=False)
indices = st.integers(0, 2**62)
texts = st.text(st.characters(exclude_categories=["Cs"]))
to_shard = st.one_of(
    st.builds(Begin, st.binary()),
    st.builds(Play, indices),
    st.builds(Cancel, indices),
    st.just(Finish()),
)
statuses = st.builds(
    Status,
    sent=indices,
    quiet_s=st.none() | floats,
    open_requests=st.lists(st.builds(OpenRequest, texts, floats, floats)).map(tuple),
)
healths = st.builds(
    ClientHealth,
    **dict.fromkeys(("samples", "most_in_flight", "gc_collections", "processes"), indices),
    **dict.fromkeys(("lag_p50_s", "lag_p99_s", "own_lag_p99_s", "cpu_share"), floats),
    **dict.fromkeys(("cpu_share_busiest", "kept_waiting_share", "dispatch_p50_s"), floats),
    **dict.fromkeys(("dispatch_p99_s", "gc_longest_s", "gc_share"), floats),
    reasons=st.lists(texts).map(tuple),
)
from_shard = st.one_of(
    st.just(Ready()),
    st.builds(Refused, texts),
    st.builds(Played, indices, st.binary()),
    statuses,
    st.builds(Farewell, statuses, healths),
)


def read_back(
    messages: list[ToShard] | list[FromShard],
    read: Callable[[asyncio.StreamReader], object],
    step: int,
) -> list[object]:
    content = b"".join(map(framed, messages))

    async def all_of_them() -> list[object]:
        reader = asyncio.StreamReader()
        for start in range(0, len(content), step):
            reader.feed_data(content[start : start + step])
        reader.feed_eof()
        found: list[object] = []
        while (message := await read(reader)) is not None:  # type: ignore[misc]
            found.append(message)
        return found

    return asyncio.run(all_of_them())


@given(st.lists(to_shard, max_size=5), st.integers(1, 50))
def test_orders_come_back_as_they_were(messages: list[ToShard], step: int) -> None:
    assert read_back(messages, next_to_shard, step) == messages


@given(st.lists(from_shard, max_size=5), st.integers(1, 50))
def test_reports_come_back_as_they_were(messages: list[FromShard], step: int) -> None:
    assert read_back(messages, next_from_shard, step) == messages


@given(to_shard, st.data())
def test_a_message_that_its_sender_did_not_finish_is_the_end(
    message: ToShard, data: st.DataObject
) -> None:
    content = framed(message)
    cut = data.draw(st.integers(0, len(content) - 1))

    async def first() -> object:
        reader = asyncio.StreamReader()
        reader.feed_data(content[:cut])
        reader.feed_eof()
        return await next_to_shard(reader)

    assert asyncio.run(first()) is None
