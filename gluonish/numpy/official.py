"""Functions that are computed by NumPy, on copies of the values and without a gradient.

MXNet has no operators for them either. Arrays in the arguments, also nested ones, are converted to
NumPy, and arrays in the result back; numbers are unchanged, except by the rules of MXNet 2.0, by
which they are arrays of no axes. The signatures are those of NumPy 1.23;
arguments and functions that NumPy has renamed or removed since are translated.
"""

import inspect
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

import numpy as np

from gluonish.core.context import Context
from gluonish.core.errors import (
    ArgumentTypeError,
    AutogradError,
    NotSupportedError,
    NoValuesError,
    run_error,
)
from gluonish.core.mxnet_rules import follows_mxnet2
from gluonish.ndarray import recording
from gluonish.ndarray.ndarray import NDArray
from gluonish.numpy.calls import from_official, name_function, parse_signature

__all__ = ["call_official", "gone", "official_function"]


# Errors that NumPy raises for invalid arguments.
_REFUSALS = (
    *(TypeError, ValueError, IndexError, AttributeError, ArithmeticError, MemoryError),
    np.linalg.LinAlgError,
)


def _without_normed(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any, normed: bool | None = None, **kwargs: Any) -> Any:
        if normed:
            raise NotSupportedError("histogram: expected normed None, got True; use density=True")
        return function(*args, **kwargs)

    return call


def _with_method(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any, interpolation: str | None = None, **kwargs: Any) -> Any:
        if interpolation is not None:
            kwargs["method"] = interpolation
        return function(*args, **kwargs)

    return call


def _in1d(ar1: Any, ar2: Any, **kwargs: Any) -> Any:
    return np.isin(np.ravel(ar1), ar2, **kwargs)


def _corrcoef(x: Any, bias: Any = None, ddof: Any = None, **kwargs: Any) -> Any:
    return np.corrcoef(x, **kwargs)  # NumPy deprecated bias and ddof without effect


def _lstsq(a: Any, b: Any, rcond: Any = None) -> Any:
    return np.linalg.lstsq(a, b, rcond=-1 if rcond == "warn" else rcond)


def _count_nonzero(*args: Any, **kwargs: Any) -> Any:
    """Call NumPy's function; a count is an int in all of its versions and in MXNet 2.0."""
    found = np.count_nonzero(*args, **kwargs)
    return int(found) if isinstance(found, np.number) else found


# Functions and arguments that NumPy has renamed, or that answer otherwise in some of its versions.
_RENAMED: Mapping[str, Callable[..., Any]] = {
    "alltrue": np.all,
    "corrcoef": _corrcoef,
    "count_nonzero": _count_nonzero,
    "histogram2d": _without_normed(np.histogram2d),
    "histogramdd": _without_normed(np.histogramdd),
    "in1d": _in1d,
    "lstsq": _lstsq,
    "nanpercentile": _with_method(np.nanpercentile),
    "nanquantile": _with_method(np.nanquantile),
}


def _to_official(value: Any) -> Any:
    """Convert arrays to NumPy, including those in lists, tuples and dicts."""
    if isinstance(value, NDArray):
        return value.asnumpy()
    if isinstance(value, list | tuple):
        return type(value)(map(_to_official, value))
    if isinstance(value, dict):
        return {key: _to_official(item) for key, item in value.items()}
    return value


def _from_official(value: Any, context: Context | None) -> Any:
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        return from_official(value, context)
    if isinstance(value, list | tuple):
        items = [_from_official(item, context) for item in value]
        return items if isinstance(value, list) else tuple(items)
    if isinstance(value, np.number) and value.dtype.kind in "iuf" and follows_mxnet2():
        kind = np.int64 if value.dtype.kind in "iu" else value.dtype
        return from_official(np.asarray(value, kind), context)
    return value


def _context_of(what: str, values: Any) -> Context | None:
    """Return the device of the first array, after checking that all values can be converted."""
    found = None
    for value in values:
        if isinstance(value, list | tuple):
            found = found or _context_of(what, value)
        elif isinstance(value, NDArray):
            found = found or value.context
            if value._edge is not None and recording.mode.get() & recording.RECORDING:
                raise AutogradError(
                    f"{what}: expected arrays outside the recorded graph, got one inside it; it "
                    "has no gradient: call it on x.detach(), or outside of record()"
                )
        elif hasattr(value, "__apply__"):
            raise NotSupportedError(
                f"{what}: expected arrays with values, got {type(value).__name__}; NumPy computes "
                "this function, so do not hybridize the block"
            )
    return found


def call_official(function: Callable[..., Any], what: str, args: Any, kwargs: Any) -> Any:
    """Call a NumPy function with copies of the arrays in the arguments.

    Raises:
        AutogradError: An argument is part of the recorded graph.
        NotSupportedError: An argument is a Symbol.
        NoValuesError: An argument is a traced value.
        OperatorError: NumPy rejects the arguments; an OperatorIndexError for an axis.
    """
    kwargs = dict(kwargs)
    context = _context_of(what, (*args, *kwargs.values()))
    out = kwargs.pop("out", None)
    try:
        result = function(*_to_official(tuple(args)), **_to_official(kwargs))
    except NoValuesError:  # the caller continues without tracing
        raise
    except _REFUSALS as error:
        raise run_error(error)(
            f"{what}: expected arguments valid for NumPy, got {error}"
        ) from error
    made = _from_official(result, context)
    if out is None:
        return made
    if not isinstance(out, NDArray):
        raise ArgumentTypeError(f"{what}: expected out to be an array, got {type(out).__name__}")
    out[...] = made
    return out


def official_function(name: str, text: str = "", home: Any = np, prefix: str = "") -> Any:
    """Return a function computed by NumPy, with the signature in ``text`` (``...``: no default).

    ``text`` is empty for functions that have no signature in NumPy either.
    """
    compute = _RENAMED.get(name) or getattr(home, name)
    signature = parse_signature(text) if text else None

    def function(*args: Any, **kwargs: Any) -> Any:
        if signature is not None and not text.startswith("*"):
            try:
                args, kwargs = _by_name(signature, args, kwargs)
            except TypeError as error:
                raise ArgumentTypeError(f"{name}: expected ({text}), got {error}") from error
        return call_official(compute, name, args, kwargs)

    first = (inspect.getdoc(getattr(home, name, compute)) or name).strip().splitlines()
    line = next((line for line in first if line and not line.startswith(f"{name}(")), name)
    doc = (
        f"{line}\n\nCalls ``numpy.{prefix}{name}`` on copies of the values and returns arrays. It "
        "has no gradient.\n\n"
        f"Args:\n{_arguments(signature)}\n\n"
        "Raises:\n"
        "    AutogradError: An argument is part of the recorded graph.\n"
        "    NotSupportedError: An argument has no values, as while tracing a block.\n"
        "    OperatorError: NumPy refuses the arguments."
    )
    return name_function(function, name, doc, signature)


def _arguments(signature: inspect.Signature | None) -> str:
    names = ("args", "kwargs") if signature is None else signature.parameters
    return "\n".join(f"    {name}: As in NumPy." for name in names)


def _by_name(
    signature: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return a call's arguments, with optional ones passed by keyword and omitted ones left out."""
    bound = signature.bind(*args, **kwargs)
    positional: list[Any] = []
    named: dict[str, Any] = {}
    for key, value in bound.arguments.items():
        parameter = signature.parameters[key]
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            positional += value
        elif parameter.kind is inspect.Parameter.VAR_KEYWORD:
            named |= value
        elif parameter.default is inspect.Parameter.empty:
            positional.append(value)
        else:
            named[key] = value
    return tuple(positional), named


def gone(name: str) -> Callable[..., NoReturn]:
    """Return a function that always raises an error, for one that NumPy has removed."""

    def function(*args: Any, **kwds: Any) -> NoReturn:
        raise NotSupportedError(
            f"{name}: expected a function of NumPy, got one that NumPy removed in version 1.20; "
            "use the package numpy_financial"
        )

    doc = f"Not supported: NumPy removed ``{name}``; use the package numpy_financial."
    name_function(function, name, doc)
    return function
