"""Symbolic recurrent networks in Module: they learn, and checkpoints go from cell to cell."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish as mx


def next_word_network(cell: Any, words: int) -> Any:
    """A generator of Symbols for BucketingModule: predicts the next word of a sentence."""

    def generate(length: int) -> tuple[Any, tuple[str], tuple[str]]:
        data, label = mx.sym.Variable("data"), mx.sym.Variable("softmax_label")
        embedded = mx.sym.Embedding(data, input_dim=words, output_dim=8, name="embed")
        outputs, _ = cell.unroll(length, embedded, merge_outputs=True)
        flat = mx.sym.Reshape(outputs, shape=(-3, -2))
        scores = mx.sym.FullyConnected(flat, num_hidden=words, name="scores")
        label = mx.sym.Reshape(label, shape=(-1,))
        net = mx.sym.SoftmaxOutput(scores, label, name="softmax", use_ignore=True, ignore_label=0)
        return net, ("data",), ("softmax_label",)

    return generate


def counting(batch: int) -> Any:
    """Sentences that count upwards: each word says what the next one is."""
    np.random.seed(3)  # noqa: NPY002  # the iterator shuffles by it
    lengths = [3, 3, 3, 3, 5, 5, 5, 5]
    starts = [1, 2, 3, 4, 1, 2, 3, 1]
    sentences = [list(range(s, s + n)) for s, n in zip(starts, lengths, strict=True)]
    return mx.rnn.BucketSentenceIter(sentences, batch, invalid_label=0)


@pytest.mark.parametrize("fused", [False, True])
def test_a_language_model_of_buckets_learns_to_count(fused: bool) -> None:
    mx.random.seed(5)
    cell = mx.rnn.FusedRNNCell(16, prefix="f_") if fused else mx.rnn.LSTMCell(16, prefix="f_")
    data = counting(2)
    module = mx.mod.BucketingModule(
        next_word_network(cell, 9), default_bucket_key=data.default_bucket_key
    )
    module.fit(
        data,
        num_epoch=12,
        eval_metric=mx.metric.Perplexity(0),
        optimizer="adam",
        optimizer_params={"learning_rate": 0.05},
        initializer=mx.init.Xavier(),
    )
    found = dict(module.score(data, mx.metric.Perplexity(0)))
    assert found["perplexity"] < 1.5


@pytest.mark.parametrize("mode", ["lstm", "gru", "rnn_tanh"])
def test_single_cells_compute_what_the_fused_one_does_with_its_weights(mode: str) -> None:
    fused = mx.rnn.FusedRNNCell(5, 2, mode=mode, bidirectional=True, prefix="f_")
    single = fused.unfuse()
    results = []
    shape = {"data": (3, 4, 6)}
    rng = np.random.RandomState(0)
    data = rng.randn(*shape["data"]).astype("float32")
    weights: dict[str, Any] = {}
    for cell in (fused, single):
        outputs, _ = cell.unroll(4, mx.sym.Variable("data"), merge_outputs=True)
        executor = outputs.simple_bind(mx.cpu(), grad_req="null", **shape)
        if cell is fused:
            size = executor.arg_dict["f_parameters"].size
            given = {"f_parameters": mx.nd.array(rng.uniform(-0.5, 0.5, size))}
            weights = fused.unpack_weights(given)
            again = fused.pack_weights(weights)
            np.testing.assert_array_equal(
                again["f_parameters"].asnumpy(), given["f_parameters"].asnumpy()
            )
        else:
            given = cell.pack_weights(weights)
        executor.copy_params_from(given)
        results.append(executor.forward(data=mx.nd.array(data))[0].asnumpy())
    np.testing.assert_allclose(results[0], results[1], rtol=1e-5, atol=1e-6)


def test_checkpoint_of_a_fused_cell_is_read_for_single_ones(tmp_path: Path) -> None:
    fused = mx.rnn.FusedRNNCell(4, mode="gru", prefix="g_")
    outputs, _ = fused.unroll(2, mx.sym.Variable("data"), merge_outputs=True)
    weights = {"g_parameters": mx.nd.arange(4 * 3 * (3 + 4 + 2)), "other": mx.nd.ones(2)}
    prefix = str(tmp_path / "net")
    mx.rnn.do_rnn_checkpoint(fused, prefix, period=2)(1, outputs, weights, {})
    mx.rnn.do_rnn_checkpoint(fused, prefix, period=2)(2, outputs, weights, {})
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "net-0002.params",
        "net-symbol.json",
    ]
    _, single, _ = mx.rnn.load_rnn_checkpoint(fused.unfuse(), prefix, 2)
    assert sorted(single) == [
        *("g_l0_h2h_bias", "g_l0_h2h_weight", "g_l0_i2h_bias", "g_l0_i2h_weight", "other")
    ]
    np.testing.assert_array_equal(
        single["g_l0_i2h_weight"].asnumpy().ravel(), np.arange(36, dtype="float32")
    )
    _, packed, _ = mx.rnn.load_rnn_checkpoint([fused], prefix, 2)
    np.testing.assert_array_equal(
        packed["g_parameters"].asnumpy(), weights["g_parameters"].asnumpy()
    )
    assert set(mx.nd.load(f"{prefix}-0002.params")) >= {"arg:g_l0_i2h_r_weight", "arg:other"}


def test_rnn_unroll_warns_and_unrolls() -> None:
    with pytest.warns(UserWarning, match="rnn_unroll is deprecated"):
        outputs, _ = mx.rnn.rnn_unroll(mx.rnn.RNNCell(2), 2, mx.sym.Variable("x"))
    assert [x.name for x in outputs] == ["rnn_t0_out", "rnn_t1_out"]
