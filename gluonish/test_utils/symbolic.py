"""Checks of Symbols, bound to arrays and run forward and backward."""

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gluonish.core.context import Context
from gluonish.core.dtype import normalize_dtype
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.graph.ir import topological_order
from gluonish.ndarray.creation import array
from gluonish.ndarray.ndarray import NDArray
from gluonish.symbol.binding import bind, simple_bind
from gluonish.symbol.executor import Executor
from gluonish.symbol.symbol import Symbol
from gluonish.test_utils.comparison import assert_almost_equal
from gluonish.test_utils.random_arrays import normal
from gluonish.test_utils.surroundings import default_context
from gluonish.test_utils.tolerances import Tolerance

Location = Mapping[str, Any] | Sequence[Any]

_FLOATS = ("float16", "float32", "float64")


def float_dtype(name: str, dtype: Any) -> Any:
    """Return the dtype for a check; None for ``"asnumpy"``, which keeps the dtypes of the arrays.

    Raises:
        ArgumentError: ``dtype`` is not ``"asnumpy"``, float16, float32 or float64.
    """
    if isinstance(dtype, str) and dtype == "asnumpy":
        return None
    found = normalize_dtype(dtype)
    if found.name not in _FLOATS:
        raise ArgumentError(
            f"{name}: expected dtype to be one of {', '.join(_FLOATS)}, got {found.name}"
        )
    return found


def named(name: str, what: str, given: Any, names: Sequence[str]) -> dict[str, Any]:
    """Return values by name: a dict unchanged, a list or tuple in the order of the names.

    Raises:
        ArgumentError: A dict has an unknown name, or a list is too long.
        ArgumentTypeError: ``given`` is not a dict, list or tuple.
    """
    if isinstance(given, Mapping):
        unknown = [key for key in given if key not in names]
        if unknown:
            raise ArgumentError(f"{name}: expected {what} among {list(names)}, got {unknown[0]!r}")
        return dict(given)
    if not isinstance(given, list | tuple):
        raise ArgumentTypeError(
            f"{name}: expected {what} as a list, tuple or dict, got {type(given).__name__}"
        )
    if len(given) > len(names):
        raise ArgumentError(f"{name}: expected {what} for {list(names)}, got {len(given)}")
    return dict(zip(names, given, strict=False))


def as_ndarray(name: str, value: Any, ctx: Context, dtype: Any) -> NDArray:
    """Return a value as an NDArray on a device; an NDArray keeps its dtype.

    Args:
        name: Name of the calling function, for error messages.
        value: The value.
        ctx: Device of a new NDArray.
        dtype: Dtype of a new NDArray.

    Raises:
        ArgumentTypeError: The value is not an array.
    """
    if isinstance(value, NDArray):
        on_device: NDArray = value.as_in_context(ctx)
        return on_device
    if not isinstance(value, np.ndarray | np.generic):
        raise ArgumentTypeError(
            f"{name}: expected NDArrays or NumPy arrays, got {type(value).__name__}"
        )
    return array(value, ctx, value.dtype if dtype is None else dtype)


def bound_arrays(
    name: str,
    sym: Symbol,
    location: Location,
    aux_states: Location | None,
    ctx: Context | None,
    dtype: Any,
) -> tuple[Context, dict[str, NDArray], dict[str, NDArray]]:
    """Return the device, the arguments and the auxiliary states to bind a Symbol with.

    Raises:
        ArgumentError: An array is missing, or its name is unknown.
        ArgumentTypeError: A value is not an array.
    """
    context = ctx or default_context()
    groups = (
        ("location", location, sym.list_arguments()),
        ("aux_states", {} if aux_states is None else aux_states, sym.list_auxiliary_states()),
    )
    found: list[dict[str, NDArray]] = []
    for what, given, names in groups:
        values = named(name, what, given, names)
        missing = [each for each in names if each not in values]
        if missing:
            raise ArgumentError(
                f"{name}: expected {what} for {list(names)}, got none for {missing[0]!r}"
            )
        found.append({key: as_ndarray(name, values[key], context, dtype) for key in names})
    return context, found[0], found[1]


def simple_forward(
    sym: Symbol, ctx: Context | None = None, is_train: bool = False, **inputs: Any
) -> Any:
    """Compute a Symbol's outputs from NumPy arrays.

    Args:
        sym: The graph.
        ctx: Device; `default_context` by default.
        is_train: Whether to run in training mode.
        **inputs: Arrays by variable name; NumPy arrays are converted to float32.

    Returns:
        A NumPy array, or a list of arrays for several outputs.

    Raises:
        ArgumentError: An array is missing, or its name is unknown.
    """
    auxiliary = sym.list_auxiliary_states()
    states = {key: value for key, value in inputs.items() if key in auxiliary}
    arguments = {key: value for key, value in inputs.items() if key not in auxiliary}
    context, arrays, aux = bound_arrays("simple_forward", sym, arguments, states, ctx, np.float32)
    outputs = bind(sym, context, arrays, aux_states=aux).forward(is_train=is_train)
    values = [y.asnumpy() for y in outputs]
    return values[0] if len(values) == 1 else values


def check_symbolic_forward(
    sym: Symbol,
    location: Location,
    expected: Location,
    rtol: Tolerance = None,
    atol: Tolerance = None,
    aux_states: Location | None = None,
    ctx: Context | None = None,
    equal_nan: bool = False,
    dtype: Any = np.float32,
) -> list[NDArray]:
    """Check a Symbol's outputs outside training.

    Args:
        sym: The graph.
        location: Arrays of its arguments, in order or by name.
        expected: Arrays of its outputs, in order or by name; missing ones are not checked.
        rtol: Relative tolerance, as in `assert_almost_equal`.
        atol: Absolute tolerance.
        aux_states: Arrays of its auxiliary states, in order or by name.
        ctx: Device; `default_context` by default.
        equal_nan: Whether to treat two NaN as equal.
        dtype: Dtype that NumPy arrays are converted to, or ``"asnumpy"`` to keep their dtypes.

    Returns:
        The outputs.

    Raises:
        AssertionError: An output differs.
        ArgumentError: An array is missing, or its name is unknown.
    """
    name = "check_symbolic_forward"
    kind = float_dtype(name, dtype)
    context, arguments, states = bound_arrays(name, sym, location, aux_states, ctx, kind)
    executor = bind(sym, context, arguments, aux_states=states)
    outputs = executor.forward(is_train=False)
    got = dict(zip(sym.list_outputs(), outputs, strict=True))
    for key, want in named(name, "expected", expected, sym.list_outputs()).items():
        names = (f"EXPECTED_{key}", f"FORWARD_{key}")
        assert_almost_equal(want, got[key], rtol, atol, names, equal_nan)
    return outputs


def check_symbolic_backward(
    sym: Symbol,
    location: Location,
    out_grads: Location | None,
    expected: Location,
    rtol: Tolerance = None,
    atol: Tolerance = None,
    aux_states: Location | None = None,
    grad_req: Any = "write",
    ctx: Context | None = None,
    grad_stypes: Mapping[str, str] | None = None,
    equal_nan: bool = False,
    dtype: Any = np.float32,
) -> dict[str, NDArray]:
    """Check the gradients of a Symbol's arguments.

    The arrays for the gradients start with random values: ``"write"`` must replace these values,
    ``"add"`` must add to them, and ``"null"`` must not change them.

    Args:
        sym: The graph.
        location: Arrays of its arguments, in order or by name.
        out_grads: Gradients of its outputs, in order or by name; None for losses.
        expected: Gradients of its arguments, in order or by name; missing ones are not checked.
        rtol: Relative tolerance, as in `assert_almost_equal`.
        atol: Absolute tolerance.
        aux_states: Arrays of its auxiliary states, in order or by name.
        grad_req: ``"write"``, ``"add"`` or ``"null"``, for all arguments, in order or by name.
        ctx: Device; `default_context` by default.
        grad_stypes: Storage types of gradients by name of argument.
        equal_nan: Whether to treat two NaN as equal.
        dtype: Dtype that NumPy arrays are converted to, or ``"asnumpy"`` to keep their dtypes.

    Returns:
        The gradients of the arguments in ``expected``, by name.

    Raises:
        AssertionError: A gradient differs.
        ArgumentError: An array is missing, or its name is unknown.
    """
    name = "check_symbolic_backward"
    kind = float_dtype(name, dtype)
    context, arguments, states = bound_arrays(name, sym, location, aux_states, ctx, kind)
    references = named(name, "expected", expected, sym.list_arguments())
    requests = gradient_requests(name, grad_req, sym.list_arguments())
    start = {key: normal(size=arguments[key].shape) for key in references}
    gradients = start_gradients(start, arguments, grad_stypes or {})
    executor = bind(sym, context, arguments, gradients, requests, states)
    executor.forward(is_train=True)
    executor.backward(_heads(name, executor, out_grads, sym, context, kind))
    for key, want in references.items():
        got = gradients[key].asnumpy()
        names = (f"EXPECTED_{key}", f"BACKWARD_{key}")
        if requests[key] == "write":
            assert_almost_equal(want, got, rtol, atol, names, equal_nan)
            continue
        before = start[key].astype(got.dtype)
        reference = want if requests[key] == "add" else np.zeros_like(got)
        assert_almost_equal(reference, got - before, rtol, atol, names, equal_nan)
    return gradients


def gradient_requests(name: str, given: Any, names: list[str]) -> dict[str, str]:
    """Return the gradient request of each argument by name.

    Raises:
        ArgumentError: A request is not ``"write"``, ``"add"`` or ``"null"``.
    """
    requests = (
        dict.fromkeys(names, given)
        if isinstance(given, str)
        else {
            **dict.fromkeys(names, "null"),
            **named(name, "grad_req", given, names),
        }
    )
    for request in requests.values():
        if request not in ("write", "add", "null"):
            raise ArgumentError(
                f"{name}: expected grad_req to be write, add or null, got {request!r}"
            )
    return requests


def start_gradients(
    values: Mapping[str, Any], arguments: Mapping[str, NDArray], stypes: Mapping[str, str]
) -> dict[str, NDArray]:
    """Return gradient arrays with initial values, and the devices and dtypes of the arguments."""
    made = {}
    for key, value in values.items():
        like = arguments[key]
        dense = array(value, like.context, like.dtype)
        stype = stypes.get(key) or "default"
        made[key] = dense if stype == "default" else dense.tostype(stype)
    return made


def _heads(
    name: str, executor: Executor, out_grads: Any, sym: Symbol, ctx: Context, dtype: Any
) -> Any:
    if out_grads is None:
        return None
    outputs = sym.list_outputs()
    if isinstance(out_grads, list | tuple):  # additional gradients are ignored, as in MXNet
        out_grads = out_grads[: len(outputs)]
    given = named(name, "out_grads", out_grads, outputs)
    made = {key: as_ndarray(name, value, ctx, dtype) for key, value in given.items()}
    return [made.get(key) for key in executor.output_dict]


def check_speed(
    sym: Symbol,
    location: Mapping[str, Any] | None = None,
    ctx: Context | None = None,
    N: int = 20,
    grad_req: Any = None,
    typ: str = "whole",
    **kwargs: Any,
) -> float:
    """Return the mean time of one pass of a Symbol, in seconds.

    Args:
        sym: The graph.
        location: Arrays of its arguments by name; random ones by default.
        ctx: Device; `default_context` by default.
        N: Number of passes to time, after one that is not timed.
        grad_req: As in `Symbol.bind`; ``"write"`` by default.
        typ: ``"whole"`` for forward and backward, or ``"forward"`` for inference.
        **kwargs: Shapes by argument name, if ``location`` is None.

    Raises:
        ArgumentError: ``typ`` is unknown, or ``N`` is below 1.
        ArgumentTypeError: ``location`` is not a dict.
    """
    if typ not in ("whole", "forward"):
        raise ArgumentError(f"check_speed: expected typ 'whole' or 'forward', got {typ!r}")
    if N < 1:
        raise ArgumentError(f"check_speed: expected N of at least 1, got {N}")
    if location is not None and not isinstance(location, Mapping):
        raise ArgumentTypeError(
            f"check_speed: expected location as a dict, got {type(location).__name__}"
        )
    arrays = location or {}
    shapes = kwargs if location is None else {key: x.shape for key, x in arrays.items()}
    executor = simple_bind(sym, ctx or default_context(), grad_req or "write", **shapes)
    for key, x in executor.arg_dict.items():
        x[:] = arrays[key] if key in arrays else normal(size=x.shape)
    _pass(executor, typ)
    start = time.perf_counter()
    for _ in range(N):
        _pass(executor, typ)
    return (time.perf_counter() - start) / N


def _pass(executor: Executor, typ: str) -> None:
    """Run the executor once and wait for the results."""
    outputs = executor.forward(is_train=typ == "whole")
    if typ == "whole":
        executor.backward(outputs)
    for x in (*outputs, *(g for g in executor.grad_arrays if g is not None)):
        x.wait_to_read()


def same_symbol_structure(sym1: Symbol, sym2: Symbol) -> bool:
    """Return whether two graphs have the same operators in the same order; names may differ.

    Args:
        sym1: First graph.
        sym2: Second graph.
    """
    first, second = (
        [node.op and node.op.name for node in topological_order(sym._values)]
        for sym in (sym1, sym2)
    )
    return first == second
