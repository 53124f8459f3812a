"""Fused optimizer steps: one generated kernel updates all weights of a call.

Threads split the elements of all weights evenly, and read and write every element once. Rules that
need norms, such as LAMB, read it once more for each pass that sums squares.

The source of a kernel that updates weights is a loop over elements, for each optimizer rule.

Params of a kernel: number of weights; addresses of four tables: the start of each weight among all
elements (in blocks for a pass that sums squares) with the total at the end, int64; the addresses of
each weight's arrays, int64; each weight's rates and the scalars, float32; and for a pass that sums
squares the addresses of its sums and of the weights' sizes.
"""

import logging
from collections.abc import Mapping, Sequence
from functools import cache
from types import CodeType, ModuleType
from typing import Any

import numpy as np

from gluonish.kernels import openmp
from gluonish.kernels.compiler import (
    CompiledKernel,
    KernelError,
    available,
    compile_kernel,
)
from gluonish.kernels.fused_updates import Column, Groups, fits_dtypes, operator_kernels
from gluonish.kernels.generated.adafactor import AdafactorStep
from gluonish.kernels.optimizer_formulas import FORMULAS, Formula, Norms, state_names
from gluonish.ops.kernel import BackEnd
from gluonish.ops.updates.matrices import ADAFACTOR
from gluonish.ops.updates.rules import Rule

BLOCK = 4096  # elements of a norm summed at a time by one thread
LANES = 16  # partial sums per block: as many as a vector register holds

# View, itemsize, load and store of weights and gradients by dtype; 16-bit weights have a float32
# master copy.
PRECISIONS = {
    "float32": ("f32", 4, "{}", "{}"),
    "bfloat16": ("u16", 2, "load_bf16({})", "store_bf16({})"),
    "float16": ("u16", 2, "load_f16({})", "store_f16({})"),
}


_HEAD = """\
def body(begin, end, params):
    flush_subnormals()
    starts = i64(params[1])
    addresses = i64(params[2])
    rates = f32(params[3])
    scalars = f32(params[4])
{names}
    low = 0
    high = params[0]
    while high - low > 1:
        middle = (low + high) // 2
        if starts[middle] <= begin:
            low = middle
        else:
            high = middle
"""

_UPDATE = """\
    position = begin
    while position < end:
        stop = min(end, starts[low + 1])
        first = position - starts[low]
{views}
        for j in range(stop - position):
            independent()
{loads}
{lines}
{stores}
        position = stop
        low += 1
"""

# For each expression, ``lanes`` partial sums of its squares.
_NORMS = """\
    sizes = i64(params[6])
    for block in range(begin, end):
        while starts[low + 1] <= block:
            low += 1
        first = (block - starts[low]) * {block}
        rest = min(sizes[low] - first, {block})
        sums = f64(params[5] + block * {sum_bytes})
{views}
        for lane in range({all_lanes}):
            independent()
            sums[lane] = 0.0
        for base in range(0, rest, {lanes}):
            if rest - base >= {lanes}:
                for lane in range({lanes}):
                    independent()
                    j = base + lane
{statements}
            else:
                for lane in range(rest - base):
                    independent()
                    j = base + lane
{statements}
"""


def update_source(rule: Rule, precision: str) -> str:
    """Return the source of the kernel that updates elements; a step is an element."""
    formula = FORMULAS[rule]
    states = state_names(rule) if formula.states is None else formula.states
    body = _UPDATE.format(
        views=_indented(8, _views(rule, precision)),
        loads=_indented(12, _loads(rule, precision)),
        lines=_indented(12, formula.lines),
        stores=_indented(12, (*_weight_stores(precision), *_state_stores(states))),
    )
    return _head(formula) + body


def norms_source(rule: Rule, norms: Norms, precision: str) -> str:
    """Return the source of a pass that sums squares; a step is a block of elements."""
    sums = [
        f"sums[lane + {i * LANES}] = sums[lane + {i * LANES}] + float64({x}) * float64({x})"
        for i, x in enumerate(norms.squared)
    ]
    statements = (*_loads(rule, precision), *norms.lines, *_state_stores(norms.states), *sums)
    all_lanes = len(norms.squared) * LANES
    body = _NORMS.format(
        views=_indented(8, _views(rule, precision)),
        statements=_indented(20, statements),
        block=BLOCK,
        lanes=LANES,
        all_lanes=all_lanes,
        sum_bytes=all_lanes * 8,
    )
    return _head(FORMULAS[rule]) + body


def _head(formula: Formula) -> str:
    names = ["rescale", *formula.scalars]
    return _HEAD.format(
        names=_indented(4, [f"{name} = scalars[{i}]" for i, name in enumerate(names)])
    )


def _views(rule: Rule, precision: str) -> list[str]:
    """Return lines that define views of a weight's arrays from an element on, and its rates."""
    kind, width, _, _ = PRECISIONS[precision]
    master = [] if precision == "float32" else ["master"]
    roles = ["out", "weight", "grad", *state_names(rule), *master]
    lines = []
    for i, role in enumerate(roles):
        half = role in ("out", "weight", "grad")
        view, size = (kind, width) if half else ("f32", 4)
        lines.append(f"{role}s = {view}(addresses[low * {len(roles)} + {i}] + first * {size})")
    names = (*rule.rates, *FORMULAS[rule].computed)
    rates = [f"{name} = rates[low * {len(names)} + {i}]" for i, name in enumerate(names)]
    return lines + rates


def _loads(rule: Rule, precision: str) -> list[str]:
    _, _, load, _ = PRECISIONS[precision]
    weight = "weights" if precision == "float32" else "masters"
    states = [f"{state} = {state}s[j]" for state in state_names(rule)]
    return [f"w = {weight}[j]", f"g = {load.format('grads[j]')} * rescale", *states]


def _weight_stores(precision: str) -> list[str]:
    _, _, _, store = PRECISIONS[precision]
    master = [] if precision == "float32" else ["masters[j] = w"]
    return [*master, f"outs[j] = {store.format('w')}"]


def _state_stores(states: Sequence[str]) -> list[str]:
    return [f"{state}s[j] = {state}" for state in states]


def _indented(width: int, lines: Sequence[str]) -> str:
    return "\n".join(" " * width + line for line in lines)


_LOG = logging.getLogger("gluonish")

# Elements, and weights, below which the reference kernels are as fast.
_FEW_ELEMENTS = 1 << 14
_FEW_WEIGHTS = 16
# Minimum elements for each thread. Trainer.step on 235,146 elements, SGD with momentum, took 101 us
# with one thread, 63 with two (medians of ten processes each, two idle Zen 4 cores).
_GRAIN = 1 << 16
_PIECE = 1 << 12  # minimum elements of a piece of a weight
_BLOCK_GRAIN = _GRAIN // BLOCK // 4

# Functions that `Norms.finish` uses, for NumPy arrays with one number for each weight.
_FUNCTIONS = {
    "float32": np.float32,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "select": np.where,
}


class FusedStep:
    """Implements `gluonish.kernels.fused_updates.FusedStep` for contiguous NumPy arrays.

    Args:
        outs: Arrays for the updated weights; may be the weights themselves.
    """

    __slots__ = (
        "_arrays",
        "_columns",
        "_kernel",
        "_named",
        "_norms",
        "_owners",
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
        formula = FORMULAS[rule]
        sizes = np.array([out.size for out in outs], np.int64)
        arrays = [(out, *group) for out, group in zip(outs, groups, strict=True)]
        addresses = np.array([list(map(_address, each)) for each in arrays], np.int64)
        pieces = 1 if formula.norms else openmp.team().threads()
        owners, firsts, counts = _pieces(outs, pieces)
        itemsizes = np.array([[x.itemsize for x in each] for each in arrays], np.int64)
        addresses = addresses[owners] + firsts[:, None] * itemsizes[owners]
        starts = _starts(counts)
        self._owners = owners
        self._rates = np.zeros((len(owners), len(rule.rates) + len(formula.computed)), np.float32)
        self._scalars = np.zeros(1 + len(formula.scalars), np.float32)
        self._values = tuple(formula.scalars.values())
        self._named = dict(zip(formula.scalars, self._scalars[1:].reshape(-1, 1), strict=True))
        self._named |= zip((*rule.rates, *formula.computed), self._rates.T, strict=True)
        self._columns: list[Column | None] = [None] * len(rule.rates)
        self._tables = (starts, addresses)
        self._params = _params(len(owners), starts, addresses, self._rates, self._scalars)
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
                self._rates[:, i] = np.take(column, self._owners) if np.ndim(column) else column
                self._columns[i] = column
        self._scalars[0] = scalars["rescale_grad"]
        for i, value in enumerate(self._values, 1):
            self._scalars[i] = value(scalars)
        for norms in self._norms:
            norms.run(self._named)
        self._kernel.run_at(self._total, self._params_at, _GRAIN)


def _pieces(weights: Sequence[Any], count: int) -> tuple[Any, ...]:
    """Divide large weights, and order the pieces: the first one of each weight, then the second.

    So each thread updates rows that it also reads and writes in products with the weight, which are
    then in the cache of its core.

    Args:
        count: Number of pieces of a large weight.

    Returns:
        For each piece its weight, its first element, and its number of elements. Small weights are
        among the first pieces, as the calling thread computes small products.
    """
    owners, firsts, sizes = [], [], []
    for piece in range(count):
        for owner, weight in enumerate(weights):
            rows = weight.shape[0] if weight.ndim > 1 and weight.size >= _PIECE * count else 1
            begin, end = -(-piece * rows // count), -(-(piece + 1) * rows // count)
            if begin < end:
                row = weight.size // rows
                owners.append(owner)
                firsts.append(begin * row)
                sizes.append((end - begin) * row)
    return tuple(np.array(x, np.int64) for x in (owners, firsts, sizes))


class _NormsPass:
    """A pass that sums squares for each weight of a `FusedStep`, and uses its params."""

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
            named: Arrays of rates and scalars by name; the computed rates are overwritten.
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
) -> FusedStep | AdafactorStep | None:
    """Return a fused step for NumPy arrays; the arguments are those of `FusedStep`.

    Returns:
        None to use reference kernels: for small updates, other dtypes, arrays that are not
        contiguous, or without llvmlite.
    """
    if not outs or not (rule in FORMULAS or rule is ADAFACTOR) or not available():
        return None
    if not _worth(len(outs), sum(out.size for out in outs)):
        return None
    arrays = [array for group in groups for array in group]
    if not all(array.flags.c_contiguous for array in (*outs, *arrays)):
        return None
    if not fits_dtypes([[array.dtype for array in group] for group in groups], mixed):
        return None
    try:
        return AdafactorStep(outs, groups) if rule is ADAFACTOR else FusedStep(rule, outs, groups)
    except KernelError as error:
        _LOG.debug("%s goes to the reference kernel: %s", rule.name, error)
        return None


def _worth(count: int, elements: int) -> bool:
    return elements >= _FEW_ELEMENTS or count >= _FEW_WEIGHTS


KERNELS = operator_kernels(BackEnd.GENERATED, fused_step, _worth, available)
