"""When pages arrive, and when they never do."""

import torch

from runner.testbed.index_keys import make_index_keys
from runner.testbed.kv_pool import PagePool
from runner.testbed.model import ModelConfig
from runner.testbed.transfer import KVPoll, PageTransfer, TransferQueue


def pools() -> tuple[PagePool, PagePool]:
    source, target = (PagePool(4, ModelConfig(), make_index_keys("bf16", 1)) for _ in range(2))
    source.kv.random_()
    source.index.random_()
    return source, target


def test_pages_arrive_byte_for_byte_at_the_next_poll() -> None:
    source, target = pools()
    queue = TransferQueue(source, target, stall_after=None, timeout_s=300)
    queue.submit(PageTransfer(7, [0, 2], [3, 1], submitted_s=0.0))

    (ended,) = queue.poll(now_s=0.0)

    assert ended.state is KVPoll.SUCCESS
    assert torch.equal(target.kv[:, 3], source.kv[:, 0])
    assert torch.equal(target.index[:, 1], source.index[:, 2])
    assert len(queue) == 0


def test_from_the_given_transfer_on_they_wait_for_input_until_they_fail() -> None:
    source, target = pools()
    queue = TransferQueue(source, target, stall_after=1, timeout_s=300.0)
    for room in (10, 11):
        queue.submit(PageTransfer(room, [0], [0], submitted_s=5.0))
    before = target.kv[:, 1:].clone()

    first = queue.poll(now_s=5.0)
    waiting = queue.poll(now_s=304.9)
    (failed,) = queue.poll(now_s=305.0)

    assert [transfer.room for transfer in first] == [10]
    assert waiting == []
    assert failed.room == 11
    assert failed.state is KVPoll.FAILED
    assert failed.failure == "Request 11 timed out after 300.0s in KVPoll.WaitingForInput"
    assert torch.equal(target.kv[:, 1:], before)


def test_the_next_deadline_is_that_of_the_oldest_transfer() -> None:
    queue = TransferQueue(*pools(), stall_after=0, timeout_s=10.0)
    assert queue.next_deadline_s() is None
    for room, submitted_s in ((1, 3.0), (2, 1.0)):
        queue.submit(PageTransfer(room, [0], [0], submitted_s))

    assert queue.next_deadline_s() == 11.0


def test_an_aborted_transfer_is_forgotten_and_copies_nothing() -> None:
    source, target = pools()
    queue = TransferQueue(source, target, stall_after=None, timeout_s=300)
    queue.submit(PageTransfer(1, [0], [0], submitted_s=0.0))

    queue.abort(1)

    assert queue.poll(now_s=0.0) == []
    assert target.kv.count_nonzero() == 0
