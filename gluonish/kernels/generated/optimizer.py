"""Fused optimizer steps: one generated kernel updates all weights of a call.

Threads split the elements of all weights evenly, and read and write every element once. Rules that
need norms, such as LAMB, read it once more for each pass that sums squares.
"""

import logging
from collections.abc import Mapping, Sequence
from functools import cache
from types import CodeType, ModuleType
from typing import Any

import numpy as np

from gluonish.kernels.compiler import (
    CompiledKernel,
    KernelError,
    available,
    compile_kernel,
)
from gluonish.kernels.fused_updates import Column, Groups, fits_dtypes, operator_kernels
from gluonish.kernels.generated.optimizer_source import BLOCK, LANES, norms_source, update_source
from gluonish.kernels.optimizer_formulas import FORMULAS, Norms
from gluonish.ops.kernel import BackEnd
from gluonish.ops.updates.rules import Rule

_LOG = logging.getLogger("gluonish")

# Elements, and weights, below which the reference kernels are as fast.
_FEW_ELEMENTS = 1 << 14
_FEW_WEIGHTS = 16
# Minimum elements for each thread. Trainer.step on 235,146 elements, SGD with momentum, took 101 us
# with one thread, 63 with two (medians of ten processes each, two idle Zen 4 cores).
_GRAIN = 1 << 16
_BLOCK_GRAIN = _GRAIN // BLOCK // 4

# Functions of `Norms.finish`, for NumPy arrays with a number for each weight.
_FUNCTIONS = {
    "float32": np.float32,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "select": np.where,
}


class FusedStep:
    """A `gluonish.kernels.fused_updates.FusedStep` for contiguous arrays.

    Args:
        outs: Arrays for the updated weights; may be the weights themselves.
    """

    __slots__ = (
        "_arrays",
        "_columns",
        "_kernel",
        "_named",
        "_norms",
        "_params",
        "_params_at",
        "_rates",
        "_scalars",
        "_tables",
        "_total",
        "_values",
    )

    def __init__(self, rule: Rule, outs: Sequence[Any], groups: Groups) -> None:
        precision = outs[0].dtype.name
        self._arrays = (tuple(outs), tuple(map(tuple, groups)))
        sizes = np.array([out.size for out in outs], np.int64)
        starts = _starts(sizes)
        addresses = np.array(
            [
                [_address(out), *map(_address, group)]
                for out, group in zip(outs, groups, strict=True)
            ],
            np.int64,
        )
        formula = FORMULAS[rule]
        self._rates = np.zeros((len(outs), len(rule.rates) + len(formula.computed)), np.float32)
        self._scalars = np.zeros(1 + len(formula.scalars), np.float32)
        self._values = tuple(formula.scalars.values())
        self._named = dict(zip(formula.scalars, self._scalars[1:].reshape(-1, 1), strict=True))
        self._named |= zip((*rule.rates, *formula.computed), self._rates.T, strict=True)
        self._columns: list[Column | None] = [None] * len(rule.rates)
        self._tables = (starts, addresses)
        self._params = _params(len(outs), starts, addresses, self._rates, self._scalars)
        self._params_at = _address(self._params)
        self._total = int(starts[-1])
        self._kernel = _update_kernel(rule, precision)
        self._norms = [
            _NormsPass(rule, norms, sizes, self._params, precision) for norms in formula.norms
        ]

    def run(self, columns: Sequence[Column], scalars: Mapping[str, float]) -> None:
        """Update the weights."""
        for i, column in enumerate(columns):
            if column is not self._columns[i]:
                self._rates[:, i] = column
                self._columns[i] = column
        self._scalars[0] = scalars["rescale_grad"]
        for i, value in enumerate(self._values, 1):
            self._scalars[i] = value(scalars)
        for norms in self._norms:
            norms.run(self._named)
        self._kernel.run_at(self._total, self._params_at, _GRAIN)


class _NormsPass:
    """A pass that sums squares for each weight, bound to the params of a `FusedStep`."""

    __slots__ = (
        "_finish",
        "_first_blocks",
        "_kernel",
        "_names",
        "_params",
        "_sizes",
        "_starts",
        "_sums",
    )

    def __init__(
        self,
        rule: Rule,
        norms: Norms,
        sizes: np.ndarray[Any, Any],
        params: Any,
        precision: str,
    ) -> None:
        self._finish = _compiled(norms.finish)
        self._names = [f"norm_{name}" for name in norms.squared]
        self._sizes = sizes
        # At least one block, so that each weight has a sum.
        self._starts = _starts(np.maximum(1, -(-sizes // BLOCK)))
        self._first_blocks = self._starts[:-1]
        self._sums = np.zeros((int(self._starts[-1]), len(norms.squared), LANES))
        self._params = np.append(params, [_address(self._sums), _address(sizes)])
        self._params[1] = _address(self._starts)
        self._kernel = _norms_kernel(rule, norms, precision)

    def run(self, named: Mapping[str, Any]) -> None:
        """Sum squares, update states, and compute rates from the norms.

        Args:
            named: Rates and scalars as arrays; computed rates are written.
        """
        self._kernel(len(self._sums), self._params, _BLOCK_GRAIN)
        sums = np.add.reduceat(self._sums.sum(axis=2), self._first_blocks)
        norms = zip(self._names, np.sqrt(sums).astype(np.float32).T, strict=True)
        found = {**named, **dict(norms)}
        exec(self._finish, _FUNCTIONS, found)
        for name, values in named.items():
            if found[name] is not values:
                values[:] = found[name]


@cache
def _compiled(lines: tuple[str, ...]) -> CodeType:
    return compile("\n".join(lines), "<formula>", "exec")


@cache
def _update_kernel(rule: Rule, precision: str) -> CompiledKernel:
    return compile_kernel(update_source(rule, precision), ())


@cache
def _norms_kernel(rule: Rule, norms: Norms, precision: str) -> CompiledKernel:
    return compile_kernel(norms_source(rule, norms, precision), ())


def _address(array: Any) -> int:
    found: int = array.__array_interface__["data"][0]
    return found


def _starts(sizes: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _params(count: int, *tables: Any) -> Any:
    return np.array([count, *map(_address, tables)], np.int64)


def fused_step(
    xp: ModuleType, rule: Rule, outs: Sequence[Any], groups: Groups, mixed: bool
) -> FusedStep | None:
    """Return a fused step for NumPy arrays; arguments of `FusedStep`.

    Returns:
        None to use reference kernels: for little work, other dtypes, arrays that are not
        contiguous, or without llvmlite.
    """
    if not outs or not available():
        return None
    if not _worth(len(outs), sum(out.size for out in outs)):
        return None
    arrays = [array for group in groups for array in group]
    if not all(array.flags.c_contiguous for array in (*outs, *arrays)):
        return None
    if not fits_dtypes([[array.dtype for array in group] for group in groups], mixed):
        return None
    try:
        return FusedStep(rule, outs, groups)
    except KernelError as error:
        _LOG.debug("%s goes to the reference kernel: %s", rule.name, error)
        return None


def _worth(count: int, elements: int) -> bool:
    return elements >= _FEW_ELEMENTS or count >= _FEW_WEIGHTS


KERNELS = operator_kernels(BackEnd.GENERATED, fused_step, _worth, available)
