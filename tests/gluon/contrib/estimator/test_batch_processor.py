"""BatchProcessor: what it returns, and processors of one's own."""

from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.core.errors import ArgumentError
from gluonish.gluon.contrib import estimator as module
from gluonish.gluon.contrib.estimator import BatchProcessor, GradientUpdateHandler
from tests.golden.estimator_runs import loader, make, weights

BOTH = [mx.cpu(0), mx.cpu(1)]


def test_batch_is_split_and_gradients_are_there() -> None:
    estimator, _ = make(mx, module, context=BOTH)
    batch = next(iter(loader(mx)))
    data, label, pred, loss = BatchProcessor().fit_batch(estimator, batch)
    assert [x.context for x in data] == BOTH
    assert [[x.shape for x in xs] for xs in (data, label, pred, loss)] == [
        [(2, 3), (2, 3)],
        [(2,), (2,)],
        [(2, 2), (2, 2)],
        [(2,), (2,)],
    ]
    assert all(np.abs(g.asnumpy()).sum() > 0 for g in estimator.net[0].weight.list_grad())


def test_evaluation_leaves_gradients_alone() -> None:
    estimator, _ = make(mx, module)
    BatchProcessor().evaluate_batch(estimator, next(iter(loader(mx))))
    assert np.abs(estimator.net[0].weight.grad().asnumpy()).sum() == 0


@pytest.mark.parametrize("batch", [[mx.nd.ones((2, 3))], mx.nd.ones((2, 3)), {"data": 1}])
def test_batch_that_is_no_pair_is_refused(batch: Any) -> None:
    estimator, _ = make(mx, module)
    with pytest.raises(ArgumentError, match=r"BatchProcessor: expected a batch \[data, label\]"):
        BatchProcessor().fit_batch(estimator, batch)


def test_processor_of_ones_own_is_called_for_both() -> None:
    calls = []

    class Doubled(BatchProcessor):
        def fit_batch(self, estimator: Any, train_batch: Any, batch_axis: int = 0) -> Any:
            calls.append("fit")
            x, y = train_batch
            return super().fit_batch(estimator, [mx.nd.concat(x, x, dim=0), y.tile(2)], 0)

        def evaluate_batch(self, estimator: Any, val_batch: Any, batch_axis: int = 0) -> Any:
            calls.append("evaluate")
            return super().evaluate_batch(estimator, val_batch, batch_axis)

    plain, _ = make(mx, module)
    doubled, _ = make(mx, module, batch_processor=Doubled())
    for estimator in (plain, doubled):
        estimator.fit(loader(mx, 4), loader(mx, 4), epochs=2)
    assert calls == ["fit", "evaluate", "fit", "evaluate"]
    np.testing.assert_allclose(weights(doubled), weights(plain), rtol=1e-5)


def test_object_with_both_methods_is_a_processor() -> None:
    class Duck:
        def fit_batch(self, *args: Any) -> Any:
            return BatchProcessor().fit_batch(*args)

        def evaluate_batch(self, *args: Any) -> Any:
            return BatchProcessor().evaluate_batch(*args)

    plain, _ = make(mx, module)
    duck, _ = make(mx, module, batch_processor=Duck())
    for estimator in (plain, duck):
        estimator.fit(loader(mx), loader(mx), epochs=1)
    assert weights(duck) == weights(plain)


def test_single_arrays_serve_as_lists_of_one() -> None:
    class Single(BatchProcessor):
        def fit_batch(self, estimator: Any, train_batch: Any, batch_axis: int = 0) -> Any:
            return tuple(x[0] for x in super().fit_batch(estimator, train_batch, batch_axis))

        def evaluate_batch(self, estimator: Any, val_batch: Any, batch_axis: int = 0) -> Any:
            return tuple(x[0] for x in super().evaluate_batch(estimator, val_batch, batch_axis))

    plain, _ = make(mx, module)
    single, _ = make(mx, module, batch_processor=Single())
    for estimator in (plain, single):
        estimator.fit(loader(mx), loader(mx), epochs=1)
    assert weights(single) == weights(plain)
    for own, wanted in zip(single.val_metrics, plain.val_metrics, strict=True):
        assert own.get() == wanted.get()


def test_update_handler_of_ones_own_accumulates_gradients() -> None:
    steps = []

    class EverySecond(GradientUpdateHandler):
        def __init__(self) -> None:
            super().__init__()
            self.samples = self.batches = 0

        def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
            self.batches += 1
            self.samples += sum(loss.shape[0] for loss in kwargs["loss"])
            if self.batches % 2 == 0:
                estimator.trainer.step(self.samples)
                estimator.net.collect_params().zero_grad()
                steps.append(self.samples)
                self.samples = 0

    estimator, _ = make(mx, module)
    estimator.net.collect_params().setattr("grad_req", "add")
    estimator.fit(loader(mx, 16), epochs=1, event_handlers=[EverySecond()])
    assert steps == [8, 8]
    once, _ = make(mx, module)
    once.fit(loader(mx, 16, 8), epochs=1)
    np.testing.assert_allclose(weights(estimator), weights(once), rtol=1e-5)
