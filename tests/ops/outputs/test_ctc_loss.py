"""CTCLoss: the sum over all paths, and what it refuses."""

from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.core.errors import AutogradError, OperatorError


def _loss_of_paths(data: Any, labels: list[int], blank: int) -> float:
    """Return minus the logarithm of the probability of all paths, for data (T, classes)."""
    p = np.exp(data.astype(np.float64))
    p /= p.sum(axis=1, keepdims=True)
    total = 0.0
    for path in np.ndindex(*(data.shape[1],) * len(data)):
        kept = [c for i, c in enumerate(path) if c != blank and (i == 0 or path[i - 1] != c)]
        if kept == labels:
            total += np.prod([p[t, c] for t, c in enumerate(path)])
    return float(-np.log(total))


def _data(*shape: int) -> Any:
    return np.random.default_rng(3).standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("labels", [[], [1], [2, 2], [1, 2], [1, 2, 1]], ids=str)
@pytest.mark.parametrize("blank_label", ["first", "last"])
def test_loss_is_that_of_all_paths(labels: list[int], blank_label: str) -> None:
    data = _data(5, 1, 4)
    blank = 0 if blank_label == "first" else 3
    padding = 0 if blank_label == "first" else -1
    label = mx.nd.array([labels + [padding] * (5 - len(labels))])
    loss = mx.nd.CTCLoss(mx.nd.array(data), label, blank_label=blank_label)
    np.testing.assert_allclose(
        loss.asnumpy(), [_loss_of_paths(data[:, 0], labels, blank)], rtol=1e-5
    )


def test_logits_of_any_size_give_finite_results() -> None:
    data = mx.nd.array(_data(6, 1, 3) * 1e4)
    data.attach_grad()
    with mx.autograd.record():
        loss = mx.nd.CTCLoss(data, mx.nd.array([[1, 2]]))
    loss.backward()
    assert data.grad is not None
    assert np.isfinite(loss.asnumpy()).all()
    assert np.isfinite(data.grad.asnumpy()).all()


def test_sequence_without_alignment_has_no_loss_and_no_gradient() -> None:
    data = mx.nd.array(_data(2, 2, 3))
    data.attach_grad()
    with mx.autograd.record():
        loss = mx.nd.CTCLoss(data, mx.nd.array([[1, 1], [2, 1]]))
    loss.backward()
    assert data.grad is not None
    assert loss.asnumpy()[0] == 0 < loss.asnumpy()[1]
    assert not data.grad.asnumpy()[:, 0].any()


@pytest.mark.parametrize("label", [3, -2])
def test_label_outside_the_classes_is_refused(label: int) -> None:
    with pytest.raises(OperatorError, match=r"CTCLoss: .*expected labels in \[0, 3\)"):
        mx.nd.CTCLoss(mx.nd.array(_data(4, 1, 3)), mx.nd.array([[1, label]])).wait_to_read()


def test_second_derivative_is_refused() -> None:
    data = mx.nd.array(_data(4, 1, 3))
    data.attach_grad()
    with mx.autograd.record():
        loss = mx.nd.CTCLoss(data, mx.nd.array([[1, 2]]))
        (first,) = mx.autograd.grad(loss, [data], create_graph=True)
        total = (first * first).sum()
    with pytest.raises(AutogradError, match="CTCLoss"):
        total.backward()


def test_lengths_of_labels_may_be_the_third_array() -> None:
    data = mx.nd.array(np.random.default_rng(0).normal(size=(5, 2, 4)))
    labels, counts = mx.nd.array([[1, 2], [3, 1]]), mx.nd.array([2, 1])
    by_place = mx.nd.CTCLoss(data, labels, counts, use_label_lengths=True)
    by_name = mx.nd.CTCLoss(data, labels, label_lengths=counts, use_label_lengths=True)
    assert by_place.asnumpy().tolist() == by_name.asnumpy().tolist()
