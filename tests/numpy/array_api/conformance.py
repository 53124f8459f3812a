"""Calls of every function of the array API standard, with array-api-strict as the oracle.

Each call is a function of a namespace `xp` and a maker of arrays; it runs in both namespaces on the
same values, and values, shapes and element types are compared.
"""

import inspect
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

FLOATS = ("float32", "float64")
SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
INTEGERS = SIGNED + UNSIGNED
NUMERIC = FLOATS + INTEGERS
ALL = (*NUMERIC, "bool")
SHAPES = ((), (0,), (3,), (2, 3), (2, 0, 3), (2, 3, 4))
MATRICES = ((2, 2), (3, 2), (2, 3), (2, 3, 3), (0, 2, 2))

_random = np.random.default_rng(11)


class Call(NamedTuple):
    """One call in both namespaces.

    Attributes:
        function: Name in the standard, such as ``"linalg.qr"``.
        label: Element types and shapes, for the test's name.
        run: Called with the namespace and a function from NumPy values to its arrays.
        exact: Whether all results are compared; else only shapes and element types.
    """

    function: str
    label: str
    run: Callable[[Any, Callable[[Any], Any]], Any]
    exact: bool = True


def values(dtype: str, shape: tuple[int, ...], low: float = -4, high: float = 4) -> Any:
    """Return values of a type within bounds; floats have fractions, unsigned ones are positive."""
    kind = np.dtype(dtype).kind
    if kind == "b":
        return _random.integers(0, 2, shape).astype(bool)
    if kind == "f":
        return _random.uniform(low, high, shape).astype(dtype)
    return _random.integers(max(0, low) if kind == "u" else low, high, shape).astype(dtype)


def positive(shape: tuple[int, ...], dtype: str) -> Any:
    """Return symmetric positive definite matrices."""
    a = _random.standard_normal(shape)
    return (a @ np.swapaxes(a, -1, -2) + 3 * np.eye(shape[-1])).astype(dtype)


SPECIAL = np.array([0.0, -0.0, 1.0, -1.0, 2.5, -2.5, np.inf, -np.inf, np.nan, 1e-30, 3.0e38])


def _unary(names: str, dtypes: tuple[str, ...], low: float = -4, high: float = 4) -> Iterator[Call]:
    for name in names.split():
        for dtype in dtypes:
            for shape in SHAPES:
                x = values(dtype, shape, low, high)
                yield Call(
                    name, f"{dtype}-{shape}", lambda xp, make, n=name, x=x: getattr(xp, n)(make(x))
                )
        if "float32" in dtypes:
            for dtype in FLOATS:
                x = SPECIAL.astype(dtype)
                yield Call(
                    name, f"special-{dtype}", lambda xp, make, n=name, x=x: getattr(xp, n)(make(x))
                )


def _pairs(dtypes: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    for a in dtypes:
        for b in dtypes:
            kinds = {np.dtype(x).kind for x in (a, b)}
            if kinds == {"b"} or kinds <= {"f"} or kinds <= {"i", "u"}:
                try:
                    if np.promote_types(a, b).kind != "f" or kinds == {"f"}:
                        yield a, b
                except TypeError:
                    continue


def _binary(
    names: str, dtypes: tuple[str, ...], low: float = -4, high: float = 4, zero: bool = True
) -> Iterator[Call]:
    for name in names.split():

        def run(xp: Any, make: Any, x: Any, y: Any, name: str = name) -> Any:
            return getattr(xp, name)(make(x), make(y))

        for a, b in _pairs(dtypes):
            x, y = values(a, (2, 3), low, high), values(b, (2, 3), low, high)
            if not zero:
                y = np.where(y == 0, np.ones_like(y), y)
            yield Call(name, f"{a}-{b}", lambda xp, make, x=x, y=y, f=run: f(xp, make, x, y))
        for left, right in (((), ()), ((3, 1), (1, 2)), ((0,), (1,)), ((2, 3), ()), ((2, 0), (0,))):
            x, y = values(dtypes[0], left, 1, high), values(dtypes[0], right, 1, high)
            yield Call(name, f"{left}-{right}", lambda xp, make, x=x, y=y, f=run: f(xp, make, x, y))
        if dtypes[0] == "float32":
            for dtype in FLOATS:
                x = np.repeat(SPECIAL, len(SPECIAL)).astype(dtype)
                y = np.tile(SPECIAL, len(SPECIAL)).astype(dtype)
                yield Call(
                    name, f"special-{dtype}", lambda xp, make, x=x, y=y, f=run: f(xp, make, x, y)
                )
        x = values(dtypes[0], (3,), 1, high)
        number: Any = {"b": True, "i": 2}.get(np.dtype(dtypes[0]).kind, 2.5)
        yield Call(
            name, "number-right", lambda xp, make, x=x, n=name, k=number: getattr(xp, n)(make(x), k)
        )
        yield Call(
            name, "number-left", lambda xp, make, x=x, n=name, k=number: getattr(xp, n)(k, make(x))
        )


def elementwise() -> Iterator[Call]:
    """Calls of elementwise functions."""
    yield from _unary("abs negative positive sign square", NUMERIC)
    yield from _unary("ceil floor trunc round isfinite isinf isnan", NUMERIC)
    yield from _unary("real", FLOATS)
    yield from _unary("exp expm1 sin cos tan sinh cosh tanh asinh atan", FLOATS)
    yield from _unary("acos asin atanh", FLOATS, -1, 1)
    yield from _unary("acosh", FLOATS, 1, 4)
    yield from _unary("log log1p log2 log10 sqrt reciprocal signbit", FLOATS, 0.1, 4)
    yield from _unary("bitwise_invert", (*INTEGERS, "bool"))
    yield from _unary("logical_not", ("bool",))
    yield from _binary("add subtract multiply maximum minimum", NUMERIC)
    yield from _binary("equal not_equal", ALL)
    yield from _binary("less less_equal greater greater_equal", NUMERIC)
    yield from _binary("divide hypot copysign logaddexp atan2 nextafter", FLOATS)
    yield from _binary("floor_divide remainder", NUMERIC, zero=False)
    yield from _binary("pow", NUMERIC, 0, 4)
    yield from _binary("bitwise_and bitwise_or bitwise_xor", (*INTEGERS, "bool"))
    yield from _binary("bitwise_left_shift bitwise_right_shift", INTEGERS, 0, 4)
    yield from _binary("logical_and logical_or logical_xor", ("bool",))
    for dtype in NUMERIC:
        x = values(dtype, (2, 3))
        low, high = values(dtype, (3,), 0, 1), values(dtype, (2, 1), 2, 3)
        for label, bounds in (
            ("numbers", (1, 2)),
            ("low", (1, None)),
            ("high", (None, 2)),
            ("none", (None, None)),
        ):
            yield Call(
                "clip", f"{dtype}-{label}", lambda xp, make, x=x, b=bounds: xp.clip(make(x), *b)
            )
        yield Call(
            "clip",
            f"{dtype}-arrays",
            lambda xp, make, x=x, a=low, b=high: xp.clip(make(x), make(a), make(b)),
        )


OPERATORS = {
    **{f"__{n}__": FLOATS + INTEGERS for n in ("add", "sub", "mul", "floordiv", "mod", "pow")},
    "__truediv__": FLOATS,
    **{f"__{n}__": ALL for n in ("eq", "ne")},
    **{f"__{n}__": NUMERIC for n in ("lt", "le", "gt", "ge")},
    **{f"__{n}__": (*INTEGERS, "bool") for n in ("and", "or", "xor")},
    **{f"__{n}__": INTEGERS for n in ("lshift", "rshift")},
}


def methods() -> Iterator[Call]:
    """Calls of an array's operators and methods."""
    for name, dtypes in OPERATORS.items():
        stem = name.strip("_")
        for dtype in dtypes:
            x, y = values(dtype, (2, 3), 1, 4), values(dtype, (3,), 1, 4)
            yield Call(name, dtype, lambda xp, make, x=x, y=y, n=name: getattr(make(x), n)(make(y)))
            number: Any = {"b": True, "f": 2.0}.get(np.dtype(dtype).kind, 2)
            yield Call(
                name,
                f"{dtype}-number",
                lambda xp, make, x=x, n=name, k=number: getattr(make(x), n)(k),
            )
            if stem in ("eq", "ne", "lt", "le", "gt", "ge"):
                continue
            yield Call(
                f"__r{stem}__",
                dtype,
                lambda xp, make, x=x, n=f"__r{stem}__", k=number: getattr(make(x), n)(k),
            )
            yield Call(
                f"__i{stem}__",
                dtype,
                lambda xp, make, x=x, y=y, n=f"__i{stem}__": getattr(make(x), n)(make(y)),
            )
    for dtype in NUMERIC:
        x = values(dtype, (2, 3))
        for name in ("__abs__", "__neg__", "__pos__"):
            yield Call(name, dtype, lambda xp, make, x=x, n=name: getattr(make(x), n)())
    for dtype in (*INTEGERS, "bool"):
        x = values(dtype, (2, 3))
        yield Call("__invert__", dtype, lambda xp, make, x=x: ~make(x))
    x = values("float32", (2, 3, 4))
    yield Call("__matmul__", "", lambda xp, make, x=x: make(x) @ make(x).mT)
    yield Call("__rmatmul__", "", lambda xp, make, x=x: make(x).__rmatmul__(make(x).mT))
    yield Call("__imatmul__", "", lambda xp, make: make(np.eye(2)).__imatmul__(make(np.eye(2) * 2)))
    for name in ("shape", "ndim", "size"):
        yield Call(name, "", lambda xp, make, n=name: getattr(make(np.ones((2, 3))), n))
    yield Call("T", "", lambda xp, make: make(np.arange(6.0).reshape(2, 3)).T)
    yield Call("mT", "", lambda xp, make, x=x: make(x).mT)
    yield Call("dtype", "", lambda xp, make: make(np.ones(2, "int16")).dtype == xp.int16)
    yield Call("device", "", lambda xp, make: make(np.ones(2)).device in _devices(xp))
    yield Call(
        "to_device", "", lambda xp, make: make(np.ones(2)).to_device(make(np.ones(2)).device)
    )
    yield Call(
        "__array_namespace__", "", lambda xp, make: make(np.ones(2)).__array_namespace__() is xp
    )
    for cast in (bool, int, float):
        yield Call(f"__{cast.__name__}__", "", lambda xp, make, c=cast: c(make(np.float64(2.0))))
    yield Call("__complex__", "", lambda xp, make: complex(make(np.float64(2.0))))
    yield Call("__index__", "", lambda xp, make: [1, 2, 3][make(np.int64(2))])
    yield Call("__len__", "", lambda xp, make: make(np.ones((4, 2))).shape[0])
    yield Call("__dlpack_device__", "", lambda xp, make: len(make(np.ones(2)).__dlpack_device__()))
    yield Call("__dlpack__", "", lambda xp, make: make(np.ones(2)).__dlpack__() is not None)
    yield from _indexing()


def _devices(xp: Any) -> Any:
    return xp.__array_namespace_info__().devices()


KEYS: dict[str, Any] = {
    "int": (1, ...),
    "negative": (-1, ...),
    "slice": (slice(None, None, 2), ...),
    "backwards": (slice(None, None, -1), ...),
    "none": (None, ...),
    "ellipsis": ...,
    "tuple": (0, slice(1, 3), ...),
    "ellipsis-int": (..., 1),
    "none-inside": (slice(None), None, 1, ...),
    "empty": (slice(2, 2), ...),
    "all-ints": (1, 2, 3),
}


def _indexing() -> Iterator[Call]:
    x = np.arange(24.0).reshape(2, 3, 4)
    for label, key in KEYS.items():
        yield Call("__getitem__", label, lambda xp, make, k=key: make(x)[k])
        yield Call("__setitem__", label, lambda xp, make, k=key: _set(make(x.copy()), k, -1.0))
    mask = x % 3 == 0
    yield Call("__getitem__", "mask", lambda xp, make: make(x)[make(mask)])
    yield Call(
        "__getitem__",
        "mask-first",
        lambda xp, make: make(x[:, 0, 0])[make(np.array([True, False]))],
    )
    yield Call("__getitem__", "mask-none", lambda xp, make: make(x)[make(np.zeros_like(mask))])
    yield Call("__setitem__", "mask", lambda xp, make: _set(make(x.copy()), make(mask), 0.0))
    yield Call("__setitem__", "array", lambda xp, make: _set(make(x.copy()), (0, ...), make(x[1])))
    index = np.array([1, 0, 1])
    yield Call("__getitem__", "integers", lambda xp, make: make(x)[make(index), 0, 1])
    yield Call(
        "__getitem__",
        "integers-two",
        lambda xp, make: make(x)[make(index), make(np.array([2, 1, -1])), 0],
    )


def _set(x: Any, key: Any, value: Any) -> Any:
    x[key] = value
    return x


def creation() -> Iterator[Call]:  # noqa: C901  # a table
    """Calls of creation functions; `make` is used to learn the element types."""
    for dtype in (None, *ALL):
        for shape in ((), 3, (2, 3), (0,), (2, 0)):
            for name in ("zeros", "ones"):
                yield Call(
                    name,
                    f"{dtype}-{shape}",
                    lambda xp, make, n=name, s=shape, d=dtype: getattr(xp, n)(s, **_typed(xp, d)),
                )
            yield Call(
                "empty",
                f"{dtype}-{shape}",
                lambda xp, make, s=shape, d=dtype: xp.empty(s, **_typed(xp, d)),
                exact=False,
            )
            yield Call(
                "full",
                f"{dtype}-{shape}",
                lambda xp, make, s=shape, d=dtype: xp.full(s, _number(d), **_typed(xp, d)),
            )
    for dtype in ALL:
        x = values(dtype, (2, 3))
        for name in ("zeros_like", "ones_like"):
            yield Call(name, dtype, lambda xp, make, n=name, x=x: getattr(xp, n)(make(x)))
        yield Call("empty_like", dtype, lambda xp, make, x=x: xp.empty_like(make(x)), exact=False)
        yield Call(
            "full_like", dtype, lambda xp, make, x=x, d=dtype: xp.full_like(make(x), _number(d))
        )
        yield Call("asarray", dtype, lambda xp, make, x=x: xp.asarray(make(x), copy=True))
        yield Call("from_dlpack", dtype, lambda xp, make, x=x: xp.from_dlpack(make(x)))
        for name in ("tril", "triu"):
            for shape in MATRICES:  # type: ignore[assignment]
                for k in (-1, 0, 1, 5):
                    y = values(dtype, shape)
                    yield Call(
                        name,
                        f"{dtype}-{shape}-{k}",
                        lambda xp, make, n=name, y=y, k=k: getattr(xp, n)(make(y), k=k),
                    )
    for given in (1, 2.5, True, [1, 2], [[1.0, 2], [3, 4]], [True, False], [], [[]]):  # type: ignore[var-annotated]
        yield Call("asarray", repr(given), lambda xp, make, g=given: xp.asarray(g))
        yield Call(
            "asarray",
            f"{given!r}-int16",
            lambda xp, make, g=given: xp.asarray(g, dtype=xp.int16),
        )
    for args in ((3,), (1, 4), (0, 5, 2), (5, 0, -2), (0.0, 1.0, 0.25), (3, 3), (3, 1), (2.5,)):
        yield Call("arange", repr(args), lambda xp, make, a=args: xp.arange(*a))
    for dtype in NUMERIC:
        yield Call("arange", dtype, lambda xp, make, d=dtype: xp.arange(4, dtype=getattr(xp, d)))
    for args, options in (
        ((0, 1, 5), {}),
        ((0, 1, 5), {"endpoint": False}),
        ((2, 2, 3), {}),
        ((1, 0, 1), {}),
        ((0, 1, 0), {}),
    ):
        yield Call(
            "linspace",
            f"{args}-{options}",
            lambda xp, make, a=args, o=options: xp.linspace(*a, **o),
        )
    for args, options in (((3,), {}), ((2, 3), {"k": 1}), ((3, 2), {"k": -1}), ((0,), {})):  # type: ignore[assignment]
        yield Call("eye", f"{args}-{options}", lambda xp, make, a=args, o=options: xp.eye(*a, **o))
    for indexing in ("xy", "ij"):
        yield Call(
            "meshgrid",
            indexing,
            lambda xp, make, i=indexing: xp.meshgrid(
                make(np.arange(3.0)), make(np.arange(2.0)), indexing=i
            ),
        )


def _typed(xp: Any, dtype: str | None) -> dict[str, Any]:
    return {} if dtype is None else {"dtype": getattr(xp, dtype)}


def _number(dtype: str | None) -> Any:
    kind = "f" if dtype is None else np.dtype(dtype).kind
    return {"b": True, "f": 2.5}.get(kind, 3)


def data_types() -> Iterator[Call]:
    """Calls of functions of element types."""
    for a in ALL:
        x = values(a, (2, 3), 0, 4)
        for b in ALL:
            yield Call(
                "astype",
                f"{a}-{b}",
                lambda xp, make, x=x, b=b: xp.astype(make(x), getattr(xp, b)),
            )
        for kind in ("bool", "integral", "real floating", "numeric", "unsigned integer"):
            yield Call(
                "isdtype",
                f"{a}-{kind}",
                lambda xp, make, a=a, k=kind: xp.isdtype(getattr(xp, a), k),
            )
        yield Call(
            "isdtype",
            f"{a}-tuple",
            lambda xp, make, a=a: xp.isdtype(getattr(xp, a), (xp.int8, "real floating")),
        )
    for a, b in _pairs(ALL):
        yield Call(
            "can_cast",
            f"{a}-{b}",
            lambda xp, make, a=a, b=b: xp.can_cast(getattr(xp, a), getattr(xp, b)),
        )
        yield Call(
            "result_type",
            f"{a}-{b}",
            lambda xp, make, a=a, b=b: (
                make(np.zeros(0)).dtype is not None
                and _name(xp.result_type(getattr(xp, a), make(np.zeros(2, b))))
            ),
        )
    for dtype in FLOATS:
        for field in ("bits", "eps", "max", "min", "smallest_normal"):
            yield Call(
                "finfo",
                f"{dtype}-{field}",
                lambda xp, make, d=dtype, f=field: float(getattr(xp.finfo(getattr(xp, d)), f)),
            )
    for dtype in INTEGERS:
        for field in ("bits", "max", "min"):
            yield Call(
                "iinfo",
                f"{dtype}-{field}",
                lambda xp, make, d=dtype, f=field: int(getattr(xp.iinfo(getattr(xp, d)), f)),
            )
    yield Call("broadcast_shapes", "", lambda xp, make: xp.broadcast_shapes((2, 1), (3,), ()))
    yield Call(
        "broadcast_arrays",
        "",
        lambda xp, make: xp.broadcast_arrays(make(np.ones((2, 1))), make(np.arange(3.0))),
    )
    for shape in ((3,), (2, 3), (0, 3)):
        yield Call(
            "broadcast_to",
            repr(shape),
            lambda xp, make, s=shape: xp.broadcast_to(make(np.arange(3.0)), s),
        )


def _name(dtype: Any) -> str:
    return str(np.dtype(getattr(dtype, "_np_dtype", dtype)))


def manipulation() -> Iterator[Call]:
    """Calls of functions that arrange elements."""
    for dtype in ALL:
        x = values(dtype, (2, 3, 4))

        def call(name: str, label: str, run: Any, dtype: str = dtype, x: Any = x) -> Call:
            return Call(name, f"{dtype}-{label}", lambda xp, make: run(xp, make(x)))

        for axis in (0, 1, -1, None):
            yield call("concat", f"{axis}", lambda xp, x, a=axis: xp.concat([x, x, x], axis=a))
        for axis in (0, 2, -1, -4):
            yield call("expand_dims", f"{axis}", lambda xp, x, a=axis: xp.expand_dims(x, a))
        for axis in (None, 0, -1, (0, 2)):  # type: ignore[assignment]
            yield call("flip", f"{axis}", lambda xp, x, a=axis: xp.flip(x, axis=a))
        yield call("moveaxis", "one", lambda xp, x: xp.moveaxis(x, 0, -1))
        yield call("moveaxis", "two", lambda xp, x: xp.moveaxis(x, (0, 1), (2, 0)))
        yield call("permute_dims", "", lambda xp, x: xp.permute_dims(x, (2, 0, 1)))
        for axis in (None, 0, -1):
            yield call("repeat", f"{axis}", lambda xp, x, a=axis: xp.repeat(x, 2, axis=a))
        yield call("repeat", "array", lambda xp, x: xp.repeat(x, xp.asarray([1, 0, 2]), axis=1))
        for shape in ((6, 4), (-1,), (2, -1, 2), (24,)):
            yield call("reshape", f"{shape}", lambda xp, x, s=shape: xp.reshape(x, s))
        for shift, axis in ((1, None), (-1, 0), ((1, 2), (0, 1)), (5, -1)):  # type: ignore[assignment]
            yield call(
                "roll", f"{shift}-{axis}", lambda xp, x, s=shift, a=axis: xp.roll(x, s, axis=a)
            )
        yield call("squeeze", "", lambda xp, x: xp.squeeze(x[None, ..., None], (0, -1)))
        for axis in (0, 1, -1):
            yield call("stack", f"{axis}", lambda xp, x, a=axis: xp.stack([x, x], axis=a))
            yield call("unstack", f"{axis}", lambda xp, x, a=axis: xp.unstack(x, axis=a))
        yield call("tile", "", lambda xp, x: xp.tile(x, (2, 1, 1, 2)))
        for axis in (0, 1, -1):
            yield call(
                "take", f"{axis}", lambda xp, x, a=axis: xp.take(x, xp.asarray([1, 0, 1]), axis=a)
            )
        yield call(
            "take_along_axis",
            "",
            lambda xp, x: xp.take_along_axis(x, xp.asarray([[[3, 0]]] * 1), axis=-1),
        )
    for a, b in _pairs(NUMERIC):
        x, y = values(a, (2, 3)), values(b, (2, 3))
        yield Call("concat", f"{a}-{b}", lambda xp, make, x=x, y=y: xp.concat([make(x), make(y)]))
        yield Call("stack", f"{a}-{b}", lambda xp, make, x=x, y=y: xp.stack([make(x), make(y)]))
        yield Call(
            "where",
            f"{a}-{b}",
            lambda xp, make, x=x, y=y: xp.where(make(np.eye(2, 3) > 0), make(x), make(y)),
        )


def reductions() -> Iterator[Call]:  # noqa: C901  # a table
    """Calls of statistical, searching, sorting, set and utility functions."""
    axes: tuple[Any, ...] = (None, 0, -1, (0, 1))
    for dtype in ALL:
        for shape in ((3,), (2, 3), (2, 3, 4), (), (0, 3), (3, 0)):
            x = values(dtype, shape)
            for axis in axes[: 1 if not shape else 3 if len(shape) < 2 else 4]:
                for keepdims in (False, True):
                    yield from _reductions(dtype, x, {"axis": axis, "keepdims": keepdims})
        x = values(dtype, (3, 5))
        for name in ("unique_all", "unique_counts", "unique_inverse", "unique_values"):
            yield Call(name, dtype, lambda xp, make, n=name, x=x: getattr(xp, n)(make(x)))
        yield Call("nonzero", dtype, lambda xp, make, x=x: xp.nonzero(make(x)))
        if dtype not in INTEGERS:
            continue
        y = values(dtype, (4,))
        for invert in (False, True):
            yield Call(
                "isin",
                f"{dtype}-{invert}",
                lambda xp, make, x=x, y=y, i=invert: xp.isin(make(x), make(y), invert=i),
            )
    for dtype in NUMERIC:
        x = values(dtype, (3, 5))
        for axis in (0, -1):
            for descending in (False, True):
                options = {"axis": axis, "descending": descending}
                for name in ("sort", "argsort"):
                    yield Call(
                        name,
                        f"{dtype}-{options}",
                        lambda xp, make, n=name, x=x, o=options: getattr(xp, n)(make(x), **o),
                    )
            for initial in (False, True):
                for name in ("cumulative_sum", "cumulative_prod"):
                    yield Call(
                        name,
                        f"{dtype}-{axis}-{initial}",
                        lambda xp, make, n=name, x=x, a=axis, i=initial: getattr(xp, n)(
                            make(x), axis=a, include_initial=i
                        ),
                    )
            yield Call(
                "diff", f"{dtype}-{axis}", lambda xp, make, x=x, a=axis: xp.diff(make(x), axis=a)
            )
        yield Call("diff", f"{dtype}-2", lambda xp, make, x=x: xp.diff(make(x), n=2))
        yield Call(
            "diff",
            f"{dtype}-borders",
            lambda xp, make, x=x: xp.diff(make(x), prepend=make(x), append=make(x)),
        )
        row = np.sort(values(dtype, (6,)))
        for side in ("left", "right"):
            yield Call(
                "searchsorted",
                f"{dtype}-{side}",
                lambda xp, make, r=row, x=x, s=side: xp.searchsorted(make(r), make(x), side=s),
            )
    mask = np.array([[True, False], [False, True]])
    yield Call("where", "numbers", lambda xp, make: xp.where(make(mask), make(np.ones(2)), 2.0))
    yield Call(
        "where", "number-first", lambda xp, make: xp.where(make(mask), 2, make(np.arange(2)))
    )


def _reductions(dtype: str, x: Any, options: dict[str, Any]) -> Iterator[Call]:
    names = ["all", "any", "count_nonzero"]
    if dtype != "bool":
        names += ["sum", "prod"]
    if dtype != "bool" and x.size:
        names += ["max", "min"]
    if dtype in FLOATS and x.size:
        names += ["mean", "std", "var"]
    if dtype != "bool" and x.size and not isinstance(options["axis"], tuple):
        names += ["argmax", "argmin"]
    for name in names:
        yield Call(
            name,
            f"{dtype}-{x.shape}-{options['axis']}-{options['keepdims']}",
            lambda xp, make, n=name: getattr(xp, n)(make(x), **options),
        )
    if dtype in FLOATS and x.size > 1:
        for name in ("std", "var"):
            yield Call(
                name,
                f"{dtype}-{x.shape}-{options['axis']}-{options['keepdims']}-correction",
                lambda xp, make, n=name: getattr(xp, n)(make(x), correction=1, **options),
            )


def linear_algebra() -> Iterator[Call]:  # noqa: C901  # a table
    """Calls of matrix functions and of the ``linalg`` extension."""
    for a, b in _pairs(NUMERIC):
        x, y = values(a, (2, 3)), values(b, (3, 2))
        for name in ("matmul", "tensordot", "vecdot"):
            for home in ("", "linalg."):
                second = y.T if name == "vecdot" else y
                options = {"axes": 1} if name == "tensordot" else {}
                yield Call(
                    home + name,
                    f"{a}-{b}",
                    lambda xp, make, n=name, h=home, x=x, y=second, o=options: getattr(
                        xp.linalg if h else xp, n
                    )(make(x), make(y), **o),
                )
    for first, second in (((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((4, 2, 3), (3, 2))):
        x, y = values("float32", first), values("float32", second)
        yield Call(
            "matmul", f"{first}-{second}", lambda xp, make, x=x, y=y: xp.matmul(make(x), make(y))
        )
    x = values("float32", (2, 3, 4))
    yield Call(
        "tensordot",
        "pairs",
        lambda xp, make: xp.tensordot(make(x), make(x), axes=((0, 2), (0, 2))),
    )
    yield Call("vecdot", "axis", lambda xp, make: xp.vecdot(make(x), make(x), axis=-2))
    for dtype in FLOATS:
        yield from _decompositions(dtype)
        for shape in ((3,), (2, 3), (2, 3, 4)):
            y = values(dtype, shape)
            for order in (1, 2, 3, 0, float("inf"), -float("inf")):
                for axis in (None, -1):
                    for keepdims in (False, True):
                        yield Call(
                            "linalg.vector_norm",
                            f"{dtype}-{shape}-{order}-{axis}-{keepdims}",
                            lambda xp, make, y=y, o=order, a=axis, k=keepdims: (
                                xp.linalg.vector_norm(make(y), ord=o, axis=a, keepdims=k)
                            ),
                        )
    for dtype in NUMERIC:
        y = values(dtype, (2, 3, 4))
        for k in (-1, 0, 2):
            for name in ("diagonal", "trace"):
                yield Call(
                    f"linalg.{name}",
                    f"{dtype}-{k}",
                    lambda xp, make, n=name, y=y, k=k: getattr(xp.linalg, n)(make(y), offset=k),
                )
        for home in ("", "linalg."):
            yield Call(
                f"{home}matrix_transpose",
                dtype,
                lambda xp, make, h=home, y=y: (xp.linalg if h else xp).matrix_transpose(make(y)),
            )
        v = values(dtype, (3,))
        yield Call("linalg.outer", dtype, lambda xp, make, v=v: xp.linalg.outer(make(v), make(v)))
        w = values(dtype, (2, 3))
        yield Call(
            "linalg.cross",
            dtype,
            lambda xp, make, v=v, w=w: xp.linalg.cross(make(w), make(w[::-1].copy())),
        )


def _decompositions(dtype: str) -> Iterator[Call]:
    for shape in ((2, 2), (3, 3), (2, 3, 3), (0, 2, 2)):
        x = positive(shape, dtype)

        def call(name: str, label: str, run: Any, shape: Any = shape, x: Any = x) -> Call:
            return Call(
                f"linalg.{name}",
                f"{dtype}-{shape}-{label}",
                lambda xp, make: run(xp.linalg, make(x)),
            )

        for upper in (False, True):
            yield call("cholesky", f"{upper}", lambda la, x, u=upper: la.cholesky(x, upper=u))
        for name in ("det", "inv", "eigvalsh"):
            yield call(name, "", lambda la, x, n=name: getattr(la, n)(x))
        yield call("slogdet", "", lambda la, x: tuple(la.slogdet(x)))
        yield call("eigh", "", lambda la, x: _composed(la.eigh(x)))
        for n in (-2, 0, 1, 3):
            yield call("matrix_power", f"{n}", lambda la, x, n=n: la.matrix_power(x, n))
        yield call("solve", "", lambda la, x: la.solve(x, x + 1))
    square = positive((2, 2), dtype)
    yield Call(
        "linalg.solve",
        f"{dtype}-vector",
        lambda xp, make, x=square: xp.linalg.solve(make(x), make(x)[0, :]),
    )
    for shape in ((2, 2), (3, 2), (2, 3), (4, 2, 3)):
        x = values(dtype, shape)
        for full in (False, True):
            yield Call(
                "linalg.svd",
                f"{dtype}-{shape}-{full}",
                lambda xp, make, x=x, f=full: _svd_facts(xp.linalg.svd(make(x), full_matrices=f)),
            )
        for mode in ("reduced", "complete"):
            yield Call(
                "linalg.qr",
                f"{dtype}-{shape}-{mode}",
                lambda xp, make, x=x, m=mode: _qr_facts(xp.linalg.qr(make(x), mode=m)),
            )
        for name in ("svdvals", "pinv", "matrix_rank"):
            yield Call(
                f"linalg.{name}",
                f"{dtype}-{shape}",
                lambda xp, make, n=name, x=x: getattr(xp.linalg, n)(make(x)),
            )
        for order in ("fro", "nuc", 1, -1, 2, -2, float("inf"), -float("inf")):
            for keepdims in (False, True):
                yield Call(
                    "linalg.matrix_norm",
                    f"{dtype}-{shape}-{order}-{keepdims}",
                    lambda xp, make, x=x, o=order, k=keepdims: xp.linalg.matrix_norm(
                        make(x), ord=o, keepdims=k
                    ),
                )


def _composed(result: Any) -> Any:
    """Return eigenvalues, and the matrix that eigenvalues and eigenvectors make."""
    w, v = result.eigenvalues, result.eigenvectors
    return w, (v * w[..., None, :]) @ v.mT


def _svd_facts(result: Any) -> Any:
    """Return shapes, the singular values, and the product of the first factors."""
    k = result.S.shape[-1]
    u, vh = result.U[..., :k], result.Vh[..., :k, :]
    return result.U.shape, result.Vh.shape, result.S, (u * result.S[..., None, :]) @ vh


def _qr_facts(result: Any) -> Any:
    return result.Q.shape, result.R.shape, result.Q @ result.R


def all_calls() -> list[Call]:
    """Return all calls, in a stable order."""
    parts = (elementwise, methods, creation, data_types, manipulation, reductions, linear_algebra)
    return [call for part in parts for call in part()]


def signature_problem(ours: Any, standard: Any) -> str:
    """Return what keeps a function from being called as the standard's; empty for nothing."""
    try:
        have = inspect.signature(ours).parameters
    except ValueError:
        return ""
    open_ended = any(p.kind is p.VAR_KEYWORD for p in have.values())
    listed = [p for p in have.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    takes_any = any(p.kind is p.VAR_POSITIONAL for p in have.values())
    place = 0
    for name, wanted in inspect.signature(standard).parameters.items():
        if wanted.kind is wanted.VAR_POSITIONAL:
            if not takes_any:
                return f"*{name} is missing"
            continue
        if wanted.kind is wanted.POSITIONAL_ONLY:
            if place >= len(listed) and not takes_any:
                return f"argument {place} ({name}) is missing"
            place += 1
            continue
        if name not in have:
            if not open_ended:
                return f"{name} is missing"
            continue
        if wanted.kind is wanted.POSITIONAL_OR_KEYWORD:
            if place >= len(listed) or listed[place].name != name:
                return f"{name} is not argument {place}"
            place += 1
        default = have[name].default
        if wanted.default is not wanted.empty and default is wanted.empty:
            return f"{name} has no default"
    return ""
