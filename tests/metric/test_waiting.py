"""`update` waits for nothing and copies nothing to the host; `get` does, once a device."""

import copy
import pickle
from collections.abc import Callable, Iterator
from threading import Event
from typing import Any

import numpy as np
import pytest

import gluonish.ndarray as nd
from gluonish import metric
from gluonish.core.context import cpu
from gluonish.core.errors import OperatorError
from gluonish.engine import current_engine
from gluonish.metric import EvalMetric, totals
from gluonish.ndarray import NDArray

R = np.random.default_rng(5)
CLASSES, NUMBERS = R.integers(0, 2, 6), R.random((6, 2)).astype(np.float32)
MAKE: dict[str, Callable[[], EvalMetric]] = {
    "accuracy": metric.Accuracy,
    "top k": lambda: metric.TopKAccuracy(2),
    "cross entropy": metric.CrossEntropy,
    "log likelihood": metric.NegativeLogLikelihood,
    "perplexity": lambda: metric.Perplexity(None),
    "perplexity of some": lambda: metric.Perplexity(0),
    "f1": metric.F1,
    "f1 of all": lambda: metric.F1(average="micro"),
    "mcc": metric.MCC,
    "mcc of all": lambda: metric.MCC(average="micro"),
    "pcc": metric.PCC,
    "loss": metric.Loss,
    "mae": metric.MAE,
    "mse": metric.MSE,
    "rmse": metric.RMSE,
    "correlation": metric.PearsonCorrelation,
    "correlation of all": lambda: metric.PearsonCorrelation(average="micro"),
    "r2": metric.R2,
    "roc": metric.AUROC,
    "average precision": metric.AveragePrecision,
    "matrix": lambda: metric.ConfusionMatrix(2, normalize="pred"),
    "iou": lambda: metric.MeanIoU(2),
    "top k per class": lambda: metric.TopKAccuracyPerClass(2),
    "several": lambda: metric.create(["acc", "f1", "pcc"]),
}
OF_NUMBERS = ("mae", "mse", "rmse", "correlation", "correlation of all", "r2")


def batch(name: str) -> tuple[Any, Any]:
    return NUMBERS[::-1] if name in OF_NUMBERS else CLASSES, NUMBERS


@pytest.fixture
def held() -> Iterator[Callable[[Any], NDArray]]:
    """Arrays that are not computed before the test is over, or sets the event."""
    event = Event()

    def make(values: Any) -> NDArray:
        array = nd.zeros(values.shape)

        def fill(out: Any) -> None:
            assert event.wait(20)
            out[...] = values

        current_engine().push(
            lambda: fill(array._data), [], [array._var], array._device.lane, 0, "held"
        )
        return array

    make.release = event.set  # type: ignore[attr-defined]
    yield make
    event.set()
    nd.waitall()


@pytest.mark.skipif(
    type(current_engine()).__name__ == "NaiveEngine", reason="it computes at the push"
)
@pytest.mark.parametrize("name", MAKE)
def test_update_does_not_wait_for_what_it_reads(name: str, held: Any) -> None:
    measured, plain = MAKE[name](), MAKE[name]()
    labels, preds = batch(name)
    plain.update([nd.array(labels)], [nd.array(preds)])
    measured.update([nd.array(labels)], [held(preds)])
    measured.reset_local()
    measured.update([nd.array(labels)], [held(preds)])
    held.release()
    names, values = measured.get()
    assert names == plain.get()[0]
    np.testing.assert_array_equal(values, plain.get()[1])


@pytest.mark.parametrize("name", MAKE)
def test_update_copies_nothing_to_the_host(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    copies: list[object] = []
    for kind, name_of_copy in ((totals.Totals, "fetch"), (NDArray, "asnumpy")):
        monkeypatch.setattr(kind, name_of_copy, _noting(getattr(kind, name_of_copy), copies))
    measured = MAKE[name]()
    labels, preds = (nd.array(x) for x in batch(name))
    for _ in range(5):
        measured.update([labels], [preds])
    assert not copies
    measured.get()
    assert copies


def _noting(copy_of: Callable[[Any], Any], copies: list[object]) -> Callable[[Any], Any]:
    def noted(x: Any) -> Any:
        copies.append(x)
        return copy_of(x)

    return noted


@pytest.mark.parametrize("name", MAKE)
def test_arrays_of_several_devices_give_one_value(name: str) -> None:
    measured, plain = MAKE[name](), MAKE[name]()
    label, pred = batch(name)
    halves = [(label[:3], pred[:3]), (label[3:], pred[3:])]
    plain.update([nd.array(x) for x, _ in halves], [nd.array(x) for _, x in halves])
    places = [cpu(0), cpu(1)]
    measured.update(
        [nd.array(x, ctx=place) for (x, _), place in zip(halves, places[::-1], strict=True)],
        [nd.array(x, ctx=place) for (_, x), place in zip(halves, places, strict=True)],
    )
    names, values = measured.get()
    assert names == plain.get()[0]
    np.testing.assert_allclose(values, plain.get()[1], rtol=1e-12)
    np.testing.assert_allclose(measured.get_global()[1], values, rtol=1e-12)


def test_counts_beyond_float32_are_exact() -> None:
    measured = metric.Accuracy()
    right, one = nd.zeros((1 << 24,), dtype="int8"), nd.zeros((1,), dtype="int8")
    for array in (right, one, one, one):
        measured.update([array], [array])
    assert (measured.sum_metric, measured.num_inst) == ((1 << 24) + 3, (1 << 24) + 3)


def test_error_of_a_kernel_comes_when_the_sum_is_read() -> None:
    measured = metric.CrossEntropy()
    measured.update([nd.array([7])], [nd.array([[0.5, 0.5]])])
    with pytest.raises(OperatorError, match="CrossEntropy: failed with IndexError"):
        measured.get()
    measured.reset()
    measured.update([nd.array([1])], [nd.array([[0.0, 1.0]])])
    assert measured.get()[1] == pytest.approx(0, abs=1e-6)


def test_users_sums_and_ours_add_up() -> None:
    class Own(metric.Loss):
        def update(self, _: Any, preds: Any) -> None:
            super().update(None, preds)
            self.sum_metric += 10
            self.num_inst += 1

    measured = Own()
    measured.update(None, [nd.array([1, 2])])
    measured.update(None, [nd.array([3])])
    assert (measured.sum_metric, measured.num_inst) == (26, 5)
    assert measured.get_global()[1] == 2


@pytest.mark.parametrize("name", ["accuracy", "f1 of all", "pcc", "correlation of all"])
def test_copies_hold_what_was_counted(name: str) -> None:
    measured = MAKE[name]()
    measured.update([nd.array(batch(name)[0])], [nd.array(batch(name)[1])])
    copied, read = copy.deepcopy(measured), pickle.loads(pickle.dumps(measured))
    assert copied.get() == read.get() == measured.get()


@pytest.mark.parametrize("name", MAKE)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64"])
def test_all_floating_types_are_measured(name: str, dtype: str) -> None:
    measured, plain = MAKE[name](), MAKE[name]()
    labels, preds = batch(name)
    plain.update([nd.array(labels)], [nd.array(preds)])
    measured.update([nd.array(labels).astype(dtype)], [nd.array(preds).astype(dtype)])
    np.testing.assert_allclose(measured.get()[1], plain.get()[1], rtol=0.1)
