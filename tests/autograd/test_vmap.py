"""`vmap` against the same functions of NumPy's arrays, sample by sample, in float64."""

from collections.abc import Callable
from typing import Any

import numpy as onp
import pytest

import gluonish as mx
from gluonish import autograd, gluon, nd, np, npx
from gluonish.autograd import vmap
from gluonish.core.errors import ArgumentError, ArgumentTypeError

RANDOM = onp.random.default_rng(3)
A, B = RANDOM.normal(size=(5, 3, 4)), RANDOM.normal(size=(5, 4, 2))
V, W = RANDOM.normal(size=(5, 4)), RANDOM.normal(size=(4, 2))

Func = Callable[..., Any]
# Functions of `np` or NumPy (xp) and arrays of a sample; arguments; in_axes.
CASES: dict[str, tuple[Func, tuple[Any, ...], Any]] = {
    "elementwise": (lambda xp, a: xp.tanh(a) * 2 - xp.exp(-a), (A,), 0),
    "two": (lambda xp, a, v: a * v + xp.maximum(a, v), (A, V), 0),
    "one shared": (lambda xp, a, w: a[:, :2] / w[0] + w[1:4, 0].sum(), (A, W), (0, None)),
    "scalars": (lambda xp, v: v * v.sum(), (V,), 0),
    "numbers": (lambda xp, x: xp.sin(x) + 1, (V[:, 0],), 0),
    "matmul": (lambda xp, a, b: a @ b, (A, B), 0),
    "matmul shared": (lambda xp, a, w: xp.matmul(a, w), (A, W), (0, None)),
    "matmul vector": (lambda xp, a, v: a @ v, (A, V), 0),
    "vector matmul": (lambda xp, v, b: v @ b, (V, B), 0),
    "shared first": (lambda xp, v, w: w.T @ v, (V, W), (0, None)),
    "vectors": (lambda xp, v: xp.dot(v, v), (V,), 0),
    "outer": (lambda xp, v: xp.outer(v, v[:2]), (V,), 0),
    "sum": (lambda xp, a: a.sum(), (A,), 0),
    "sum axes": (lambda xp, a: a.sum(axis=(0, -1)) + a.mean(), (A,), 0),
    "keepdims": (lambda xp, a: a - a.mean(axis=1, keepdims=True), (A,), 0),
    "max": (lambda xp, a: a.max(axis=-2) + a.min(axis=0), (A,), 0),
    "std": (lambda xp, a: xp.std(a, axis=0) + xp.var(a), (A,), 0),
    "argmax": (lambda xp, a: xp.argmax(a, axis=0) + a[0], (A,), 0),
    "cumsum": (lambda xp, a: xp.cumsum(a, axis=0), (A,), 0),
    "views": (lambda xp, a: xp.expand_dims(a.reshape(2, 6), 0)[0, ::-1, 1:5:2], (A,), 0),
    "transpose": (lambda xp, a: a.T.reshape(-1) + xp.transpose(a, (1, 0)).ravel(), (A,), 0),
    "concatenate": (lambda xp, a, w: xp.concatenate([a, w[:3]], axis=-1), (A, W), (0, None)),
    "stack": (lambda xp, v: xp.stack([v, 2 * v, v], axis=1), (V,), 0),
    "where": (lambda xp, a, v: xp.where(a > 0, a, v), (A, V), 0),
    "no rule": (lambda xp, a: xp.linalg.inv(a[:, :3]) @ xp.flip(a, 0), (A,), 0),
    "last axis": (lambda xp, a: xp.tanh(a) @ a.T, (A,), -1),
    "different axes": (lambda xp, a, b: a @ b, (A.transpose(1, 0, 2), B), (1, 0)),
}


def expected(func: Func, args: tuple[Any, ...], in_axes: Any) -> Any:
    """Return the results of NumPy for each sample, stacked."""
    axes = in_axes if isinstance(in_axes, tuple) else (in_axes,) * len(args)
    count = next(x.shape[axis] for x, axis in zip(args, axes, strict=True) if axis is not None)
    samples = [
        [x if axis is None else onp.take(x, i, axis) for x, axis in zip(args, axes, strict=True)]
        for i in range(count)
    ]
    return onp.stack([func(onp, *sample) for sample in samples])


@pytest.mark.parametrize("name", CASES)
def test_results_are_those_of_numpy_by_one_run_of_the_function(name: str) -> None:
    func, args, in_axes = CASES[name]
    runs = []

    def counted(*arrays: Any) -> Any:
        runs.append(1)
        return func(np, *arrays)

    found = vmap(counted, in_axes)(*(np.array(x, dtype="float64") for x in args))
    wanted = expected(func, args, in_axes)
    assert found.shape == wanted.shape
    onp.testing.assert_allclose(found.asnumpy(), wanted, rtol=1e-12, atol=1e-12)
    assert len(runs) == 1


@pytest.mark.parametrize("name", ["two", "matmul vector", "sum axes", "where", "no rule"])
def test_a_function_that_reads_values_runs_once_for_each_sample(name: str) -> None:
    func, args, in_axes = CASES[name]

    def reading(*arrays: Any) -> Any:
        assert onp.isfinite(arrays[0].asnumpy()).all()
        return func(np, *arrays)

    found = vmap(reading, in_axes)(*(np.array(x, dtype="float64") for x in args))
    wanted = expected(func, args, in_axes)
    onp.testing.assert_allclose(found.asnumpy(), wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", sorted(CASES.keys() - {"argmax"}))
def test_derivatives_are_those_of_each_sample(name: str) -> None:
    func, args, in_axes = CASES[name]
    arrays = tuple(np.array(x, dtype="float64") for x in args)
    outs = vmap(lambda *xs: func(np, *xs), in_axes)
    weights = np.array(RANDOM.normal(size=expected(func, args, in_axes).shape), dtype="float64")
    _, found = autograd.vjp(lambda *xs: (outs(*xs) * weights).sum(), arrays)
    step = 1e-6
    for position, x in enumerate(args):
        direction = RANDOM.normal(size=x.shape)
        moved = [
            expected(
                func, (*args[:position], x + s * step * direction, *args[position + 1 :]), in_axes
            )
            for s in (1, -1)
        ]
        wanted = ((moved[0] - moved[1]) / (2 * step) * weights.asnumpy()).sum()
        onp.testing.assert_allclose(
            (found[position].asnumpy() * direction).sum(), wanted, rtol=1e-5, atol=1e-6
        )


def test_arrays_of_nd_and_their_operators() -> None:
    a, b, v = (nd.array(x, dtype="float64") for x in (A, B, V))
    cases: list[tuple[Func, list[Any]]] = [
        (lambda a, b: nd.dot(a, b), [a, b]),
        (lambda a, v: nd.dot(a, v), [a, v]),
        (lambda v, b: nd.dot(v, b), [v, b]),
        (lambda a: nd.dot(a, a, transpose_a=True), [a]),
        (lambda a: nd.dot(a, a, transpose_b=True), [a]),
        (lambda v: nd.dot(v, v), [v]),
        (lambda v: nd.dot(b[0], v, transpose_a=True), [v]),
        (lambda a: nd.batch_dot(a.expand_dims(0), a.expand_dims(0), transpose_b=True), [a]),
        (lambda a: nd.sum(a, axis=0, exclude=True) * nd.softmax(a, axis=1)[0].sum(), [a]),
        (lambda a: nd.concat(a, a, dim=1).reshape((-1, 4)).transpose(), [a]),
        (lambda a: nd.log_softmax(a, axis=-1).clip(-1, 0), [a]),
        (lambda v: nd.sort(v) + v.argmax(), [v]),
        (lambda a: nd.where(a > 0, a, -a).mean(axis=(0, 1)), [a]),
        (lambda a: nd.split(a, 2, axis=1)[1], [a]),
    ]
    for func, args in cases:
        found = vmap(func)(*args)
        wanted = [func(*(x[i] for x in args)).asnumpy() for i in range(5)]
        assert type(found) is nd.NDArray
        onp.testing.assert_allclose(found.asnumpy(), onp.stack(wanted), rtol=1e-12, atol=1e-12)


def test_numbers_of_nd_have_one_axis() -> None:
    found = vmap(lambda x: x * 2 + x.sum())(nd.array([1, 2, 3]))
    assert found.tolist() == [[3.0], [6.0], [9.0]]


@pytest.mark.parametrize("hybrid", [False, True])
def test_networks_run_once_and_their_parameters_get_gradients(hybrid: bool) -> None:
    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Conv2D(4, 3, in_channels=2, activation="relu"), gluon.nn.MaxPool2D())
    net.add(gluon.nn.Flatten(), gluon.nn.Dense(6, in_units=16), gluon.nn.LayerNorm(in_channels=6))
    net.add(gluon.nn.Dense(3, in_units=6, flatten=False))
    net.initialize(mx.init.Normal(0.5))
    if hybrid:
        net.hybridize()
    x = nd.array(RANDOM.normal(size=(5, 2, 6, 6)))
    gradients = []
    for func in (net, vmap(lambda image: net(image.expand_dims(0))[0])):
        with autograd.record():
            out = func(x)
            value = (out**2).sum()
        value.backward()
        gradients.append(
            [out.asnumpy(), *(p.grad().asnumpy() for p in net.collect_params().values())]
        )
    for plain, mapped in zip(*gradients, strict=True):
        onp.testing.assert_allclose(mapped, plain, rtol=1e-4, atol=1e-5)


def test_rows_of_tables_are_looked_up_for_all_samples() -> None:
    table = np.array(W, dtype="float64")
    found = vmap(lambda i: npx.embedding(i, table, 4, 2))(np.array([[0, 1], [3, 1]], dtype="int32"))
    onp.testing.assert_array_equal(found.asnumpy(), W[[[0, 1], [3, 1]]])


def test_vmap_of_vmap_and_of_derivatives() -> None:
    a = np.array(A, dtype="float64")
    found = vmap(vmap(lambda row: (row**2).sum()))(a)
    onp.testing.assert_allclose(found.asnumpy(), (A**2).sum(-1))
    found = vmap(lambda rows: vmap(lambda row: (row * rows).sum())(rows))(a)
    onp.testing.assert_allclose(found.asnumpy(), onp.einsum("bij,bkj->bi", A, A))
    found = vmap(lambda x: autograd.vjp(lambda z: (z**3).sum(), x)[1])(a)
    onp.testing.assert_allclose(found.asnumpy(), 3 * A**2)
    found = vmap(lambda v: autograd.jacobian(lambda z: z**2, v))(a[0])
    onp.testing.assert_allclose(found.asnumpy(), onp.stack([onp.diag(2 * v) for v in A[0]]))


def test_derivatives_of_vmap() -> None:
    v = np.array(V[:2, :3], dtype="float64")
    squares = vmap(lambda x: (x**3).sum())
    found = autograd.jacobian(squares, v).asnumpy()
    for i in range(2):
        onp.testing.assert_allclose(found[i, i], 3 * V[i, :3] ** 2)
        assert not found[i, 1 - i].any()
    found = autograd.hessian(lambda x: squares(x).sum(), v).asnumpy().reshape(6, 6)
    onp.testing.assert_allclose(found, onp.diag(6 * V[:2, :3].ravel()))
    _, product = autograd.jvp(squares, v, np.ones((2, 3), dtype="float64"))
    onp.testing.assert_allclose(product.asnumpy(), 3 * (V[:2, :3] ** 2).sum(1))


def test_structures_and_axes_of_outputs() -> None:
    a = np.array(A, dtype="float64")
    outs = vmap(lambda x: {"rows": x.sum(1), "both": [x, x.T]}, out_axes=(0, -1, 1))(a)
    assert outs["rows"].shape == (5, 3)
    onp.testing.assert_array_equal(outs["both"][0].asnumpy(), A.transpose(1, 2, 0))
    onp.testing.assert_array_equal(outs["both"][1].asnumpy(), A.transpose(2, 0, 1))
    first, second = vmap(lambda x: (x.sum(), np.ones((2,))))(a)
    assert (first.shape, second.shape) == ((5,), (5, 2))


def test_random_numbers_differ_between_samples() -> None:
    layer = gluon.nn.Dropout(0.5)
    with autograd.train_mode():
        found = vmap(lambda x: layer(x))(nd.ones((3, 50))).asnumpy()
    assert set(found.ravel()) == {0.0, 2.0}
    assert not (found[0] == found[1]).all()


def test_running_statistics_change_with_each_sample() -> None:
    layer = gluon.nn.BatchNorm(in_channels=2, momentum=0.5)
    layer.initialize()
    x = nd.array([[[2, 4]], [[6, 8]]])
    with autograd.train_mode():
        vmap(layer)(x)
    assert layer.running_mean.data().tolist() == [3.5, 5.0]


def test_other_arguments_are_passed_on() -> None:
    found = vmap(lambda x, how: getattr(x, how)(), in_axes=(0, None))(np.array(V), "max")
    onp.testing.assert_allclose(found.asnumpy(), V.max(1), rtol=1e-6)


def test_an_error_of_the_function_is_raised() -> None:
    def fail(x: Any) -> Any:
        raise ZeroDivisionError(x.shape)

    with pytest.raises(ZeroDivisionError, match=r"\(2,\)"):
        vmap(fail)(np.ones((3, 2)))


@pytest.mark.parametrize(
    ("options", "args", "message"),
    [
        ({"in_axes": 2}, (np.ones((2, 2)),), r"an array with axis 2, got one of shape \(2, 2\)"),
        (
            {"in_axes": (0, 0)},
            (np.ones((2, 2)),),
            "in_axes of 1 axes, one for each argument, got 2",
        ),
        ({"in_axes": None}, (np.ones((2, 2)),), r"one number of samples above 0, got \[\]"),
        ({}, (np.ones((2, 2)), np.ones((3, 2))), r"one number of samples above 0, got \[2, 3\]"),
        ({}, (np.ones((0, 2)),), r"one number of samples above 0, got \[0\]"),
        (
            {"out_axes": (0, 0)},
            (np.ones((2, 2)),),
            "out_axes of 1 axes, one for each output, got 2",
        ),
        ({"out_axes": 3}, (np.ones((2, 2)),), "an array with axis 3"),
    ],
)
def test_axes_that_do_not_fit_are_refused(
    options: dict[str, Any], args: tuple[Any, ...], message: str
) -> None:
    with pytest.raises(ArgumentError, match=message):
        vmap(lambda *xs: xs[0] * 2, **options)(*args)


def test_wrong_types_are_refused() -> None:
    with pytest.raises(ArgumentTypeError, match="expected a function, got int"):
        vmap(3)  # type: ignore[arg-type]
    for axes in ("0", True, (0, "1")):
        with pytest.raises(ArgumentTypeError, match="expected in_axes as an int or a tuple"):
            vmap(lambda x: x, in_axes=axes)  # type: ignore[arg-type]
    with pytest.raises(ArgumentTypeError, match="expected out_axes as an int or a tuple of ints,"):
        vmap(lambda x: x, out_axes=None)  # type: ignore[arg-type]
    with pytest.raises(ArgumentTypeError, match="an array as argument 0, got float; None in"):
        vmap(lambda x: x)(1.5)
    with pytest.raises(ArgumentTypeError, match="expected func to return arrays, got int"):
        vmap(lambda x: 3)(np.ones(2))
    with pytest.raises(
        ArgumentError, match=r"equal shapes, got \[\(1,\)\] of sample 0 and \[\(2,\)\]"
    ):
        vmap(lambda x: x[: int(x[0])])(np.array([[1, 2], [2, 2]]))


def test_outputs_that_are_no_arrays_are_refused_beside_arrays() -> None:
    x = mx.np.array([[1.0, 2.0], [3.0, 4.0]])
    for func in (lambda a: (a, 5), lambda a: (a, {"sum": float(a.sum())})):
        with pytest.raises(ArgumentTypeError, match="expected func to return arrays, got one"):
            vmap(func)(x)
    first, nothing = vmap(lambda a: (a, None))(x)
    assert first.shape == (2, 2)
    assert nothing is None


def test_outputs_of_another_structure_are_refused() -> None:
    x = mx.np.array([1.0, -1.0])
    with pytest.raises(ArgumentError, match="one structure, got another one of sample 1"):
        vmap(lambda a: {"up": a} if float(a) > 0 else {"down": a})(x)


def test_arguments_by_name_are_refused() -> None:
    with pytest.raises(ArgumentTypeError, match=r"by position, got k by name; functools\.partial"):
        vmap(lambda a, k: a * k)(mx.np.ones(2), k=2)
