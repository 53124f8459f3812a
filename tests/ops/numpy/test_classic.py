from typing import Any

import numpy as np
import pytest

from gluonish.core.spec import Spec
from gluonish.ops.numpy.classic import classic_form, classic_operators
from gluonish.ops.registry import find_operator

F, H, I32 = "float32", "float16", "int32"
SCALAR = {"scalar": 2.0}
# Operator, shapes and dtypes of inputs, attributes, and the classic operator's name.
FORMS: tuple[tuple[str, list[tuple[tuple[int, ...], str]], dict[str, Any], str], ...] = (
    ("_npi_exp", [((2, 3), F)], {}, "exp"),
    ("_npx_relu", [((), F)], {}, "relu"),
    ("_npi_add", [((2, 3), F), ((3,), F)], {}, "broadcast_add"),
    ("_npi_subtract", [((2, 3), I32), ((), I32)], {}, "broadcast_sub"),
    ("_npi_true_divide", [((2, 3), F), ((2, 1), F)], {}, "broadcast_div"),
    ("_npi_multiply_scalar", [((2,), I32)], SCALAR, "_mul_scalar"),
    ("_npi_rsubtract_scalar", [((2,), F)], SCALAR, "_rminus_scalar"),
    ("_npi_rtrue_divide_scalar", [((2,), F)], SCALAR, "_rdiv_scalar"),
    ("_npi_maximum_scalar", [((2,), F)], SCALAR, "_maximum_scalar"),
    ("_np_sum", [((2, 3), F)], {"axis": (1,)}, "sum"),
    ("_np_sum", [((2, 3), F)], {}, "sum"),
    ("_npi_mean", [((2, 3), F)], {"keepdims": True}, "mean"),
    ("_np_max", [((2, 3), F)], {"axis": (0,)}, "max"),
    ("_np_prod", [((2, 3), H)], {"axis": (0,)}, "prod"),
    ("_np_transpose", [((2, 3), F)], {}, "transpose"),
    ("_np_moveaxis", [((2, 3, 4), F)], {"source": (0,), "destination": (-1,)}, "transpose"),
    ("_np_reshape", [((2, 3), F)], {"newshape": (-1,)}, "_reshape_exact"),
    ("_npx_reshape", [((2, 3), F)], {"newshape": (-5,)}, "_reshape_exact"),
    ("_np_squeeze", [((2, 1), F)], {}, "_reshape_exact"),
    ("_np_copy", [((2, 1), F)], {}, "_copy"),
    ("_npi_broadcast_to", [((3,), F)], {"shape": (2, 3)}, "broadcast_to"),
    ("_npi_concatenate", [((2, 3), F), ((2, 1), F)], {"axis": -1}, "Concat"),
    ("_npi_vstack", [((2, 3), F), ((1, 3), F)], {}, "Concat"),
    ("_npi_hstack", [((2, 3), F), ((2, 1), F)], {}, "Concat"),
    ("_npi_hstack", [((2,), F), ((1,), F)], {}, "Concat"),
    ("_npi_dstack", [((2, 3, 1), F), ((2, 3, 2), F)], {}, "Concat"),
    ("_npi_column_stack", [((2, 3), F), ((2, 1), F)], {}, "Concat"),
    ("_npi_stack", [((2,), F), ((2,), F)], {"axis": 1}, "stack"),
    ("_npi_where", [((2, 2), "bool"), ((2, 2), F), ((2, 2), F)], {}, "where"),
    ("_np_dot", [((2, 3), F), ((3, 4), F)], {}, "dot"),
    ("_np_dot", [((3,), F), ((3,), F)], {}, "dot"),
    ("_npi_matmul", [((5, 2, 3), F), ((3, 4), F)], {}, "dot"),
    ("_npi_matmul", [((5, 2, 3), F), ((5, 3, 4), F)], {}, "batch_dot"),
    ("_npi_tensordot_int_axes", [((2, 3), F), ((3, 4, 5), F)], {"axes": 1}, "dot"),
    ("_npi_full_like", [((2,), F)], {"fill_value": 0.0}, "zeros_like"),
    ("_npi_full_like", [((2,), F)], {"fill_value": 1.0}, "ones_like"),
)
NONE: tuple[tuple[str, list[tuple[tuple[int, ...], str]], dict[str, Any]], ...] = (
    ("_npi_add", [((2,), F), ((2,), H)], {}),
    ("_npi_true_divide", [((2,), I32), ((2,), I32)], {}),
    ("_npi_add_scalar", [((2,), I32)], {"scalar": 2.5, "is_int": False}),
    ("_np_sum", [((2, 3), F)], {"axis": ()}),
    ("_np_sum", [((2, 3), F)], {"dtype": "float64"}),
    ("_npi_mean", [((2, 3), I32)], {}),
    ("_npi_where", [((2,), "bool"), ((2, 2), F), ((2, 2), F)], {}),
    ("_npi_where", [((2, 2), "bool"), ((2,), F), ((2, 2), F)], {}),
    ("_npi_concatenate", [((2, 3), F), ((2, 1), F)], {"axis": None}),
    ("_npi_vstack", [((2,), F), ((2,), F)], {}),
    ("_np_dot", [((2, 3), F), ((4, 3, 5), F)], {}),
    ("_npi_tensordot_int_axes", [((2, 3), F), ((2, 3), F)], {"axes": 2}),
    ("_npi_full_like", [((2,), F)], {"fill_value": 1.0, "dtype": "int32"}),
    ("tanh", [((2,), F)], {}),
)


def prepared(name: str, given: list[Any], attrs: dict[str, Any]) -> tuple[Any, Any, Any, Any]:
    op = find_operator(name)
    if op.variadic is not None:
        attrs = {**attrs, op.variadic: len(given)}
    known = op.schema.parse(name, attrs)
    specs = [Spec(shape, np.dtype(dtype)) for shape, dtype in given]
    (out,) = op.infer(*specs, **known)
    return op, specs, out, known


@pytest.mark.parametrize(("name", "given", "attrs", "classic"), FORMS)
def test_the_classic_form_gives_the_same(
    name: str, given: list[Any], attrs: dict[str, Any], classic: str
) -> None:
    op, specs, out, known = prepared(name, given, attrs)
    form = classic_form(op, specs, out, known)
    assert form is not None
    assert form[0].name == classic
    random = np.random.default_rng(0)
    arrays = [np.asarray(random.integers(1, 4, s.shape)).astype(s.dtype) for s in specs]
    wanted = np.empty(out.shape, out.dtype)
    op.kernel(np, wanted, *arrays, **known)
    got = np.empty(out.shape or form[0].infer(*specs, **form[1])[0].shape, out.dtype)
    form[0].kernel(np, got, *arrays, **form[1])
    np.testing.assert_allclose(got.reshape(out.shape), wanted, rtol=1e-6)


@pytest.mark.parametrize(("name", "given", "attrs"), NONE)
def test_there_is_none_where_they_differ(
    name: str, given: list[Any], attrs: dict[str, Any]
) -> None:
    assert classic_form(*prepared(name, given, attrs)) is None


def test_every_name_of_the_table_is_an_operator() -> None:
    for name in classic_operators():
        assert find_operator(name).name == name
