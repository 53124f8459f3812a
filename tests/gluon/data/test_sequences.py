"""Batches by length, and packed sequences: attention and gradients equal those of each alone."""

from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import autograd, gluon, nd
from gluonish.core.errors import ArgumentError
from gluonish.gluon.data import DataLoader, LengthBatchSampler, SimpleDataset, segment_mask
from gluonish.gluon.data.batchify import Pack

LENGTHS = np.random.default_rng(0).integers(0, 40, 200).tolist()


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize(("size", "window"), [(None, None), (4, None), (None, 50)])
def test_batches_hold_every_sample_once_under_the_limit(
    shuffle: bool, size: int | None, window: int | None
) -> None:
    sampler = LengthBatchSampler(LENGTHS, 128, size, shuffle, window)
    count, batches = len(sampler), list(sampler)
    assert len(batches) == count
    assert sorted(i for batch in batches for i in batch) == list(range(200))
    for batch in batches:
        assert len(batch) * max(LENGTHS[i] for i in batch) <= 128
        assert size is None or len(batch) <= size
    padded = sum(len(batch) * max(LENGTHS[i] for i in batch) for batch in batches)
    assert padded < 1.3 * sum(LENGTHS)  # in random order it is 1.9
    assert (list(sampler) == batches) != shuffle


def test_a_seed_repeats_batches() -> None:
    found = []
    for _ in range(2):
        np.random.seed(4)  # noqa: NPY002
        found.append(list(LengthBatchSampler(LENGTHS, 64)))
    assert found[0] == found[1]


def test_a_long_sample_is_alone() -> None:
    assert list(LengthBatchSampler([3, 100, 3], 8, shuffle=False)) == [[0, 2], [1]]
    assert list(LengthBatchSampler([], 8)) == []


def test_wrong_numbers_are_refused() -> None:
    with pytest.raises(ArgumentError, match="lengths of 0 or more, got -1"):
        LengthBatchSampler([2, -1], 8)
    with pytest.raises(ArgumentError, match="max_tokens"):
        LengthBatchSampler([2], 0)
    with pytest.raises(ArgumentError, match="batch_size"):
        LengthBatchSampler([2], 3, 0)
    with pytest.raises(ArgumentError, match="length"):
        Pack(0)
    with pytest.raises(ArgumentError, match=r"sequences \(T,\) of up to 3, got \(4,\)"):
        Pack(3)([np.arange(4)])
    with pytest.raises(ArgumentError, match=r"sequences \(T,\) of up to 3, got \(1, 2\)"):
        Pack(3)([np.ones((1, 2))])


@pytest.mark.parametrize("workers", [0, 2])
def test_loader_packs(workers: int) -> None:
    data = SimpleDataset([np.arange(1, n + 1, dtype=np.int32) for n in (3, 5, 2, 4, 1)])
    loader = DataLoader(data, 5, batchify_fn=Pack(6, val=-1), num_workers=workers)
    ((tokens, segments, positions),) = list(loader)
    assert tokens.asnumpy().tolist() == [
        [1, 2, 3, 1, 2, 1],
        [1, 2, 3, 4, 5, -1],
        [1, 2, 3, 4, -1, -1],
    ]
    assert segments.asnumpy().tolist() == [
        [1, 1, 1, 2, 2, 3],
        [1, 1, 1, 1, 1, 0],
        [1, 1, 1, 1, 0, 0],
    ]
    assert positions.asnumpy()[0].tolist() == [0, 1, 2, 0, 1, 0]
    assert tokens.dtype == np.int32


class _Attention(gluon.HybridBlock):
    def hybrid_forward(self, F: Any, q: Any, k: Any, v: Any, segments: Any) -> Any:
        return F.scaled_dot_product_attention(q, k, v, segment_mask(segments), causal=True)


@pytest.mark.parametrize("hybrid", [False, True])
def test_packed_attention_is_that_of_each_sequence(hybrid: bool) -> None:
    random = np.random.default_rng(1)
    lengths = (5, 2, 7, 1)
    _, segments, _ = Pack(8)([np.zeros(n) for n in lengths])
    assert segments.shape == (2, 8)  # 5 + 2 + 1 and 7
    arrays = [nd.array(random.standard_normal((2, 3, 8, 4))) for _ in range(3)]
    for x in arrays:
        x.attach_grad()
    net = _Attention()
    if hybrid:
        net.hybridize()
    with autograd.record():
        out = net(*arrays, segments)
    head = random.standard_normal(out.shape)
    out.backward(nd.array(head))
    for row, begin, end in ((0, 0, 5), (0, 5, 7), (1, 0, 7), (0, 7, 8)):
        part = np.s_[row : row + 1, :, begin:end]
        alone = [nd.array(x.asnumpy()[part]) for x in arrays]
        for x in alone:
            x.attach_grad()
        with autograd.record():
            q, k, v = alone
            want = nd.scaled_dot_product_attention(q, k, v, causal=True)
        want.backward(nd.array(head[part]))
        np.testing.assert_allclose(out.asnumpy()[part], want.asnumpy(), rtol=0, atol=2e-6)
        for x, y in zip(arrays, alone, strict=True):
            np.testing.assert_allclose(x.grad.asnumpy()[part], y.grad.asnumpy(), rtol=0, atol=1e-5)
    assert not out.asnumpy()[1, :, 7:].any()  # no sequence


def test_mask_is_boolean_and_blocked() -> None:
    mask = segment_mask(nd.array([[1, 1, 2, 0]], dtype="int32"))
    assert mask.dtype == np.bool_
    want = np.zeros((4, 4), bool)
    want[:2, :2] = want[2, 2] = True
    np.testing.assert_array_equal(mask.asnumpy()[0, 0], want)
    assert isinstance(segment_mask(mx.sym.var("x")), mx.sym.Symbol)
