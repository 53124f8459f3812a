"""Embedding: a table of vectors, looked up by number."""

from types import ModuleType
from typing import Any

from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.nn.tensor import Tensor
from gluonish.gluon.parameter.parameter import Init

__all__ = ["Embedding"]


class Embedding(HybridBlock):
    """Look up a vector for each index: ``y[...] = weight[x[...]]``.

    Args:
        input_dim: Number of vectors in the table.
        output_dim: Length of a vector.
        dtype: Element type of the table and the output.
        weight_initializer: Initializer of ``weight`` (input_dim, output_dim).
        sparse_grad: Whether the gradient of ``weight`` is row-sparse, with only the rows that were
            looked up; optimizers with ``lazy_update`` then update no other rows.
        **kwargs: See `HybridBlock`.

    Inputs:
        x: any shape, integers in [0, input_dim) of any dtype.

    Outputs:
        y: shape of ``x`` with a last axis of output_dim added.

    Example:
        >>> import gluonish as mx
        >>> layer = mx.gluon.nn.Embedding(input_dim=1000, output_dim=16)
        >>> layer.initialize()
        >>> layer(mx.nd.array([[3, 1, 4], [1, 5, 9]])).shape
        (2, 3, 16)
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
        options = {"dtype": dtype, "grad_stype": "row_sparse" if sparse_grad else "default"}
        shape = (input_dim, output_dim)
        self.weight = self.params._declare("weight", shape, weight_initializer, **options)

    def hybrid_forward(self, F: ModuleType, x: Tensor, weight: Tensor) -> Any:
        """Look up one vector for each index.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            x: Any shape, integers in [0, input_dim) of any dtype.
            weight: The parameter ``weight``.
        """
        return F.Embedding(x, weight, name="fwd", **self._kwargs)

    def __repr__(self) -> str:
        return "{}({input_dim} -> {output_dim}, {dtype})".format(
            type(self).__name__, **self._kwargs
        )
