from typing import Any

import numpy as np
import pytest

from gluonish.core.errors import OperatorError
from gluonish.core.spec import PartialSpec, Spec
from gluonish.ops.outputs.softmax_output import SOFTMAX_OUTPUT
from gluonish.ops.registry import apply
from tests.checking.check_operator import check_operator
from tests.checking.values import ArrayValue

_RANDOM = np.random.default_rng(8)


def _attrs(**given: Any) -> dict[str, Any]:
    return SOFTMAX_OUTPUT.schema.parse("SoftmaxOutput", given)


def _gradient(data: Any, label: Any, head: Any, **given: Any) -> Any:
    attrs = _attrs(**given)
    values = ArrayValue(data), ArrayValue(label)
    out = apply(SOFTMAX_OUTPUT, values, attrs)
    found = SOFTMAX_OUTPUT.gradient(ArrayValue(head), *values, out, **attrs)  # type: ignore[misc]
    return found[0].array, out.array


def test_the_forward_result_is_softmax() -> None:
    data = _RANDOM.standard_normal((3, 4))
    e = np.exp(data)
    check_operator(
        SOFTMAX_OUTPUT,
        [data, np.array([0, 1, 3.0])],
        {},
        e / e.sum(1, keepdims=True),
        differentiable=False,
    )


def test_the_gradient_is_that_of_cross_entropy_whatever_the_head() -> None:
    data, label = _RANDOM.standard_normal((3, 4)), np.array([2, 0, 3])
    found, out = _gradient(data, label.astype(float), np.full((3, 4), 99.0), grad_scale=2)
    np.testing.assert_allclose(found, 2 * (out - np.eye(4)[label]))


def test_out_grad_multiplies_with_the_head() -> None:
    data, label = _RANDOM.standard_normal((3, 4)), np.array([2, 0, 3])
    head = _RANDOM.standard_normal((3, 4))
    found, out = _gradient(data, label.astype(float), head, out_grad=True)
    np.testing.assert_allclose(found, (out - np.eye(4)[label]) * head)


def test_ignored_labels_get_no_gradient_and_do_not_count() -> None:
    data, label = _RANDOM.standard_normal((3, 4)), np.array([2.0, 1, 2])
    given = {"use_ignore": True, "ignore_label": 2, "normalization": "valid"}
    found, out = _gradient(data, label, np.zeros_like(data), **given)
    assert not found[[0, 2]].any()
    np.testing.assert_allclose(found[1], out[1] - np.eye(4)[1])


def test_a_label_of_another_shape_is_refused() -> None:
    specs = [Spec((2, 3), np.dtype(np.float32)), Spec((3,), np.dtype(np.float32))]
    with pytest.raises(OperatorError, match=r"expected label \(2,\) or \(2, 3\)"):
        SOFTMAX_OUTPUT.infer(*specs, **_attrs())


@pytest.mark.parametrize(
    ("given", "expected"), [({}, (2, 4, 5)), ({"multi_output": True}, (2, 20))]
)
def test_the_labels_shape_follows_from_the_data(
    given: dict[str, Any], expected: tuple[int, ...]
) -> None:
    shape = (2, 3, 4, 5) if given else (2, 4, 5, 3)
    inputs, outputs = [PartialSpec(shape, np.dtype(np.float32)), PartialSpec()], [PartialSpec()]
    SOFTMAX_OUTPUT.complete(inputs, outputs, _attrs(**given))  # type: ignore[misc]
    assert inputs[1] == PartialSpec(expected, np.dtype(np.float32))
