"""Calls of every function of ``nd`` that are wrong: one error that names operator and argument.

Each starts from the operator's first golden case, which is right.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.core.context import Context, cpu
from gluonish.core.device import device_of
from gluonish.core.errors import DeviceError, GluonishError, public_name
from gluonish.core.spec import Spec
from gluonish.ndarray.eager import source
from gluonish.ndarray.ndarray import NDArray
from gluonish.ops.registry import Operator, apply, find_operator
from gluonish_engine import Var
from tests.checking.values import run_operator
from tests.golden.case import Case
from tests.ops.fuzz_draws import OPERATORS, valid_cases

CALLS = [(op, valid_cases()[op.name][0]) for op in OPERATORS if op.name in valid_cases()]
WITH_ARRAYS = [(op, case) for op, case in CALLS if case.inputs]
NO_ARRAYS: list[Any] = [[1.0, 2.0], "x", 1.5, {}, object()]
HUGE = 1 << 62
# What random calls (test_fuzz) once got another error for, or none before the memory ran out.
FOUND: list[tuple[str, list[tuple[str, tuple[int, ...]]], dict[str, Any], str]] = [
    (
        "Deconvolution",
        [("float32", (1, 2, 3)), ("float32", (2, 3, 4))],
        {"kernel": (4,), "num_filter": 3, "target_shape": (3,)},
        "expected target_shape an even",
    ),
    (
        "Pad",
        [("float32", (1, 2, 3, 4))],
        {"mode": "edge", "pad_width": (0, 0, 0, 1e30, 0, 0, 0, 0)},
        "expected sizes",
    ),
    (
        "UpSampling",
        [("float32", (1, 2, 4, 4)), ("float32", (1, 2, 2, 2))],
        {"scale": 2, "sample_type": "bilinear", "num_args": 2},
        "expected weight",
    ),
    ("cast_storage", [("float32", (3,))], {"stype": "csr"}, "expected an array of 2 axes"),
    ("cast_storage", [("float32", ())], {"stype": "row_sparse"}, "expected an array of 1 axis"),
    ("one_hot", [("int32", (2,))], {"depth": HUGE}, "expected sizes"),
    ("one_hot", [("int32", (2,))], {"depth": 2, "dtype": "int32", "on_value": np.inf}, "finite"),
    ("scatter_nd", [("float32", (2,)), ("int32", (2, 2))], {"shape": (HUGE, 4)}, "sizes"),
    ("_npi_where_rscalar", [("int32", (2,)), ("int32", (2,))], {"scalar": np.inf}, "finite"),
    ("_greater_equal_scalar", [("int8", (2,))], {"scalar": np.inf}, "finite"),
    ("_plus_scalar", [("int32", (2,))], {"scalar": np.nan}, "finite"),
    (
        "_slice_assign",
        [("float32", (3,)), ("float64", (1,))],
        {"begin": (0,), "end": (1,)},
        "expected rhs of dtype",
    ),
    ("_contrib_sign_ste", [("bool", (2,))], {}, "expected numbers"),
    ("_contrib_edge_id", [("float32", (3, 0)), ("int32", (1,)), ("int32", (1,))], {}, "nonempty"),
    ("_contrib_edge_id", [("uint8", (3, 3)), ("int32", (1,)), ("int32", (1,))], {}, "signed"),
    ("_npi_broadcast_to", [("float32", (0, 1))], {"shape": (0, 1e30)}, "expected sizes"),
    (
        "_npi_boolean_mask_assign_scalar",
        [("float32", (2,)), ("bool", ())],
        {"value": 1.0, "start_axis": 3},
        "expected a bool mask",
    ),
    ("_sample_poisson", [("float32", (2,))], {"shape": HUGE}, "expected sizes"),
    ("sample_multinomial", [("float32", (2,))], {"shape": HUGE}, "expected sizes"),
    ("_npi_multinomial", [("float32", (2,))], {"n": 2, "size": HUGE}, "expected sizes"),
    ("_npi_uniform_n", [], {"low": 0, "high": 1, "size": (0, HUGE)}, "expected sizes"),
    ("_npi_choice", [], {"a": 3, "size": HUGE}, "expected sizes"),
    ("_sample_unique_zipfian", [], {"range_max": 50, "shape": (HUGE, 6)}, "expected sizes"),
    ("_random_normal", [], {"shape": HUGE}, "expected sizes"),
    ("_random_randint", [], {"low": 1, "high": 1e30}, "expected low and high in the range"),
    ("_zeros_without_dtype", [], {"shape": (2,), "dtype": -2}, "dtype flag"),
    ("_zeros_without_dtype", [], {"shape": HUGE}, "expected sizes"),
]


def _array(x: Any, context: Context | None = None) -> NDArray:
    held = np.array(x, order="C")
    return NDArray(held, Spec(x.shape, x.dtype), device_of(context or cpu()), Var())


def _named(op: Operator, case: Case, arrays: Sequence[Any]) -> dict[str, Any]:
    """Return arrays by name: positions shift where attributes leave inputs out."""
    attrs = op.schema.parse(op.name, case.attrs)
    return dict(zip(op.input_names(attrs), arrays, strict=True))


def _call(op: Operator, case: Case, arrays: Sequence[Any], **more: Any) -> Any:
    function: Callable[..., Any] = getattr(mx.nd, op.name)
    if op.variadic is None:
        return function(**_named(op, case, arrays), **case.attrs, **more)
    attrs = {name: value for name, value in case.attrs.items() if name != op.variadic}
    return function(*arrays, **attrs, **more)


def _refused(op: Operator, *words: str) -> Any:
    """Expect one error that names the operator and has the words."""
    names = "|".join(_escaped(public_name(name)) for name in (op.name, *op.aliases))
    return pytest.raises(GluonishError, match=rf"^(?:{names}):.*" + ".*".join(words))


def _escaped(name: str) -> str:
    return name.replace(".", r"\.")


def _with_ids(calls: list[tuple[Operator, Case]]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(("op", "case"), calls, ids=[op.name for op, _ in calls])


@_with_ids(CALLS)
def test_unknown_attribute_is_refused_among_others(op: Operator, case: Case) -> None:
    if not op.schema.attributes:  # as in MXNet
        _call(op, case, [_array(x) for x in case.arrays()], no_such_word=1)
        return
    with _refused(op, "no_such_word"):
        _call(op, case, [_array(x) for x in case.arrays()], no_such_word=1)


@_with_ids(CALLS)
def test_too_many_arguments_are_refused(op: Operator, case: Case) -> None:
    if op.variadic is not None:
        pytest.skip("takes any number of arrays")
    slots = len(op.inputs) + len(op.schema.attributes)
    with _refused(op, "expected at most"):
        getattr(mx.nd, op.name)(*[_array(np.ones(2, np.float32))] * (slots + 1))


@_with_ids(WITH_ARRAYS)
def test_missing_array_is_refused_by_name(op: Operator, case: Case) -> None:
    arrays: list[Any] = [_array(x) for x in case.arrays()]
    if op.variadic is not None:
        with _refused(op, "at least one array"):
            _call(op, case, [])
        return
    for i, name in enumerate(_named(op, case, arrays)):
        with _refused(op, name):
            _call(op, case, [*arrays[:i], None, *arrays[i + 1 :]])


@_with_ids(WITH_ARRAYS)
def test_what_is_no_array_is_refused_by_name(op: Operator, case: Case) -> None:
    arrays: list[Any] = [_array(x) for x in case.arrays()]
    names = list(_named(op, case, arrays)) if op.variadic is None else [r"arg\d+"] * len(arrays)
    wrongs = [*NO_ARRAYS, np.ones(2, np.float32)] if op.mutates else NO_ARRAYS
    for wrong in wrongs:
        for i, name in enumerate(names):
            with _refused(op, f"expected {name} to be an NDArray, got"):
                _call(op, case, [*arrays[:i], wrong, *arrays[i + 1 :]])


@_with_ids(WITH_ARRAYS)
def test_numpy_arrays_alone_are_refused_by_name(op: Operator, case: Case) -> None:
    """Beside an NDArray they are arrays on its device."""
    names = list(_named(op, case, case.arrays())) if op.variadic is None else [r"arg\d+"]
    with _refused(op, f"expected {names[0]} to be an NDArray, got"):
        _call(op, case, case.arrays())


@_with_ids(WITH_ARRAYS)
def test_arrays_of_two_devices_are_refused(op: Operator, case: Case) -> None:
    arrays = case.arrays()
    for i in range(1, len(arrays)):
        contexts = [cpu(1 if j == i else 0) for j in range(len(arrays))]
        given = [_array(x, context) for x, context in zip(arrays, contexts, strict=True)]
        with pytest.raises(DeviceError, match=r"expected arrays on one device, got cpu\(0\)"):
            _call(op, case, given)


@pytest.mark.parametrize(("name", "arrays", "attrs", "words"), FOUND)
def test_call_that_random_ones_found_is_refused(
    name: str, arrays: list[tuple[str, tuple[int, ...]]], attrs: dict[str, Any], words: str
) -> None:
    op = find_operator(name)
    given = [_array(np.ones(shape, dtype)) for dtype, shape in arrays]
    parsed = op.schema.parse(op.name, attrs)
    with _refused(op, words):
        apply(op, given, parsed) if given else source(op, parsed, cpu())


def test_rates_and_steps_of_zero_make_infinities_and_no_error() -> None:
    one = np.ones(1)
    run_operator("ftml_update", one, one, *np.ones((3, 1)), lr=0, t=5)
    run_operator("lamb_update_phase1", one, one, *np.ones((2, 1)), t=0, wd=0.0, beta1=0.0)
    run_operator("lamb_update_phase1", one, one, *np.ones((2, 1)), t=-1, wd=0.0, beta1=0.0)


def test_arrays_without_elements_have_results() -> None:
    assert run_operator("_np_max", np.ones((0, 0, 2)), axis=(1,)).shape == (0, 2)
    pooled = run_operator(
        "_contrib_DeformablePSROIPooling",
        np.ones((1, 4, 2, 2)),
        np.ones((0, 5)),
        spatial_scale=1.0,
        output_dim=1,
        group_size=2,
        pooled_size=2,
        no_trans=True,
    )
    assert pooled.shape == (0, 1, 2, 2)


def test_old_reshape_of_a_scalar_makes_one_element() -> None:
    attrs = {"target_shape": (1, -1), "keep_highest": True}
    assert run_operator("Reshape", np.ones(()), **attrs).shape == (1,)


def test_match_that_is_no_number_is_the_first_reference() -> None:
    boxes = np.array([[[0.0, 0.0, 1.0, 1.0]]])
    matches = np.full((1, 1), np.nan)
    targets, mask = run_operator(
        "_contrib_box_encode", np.ones((1, 1)), matches, boxes, boxes, np.zeros(4), np.ones(4)
    )
    assert not targets.any()
    assert mask.all()
