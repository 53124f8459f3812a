"""Embedder: one vector for a text."""

from types import ModuleType
from typing import Any

from gluonish.core.errors import ArgumentError
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.nn.tensor import Tensor, check_positive
from gluonish.model_zoo.pretrained.families import keeps_arguments
from gluonish.model_zoo.text.pooling import check_pooling, pool

__all__ = ["Embedder"]


class Embedder(HybridBlock):
    """A vector for each text, near those of texts with a similar meaning.

    Args:
        body: Network that gives features (N, T, units) of ``(tokens, token_types, valid_length)``,
            such as `BERT`; a second output is not read.
        pooling: How features of tokens become one vector: ``"mean"``, ``"cls"`` for the first
            token, ``"last"`` for the last one, or ``"max"``.
        normalize: Whether vectors are divided by their length, so that their product is the cosine
            of their angle.
        max_length: Largest number of tokens that the network was trained with; None for that of
            the body.
        **kwargs: See `HybridBlock`.

    Inputs:
        tokens: (N, T).
        token_types: (N, T), or None.
        valid_length: number of tokens of each text, (N,); None for T.

    Outputs:
        vectors: (N, units).

    Raises:
        ArgumentError: There is no such pooling.

    References:
        N. Reimers, I. Gurevych, Sentence-BERT: Sentence Embeddings using Siamese BERT-Networks,
        2019.

    Example:
        >>> import gluonish as mx
        >>> from gluonish.model_zoo.text import BERT, Embedder
        >>> net = Embedder(BERT(32, units=8, hidden_units=16, num_layers=1, num_heads=2))
        >>> net.initialize()
        >>> vectors = net(mx.nd.array([[1, 2, 3], [1, 3, 2]], dtype="int32"))
        >>> similarity = mx.nd.dot(vectors, vectors.T)
        >>> similarity.shape
        (2, 2)
    """

    body: Any
    max_length: int

    @keeps_arguments
    def __init__(
        self,
        body: HybridBlock,
        pooling: str = "mean",
        normalize: bool = True,
        max_length: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        check_pooling("Embedder", pooling)
        if not hasattr(body, "embedding"):
            raise ArgumentError(
                f"Embedder: expected a body such as BERT, got {type(body).__name__}"
            )
        self.body = body
        self.pooling, self.normalize = pooling, bool(normalize)
        self.max_length = self.body.max_length if max_length is None else max_length
        check_positive("Embedder", max_length=self.max_length)

    def hybrid_forward(
        self,
        F: ModuleType,
        tokens: Tensor,
        token_types: Tensor | None = None,
        valid_length: Tensor | None = None,
    ) -> Any:
        """Compute the vectors.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            tokens: (N, T).
            token_types: (N, T), or None.
            valid_length: (N,), or None.
        """
        made = self.body(tokens, token_types, valid_length)
        features = made[0] if isinstance(made, list | tuple) else made
        vectors = pool(F, features, valid_length, self.pooling)
        return F.L2Normalization(vectors, eps=1e-24) if self.normalize else vectors
