"""Calls of single operators, one after another in one process: gluonish, MXNet and PyTorch."""

import importlib
import zlib
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from benchmarks.interleaved import operator_table, product_table
from benchmarks.interleaved.operator_table import Row, Shapes

TABLES = {"operators": operator_table.ROWS, "products": product_table.ROWS}
_WHOLE = ("index", "labels", "length")  # kinds whose last array holds whole numbers


class Shaped(Protocol):
    """What the arrays of a row depend on; attributes mean what they do in `Row`."""

    @property
    def name(self) -> str:
        """In the tables."""

    @property
    def kind(self) -> str:
        """How values are made."""

    @property
    def small(self) -> Shapes:
        """Shapes of the small arrays."""

    @property
    def large(self) -> Shapes:
        """Shapes of the large arrays."""


def make_arrays(row: Shaped, size: str) -> list[Any]:
    """The arrays of a row, seeded by its name."""
    shapes = row.small if size == "small" else row.large
    random = np.random.RandomState(zlib.crc32(f"{row.name}/{size}".encode()))
    arrays: list[Any] = [random.standard_normal(shape).astype(np.float32) for shape in shapes]
    if row.kind == "positive":
        arrays = [np.abs(x) + 0.5 for x in arrays]
    elif row.kind == "index":
        arrays[-1] = random.randint(0, min(shapes[0]), shapes[-1]).astype(np.float32)
    elif row.kind == "labels":
        arrays[-1] = random.randint(1, shapes[0][-1], shapes[-1]).astype(np.float32)
    elif row.kind == "length":
        arrays[-1] = random.randint(1, shapes[0][0] + 1, shapes[-1]).astype(np.float32)
    elif row.kind == "mask":
        arrays[0] = (arrays[0] > 0).astype(np.float32)
    elif row.kind == "unit":
        arrays[1:] = [np.ones_like(arrays[1]), np.zeros_like(arrays[2])]
    return arrays


def _differentiable(row: Row, count: int) -> list[int]:
    whole = {count - 1} if row.kind in _WHOLE else {0} if row.kind == "mask" else set()
    return [i for i in range(count) if i not in whole]


def _function(text: str, count: int, extra: str) -> Callable[..., Any]:
    names = ", ".join("abcd"[:count])
    made: Callable[..., Any] = eval(f"lambda {extra}, {names}: {text}")
    return made


class _Operators:
    """One row at a time, chosen by `select`."""

    versions: dict[str, str]

    def start(self) -> None:
        """Nothing to prepare."""

    def select(self, position: int, size: str, backward: bool, table: str = "operators") -> None:
        """Make what the following runs call.

        Args:
            position: The row of the table.
            size: ``small`` or ``large``.
            backward: Whether a run takes the gradient, too.
            table: The table, of `TABLES`.
        """
        row = TABLES[table][position]
        arrays = make_arrays(row, size)
        self._drawn = row.kind == "random"
        self._prepare(row, arrays, _differentiable(row, len(arrays)) if backward else [])

    def _prepare(self, row: Row, arrays: Sequence[Any], wanted: Sequence[int]) -> None:
        raise NotImplementedError

    def results(self) -> list[Any]:
        """Outputs and gradients of one run."""
        raise NotImplementedError

    def check(self) -> Any:
        """All results in one row, or how many there are where they are drawn."""
        found = np.concatenate([np.ravel(x).astype(np.float32) for x in self.results()])
        return np.array([found.size]) if self._drawn else found


class GluonOperators(_Operators):
    """gluonish or MXNet, imperatively."""

    def __init__(self, package: str, threads: int) -> None:
        self._mx = importlib.import_module(package)
        self.versions = {package: self._mx.__version__}

    def _prepare(self, row: Row, arrays: Sequence[Any], wanted: Sequence[int]) -> None:
        nd = self._mx.nd
        self._arrays = [nd.array(x, dtype="float32") for x in arrays]
        self._wanted = [self._arrays[i] for i in wanted]
        for x in self._wanted:
            x.attach_grad()
        self._call = _function(row.call, len(arrays), "F")
        self._forward_only = not wanted

    def _once(self) -> Any:
        mx = self._mx
        if self._forward_only:
            return self._call(mx.nd, *self._arrays)
        with mx.autograd.record():
            out = self._call(mx.nd, *self._arrays)
        out.backward()
        return out

    def run(self, count: int) -> None:
        """Call it, and wait for all results at the end."""
        once = self._once
        for _ in range(count):
            once()
        self._mx.nd.waitall()

    def results(self) -> list[Any]:
        """Outputs and gradients of one run."""
        out = self._once()
        return [out.asnumpy(), *[x.grad.asnumpy() for x in self._wanted]]


class TorchOperators(_Operators):
    """PyTorch, eagerly."""

    def __init__(self, threads: int) -> None:
        import torch

        torch.set_num_threads(threads)
        self._torch: Any = torch
        self.versions = {"torch": torch.__version__}

    def _prepare(self, row: Row, arrays: Sequence[Any], wanted: Sequence[int]) -> None:
        torch = self._torch
        if not row.torch:
            raise ValueError(f"{row.name}: PyTorch has none")
        self._arrays = [torch.from_numpy(x) for x in arrays]
        self._wanted = [self._arrays[i].requires_grad_() for i in wanted]
        function = _function(row.torch, len(arrays), "F, N")
        self._call: Callable[[], Any] = lambda: function(torch, torch.nn.functional, *self._arrays)
        with torch.set_grad_enabled(bool(wanted)):
            self._head = torch.ones_like(self._call()).detach()

    def _once(self) -> Any:
        torch = self._torch
        if not self._wanted:
            with torch.inference_mode():
                return self._call(), ()
        out = self._call()
        return out, torch.autograd.grad(out, self._wanted, self._head, allow_unused=True)

    def run(self, count: int) -> None:
        """Call it; PyTorch's CPU calls are done when they return."""
        once = self._once
        for _ in range(count):
            once()

    def results(self) -> list[Any]:
        """Outputs and gradients of one run."""
        out, gradients = self._once()
        return [out.detach().numpy(), *[g.numpy() for g in gradients if g is not None]]
