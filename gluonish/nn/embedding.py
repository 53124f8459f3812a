"""Embedding: a table of vectors, looked up by number."""

from types import ModuleType
from typing import Any

from gluonish.block.hybrid_block import HybridBlock
from gluonish.nn.tensor import Tensor
from gluonish.parameter.parameter import Init

__all__ = ["Embedding"]


class Embedding(HybridBlock):
    """Turn numbers into vectors: ``y[...] = weight[x[...]]``.

    Args:
        input_dim: Number of vectors in the table.
        output_dim: Length of a vector.
        dtype: Element type of the table and the output.
        weight_initializer: For ``weight`` (input_dim, output_dim).
        sparse_grad: Whether the gradient of ``weight`` is row-sparse: it holds the rows that were
            looked up, and optimizers with ``lazy_update`` move no others.
        **kwargs: See `HybridBlock`.

    Inputs:
        x: any shape, integers in [0, input_dim) of any dtype.

    Outputs:
        y: shape of ``x`` and one more axis, output_dim.
    """

    def __init__(
        self,
        input_dim: int,
        output_dim: int,
        dtype: Any = "float32",
        weight_initializer: Init | None = None,
        sparse_grad: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self._kwargs = {
            "input_dim": input_dim,
            "output_dim": output_dim,
            "dtype": dtype,
            "sparse_grad": sparse_grad,
        }
        self.weight = self.params.get(
            "weight",
            shape=(input_dim, output_dim),
            init=weight_initializer,
            dtype=dtype,
            allow_deferred_init=True,
            grad_stype="row_sparse" if sparse_grad else "default",
        )

    def hybrid_forward(self, F: ModuleType, x: Tensor, weight: Tensor) -> Any:
        """Look the vectors up."""
        return F.Embedding(x, weight, name="fwd", **self._kwargs)

    def __repr__(self) -> str:
        return "{}({input_dim} -> {output_dim}, {dtype})".format(
            type(self).__name__, **self._kwargs
        )
