"""`mx.check_values`: what it reports of eager operators, against what NumPy finds in outputs."""

import os
import subprocess
import sys
import threading
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import autograd, nd
from gluonish.core.dtype import is_floating
from gluonish.core.errors import ArgumentTypeError, NonFiniteError, OperatorIndexError, public_name
from gluonish.engine import use_engine
from gluonish.ndarray import recording
from gluonish.ops.registry import Operator, apply, find_operator
from tests.ops.cases import CASES

ENGINES = ("NaiveEngine", "ThreadedEngine", "ThreadedEnginePerDevice")
NAMES = sorted(name for name, case in CASES.items() if case.inputs)


def parsed(name: str) -> tuple[Operator, dict[str, Any], list[Any]]:
    """Return the operator of a case, its attributes, and its inputs."""
    op, case = find_operator(name), CASES[name]
    given = dict(case.attrs)
    if op.variadic is not None:
        given.setdefault(op.variadic, len(case.inputs))
    return op, op.schema.parse(op.name, given), [np.asarray(x) for x in case.inputs]


def call(op: Operator, arrays: list[Any], attrs: dict[str, Any]) -> list[Any]:
    """Return the outputs of an eager call."""
    made = apply(op, [nd.array(x, dtype=x.dtype) for x in arrays], attrs)
    return made if isinstance(made, list) else [made]


def is_finite(outputs: list[Any]) -> bool:
    values = [y.asnumpy() for y in outputs if is_floating(np.dtype(y.dtype))]
    return all(np.isfinite(x.astype(np.float64)).all() for x in values)


def with_nan(x: Any) -> Any:
    changed = x.copy()
    changed.reshape(-1)[0] = np.nan
    return changed


@pytest.mark.parametrize("name", NAMES)
def test_a_nan_is_reported_where_it_appears(name: str) -> None:
    op, attrs, arrays = parsed(name)
    if is_finite(call(op, arrays, attrs)):
        with mx.check_values(labels=False):
            call(op, arrays, attrs)
    for i, x in enumerate(arrays):
        if not is_floating(x.dtype) or not x.size:
            continue
        changed = [*arrays[:i], with_nan(x), *arrays[i + 1 :]]
        try:
            finite = is_finite(call(op, changed, attrs))
        except mx.MXNetError:  # NaN as an index
            continue
        with mx.check_values(labels=False):
            if finite:
                call(op, changed, attrs)
                continue
            with pytest.raises(NonFiniteError) as caught:
                call(op, changed, attrs)
        message = str(caught.value)
        assert message.startswith(f"{public_name(op.name)}: expected finite values, got NaN")
        if i not in op.mutated_inputs(attrs):
            assert f"in its input {op.input_names(attrs)[i]} " in message
            count = f"1 of {x.size} values, the first at" if x.size > 1 else "its only value"
            assert count in message


@pytest.mark.parametrize("engine", ENGINES)
def test_the_message_has_the_operator_the_values_and_the_line(engine: str) -> None:
    with use_engine(engine), mx.check_values(), pytest.raises(FloatingPointError) as caught:
        nd.log(nd.array([[1, 2, 0], [0, 4, 5]]))  # this line
    message = str(caught.value)
    assert message.startswith(
        "log: expected finite values, got -infinity in its output (2 of 6 values, the first at "
        "[0, 2])"
    )
    assert "; at test_value_checks.py:" in message
    assert message.endswith("# this line")


def test_a_scope_ends() -> None:
    with mx.check_values():
        with mx.check_values(values=False):
            assert nd.log(nd.zeros((1,))).asscalar() == -np.inf
        with pytest.raises(NonFiniteError):
            nd.log(nd.zeros((1,)))
    assert nd.log(nd.zeros((1,))).asscalar() == -np.inf
    assert recording.mode.get() & recording.CHECKED == 0


def test_infinities_of_a_mask_pass() -> None:
    mask = nd.array([[0, -np.inf], [0, 0]])
    with mx.check_values():
        scores = nd.ones((2, 2)) + mask
        assert nd.softmax(scores).asnumpy().tolist() == [[1, 0], [0.5, 0.5]]
        assert nd.where(nd.array([1, 0]), nd.ones((2,)), mask[0]).shape == (2,)
        assert (nd.ones((2,)) * -np.inf).shape == (2,)


def test_infinity_minus_infinity_is_reported() -> None:
    x = nd.array([np.inf, 1])
    with mx.check_values(), pytest.raises(NonFiniteError, match="its input lhs holds infinity"):
        x - x.copy()


def test_infinite_data_of_a_product_is_reported() -> None:
    x = nd.array([[1, np.inf]])
    with mx.check_values(), pytest.raises(NonFiniteError, match="got infinity in its input data"):
        nd.FullyConnected(x, nd.ones((3, 2)), nd.zeros((3,)), num_hidden=3)


def test_a_scalar_that_is_nan_is_named() -> None:
    with mx.check_values(), pytest.raises(NonFiniteError, match="its argument scalar is NaN"):
        nd.ones((2,)) * float("nan")


def test_overflow_of_float16_is_explained() -> None:
    x = nd.array([60000], dtype="float16")
    with mx.check_values(), pytest.raises(NonFiniteError, match="float16 holds up to 65504"):
        x + x


def test_results_in_out_and_in_place_are_checked() -> None:
    x = nd.zeros((2,))
    with mx.check_values(), pytest.raises(NonFiniteError, match="in its output"):
        nd.log(x, out=x)
    y = nd.zeros((2,))
    with mx.check_values(), pytest.raises(NonFiniteError, match="in its output"):
        y /= nd.zeros((2,))


def test_sparse_results_are_checked() -> None:
    x = nd.sparse.row_sparse_array((np.array([[1.0, np.nan]]), [1]), shape=(3, 2))
    with mx.check_values(), pytest.raises(NonFiniteError, match="got NaN"):
        nd.sparse.square(x)


def test_random_numbers_are_checked() -> None:
    mean, deviation = nd.array([np.nan]), nd.ones((1,))
    with mx.check_values(), pytest.raises(NonFiniteError, match=r"normal: .* in its input mu"):
        nd.random.normal(mean, deviation)


INDICES = {
    "pick": lambda: nd.pick(nd.ones((2, 3)), nd.array([0, 3])),
    "take": lambda: nd.take(nd.ones((3, 2)), nd.array([0, 3])),
    "Embedding": lambda: nd.Embedding(nd.array([0, 3]), nd.ones((3, 2)), input_dim=3, output_dim=2),
    "one_hot": lambda: nd.one_hot(nd.array([0, 3]), 3),
    "batch_take": lambda: nd.batch_take(nd.ones((2, 3)), nd.array([0, 3], dtype="int32")),
    "SoftmaxOutput": lambda: nd.SoftmaxOutput(nd.ones((2, 3)), nd.array([0, 3])),
    "softmax_cross_entropy": lambda: nd.softmax_cross_entropy(nd.ones((2, 3)), nd.array([0, 3])),
}


@pytest.mark.parametrize("name", INDICES)
def test_indices_out_of_range_are_reported(name: str) -> None:
    with mx.check_values(), pytest.raises(IndexError) as caught:
        INDICES[name]()
    message = str(caught.value)
    assert message.startswith(f"{name}: expected ")
    assert "from 0 to 2, got 3" in message
    assert "at [1] (1 of 2 are out of range)" in message


def test_ctc_labels_out_of_range_are_reported() -> None:
    data, label = nd.zeros((4, 1, 3)), nd.array([[3, 1]])
    with mx.check_values(), pytest.raises(mx.MXNetError, match=r"expected labels in \[0, 3\)"):
        nd.CTCLoss(data, label)


def test_an_ignored_label_and_wrapped_indices_pass() -> None:
    with mx.check_values():
        nd.SoftmaxOutput(
            nd.ones((2, 3)), nd.array([0, 255]), use_ignore=True, ignore_label=255
        ).wait_to_read()
        nd.take(nd.ones((3, 2)), nd.array([-1, 3]), mode="wrap").wait_to_read()
    with mx.check_values(labels=False):
        assert nd.one_hot(nd.array([3]), 3).asnumpy().sum() == 0


@pytest.mark.parametrize("engine", ENGINES)
def test_a_gradient_is_reported_with_its_operator_and_line(engine: str) -> None:
    with use_engine(engine):
        x = nd.array([4, 0, 1])
        x.attach_grad()
        with mx.check_values():
            with autograd.record():
                y = nd.sqrt(x) * 2  # the forward line
            with pytest.raises(NonFiniteError) as caught:
                y.backward()
    message = str(caught.value)
    assert message.startswith(
        "sqrt: expected finite gradients, got infinity in the gradient of its input data (1 of 3 "
        "values, the first at [1])"
    )
    assert message.endswith("# the forward line")


def test_a_head_gradient_is_reported() -> None:
    x = nd.ones((2,))
    x.attach_grad()
    with autograd.record():
        y = x * 2
    with (
        mx.check_values(),
        pytest.raises(NonFiniteError, match="NaN in the gradient of its output"),
    ):
        y.backward(nd.array([1, np.nan]))


def test_gradients_of_a_function_are_reported() -> None:
    class Broken(autograd.Function):
        def forward(self, x: Any) -> Any:
            return x * 1

        def backward(self, grad: Any) -> Any:
            return nd.array(np.full(grad.shape, np.nan))

    x = nd.ones((2,))
    x.attach_grad()
    with autograd.record():
        y = Broken()(x)
    with mx.check_values(), pytest.raises(NonFiniteError, match=r"Broken: .* of its input 0"):
        y.backward()


def test_gradients_through_where_keep_the_operator_that_made_them() -> None:
    x = nd.array([0, 4])
    x.attach_grad()
    with autograd.record():
        y = nd.where(x > 1, nd.sqrt(x), nd.zeros((2,)))
    with mx.check_values(), pytest.raises(NonFiniteError, match="sqrt: expected finite gradients"):
        y.backward()  # 0 times infinity


def test_another_thread_is_not_checked() -> None:
    found: list[float] = []
    with mx.check_values():
        thread = threading.Thread(
            target=lambda: found.append(nd.log(nd.zeros((1,))).asscalar().item())
        )
        thread.start()
        thread.join()
    assert found == [-np.inf]


PROGRAM = """
import os
import threading
import gluonish as mx
from gluonish import nd
{before}
def run():
    try:
        nd.log(nd.zeros((2,)))
    except FloatingPointError as error:
        print("found", end=" ")
run()
thread = threading.Thread(target=run)
thread.start()
thread.join()
"""


@pytest.mark.parametrize(
    ("value", "before", "expected"),
    [
        ("1", "", "found found"),
        ("0", "", ""),
        ("", "os.environ['MXNET_CHECK_VALUES'] = '1'", "found"),
    ],
)
def test_the_environment_checks_the_program(value: str, before: str, expected: str) -> None:
    environment = os.environ | {"MXNET_CHECK_VALUES": value}
    program = PROGRAM.format(before=before)
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    assert done.stdout.strip() == expected


def test_arguments_are_checked() -> None:
    with pytest.raises(ArgumentTypeError, match="check_values: expected labels to be a bool"):
        mx.check_values(labels="all")


def test_errors_are_of_builtin_classes() -> None:
    assert issubclass(NonFiniteError, FloatingPointError)
    assert issubclass(OperatorIndexError, IndexError)
