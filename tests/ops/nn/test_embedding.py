from typing import Any

import ml_dtypes
import numpy as np
import pytest

from gluonish.core.errors import OperatorError, OperatorIndexError
from gluonish.core.mxnet_rules import follow_mxnet
from gluonish.core.spec import PartialSpec, Spec
from gluonish.ops.nn.embedding import EMBEDDING, EMBEDDING_BACKWARD
from gluonish.ops.registry import apply
from tests.checking.check_operator import check_operator
from tests.checking.values import ArrayValue

_GIVEN = {"input_dim": 4, "output_dim": 3}


def _attrs(**given: Any) -> dict[str, Any]:
    return EMBEDDING.schema.parse("Embedding", {**_GIVEN, **given})


def test_rows_are_looked_up_and_gradients_add_up() -> None:
    index = np.array([[1, 3], [3, 0]], np.int32)
    weight = np.random.default_rng(1).standard_normal((4, 3))
    check_operator(
        EMBEDDING, [index, weight], _GIVEN, lambda i, w: w[i], zero_size=[index[:0], weight]
    )


def _found(index: Any) -> Any:
    weight = np.arange(12.0).reshape(4, 3)
    return apply(EMBEDDING, [ArrayValue(np.asarray(index)), ArrayValue(weight)], _attrs()).array[
        :, 0
    ]


def test_fractions_are_cut() -> None:
    assert _found([-0.9, 1.7, 3.9]).tolist() == [0, 3, 9]


@pytest.mark.parametrize("index", [[4], [0, -1], [1.5, 4.0], [np.nan], [-np.inf], [np.inf, 2]])
def test_ids_outside_the_table_are_refused(index: Any) -> None:
    with pytest.raises(
        OperatorIndexError, match="Embedding: expected ids in data from 0 to 3, got"
    ):
        _found(index)


def test_ids_outside_are_clipped_by_mxnets_rules() -> None:
    before = follow_mxnet(True)
    try:
        assert _found(np.array([-7, 1.7, 99], np.float32)).tolist() == [0, 3, 9]
    finally:
        follow_mxnet(before)


@pytest.mark.parametrize("shape", [(1,), (1, 1)])
@pytest.mark.parametrize("dtype", [np.int32, np.uint8, np.float32, ml_dtypes.bfloat16])
def test_a_single_id_has_its_row(shape: tuple[int, ...], dtype: Any) -> None:
    for number in range(4):
        found = _found(np.full(shape, number, dtype))
        assert np.ravel(found)[0] == 3 * number
    assert np.ravel(_found(np.full(shape, -0.9, np.float32)))[0] == 0
    before = follow_mxnet(True)
    try:
        for number_outside, row in ((-7.0, 0), (99.0, 3), (np.nan, 0)):
            assert np.ravel(_found(np.full(shape, number_outside, np.float32)))[0] == 3 * row
    finally:
        follow_mxnet(before)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_many_small_gradients_are_not_lost_in_narrow_types(dtype: Any) -> None:
    grad = ArrayValue(np.full((4000, 3), 0.25, dtype))
    index = ArrayValue(np.zeros(4000, np.int32))
    found = apply(EMBEDDING_BACKWARD, [grad, index], _attrs()).array
    assert found.dtype == dtype
    assert found[0].astype(np.float32).tolist() == [1000.0] * 3
    assert not found[1:].any()


def test_a_weight_of_another_shape_is_refused() -> None:
    specs = [Spec((2,), np.dtype(np.int32)), Spec((5, 3), np.dtype(np.float32))]
    with pytest.raises(OperatorError, match=r"Embedding: expected weight \(4, 3\), got \(5, 3\)"):
        EMBEDDING.infer(*specs, **_attrs())


def test_the_weight_follows_from_the_attributes() -> None:
    inputs, outputs = [PartialSpec((2, 7), np.dtype(np.int32)), PartialSpec()], [PartialSpec()]
    EMBEDDING.complete(inputs, outputs, _attrs(dtype="float16"))  # type: ignore[misc]
    assert inputs[1] == PartialSpec((4, 3), np.dtype(np.float16))
    assert outputs[0] == PartialSpec((2, 7, 3), np.dtype(np.float16))
