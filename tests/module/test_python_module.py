from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.core.errors import ArgumentError, ArgumentTypeError, NotSupportedError
from gluonish.io import DataBatch
from gluonish.module import PythonLossModule, PythonModule
from gluonish.module.descriptions import ModuleStateError

DATA, LABEL = [("data", (2, 3))], [("softmax_label", (2,))]
BATCH = DataBatch([mx.nd.ones((2, 3)) * 2], [mx.nd.array([0, 2])])


def bound(**settings: Any) -> PythonLossModule:
    module = PythonLossModule(**settings)
    module.bind(DATA, LABEL, inputs_need_grad=True)
    return module


@pytest.mark.parametrize("wrap", [mx.nd.array, np.asarray], ids=["NDArray", "NumPy"])
def test_a_function_gives_the_gradient(wrap: Any) -> None:
    module = bound(grad_func=lambda x, y: wrap(x.asnumpy() - y.asnumpy()[:, None]))
    module.forward_backward(BATCH)
    assert module.get_input_grads()[0].asnumpy().tolist() == [[2, 2, 2], [0, 0, 0]]
    assert module.get_outputs()[0] is BATCH.data[0]


def test_a_subclass_gives_the_gradient() -> None:
    class Loss(PythonLossModule):
        def _backward_impl(self) -> None:
            self._scores_grad = self._scores * 3

    module = Loss()
    module.bind(DATA, LABEL)
    module.forward_backward(BATCH)
    assert module.get_input_grads()[0].asnumpy().tolist() == [[6, 6, 6]] * 2


def test_without_either_the_gradient_is_missing() -> None:
    module = bound()
    module.forward(BATCH)
    with pytest.raises(NotSupportedError, match="defines _backward_impl, or a grad_func"):
        module.backward()


def test_nothing_comes_after_a_loss() -> None:
    with pytest.raises(ArgumentError, match="expected out_grads=None"):
        bound(grad_func=lambda x, y: x).backward([mx.nd.ones(1)])


def test_a_module_that_is_not_for_training_has_no_gradient() -> None:
    module = PythonLossModule(grad_func=lambda x, y: x)
    module.bind(DATA, for_training=False)
    module.forward(DataBatch([mx.nd.ones((2, 3))], None))
    with pytest.raises(ModuleStateError, match="bind it with for_training=True"):
        module.backward()


def test_shapes_are_known_once_it_is_bound() -> None:
    module = PythonLossModule(name="loss")
    assert (module.data_shapes, module.label_shapes, module.output_shapes) == (None, None, None)
    module.bind(DATA, LABEL)
    assert (module.data_shapes, module.label_shapes) == (DATA, LABEL)
    assert module.output_shapes == [("loss_output", (2, 3))]
    assert module.output_names == ["loss_output"]


def test_it_has_no_weights() -> None:
    module = bound()
    module.init_params()
    module.init_optimizer()
    module.update()
    assert module.get_params() == ({}, {})


def test_a_metric_sees_outputs_and_labels() -> None:
    module, metric = bound(), mx.metric.Accuracy()
    module.forward(DataBatch([mx.nd.array([[1, 0, 0], [0, 1, 0]])], BATCH.label))
    module.update_metric(metric, BATCH.label)
    assert metric.get()[1] == 0.5


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"grad_func": 3}, ArgumentTypeError, "expected grad_func to be a function, got 3"),
        ({"data_names": ["a", "b"]}, ArgumentError, "expected one name of data and one of labels"),
    ],
)
def test_wrong_arguments_are_refused(
    settings: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        PythonLossModule(**settings)


@pytest.mark.parametrize(
    "shapes", [([("x", (2, 3))], LABEL), (DATA, [("y", (2,))])], ids=["data", "label"]
)
def test_other_names_are_refused(shapes: Any) -> None:
    with pytest.raises(ArgumentError, match=r"expected (data|label)_shapes for"):
        PythonLossModule().bind(*shapes)


def test_a_bare_module_says_what_it_lacks() -> None:
    module = PythonModule(["data"], None, ["out"])
    with pytest.raises(NotSupportedError, match="a subclass that defines _compute_output_shapes"):
        module.bind(DATA)
    with pytest.raises(NotSupportedError, match="a subclass that defines forward"):
        module.forward(BATCH)
