"""Functions that NumPy itself computes: on copies of the values, without a gradient.

MXNet has no operators for them either. Arrays become NumPy's, whatever nests them, and NumPy's
answers become arrays; numbers stay as they are. The signatures are those of NumPy 1.23; what later
versions of NumPy renamed or dropped is said here in other words.
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
from gluonish.ndarray import recording
from gluonish.ndarray.ndarray import NDArray
from gluonish.numpy.calls import from_official
from gluonish.numpy.signatures import name_function, parse_signature

__all__ = ["call_official", "gone", "official_function"]


# What NumPy raises at arguments that it cannot work with.
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


def _msort(a: Any) -> Any:
    return np.sort(a, axis=0)


def _corrcoef(x: Any, bias: Any = None, ddof: Any = None, **kwargs: Any) -> Any:
    return np.corrcoef(x, **kwargs)  # neither has had an effect for long


def _lstsq(a: Any, b: Any, rcond: Any = None) -> Any:
    return np.linalg.lstsq(a, b, rcond=-1 if rcond == "warn" else rcond)


# What NumPy calls differently by now.
_ELSEWHERE: Mapping[str, Callable[..., Any]] = {
    "alltrue": np.all,
    "corrcoef": _corrcoef,
    "histogram2d": _without_normed(np.histogram2d),
    "histogramdd": _without_normed(np.histogramdd),
    "in1d": _in1d,
    "lstsq": _lstsq,
    "msort": _msort,
    "nanpercentile": _with_method(np.nanpercentile),
    "nanquantile": _with_method(np.nanquantile),
    "trapz": np.trapezoid,
}


def _to_official(value: Any) -> Any:
    """Return a value with NumPy's arrays for ours, inside lists, tuples and dicts too."""
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
        parts = [_from_official(item, context) for item in value]
        return parts if isinstance(value, list) else tuple(parts)
    return value


def _context_of(what: str, values: Any) -> Context | None:
    """Return the device of the first array among values, after a look at all of them."""
    found = None
    for value in values:
        if isinstance(value, list | tuple):
            found = found or _context_of(what, value)
        elif isinstance(value, NDArray):
            found = found or value.context
            if value._link is not None and recording.mode.get() & recording.RECORDING:
                raise AutogradError(
                    f"{what}: expected arrays outside the recorded graph, got one inside it; it "
                    "has no gradient: call it on x.detach(), or outside of record()"
                )
        elif hasattr(value, "__apply__"):
            raise NotSupportedError(
                f"{what}: expected arrays with values, got {type(value).__name__}; NumPy itself "
                "computes it, so do not hybridize this block"
            )
    return found


def call_official(function: Callable[..., Any], what: str, args: Any, kwargs: Any) -> Any:
    """Have NumPy compute, from copies of the arrays among the arguments.

    Raises:
        AutogradError: An argument is part of the graph that is recorded.
        NotSupportedError: An argument is a Symbol.
        NoValuesError: An argument has no values yet, as while a block is traced.
        OperatorError: NumPy refuses the arguments; an OperatorIndexError for an axis.
    """
    kwargs = dict(kwargs)
    context = _context_of(what, (*args, *kwargs.values()))
    out = kwargs.pop("out", None)
    try:
        result = function(*_to_official(tuple(args)), **_to_official(kwargs))
    except NoValuesError:  # a block that is traced goes on without a graph
        raise
    except _REFUSALS as error:
        raise run_error(error)(f"{what}: expected what NumPy takes, got {error}") from error
    made = _from_official(result, context)
    if out is None:
        return made
    if not isinstance(out, NDArray):
        raise ArgumentTypeError(f"{what}: expected out to be an array, got {type(out).__name__}")
    out[...] = made
    return out


def official_function(name: str, text: str = "", home: Any = np, prefix: str = "") -> Any:
    """Return a function that NumPy computes, with the signature that ``text`` spells.

    Without a text it is what NumPy does not tell; ``...`` in it stands for "not given".
    """
    compute = _ELSEWHERE.get(name) or getattr(home, name)
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
        f"{line}\n\nNumPy computes it, on copies of the values: arguments and results are those of "
        f"``numpy.{prefix}{name}``,\nwith arrays in place of NumPy's. It has no gradient.\n\n"
        f"Args:\n{_arguments(signature)}\n\n"
        "Raises:\n"
        "    AutogradError: An argument is part of the graph that is recorded.\n"
        "    NotSupportedError: An argument has no values yet, as while a block is traced.\n"
        "    OperatorError: NumPy refuses the arguments."
    )
    return name_function(function, name, doc, signature)


def _arguments(signature: inspect.Signature | None) -> str:
    names = ("args", "kwargs") if signature is None else signature.parameters
    return "\n".join(f"    {name}: That of NumPy." for name in names)


def _by_name(
    signature: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return a call's arguments with all optional ones by name, and without those not given."""
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
    """Return a function that says that NumPy dropped it, as MXNet's does."""

    def function(*args: Any, **kwds: Any) -> NoReturn:
        raise NotSupportedError(
            f"{name}: expected a function that NumPy has, got one that it dropped in version "
            "1.20; use the package numpy_financial"
        )

    doc = f"Refused: NumPy dropped ``{name}``; the package numpy_financial has it."
    name_function(function, name, doc)
    return function
