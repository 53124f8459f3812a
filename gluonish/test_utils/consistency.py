"""Check that a Symbol computes the same on several devices and with several dtypes."""

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from gluonish.core.errors import ArgumentError
from gluonish.ndarray.ndarray import NDArray
from gluonish.symbol.binding import simple_bind
from gluonish.symbol.executor import Executor
from gluonish.symbol.symbol import Symbol
from gluonish.test_utils.comparison import (
    assert_almost_equal,
    on_host,
)
from gluonish.test_utils.random_arrays import normal, uniform
from gluonish.test_utils.tolerances import Tolerance

_LOG = logging.getLogger(__name__)

# Limit of uniform values, below 1 for functions with poles at 1.
_UNIFORM_LIMIT = 0.92


def check_consistency(
    sym: Symbol | Sequence[Symbol],
    ctx_list: Sequence[Mapping[str, Any]],
    scale: float = 1.0,
    grad_req: Any = "write",
    arg_params: Mapping[str, Any] | None = None,
    aux_params: Mapping[str, Any] | None = None,
    rtol: Tolerance = None,
    atol: Tolerance = None,
    raise_on_err: bool = True,
    ground_truth: Mapping[str, NDArray] | None = None,
    equal_nan: bool = False,
    use_uniform: bool = False,
    rand_type: Any = np.float64,
) -> dict[str, NDArray]:
    """Check that a Symbol computes the same on several devices and with several dtypes.

    Outputs outside training are compared, then outputs and gradients in training, where the
    gradients of the outputs are the outputs themselves.

    Args:
        sym: The graph; or one for each entry of ``ctx_list``, with the same arguments and outputs.
        ctx_list: Dicts of arguments of `Symbol.simple_bind`: ``ctx``, shapes by argument name, and
            optionally ``type_dict``, dtypes by name.
        scale: Standard deviation of random arguments, or factor of uniform ones.
        grad_req: As in `Symbol.bind`; with ``"null"`` only outputs outside training are compared.
        arg_params: Values of arguments by name; missing ones are random.
        aux_params: Values of auxiliary states by name; missing ones are zero.
        rtol: Relative tolerance, as in `assert_almost_equal`.
        atol: Absolute tolerance.
        raise_on_err: Whether a difference raises an error; otherwise the difference is logged.
        ground_truth: Expected outputs and gradients by name, in the last comparison; by default the
            results of the entry with the most precise dtype.
        equal_nan: Whether to treat two NaN as equal.
        use_uniform: Whether random arguments are uniform in (-0.92, 0.92), not normal.
        rand_type: Dtype that random arguments are first rounded to, for all entries.

    Returns:
        The expected outputs and gradients by name.

    Raises:
        AssertionError: An entry differs.
        ArgumentError: There are fewer than two entries, or names do not match.
    """
    symbols = _symbols(sym, ctx_list)
    executors = [
        simple_bind(s, grad_req=grad_req, **entry)
        for s, entry in zip(symbols, ctx_list, strict=True)
    ]
    draw = _drawing(use_uniform, scale, rand_type)
    _fill(executors, arg_params or {}, aux_params or {}, draw)
    finest = _finest(executors)

    def compare(reference: Mapping[str, NDArray] | None, train: bool) -> dict[str, NDArray]:
        results = [_results(executor, train) for executor in executors]
        expected = dict(reference if reference is not None else results[finest])
        for i, result in enumerate(results):
            if reference is None and i == finest:
                continue
            _compare(i, expected, result, rtol, atol, equal_nan, raise_on_err)
        return expected

    training = any(g is not None for g in executors[0].grad_arrays)
    if not training:
        return compare(ground_truth, train=False)
    if ground_truth is None:
        compare(None, train=False)
    _fill_states(executors, aux_params or {})
    return compare(ground_truth, train=True)


def _symbols(sym: Symbol | Sequence[Symbol], ctx_list: Sequence[Mapping[str, Any]]) -> list[Symbol]:
    if len(ctx_list) < 2:
        raise ArgumentError(
            f"check_consistency: expected two entries in ctx_list or more, got {len(ctx_list)}"
        )
    symbols = [sym] * len(ctx_list) if isinstance(sym, Symbol) else list(sym)
    if len(symbols) != len(ctx_list):
        raise ArgumentError(
            f"check_consistency: expected {len(ctx_list)} Symbols, got {len(symbols)}"
        )
    names = [(s.list_arguments(), s.list_outputs()) for s in symbols]
    if any(each != names[0] for each in names):
        raise ArgumentError(
            "check_consistency: expected Symbols with the same arguments and outputs, got "
            f"{names}; give the last operator of each the same name"
        )
    return symbols


def _drawing(use_uniform: bool, scale: float, rand_type: Any) -> Callable[[Any], Any]:
    def draw(shape: tuple[int, ...]) -> Any:
        if use_uniform:
            values = uniform(-_UNIFORM_LIMIT, _UNIFORM_LIMIT, shape) * scale
        else:
            values = normal(size=shape, scale=scale)
        return np.asarray(values).astype(rand_type)

    return draw


def _fill(
    executors: Sequence[Executor],
    arguments: Mapping[str, Any],
    states: Mapping[str, Any],
    draw: Callable[[Any], Any],
) -> None:
    """Set the arguments and states of all executors to the same values."""
    first = executors[0]
    for what, values, known in (
        ("arg_params", arguments, first.arg_dict),
        ("aux_params", states, first.aux_dict),
    ):
        for key in values:
            if key not in known:
                raise ArgumentError(
                    f"check_consistency: expected {what} among {list(known)}, got {key!r}"
                )
    for key, like in first.arg_dict.items():
        value = on_host(arguments[key]) if key in arguments else draw(like.shape)
        for executor in executors:
            target = executor.arg_dict[key]
            target[:] = np.asarray(value).astype(target.dtype)
    _fill_states(executors, states)


def _fill_states(executors: Sequence[Executor], states: Mapping[str, Any]) -> None:
    for executor in executors:
        for key, target in executor.aux_dict.items():
            target[:] = on_host(states[key]) if key in states else 0
        for gradient in executor.grad_arrays:
            if gradient is not None:
                gradient[:] = 0


def _finest(executors: Sequence[Executor]) -> int:
    sizes = [np.dtype(executor.outputs[0].dtype).itemsize for executor in executors]
    return sizes.index(max(sizes))


def _results(executor: Executor, train: bool) -> dict[str, NDArray]:
    outputs = executor.forward(is_train=train)
    results = {key: y.copy() for key, y in executor.output_dict.items()}
    if train:
        executor.backward([y.copy() for y in outputs])
        results |= {key: g.copy() for key, g in executor.grad_dict.items() if g is not None}
    return results


def _compare(
    entry: int,
    expected: Mapping[str, NDArray],
    result: Mapping[str, NDArray],
    rtol: Tolerance,
    atol: Tolerance,
    equal_nan: bool,
    raise_on_err: bool,
) -> None:
    for key, got in result.items():
        if key not in expected:
            continue
        names = (f"{key} of ctx_list[{entry}]", f"expected {key}")
        try:
            assert_almost_equal(got, expected[key], rtol, atol, names, equal_nan)
        except AssertionError as error:
            if raise_on_err:
                raise
            _LOG.error("check_consistency: %s", error)
