"""Functions of `npx` whose arguments MXNet 2.0 renamed or reordered: both are accepted."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from gluonish.core.errors import NotSupportedError
from gluonish.core.mxnet_rules import follows_mxnet2
from gluonish.numpy.calls import name_function, parse_signature

__all__ = ["respelled"]


class _Spelling(NamedTuple):
    """The parameters of a function in MXNet 2.0.

    Attributes:
        parameters: The parameter list; its names and order are those of 2.0.
        renamed: Names of the operator's arguments by the new names.
        first: Index of the first positional argument that means something else than in 1.9.
        is_new: Whether a value at this index can only be meant as in 2.0.
        prepare: Changes the keyword arguments before the call.
    """

    parameters: str
    renamed: Mapping[str, str] = {}
    first: int | None = None
    is_new: Callable[[Any], bool] = lambda value: False
    prepare: Callable[[tuple[Any, ...], dict[str, Any]], None] = lambda args, kwargs: None


def _is_array(value: Any) -> bool:
    return hasattr(value, "__apply__")


def _without_bias(args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Set ``no_bias`` where no bias is passed; by the rules of MXNet 2.0 where it is not given."""
    bias = args[2] if len(args) > 2 else kwargs.get("bias")
    if len(args) < 5 and (bias is None or follows_mxnet2()):
        kwargs.setdefault("no_bias", True)


def _without_length(args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Refuse lengths, which MXNet's `log_softmax` names without accepting them."""
    if kwargs.pop("length", None) is not None:
        raise NotSupportedError(
            "log_softmax: expected no length, got one; use npx.masked_log_softmax, or the "
            "logarithm of npx.softmax(x, length, use_length=True)"
        )


_SPELLINGS = {
    "softmax": _Spelling(
        "data, length=None, axis=-1, temperature=None, use_length=False, dtype=None",
        {},
        4,
        lambda value: isinstance(value, bool),
    ),
    "log_softmax": _Spelling(
        "data, axis=-1, length=None, temperature=None, use_length=False, dtype=None",
        {},
        2,
        lambda value: value is None or _is_array(value),
        _without_length,
    ),
    "pick": _Spelling(
        "data, index, axis=-1, mode='clip', keepdims=False",
        {},
        3,
        lambda value: isinstance(value, str),
    ),
    "pooling": _Spelling(
        "data=None, kernel=None, stride=None, pad=None, pool_type='max', "
        "pooling_convention='valid', global_pool=False, cudnn_off=False, p_value=None, "
        "count_include_pad=None, layout=None",
        {},
        2,
        lambda value: not isinstance(value, str),
    ),
    "rnn": _Spelling(
        "data=None, parameters=None, state=None, state_cell=None, sequence_length=None, mode=None, "
        "state_size=None, num_layers=None, bidirectional=False, state_outputs=False, p=0.0, "
        "use_sequence_length=False, projection_size=None, lstm_state_clip_min=None, "
        "lstm_state_clip_max=None, lstm_state_clip_nan=None",
        {},
        5,
        lambda value: isinstance(value, str),
    ),
    "batch_norm": _Spelling(
        "x, gamma, beta, running_mean, running_var, eps=0.001, momentum=0.9, fix_gamma=True, "
        "use_global_stats=False, output_mean_var=False, axis=1, cudnn_off=False, "
        "min_calib_range=None, max_calib_range=None",
        {"x": "data", "running_mean": "moving_mean", "running_var": "moving_var"},
    ),
    "fully_connected": _Spelling(
        "x, weight, bias=None, num_hidden=None, no_bias=True, flatten=True",
        {"x": "data"},
        prepare=_without_bias,
    ),
    "one_hot": _Spelling(
        "data, depth=None, on_value=1.0, off_value=0.0, dtype='float32'", {"data": "indices"}
    ),
    "batch_dot": _Spelling(
        "a, b, transpose_a=False, transpose_b=False, forward_stype='default'",
        {"a": "lhs", "b": "rhs"},
    ),
}
# Attributes that 2.0 lets be None, for the operator's default.
_OPTIONAL = {"kernel", "stride", "pad", "lstm_state_clip_nan", "forward_stype"}


def respelled(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """Return a function that accepts the arguments of MXNet 2.0 as well as those of 1.9.

    Args:
        function: The operator's function.
        name: Its name; functions that 2.0 did not change are returned unchanged.
    """
    spelling = _SPELLINGS.get(name)
    if spelling is None:
        return function
    signature = parse_signature(spelling.parameters)
    order = list(signature.parameters)
    first = len(order) if spelling.first is None else spelling.first
    renamed, is_new, prepare = spelling.renamed, spelling.is_new, spelling.prepare

    def run(*args: Any, **kwargs: Any) -> Any:
        if len(args) > first and is_new(args[first]):
            kwargs.update(zip(order[first:], args[first:], strict=False))
            args = args[:first]
        for new, old in renamed.items():
            if new in kwargs:
                kwargs[old] = kwargs.pop(new)
        for optional in kwargs.keys() & _OPTIONAL:
            if kwargs[optional] is None:
                del kwargs[optional]
        prepare(args, kwargs)
        return function(*args, **kwargs)

    old = inspect.signature(function).parameters.values()
    tail = [p for p in old if p.kind is p.KEYWORD_ONLY]
    shown = signature.replace(parameters=[*signature.parameters.values(), *tail])
    doc = function.__doc__ or ""
    for new, former in renamed.items():
        doc = doc.replace(f"\n    {former}: ", f"\n    {new}: ", 1)
    return name_function(run, name, doc, shown, "gluonish.numpy_extension")
