"""Fused optimizer steps on a GPU: one launch for as many weights as fit its parameters.

All data about the weights are parameters of the launch (`gluonish.kernels.cupy.optimizer_source`),
so a step copies nothing to the device and waits for nothing, including norms. Subnormal numbers
become 0, as in all kernels that CuPy compiles; otherwise results equal the reference bit for bit,
except that norms are summed in another order.
"""

from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.kernels.cupy.adafactor import AdafactorStep
from gluonish.kernels.cupy.optimizer_source import (
    BLOCK,
    OPTIONS,
    ROWS,
    THREADS,
    Layout,
    layout_of,
    source_of,
)
from gluonish.kernels.cupy.source import compiled
from gluonish.kernels.fused_updates import Column, Groups, fits_dtypes, operator_kernels
from gluonish.kernels.loss_scale import Gate
from gluonish.kernels.optimizer_formulas import FORMULAS, Norms, state_names
from gluonish.ops.kernel import BackEnd
from gluonish.ops.updates.matrices import ADAFACTOR
from gluonish.ops.updates.rules import Rule


class FusedStep:
    """Implements `gluonish.kernels.fused_updates.FusedStep` for contiguous CuPy arrays.

    Args:
        outs: Arrays for the updated weights; may be the weights themselves.
    """

    __slots__ = ("_arrays", "_columns", "_launches", "_rows", "_stored", "_values")

    gated_numbers = ROWS

    def __init__(self, xp: ModuleType, rule: Rule, outs: Sequence[Any], groups: Groups) -> None:
        dtype = outs[0].dtype
        self._arrays = (tuple(outs), tuple(map(tuple, groups)))
        arrays = [_named(rule, out, group) for out, group in zip(outs, groups, strict=True)]
        separate = any(named["out"] != named["weight"] for named in arrays)
        layout = layout_of(rule, dtype, separate)
        kernels = _Kernels(xp, rule, dtype, separate)
        sizes = [out.size for out in outs]
        self._launches = [
            _Launch(kernels, layout, i, arrays[i : i + layout.most], sizes[i : i + layout.most])
            for i in range(0, len(outs), layout.most)
        ]
        self._values = tuple(FORMULAS[rule].scalars.values())
        self._columns: list[Column | None] = [None] * len(rule.rates)
        self._rows: list[Any] = []
        self._stored: dict[int, Sequence[Column]] = {}  # rates in the rows

    def run(self, columns: Sequence[Column], scalars: Mapping[str, float]) -> None:
        """Update the weights."""
        self._set_rates(columns)
        numbers = self._numbers(scalars)
        for launch in self._launches:
            launch.run(numbers)

    def run_gated(
        self, gate: Gate, columns: Sequence[Sequence[Column]], scalars: Mapping[str, float]
    ) -> None:
        """Update the weights; see `gluonish.kernels.fused_updates.GatedStep`."""
        rows = self._rows = self._rows or [launch.make_rows() for launch in self._launches]
        for behind, earlier in reversed([*enumerate(columns)][1:]):
            self._remember(gate, gate.update - behind, earlier, rows)
        self._set_rates(columns[0])
        self._stored[gate.update % ROWS] = columns[0]
        numbers = self._numbers(scalars)
        for launch, row in zip(self._launches, rows, strict=True):
            launch.run(numbers, (gate.state, row, *_words(gate.update, gate.skipped)))

    def _remember(
        self, gate: Gate, number: int, columns: Sequence[Column], rows: Sequence[Any]
    ) -> None:
        """Store the rates of an earlier number of the update, unless they are stored."""
        if self._stored.get(number % ROWS) == columns:
            return
        self._set_rates(columns)
        self._stored[number % ROWS] = columns
        for launch, row in zip(self._launches, rows, strict=True):
            launch.remember((gate.state, row, *_words(number, gate.skipped)))

    def _numbers(self, scalars: Mapping[str, float]) -> list[float]:
        return [scalars["rescale_grad"], *(value(scalars) for value in self._values)]

    def _set_rates(self, columns: Sequence[Column]) -> None:
        for i, column in enumerate(columns):
            if column is not self._columns[i]:
                for launch in self._launches:
                    launch.set_rates(i, column)
                self._columns[i] = column


def _words(*numbers: int) -> tuple[Any, ...]:
    return tuple(map(np.uint32, numbers))


class _Kernels:
    """The kernels of an optimizer rule, compiled on first launch."""

    def __init__(self, xp: ModuleType, rule: Rule, dtype: np.dtype[Any], separate: bool) -> None:
        self.xp = xp
        self.norms: tuple[Norms, ...] = FORMULAS[rule].norms
        self.computed = len(FORMULAS[rule].computed)
        self._key = (rule, dtype, separate)

    def launch(
        self, name: str, blocks: int, arguments: tuple[Any, ...], gate: tuple[Any, ...] = ()
    ) -> None:
        """Run a kernel on the current stream; a gated one with the arguments ``gate``."""
        key = ("optimizer", name, *self._key, bool(gate))
        kernel = compiled(self.xp, key, name, lambda: source_of(*self._key, bool(gate)), OPTIONS)
        kernel((blocks,), (THREADS,), (*arguments, *gate))


class _Launch:
    """One launch of a `FusedStep`: the weights that fit its parameters.

    Args:
        layout: Layout of the Table that the kernels read.
        first: Index of the first weight.
        arrays: For each weight, the addresses of its arrays by name.
        sizes: Number of elements of each weight.
    """

    __slots__ = ("_blocks", "_count", "_first", "_kernels", "_rates", "_scalars", "_table")

    def __init__(
        self,
        kernels: _Kernels,
        layout: Layout,
        first: int,
        arrays: Sequence[Mapping[str, int]],
        sizes: Sequence[int],
    ) -> None:
        self._kernels = kernels
        self._first = first
        self._count = count = len(sizes)
        self._table = np.zeros(1, layout.table)  # CuPy passes an array of size 1 by value
        fields = self._table[0]
        for role in ("written", "read"):
            for i, name in enumerate(getattr(layout, role)):
                fields[role][i, :count] = [named[name] for named in arrays]
        fields["sizes"][:count] = sizes
        ends = np.cumsum(-(-np.array(sizes, np.int64) // BLOCK))
        self._blocks = int(ends[-1])
        fields["ends"][:count] = ends
        fields["count"] = count
        self._rates, self._scalars = fields["rates"], fields["scalars"]

    def set_rates(self, number: int, column: Column) -> None:
        """Set rate ``number`` of this launch's weights; ``column`` has the rate of all weights."""
        if isinstance(column, Sequence):
            column = column[self._first : self._first + self._count]
        self._rates[number, : self._count] = column

    def make_rows(self) -> Any:
        """Return memory for the rates of several numbers of the update."""
        return self._kernels.xp.zeros((ROWS, self._rates.size), np.float32)

    def remember(self, gate: tuple[Any, ...]) -> None:
        """Store the rates in a row."""
        if self._blocks:
            self._kernels.launch("remember", 1, (self._table,), gate)

    def run(self, scalars: Sequence[float], gate: tuple[Any, ...] = ()) -> None:
        """Update the weights."""
        if not self._blocks:
            return
        self._scalars[:] = scalars
        kernels = self._kernels
        if not kernels.norms:
            kernels.launch("update", self._blocks, (self._table,), gate)
            return
        computed = kernels.xp.empty((kernels.computed, self._count), np.float32)
        for i, norms in enumerate(kernels.norms):
            self._sum(i, len(norms.squared), computed, gate)
        kernels.launch("update", self._blocks, (self._table, computed), gate)

    def _sum(self, number: int, expressions: int, computed: Any, gate: tuple[Any, ...]) -> None:
        """Compute rates from the norms of the weights."""
        kernels, blocks = self._kernels, self._blocks
        sums = kernels.xp.empty((expressions, blocks), np.float64)
        kernels.launch(f"norms{number}", blocks, (self._table, computed, sums), gate)
        arguments = (self._table, computed, sums, np.uint32(blocks))
        kernels.launch(f"finish{number}", self._count, arguments, gate)


def _named(rule: Rule, out: Any, group: Sequence[Any]) -> dict[str, int]:
    """Return the addresses of a weight's arrays by name."""
    names = ("out", "weight", "grad", *state_names(rule), "master")
    return dict(zip(names, [array.data.ptr for array in (out, *group)], strict=False))


def fused_step(
    xp: ModuleType, rule: Rule, outs: Sequence[Any], groups: Groups, mixed: bool
) -> FusedStep | AdafactorStep | None:
    """Return a fused step for CuPy arrays; the arguments are those of `FusedStep`.

    Returns:
        None to use reference kernels: for other dtypes, arrays that are not contiguous, or an
        array that is passed several times.
    """
    if not outs or not (rule in FORMULAS or rule is ADAFACTOR):
        return None
    if not fits_dtypes([[array.dtype for array in group] for group in groups], mixed):
        return None
    written = list(outs)
    for out, (weight, grad, *others) in zip(outs, groups, strict=True):
        if not all(array.flags.c_contiguous for array in (out, weight, grad, *others)):
            return None
        written += others
    addresses = [array.data.ptr for array in written if array.size]
    if len({*addresses}) < len(addresses):
        return None
    if rule is ADAFACTOR:
        return AdafactorStep(xp, outs, groups)
    return FusedStep(xp, rule, outs, groups)


KERNELS = operator_kernels(BackEnd.CUPY, fused_step, lambda count, elements: True)
