import inspect
import types
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import gluonish as mx
import gluonish.numpy as functions
from gluonish.core.errors import (
    ArgumentError,
    ArgumentTypeError,
    GluonishError,
    NotSupportedError,
    OperatorError,
)

np: Any = functions  # calls below are wrong on purpose

NAMES = [
    (module, name)
    for module in (np, np.linalg, np.random)
    for name in module.__all__
    if isinstance(getattr(module, name), types.FunctionType)
]


@pytest.mark.parametrize(("module", "name"), NAMES, ids=lambda x: getattr(x, "__name__", x))
def test_function_has_its_name_a_docstring_and_a_signature(module: Any, name: str) -> None:
    function = getattr(module, name)
    assert function.__name__ == name
    assert function.__doc__
    assert inspect.signature(function)


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (lambda a: np.sin([1, 2]), ArgumentTypeError, "^sin: expected an array, got list"),
        (lambda a: np.sin(a, where=False), NotSupportedError, "^sin: expected where=True"),
        (lambda a: np.sin(a, foo=1), ArgumentTypeError, "^sin: expected options"),
        (lambda a: np.add(a, "x"), ArgumentTypeError, "^add: expected an array, got str"),
        (lambda a: a + object(), ArgumentTypeError, "^add: expected an array, got object"),
        (lambda a: np.concatenate([]), ArgumentError, "^concatenate: expected at least one"),
        (lambda a: np.concatenate(a), ArgumentTypeError, "^concatenate: expected a sequence"),
        (lambda a: np.reshape(a, (3, 2), "F"), NotSupportedError, "^reshape: expected order"),
        (lambda a: np.zeros((-1,)), ArgumentError, "^zeros: expected sizes"),
        (lambda a: np.zeros(2.5), ArgumentTypeError, "^zeros: expected shape"),
        (lambda a: np.zeros(2, ctx=3), ArgumentTypeError, "^ctx: expected a Context"),
        (lambda a: np.arange(1, 2, 0), ArgumentError, "^arange: expected a step"),
        (lambda a: np.arange("3"), ArgumentTypeError, "^arange: expected numbers"),
        (lambda a: np.linspace(a, 1), NotSupportedError, "^linspace: expected start and stop"),
        (lambda a: np.array(["x"]), ArgumentTypeError, "^array: expected numbers"),
        (lambda a: np.array([[1], [1, 2]]), ArgumentTypeError, "^array: expected nested"),
        (lambda a: np.where(a, 1), ArgumentError, "^where: expected both"),
        (lambda a: np.clip(a, None, None), ArgumentError, "^clip: expected a_min"),
        (lambda a: np.split(a, 0), ArgumentError, "^split: expected at least 1"),
        (lambda a: np.split(a, [1], axis=5), ArgumentError, "^split: expected an axis"),
        (lambda a: np.vsplit(a[0], 1), ArgumentError, "^vsplit: expected at least 2 axes"),
        (lambda a: np.tensordot(a, a, None), ArgumentError, "^tensordot: expected axes"),
        (lambda a: np.einsum(a), ArgumentTypeError, "^einsum: expected subscripts"),
        (lambda a: np.meshgrid(a[0], indexing="zy"), ArgumentError, "^meshgrid: expected index"),
        (lambda a: np.histogram(a), NotSupportedError, "^histogram: expected range"),
        (lambda a: np.linalg.norm(a, "x"), ArgumentError, "^norm: expected ord"),
        (lambda a: np.sum(a, axis=7), OperatorError, "axis"),
        (lambda a: np.sum(a, out=()), ArgumentTypeError, "expected out to be an array"),
        (lambda a: np.add(1, [1]), ArgumentTypeError, "^add: expected an array"),
        (lambda a: np.allclose(a), ArgumentTypeError, "^allclose: expected"),
        (lambda a: np.random.uniform(size=2.5), ArgumentTypeError, "^uniform: expected shape"),
        (lambda a: np.random.shuffle(3), ArgumentTypeError, "^shuffle: expected an array"),
        (lambda a: np.full((2,), "x"), ArgumentTypeError, "^full: expected fill_value"),
        (lambda a: np.unravel_index(9, (2, 3)), ArgumentError, "^unravel_index"),
    ],
)
def test_invalid_call_is_one_clear_error(
    call: Callable[[Any], Any], error: type[GluonishError], match: str
) -> None:
    with pytest.raises(error, match=match):
        call(np.array([[1, 2, 3], [4, 5, 6]])).asnumpy()


@pytest.mark.parametrize(
    ("call", "shapes"),
    [
        (lambda a: np.tile(a, 0), [(2, 0)]),
        (lambda a: np.tile(a, (2, 0)), [(4, 0)]),
        (lambda a: np.tile(a, (1, 0, 2)), [(1, 0, 6)]),
        (lambda a: np.tile(a[0, 0], (2, 0)), [(2, 0)]),
        (lambda a: np.split(a[:, :0], (0, 1, 2), axis=1), [(2, 0)] * 4),
        (lambda a: np.split(a[:, :0], 2, axis=1), [(2, 0)] * 2),
    ],
)
def test_arrays_without_elements_are_made_and_cut_eagerly_and_traced(
    call: Callable[[Any], Any], shapes: list[tuple[int, ...]]
) -> None:
    class Calls(mx.gluon.HybridBlock):
        def forward(self, x: Any) -> Any:
            return call(x)

    block = Calls()
    a = np.ones((2, 3))
    a.attach_grad()
    for _ in range(2):
        with mx.autograd.record():
            found = block(a)
            found = found if isinstance(found, list) else [found]
        assert [x.shape for x in found] == shapes
        mx.autograd.backward(found)
        assert a.grad.asnumpy().tolist() == [[0] * 3] * 2
        block.hybridize()


ZERO_D: dict[str, Any] = {
    **dict.fromkeys(("sum", "max", "min", "mean", "prod", "average", "squeeze"), 2.5),
    "std": 0.0,
    "var": 0.0,
    "any": True,
    "all": True,
    "argmax": 0,
    "argmin": 0,
}


@pytest.mark.parametrize("axis", [0, -1])
@pytest.mark.parametrize(("name", "value"), ZERO_D.items())
def test_number_has_an_axis_that_reductions_take(name: str, value: Any, axis: int) -> None:
    function = getattr(np, name)

    class Reduces(mx.gluon.HybridBlock):
        def hybrid_forward(self, F: Any, x: Any) -> Any:
            return getattr(F.np, name)(x, axis=axis)

    a = np.array(2.5)
    block = Reduces()
    block.hybridize()
    with mx.util.np_shape(), mx.util.np_array():
        results = [function(a, axis=axis), block(a)]
    for found in results:
        assert (found.shape, found.item()) == ((), value)
    with pytest.raises(OperatorError, match="axis"):
        function(a, axis=1)


def test_gradient_of_reductions_of_a_number() -> None:
    a = np.array(2.5)
    a.attach_grad()
    with mx.autograd.record():
        y = 3 * np.sum(a, axis=0) + np.max(a, axis=-1) + np.mean(a, axis=0)
        y = y + np.prod(a, axis=0) + np.squeeze(a, axis=0)
    y.backward()
    assert a.grad.item() == 7


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"dtype": "zzz"}, TypeError),
        ({"dtype": 7}, TypeError),
        ({"dtype": int}, TypeError),
        ({"dtype": "int8"}, NotImplementedError),
        ({"dtype": numpy.float32}, NotImplementedError),
        ({"casting": "zzz"}, TypeError),
        ({"casting": None}, TypeError),
        ({"casting": "safe"}, NotImplementedError),
        ({"order": None}, TypeError),
        ({"order": "C"}, NotImplementedError),
        ({"subok": None}, TypeError),
        ({"subok": False}, NotImplementedError),
        ({"where": False}, NotImplementedError),
    ],
)
def test_option_without_a_meaning_is_told_from_one_that_is_missing(
    options: dict[str, Any], error: type[Exception]
) -> None:
    a = np.array([1.0, 4.0])
    for call in (np.sqrt, np.isnan, np.logical_not, lambda x, **k: np.add(x, x, **k)):
        for x in (a, 4.0):
            with pytest.raises(error, match=f"expected {next(iter(options))}=") as caught:
                call(x, **options)
            assert isinstance(caught.value, GluonishError)
            assert not {TypeError, NotImplementedError} <= set(type(caught.value).__mro__)


def test_out_of_another_dtype_is_a_type_error_and_of_another_shape_a_value_error() -> None:
    a, number = np.array([1.0, 4.0]), np.ones((2,))
    for name in ("isnan", "isinf", "isposinf", "isneginf", "isfinite", "logical_not"):
        with pytest.raises(ArgumentTypeError, match=r"expected out to be bool\(2,\)"):
            getattr(np, name)(a, out=number)
    with pytest.raises(ArgumentError, match=r"expected out to be float32\(2,\)"):
        np.sqrt(a, out=np.ones((3,)))


def test_numbers_are_clipped_and_spread() -> None:
    assert (np.clip(2.5, 0, 1), np.clip(2, None, 1)) == (1.0, 1)
    assert isinstance(np.clip(2.5, 0, 1), numpy.float64)
    assert [type(i) for i in np.unravel_index(3, (2, 2))] == [numpy.int64] * 2
    spread = np.broadcast_to(3, (2, 2))
    assert isinstance(spread, np.ndarray)
    assert (spread.dtype, spread.tolist()) == (numpy.int64, [[3, 3], [3, 3]])
    assert np.broadcast_to(True, 2).dtype == bool


def test_step_of_none_is_one() -> None:
    assert np.arange(1, 4, None).tolist() == [1, 2, 3]
    assert np.arange(3, step=None).tolist() == [0, 1, 2]
    assert mx.sym.np.arange(1, 4, None).infer_shape()[1] == [(3,)]


def test_numbers_are_computed_by_numpy_itself() -> None:
    assert isinstance(np.sin(1.0), numpy.float64)
    assert np.add(1, 2) == 3


def test_prepended_number_takes_one_place() -> None:
    assert np.diff(np.array([1.0, 3.0]), prepend=0).tolist() == [1, 2]


def test_results_go_into_out() -> None:
    a, out = np.array([1.0, 4.0]), np.zeros((2,))
    assert np.sqrt(a, out) is out
    assert out.tolist() == [1, 2]
    assert np.add(a, 1, out=out) is out
    assert out.tolist() == [2, 5]


def test_random_arrays_have_shape_and_dtype() -> None:
    v = np.array([1.0, 2.0, 3.0])
    for found, shape, dtype in (
        (np.random.uniform(), (), "float32"),
        (np.random.uniform(0, v), (3,), "float32"),
        (np.random.uniform(0, v, size=(2, 3)), (2, 3), "float32"),
        (np.random.normal(size=2, dtype="float16"), (2,), "float16"),
        (np.random.randint(3), (), "int64"),
        (np.random.rand(2, 3), (2, 3), "float32"),
        (np.random.randn(), (), "float32"),
        (np.random.choice(5, 3, replace=False), (3,), "int64"),
        (np.random.choice(v, 2), (2,), "float32"),
        (np.random.gamma(v, size=(2, 3)), (2, 3), "float32"),
        (np.random.beta(v, 2.0), (3,), "float32"),
        (np.random.chisquare(2.0), (), "float32"),
        (np.random.lognormal(size=2), (2,), "float32"),
        (np.random.multinomial(5, [0.2, 0.8], size=2), (2, 2), "int64"),
        (np.random.multivariate_normal(np.zeros(2), np.eye(2), size=3), (3, 2), "float32"),
        (np.random.exponential(v), (3,), "float32"),
        (np.random.power(2.0, size=2), (2,), "float32"),
    ):
        assert type(found) is np.ndarray
        assert (found.shape, found.dtype) == (shape, numpy.dtype(dtype))


def test_shuffle_works_in_the_array_itself() -> None:
    x = np.arange(8)
    assert np.random.shuffle(x) is None
    assert sorted(x.tolist()) == list(range(8))


def test_bounds_may_be_arrays_without_axes() -> None:
    x = np.array([1.0, 2.0, 3.0])
    assert np.clip(x, np.array(1.5), np.array(2.0)).tolist() == [1.5, 2, 2]
    assert np.arange(np.array(3, dtype="int32")).tolist() == [0, 1, 2]
    assert np.sum(x, axis=np.array([0], dtype="int32")).item() == 6


@pytest.mark.parametrize(
    ("source", "shape", "expected"),
    [
        ((3,), (2, -2), (2, 3)),
        ((2, 3), (-2, -2), (2, 3)),
        ((1, 3), (4, -2), (4, 3)),
        ((2, 1, 3), (-2, 4, -2), (2, 4, 3)),
        ((2, 3), (5, -2, -2), (5, 2, 3)),
    ],
)
def test_minus_two_keeps_an_axis_of_broadcast_to(
    source: tuple[int, ...], shape: tuple[int, ...], expected: tuple[int, ...]
) -> None:
    x = np.arange(numpy.prod(source)).reshape(source)
    for made in (np.broadcast_to(x, shape), x.broadcast_to(shape)):
        numpy.testing.assert_array_equal(made.asnumpy(), numpy.broadcast_to(x.asnumpy(), expected))
    y = mx.sym.np.broadcast_to(mx.sym.var("x").as_np_ndarray(), shape)
    with mx.util.np_shape(True):
        assert y.infer_shape(x=source)[1] == [expected]


@pytest.mark.parametrize("shape", [(-2,), (-1, 3), (5, -2), (-2, -1), (4, -4), (-2, -2, -2)])
def test_other_negative_extents_of_broadcast_to_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises((ArgumentError, OperatorError), match="broadcast_to: expected"):
        np.broadcast_to(np.ones((2, 3)), shape)


@pytest.mark.parametrize("axis", [None, 0, (0, 1)])
@pytest.mark.parametrize("ord", ["inf", "-inf", "1"])
def test_order_of_a_norm_may_be_a_text(ord: str, axis: Any) -> None:  # noqa: A002
    x = numpy.array([[1.0, -5], [2, 3]], numpy.float32)
    expected = numpy.linalg.norm(x, float(ord), axis)
    numpy.testing.assert_allclose(np.linalg.norm(np.array(x), ord, axis).asnumpy(), expected)


def test_axes_of_a_norm_may_be_a_list() -> None:
    x = numpy.arange(24, dtype="float32").reshape(2, 3, 4)
    for axis in ([0, 1], [2]):
        expected = numpy.linalg.norm(x, axis=tuple(axis) if len(axis) > 1 else axis[0])
        found = np.linalg.norm(np.array(x), axis=axis)
        numpy.testing.assert_allclose(found.asnumpy(), expected, rtol=1e-6)


@pytest.mark.parametrize("shape", [(4, 50), (200, 200)])
@pytest.mark.parametrize("axis", [None, 0, (0, 1)])
def test_a_norm_of_float16_has_room_for_its_squares(shape: tuple[int, ...], axis: Any) -> None:
    x = numpy.full(shape, 100, "float16")
    expected = numpy.linalg.norm(x.astype("float64"), axis=axis)
    assert numpy.isfinite(expected.astype("float16")).all()
    found = np.linalg.norm(np.array(x, dtype="float16"), axis=axis)
    assert found.dtype == numpy.float16
    numpy.testing.assert_allclose(found.asnumpy(), expected, rtol=1e-3)


def test_unknown_order_of_a_norm_is_refused() -> None:
    with pytest.raises(ArgumentError, match="norm: expected ord 'fro'"):
        np.linalg.norm(np.ones((2, 2)), "infinite?")


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_multivariate_normal_keeps_the_dtype(dtype: str) -> None:
    mean = np.array([1.0, -2.0]).astype(dtype)
    cov = np.array([[1.0, 0.5], [0.5, 2.0]]).astype(dtype)
    drawn = np.random.multivariate_normal(mean, cov, size=(4000,))
    assert (drawn.dtype, drawn.shape) == (mean.dtype, (4000, 2))
    values = drawn.astype("float64").asnumpy()
    numpy.testing.assert_allclose(values.mean(0), [1, -2], atol=0.15)
    numpy.testing.assert_allclose(numpy.cov(values.T), [[1, 0.5], [0.5, 2]], atol=0.2)


@pytest.mark.parametrize("dtypes", [("float32", "float16"), ("float16", "float64")])
def test_multivariate_normal_of_two_dtypes_has_that_of_the_mean(dtypes: tuple[str, str]) -> None:
    mean, cov = np.zeros(2, dtype=dtypes[0]), np.eye(2).astype(dtypes[1])
    assert np.random.multivariate_normal(mean, cov).dtype == mean.dtype
    with pytest.raises(ArgumentTypeError, match="multivariate_normal: expected an array, got list"):
        np.random.multivariate_normal(mean, [[1, 0], [0, 1]])


_MATRIX = numpy.arange(12, dtype=numpy.float32).reshape(3, 4)
_AXES = [([1, 2, 0], 0), ((1, 0, 2, 1), -1), ([2], 1), ([3], None), (list(range(12)), None)]


@pytest.mark.parametrize(
    "kind", [list, tuple, numpy.array, np.array, lambda n: np.array(n, dtype="int64")]
)
@pytest.mark.parametrize(("repeats", "axis"), _AXES)
def test_each_position_is_repeated_as_often_as_said(repeats: Any, axis: Any, kind: Any) -> None:
    expected = numpy.repeat(_MATRIX, repeats, axis)
    for made in (
        np.repeat(np.array(_MATRIX), kind(repeats), axis),
        np.array(_MATRIX).repeat(kind(repeats), axis),
    ):
        numpy.testing.assert_array_equal(made.asnumpy(), expected)


@pytest.mark.parametrize("hybrid", [False, True])
@pytest.mark.parametrize(("repeats", "axis"), _AXES)
def test_gradient_of_repeats_sums_the_copies(repeats: Any, axis: Any, hybrid: bool) -> None:
    class Repeated(mx.gluon.HybridBlock):
        def hybrid_forward(self, F: Any, x: Any) -> Any:
            return F.np.repeat(x, repeats, axis) ** 2

    x = np.array(_MATRIX)
    x.attach_grad()
    net = Repeated()
    net.hybridize(hybrid)
    with mx.util.np_shape(True), mx.util.np_array(True), mx.autograd.record():
        y = net(x).sum()
    y.backward()
    shape = (12,) if axis is None else (3, 4)
    flat = _MATRIX.reshape(shape)
    counts = numpy.broadcast_to(repeats, (shape[axis or 0],))
    along = [1] * len(shape)
    along[axis or 0] = -1
    expected = 2 * flat * counts.reshape(along)
    numpy.testing.assert_allclose(x.grad.asnumpy(), expected.reshape(3, 4))


def test_symbol_of_repeats_is_kept_in_files() -> None:
    y = mx.sym.np.repeat(mx.sym.var("x").as_np_ndarray(), [1, 2], axis=0)
    loaded = mx.sym.load_json(y.tojson())
    assert loaded.eval(x=np.ones((2, 3)))[0].shape == (3, 3)


@pytest.mark.parametrize("repeats", [[1, 2], [1, -1, 1], [1.0, 2.0, 1.0], [[1, 2, 3]], "12"])
def test_other_repeats_are_refused(repeats: Any) -> None:
    with pytest.raises((OperatorError, ArgumentTypeError), match=r"repeat.*: expected"):
        np.repeat(np.array(_MATRIX), repeats, axis=0)


def test_classic_repeat_takes_a_number_as_in_mxnet() -> None:
    with pytest.raises(OperatorError, match="expected repeats to be an int"):
        mx.nd.repeat(mx.nd.ones(3), repeats=[1, 2, 0])


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("repeat", (2, 1)),
        ("roll", ((1, 2), 0)),
        ("roll", ((1, 2), None)),
        ("roll", ([1, 2], (0, 1))),
        ("roll", (1, (0, 1))),
        ("roll", (numpy.array([1, 2]), (0, 1))),
        ("roll", ((1, 2), (1,))),
        ("pad", (numpy.array([[1, 2], [0, 1]]),)),
        ("pad", (numpy.array([1, 2]),)),
        ("delete", ([True, False, True, False], 1)),
        ("delete", (numpy.array([True, False, True]), 0)),
        ("expand_dims", ((0, 1),)),
        ("expand_dims", ((0, -1),)),
        ("expand_dims", ([1, 3],)),
        ("array_split", (numpy.array([1, 2]),)),
    ],
)
def test_arrays_and_sequences_for_numbers_are_taken_as_by_numpy(name: str, args: Any) -> None:
    expected = getattr(numpy, name)(_MATRIX, *args)
    # An array of ``np`` holds whole numbers as float32 unless it is given a dtype.
    own = [np.array(x) if isinstance(x, numpy.ndarray) and x.dtype != bool else x for x in args]
    for given in (args, own):
        found = getattr(np, name)(np.array(_MATRIX), *given)
        listed = isinstance(expected, list)
        pairs = zip(*((expected, found) if listed else ([expected], [found])), strict=True)
        for x, y in pairs:
            numpy.testing.assert_array_equal(y.asnumpy(), x)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_gradient_of_many_repeats_is_summed_in_float32(dtype: str) -> None:
    x = np.ones((2, 2), dtype=dtype)
    x.attach_grad()
    with mx.autograd.record():
        y = np.repeat(x, [3000, 1], axis=0)
    y.backward()
    found = x.grad.asnumpy().astype("f4")
    numpy.testing.assert_allclose(found, [[3000, 3000], [1, 1]], rtol=2**-8)


@pytest.mark.parametrize("values", [[1.5, 2, 1], [numpy.inf, 1, 1], [numpy.nan, 1, 1]])
def test_arrays_of_other_numbers_are_refused(values: list[float]) -> None:
    for function in (np.repeat, np.roll):
        with pytest.raises(ArgumentTypeError, match="of one or several ints"):
            function(np.ones((3, 2)), np.array(values), 0)


def test_positions_of_cuts_may_be_an_array_of_np() -> None:
    parts = np.split(np.arange(6), np.array([1, 3], dtype="int64"))
    assert [part.tolist() for part in parts] == [[0], [1, 2], [3, 4, 5]]


def test_mask_of_delete_has_a_value_for_each_position() -> None:
    with pytest.raises(ArgumentError, match="delete: expected a mask of 6 bools"):
        np.delete(np.arange(6), [True, False])


_HOLES = numpy.array([[1.0, numpy.nan, 3.0], [4.0, -5.0, numpy.nan]], numpy.float32)


@pytest.mark.parametrize("axis", [None, 0, 1])
@pytest.mark.parametrize(
    "name", ["nansum", "nanprod", "nanstd", "nanvar", "nanmax", "nanmin", "nancumsum", "nancumprod"]
)
def test_functions_that_leave_out_nan_are_those_of_numpy(name: str, axis: int | None) -> None:
    expected = getattr(numpy, name)(_HOLES, axis=axis)
    symbol = getattr(mx.sym.np, name)(mx.sym.var("x").as_np_ndarray(), axis=axis)
    with mx.util.np_shape(), mx.util.np_array():
        bound = symbol.eval(x=np.array(_HOLES))[0]
    for found in (getattr(np, name)(np.array(_HOLES), axis=axis), bound):
        assert found.dtype == expected.dtype
        numpy.testing.assert_allclose(found.asnumpy(), expected, rtol=1e-6)
    listed = getattr(np, name)([[1.0, 2.0], [3.0, numpy.nan]], axis=axis)
    wanted = getattr(numpy, name)([[1.0, 2.0], [3.0, numpy.nan]], axis=axis)
    numpy.testing.assert_allclose(listed.asnumpy(), wanted)


def test_nan_is_left_where_no_element_is() -> None:
    for name in ("nanmax", "nanmin", "nanvar", "nanstd"):
        found = getattr(np, name)(np.array([[numpy.nan, numpy.nan], [1.0, 1.0]]), axis=1)
        assert numpy.isnan(found.asnumpy()).tolist() == [True, False]
    assert np.nanmax(np.array([1.0, 2.0]), initial=7.0).item() == 7
    mask = np.array([True, False], dtype="bool")
    assert np.nanmin(np.array([1.0, -2.0]), initial=5.0, where=mask).item() == 1


def test_sums_have_a_start_and_leave_out_elements() -> None:
    x, mask = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([True, False], dtype="bool")
    out = np.zeros((2,))
    assert np.sum(x, axis=0, initial=10, out=out) is out
    assert out.tolist() == [14, 16]
    assert np.sum(x, where=mask).item() == 4
    assert np.prod(x, axis=1, where=mask, initial=2).tolist() == [2, 6]
    with mx.util.np_shape(), mx.util.np_array():
        functions: Any = mx.sym.np
        symbols = [mx.sym.var(name).as_np_ndarray() for name in "xm"]
        y = functions.sum(symbols[0], where=symbols[1])
        assert y.eval(x=x, m=mask)[0].item() == 4


_ND_NP: Any = mx.nd.np
_PAIR = numpy.array([[4.0, 1.0], [2.0, 9.0]], numpy.float32)


@pytest.mark.parametrize(
    ("call", "same"),
    [
        (lambda x: np.max(x, 0, None, True), lambda x: np.max(x, 0, True)),
        (lambda x: np.min(x, 0, np.zeros((2,))), lambda x: np.min(x, 0, False)),
        (lambda x: np.any(x, 1, None, True), lambda x: np.any(x, 1, keepdims=True)),
        (lambda x: np.sum(x, 0, None, None, True, 1), lambda x: np.sum(x, 0, None, True, 1)),
        (lambda x: np.sort(x, 1, True), lambda x: np.sort(x, 1, descending=True)),
        (lambda x: np.argsort(x, 0, True, True), lambda x: np.argsort(x, 0, descending=True)),
        (lambda x: np.linalg.eigvalsh(x, True), lambda x: np.linalg.eigvalsh(x, "U")),
        (lambda x: np.linalg.matrix_rank(M=x), lambda x: np.linalg.matrix_rank(x)),
        (lambda x: np.linalg.vecdot(a=x, b=x), lambda x: np.linalg.vecdot(x, x)),
        (lambda x: np.empty_like(x, None, mx.cpu()) * 0, lambda x: np.zeros_like(x)),
        (lambda x: np.diag(v=x), lambda x: np.diag(x)),
        (lambda x: _ND_NP.trace(a=x), lambda x: np.trace(x)),
        (lambda x: _ND_NP.sum(a=x, where=x > 1), lambda x: np.sum(x, where=x > 1)),
    ],
)
def test_arguments_of_mxnet_2_mean_the_same(call: Any, same: Any) -> None:
    found, expected = call(np.array(_PAIR)), same(np.array(_PAIR))
    assert found.dtype == expected.dtype
    values = [x.asnumpy() if isinstance(x, np.ndarray) else x for x in (found, expected)]
    numpy.testing.assert_array_equal(*values)


def test_methods_take_out_and_a_name_behind_their_arguments() -> None:
    x: Any = mx.nd.array([[1.0, 4.0]])
    out = mx.nd.zeros((1, 2))
    assert x.sqrt(out) is out
    assert out.asnumpy().tolist() == [[1, 2]]
    part: Any = mx.nd.zeros((1, 1))
    x.slice((0, 1), (1, 2), None, part, "name")
    assert part.asscalar() == 4


@pytest.mark.parametrize("wrap", [False, True])
@pytest.mark.parametrize("shape", [(3, 3), (5, 2), (2, 4), (3, 3, 3)])
def test_diagonal_is_filled_as_by_numpy(shape: tuple[int, ...], wrap: bool) -> None:
    for value in (5, [1.0, 2.0]):
        expected, found = numpy.zeros(shape, numpy.float32), np.zeros(shape)
        numpy.fill_diagonal(expected, value, wrap)
        np.fill_diagonal(found, value, wrap)
        numpy.testing.assert_array_equal(found.asnumpy(), expected)
    with pytest.raises(ArgumentError, match="fill_diagonal: expected two axes"):
        np.fill_diagonal(np.zeros(3), 1)


@pytest.mark.parametrize("args", [(3,), (3, 1, 2), (2, -1, 4), (4, 2), (0,), (3, -5)])
@pytest.mark.parametrize("name", ["tril_indices", "triu_indices"])
def test_indices_of_triangles_are_those_of_numpy(name: str, args: Any) -> None:
    expected = getattr(numpy, name)(*args)
    with mx.util.np_shape(), mx.util.np_array():
        symbols = getattr(mx.sym.np, name)(*args)
        bound = [y.eval()[0] for y in symbols] if args[0] else getattr(np, name)(*args)
    for found in (getattr(np, name)(*args), bound):
        for x, y in zip(found, expected, strict=True):
            assert x.dtype == numpy.int64
            numpy.testing.assert_array_equal(x.asnumpy(), y)


@pytest.mark.parametrize("number", [1.5, -0.25, 2, numpy.inf, -numpy.inf])
def test_numbers_of_where_are_kept_in_files_of_symbols(number: float) -> None:
    x = mx.sym.var("x").as_np_ndarray()
    for y in (mx.sym.np.where(x > 0, x, number), mx.sym.np.where(x > 0, number, x)):
        loaded = mx.sym.load_json(y.tojson())
        with mx.util.np_shape(), mx.util.np_array():
            found = [s.eval(x=np.array([-3.0, 4.0]))[0].asnumpy().tolist() for s in (y, loaded)]
        assert found[0] == found[1]
        assert number in found[0]


@pytest.mark.parametrize(
    ("given", "dtype"),
    [
        ((np.float32, np.int8), "float32"),
        (("int8", "uint8"), "int16"),
        ((numpy.ones(1, "int32"), 1.5), "float64"),
        ((numpy.ones(1, "int32"), 2), "int32"),
        ((numpy.ones(1, "float16"), 1.5), "float16"),
        ((2, 1.5), "float64"),
    ],
)
def test_result_type_is_that_of_a_sum(given: Any, dtype: str) -> None:
    arrays = [np.array(x, dtype=x.dtype) if isinstance(x, numpy.ndarray) else x for x in given]
    assert np.result_type(*arrays) == dtype


def test_rank_is_an_array() -> None:
    for x, rank in ((np.eye(3), 3), (np.ones((2, 3)), 1), (np.zeros((2, 2)), 0)):
        found = np.linalg.matrix_rank(x)
        assert (type(found), found.dtype, found.item()) == (np.ndarray, numpy.int64, rank)
    assert np.linalg.matrix_rank(np.diag(np.array([1.0, 0.1])), rtol=0.5).item() == 1
    assert np.linalg.matrix_rank(np.diag(np.array([9.0, 0.4])), tol=0.5).item() == 1
