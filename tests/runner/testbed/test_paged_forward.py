"""The paged forward pass against the plain one that the model is trained with."""

import random

import pytest
import torch

from runner.testbed import vocabulary as v
from runner.testbed.evaluation import right_sessions
from runner.testbed.grammar import DialogueShape, DialogueSource, segments
from runner.testbed.index_keys import make_index_keys
from runner.testbed.kv_pool import PagePool
from runner.testbed.model import WEIGHTS_FOLDER, load_model
from runner.testbed.paged_forward import DecodeRow, decode_step, prefill
from runner.testbed.trainable_model import TrainableModel, load_trainable
from runner.testbed.training_batches import batch_of, draw_batch

MODEL = load_model()
ALL = 1024


def source(seed: int, shape: DialogueShape | None = None) -> DialogueSource:
    return DialogueSource(v.load_vocabulary(), random.Random(seed), shape or DialogueShape())


def run_prefill(pool: PagePool, tokens: list[int], *, cached: int = 0, topk: int = 32) -> int:
    return prefill(
        MODEL,
        pool,
        tokens=tokens,
        cached=cached,
        page_table=range(-(-len(tokens) // 64)),
        before_layer=lambda layer: None,
        topk=topk,
    )


@pytest.fixture(scope="module")
def plain() -> TrainableModel:
    return load_trainable(WEIGHTS_FOLDER, "cpu")


@pytest.fixture
def pool() -> PagePool:
    return PagePool(32, MODEL.config, make_index_keys("bf16", 16))


def test_the_shipped_weights_speak_all_dialects(plain: TrainableModel) -> None:
    batch = draw_batch(source(5, DialogueShape(any_dialect=True)), 4)

    assert right_sessions(plain, batch) == 4


@pytest.mark.parametrize("index_keys", ["bf16", "fp8"])
def test_prefill_and_decode_say_what_the_grammar_demands(index_keys: str) -> None:
    pool = PagePool(32, MODEL.config, make_index_keys(index_keys, 16))
    history: list[int] = []
    for segment in segments(source(11, DialogueShape(rounds=2)).draw()):
        if segment.by_assistant:
            output = [run_prefill(pool, history)]
            while len(output) < len(segment.tokens):
                text = history + output
                row = DecodeRow(tuple(text[:-4:-1]), len(text) - 1, first_page=0)
                output += decode_step(MODEL, pool, [row], topk=32)
            assert tuple(output) == segment.tokens
        history += segment.tokens


def test_prefill_agrees_with_the_plain_forward_wherever_the_assistant_speaks(
    plain: TrainableModel, pool: PagePool
) -> None:
    """Elsewhere the model was never taught a token, and rounding may decide between two."""
    batch = batch_of([source(3).draw()])
    tokens = batch.tokens[0].tolist()
    with torch.no_grad():
        hidden, _ = plain(batch.tokens, batch.wanted, sparse=True)
        expected = plain.logits(hidden)[0].argmax(-1).tolist()

    asked = list(zip(batch.wanted.positions[0].tolist(), expected, strict=True))[::7]

    assert [run_prefill(pool, tokens[: at + 1]) for at, _ in asked] == [token for _, token in asked]


def test_a_cached_prefix_gives_the_same_bytes_as_computing_all(pool: PagePool) -> None:
    tokens = [t for segment in segments(source(4).draw()) for t in segment.tokens][:190]
    whole = PagePool(32, MODEL.config, make_index_keys("bf16", 16))
    run_prefill(whole, tokens)

    run_prefill(pool, tokens[:130])
    run_prefill(pool, tokens, cached=128)

    mine = pool.index[:, 2, : 62 * 256].view(torch.bfloat16).float()
    theirs = whole.index[:, 2, : 62 * 256].view(torch.bfloat16).float()
    assert torch.allclose(mine, theirs, atol=0.05)


def test_rows_of_a_batch_do_not_see_each_other(pool: PagePool) -> None:
    texts = [[t for s in segments(source(seed).draw()) for t in s.tokens][:150] for seed in (7, 8)]
    for number, text in enumerate(texts):
        run_prefill(pool, text[:-1])
        pages = [16 * number + page for page in (4, 5, 6)]
        pool.copy_kv(pool, [0, 1, 2], pages)
        pool.copy_index(pool, [0, 1, 2], pages)
    rows = [DecodeRow(tuple(t[:-4:-1]), 149, 16 * n + 4) for n, t in enumerate(texts)]
    alone = [decode_step(MODEL, pool, [row], topk=32)[0] for row in rows]

    assert decode_step(MODEL, pool, rows, topk=32) == alone


def test_only_selection_reads_the_index_keys(pool: PagePool) -> None:
    """With everything selected, spoilt index keys change nothing; with 32 of them, they do."""
    tokens = [t for segment in segments(source(9).draw()) for t in segment.tokens][:300]
    run_prefill(pool, tokens)
    row = DecodeRow(tuple(tokens[:-4:-1]), 299, first_page=0)

    def next_token(topk: int) -> int:
        return decode_step(MODEL, pool, [row], topk=topk)[0]

    intact = next_token(ALL)
    layer_1_before = pool.kv[1, 4].clone()
    pool.index[:, :4, 8448:] = pool.index.flip(1)[:, :4, 8448:]

    assert next_token(ALL) == intact
    everything_read = pool.kv[1, 4].clone()
    next_token(32)
    assert torch.equal(everything_read, layer_1_before)
    assert not torch.equal(pool.kv[1, 4], layer_1_before), "layer 1 saw what layer 0 selected"
