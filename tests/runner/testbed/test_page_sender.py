"""When pages are written to decode's pool, and when they never are."""

import torch

from runner.testbed.index_keys import make_index_keys
from runner.testbed.kv_pool import PagePool
from runner.testbed.launch_options import TransferFaults
from runner.testbed.model import ModelConfig
from runner.testbed.page_messages import KVPoll, PagesGranted
from runner.testbed.page_sender import PageSender, Sending


def pools() -> tuple[PagePool, PagePool]:
    keys = make_index_keys("bf16", 1)
    source, target = (PagePool(4, ModelConfig(), keys, n_slots=4) for _ in range(2))
    source.kv.random_()
    source.index.random_()
    return source, target


def sending(
    room: int, source_pages: list[int], pages: tuple[int, ...], target: PagePool
) -> Sending:
    target.owners[0] = room
    return Sending(PagesGranted(room, 0, pages, pages), target, source_pages)


def test_pages_arrive_byte_for_byte_at_the_next_poll() -> None:
    source, target = pools()
    sender = PageSender(source, TransferFaults())
    sender.submit(sending(7, [0, 2], (3, 1), target), now_s=0.0)

    (ended,) = sender.poll(now_s=0.0)

    assert ended.state is KVPoll.SUCCESS
    assert torch.equal(target.kv[:, 3], source.kv[:, 0])
    assert torch.equal(target.index[:, 1], source.index[:, 2])
    assert len(sender) == 0
    assert sender.take_late_writes() == 0


def test_from_the_given_transfer_on_nothing_is_ever_written() -> None:
    source, target = pools()
    sender = PageSender(source, TransferFaults(stall_after=1))
    for room in (10, 11):
        sender.submit(sending(room, [0], (0,), target), now_s=5.0)
    before = target.kv[:, 1:].clone()

    ended = sender.poll(now_s=1e9)

    assert [each.grant.room for each in ended] == [10]
    assert len(sender) == 1
    assert sender.next_deadline_s() is None
    assert torch.equal(target.kv[:, 1:], before)


def test_every_so_many_th_transfer_takes_its_time() -> None:
    source, target = pools()
    sender = PageSender(source, TransferFaults(slow_every=2, slow_s=3.0))
    for room in (1, 2, 3):
        sender.submit(sending(room, [0], (0,), target), now_s=1.0)

    quick = sender.poll(now_s=1.0)

    assert [each.grant.room for each in quick] == [1, 3]
    assert sender.next_deadline_s() == 4.0
    assert sender.poll(now_s=3.9) == []
    assert [each.grant.room for each in sender.poll(now_s=4.0)] == [2]


def test_what_is_not_under_way_can_be_called_off() -> None:
    source, target = pools()
    sender = PageSender(source, TransferFaults())
    sender.submit(sending(1, [0], (0,), target), now_s=0.0)

    assert sender.abort(1)

    assert sender.poll(now_s=0.0) == []
    assert target.kv.count_nonzero() == 0


def test_what_is_under_way_is_written_whoever_has_the_slot_by_then() -> None:
    source, target = pools()
    sender = PageSender(source, TransferFaults(slow_every=1, slow_s=3.0))
    sender.submit(sending(1, [0], (0,), target), now_s=0.0)
    assert not sender.abort(1)

    target.owners[0] = 2
    sender.poll(now_s=3.0)

    assert torch.equal(target.index[:, 0], source.index[:, 0])
    assert sender.take_late_writes() == 1
    assert sender.take_late_writes() == 0


def test_a_state_list_that_is_one_page_short_leaves_the_last_index_page_stale() -> None:
    source, target = pools()
    target.index.random_()
    stale = target.index[:, 1].clone()
    sender = PageSender(source, TransferFaults())
    sender.submit(Sending(PagesGranted(1, 0, (0, 1), (0,)), target, [2, 3]), now_s=0.0)

    sender.poll(now_s=0.0)

    assert torch.equal(target.kv[:, 1], source.kv[:, 3])
    assert torch.equal(target.index[:, 0], source.index[:, 2])
    assert torch.equal(target.index[:, 1], stale)
