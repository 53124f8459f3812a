"""SparseEmbedding: a table of vectors of which a device holds the rows that it uses."""

from typing import Any

import gluonish.ndarray as nd
from gluonish.gluon.block import Block
from gluonish.gluon.parameter.parameter import Init
from gluonish.ndarray import NDArray

__all__ = ["SparseEmbedding"]


class SparseEmbedding(Block):
    """Look up a vector for each index, ``y[...] = weight[x[...]]``, in a row-sparse ``weight``.

    The table is kept in the store of a Trainer. Each call pulls only the rows it needs, and the
    gradient contains only these rows, so a table may be larger than a device's memory. It is not a
    HybridBlock, because the rows depend on the values of ``x``.

    Args:
        input_dim: Number of vectors in the table.
        output_dim: Length of a vector.
        dtype: Element type of the table and the output.
        weight_initializer: Initializer of ``weight`` (input_dim, output_dim).
        **kwargs: See `Block`.

    Inputs:
        x: Any shape; integers in [0, input_dim), of any dtype.

    Outputs:
        y: Shape of ``x`` with a last axis of output_dim added.

    Raises:
        ParameterError: When called: ``weight`` belongs to no Trainer.
    """

    def __init__(
        self,
        input_dim: int,
        output_dim: int,
        dtype: Any = "float32",
        weight_initializer: Init | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self._kwargs = {
            "input_dim": input_dim,
            "output_dim": output_dim,
            "dtype": dtype,
            "sparse_grad": True,
        }
        self.weight = self.params.get(
            "weight",
            shape=(input_dim, output_dim),
            init=weight_initializer,
            dtype=dtype,
            grad_stype="row_sparse",
            stype="row_sparse",
        )

    def forward(self, x: NDArray) -> Any:
        """Pull the rows and return the vectors.

        Args:
            x: Indices, any shape.
        """
        weight = self.weight.row_sparse_data(x)
        return nd.Embedding(x, weight, name="fwd", **self._kwargs)

    def __repr__(self) -> str:
        return "{}({input_dim} -> {output_dim}, {dtype})".format(
            type(self).__name__, **self._kwargs
        )
