"""RowUpdate: the step of a rule on a row-sparse weight, or with a row-sparse gradient.

A lazy step updates only the gradient's rows of weight and states; the other rows are unchanged,
even by weight decay. Any other step treats missing rows as zeros.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from gluonish.ndarray import NDArray
from gluonish.ndarray.sparse.arithmetic import gather_rows
from gluonish.ndarray.sparse.array import RowSparseNDArray
from gluonish.ndarray.sparse.storage import to_dense
from gluonish.ndarray.sparse.updates import put_rows
from gluonish.ops.updates.rules import Rule
from gluonish.optimizer.weight_update import Column, Rates, WeightUpdate


class RowUpdate:
    """A rule bound to one weight, with a gradient that may have other rows in each step.

    Args:
        rule: The rule.
        group: Weight, gradient, states, and the float32 weight if ``mixed``.
        mixed: Whether the weight is 16-bit with a float32 copy.
        lazy: Whether only the gradient's rows are updated.

    Attributes:
        rates: Learning rates and weight decays of the last step, with multipliers.
    """

    __slots__ = ("_grad", "_lazy", "_mixed", "_rule", "_written", "rates")

    def __init__(self, rule: Rule, group: Sequence[NDArray], mixed: bool, lazy: bool) -> None:
        weight, self._grad, *states = group
        self._rule = rule
        self._written = (weight, *states)
        self._mixed = mixed
        self._lazy = lazy
        self.rates: Rates | None = None

    def push(self, columns: Sequence[Column], scalars: Mapping[str, float]) -> None:
        """Update the weight and its states.

        Args:
            columns: For each of the rule's rates, its value for the weight.
            scalars: The rule's scalars, with rescale_grad and clip_gradient.

        Raises:
            AutogradError: The weight belongs to a recorded graph.
        """
        self._written[0]._check_writable("update")
        grad = self._grad
        if self._lazy and isinstance(grad, RowSparseNDArray):
            self._push_rows(grad, columns, scalars)
            return
        dense = [to_dense(x) for x in self._written]
        self._step(dense, to_dense(grad), columns, scalars)
        for x, new in zip(self._written, dense, strict=True):
            if new is not x:
                new.copyto(x)

    def norms(self, scale: float) -> tuple[float, float]:
        """Wait for and return the 2-norms of the weight and of the scaled gradient."""
        weight = self._written[-1] if self._mixed else self._written[0]
        grad = self._grad
        rows = grad._storage.values if isinstance(grad, RowSparseNDArray) else to_dense(grad)
        values = [x.asnumpy().astype(np.float64).ravel() for x in (to_dense(weight), rows)]
        weight_norm, grad_norm = (float(np.sqrt(x @ x)) for x in values)
        return weight_norm, abs(scale) * grad_norm

    def _push_rows(
        self, grad: RowSparseNDArray, columns: Sequence[Column], scalars: Mapping[str, float]
    ) -> None:
        rows = grad._storage.aux[0].asnumpy()
        if not len(rows):
            return
        selected = [gather_rows(x, rows) for x in self._written]
        self._step(selected, grad._storage.values, columns, scalars)
        for x, new in zip(self._written, selected, strict=True):
            put_rows(x, rows, new)

    def _step(
        self,
        written: Sequence[NDArray],
        grad: NDArray,
        columns: Sequence[Column],
        scalars: Mapping[str, float],
    ) -> None:
        weight, *states = written
        WeightUpdate(self._rule, [(weight, grad, *states)], self._mixed).push(columns, scalars)
