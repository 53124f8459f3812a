"""MixtureOfExperts: feed-forward networks of which each token uses a few."""

from types import ModuleType
from typing import Any

from gluonish.core.errors import ArgumentError
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.nn.basic_layers import Dense
from gluonish.gluon.nn.feed_forward import check_gate, gated
from gluonish.gluon.nn.tensor import Tensor, check_positive
from gluonish.gluon.nn.transformer_layers import activation_block
from gluonish.gluon.parameter.parameter import Init

__all__ = ["MixtureOfExperts"]


class MixtureOfExperts(HybridBlock):
    """Sum of the k most probable of E experts: ``y = sum(p[e] * expert[e](x) for e in top_k(p))``.

    ``p = softmax(x R^T)`` is computed by the dense layer ``router``. An expert is a feed-forward
    network, with gates by default (see `GatedMLP`). Each expert computes the tokens that chose it
    in one product a layer, and no others. The numbers of tokens are read by the host.

    Args:
        units: Number C of input and output features.
        hidden_units: Number H of hidden units of an expert.
        num_experts: Number E of experts.
        top_k: Number of experts that a token uses.
        gated: Whether experts have gates.
        activation: Function of the gates (see `GatedMLP`), or of the hidden units (see
            `TransformerEncoderLayer`).
        normalize: Whether the probabilities of the chosen experts are divided by their sum.
        return_loss: Whether the load-balance loss is a second output.
        dtype: Element type of the parameters.
        weight_initializer: Initializer of ``hidden_weight`` (E * H, C), or (E * 2 * H, C) with
            gates, where those of an expert come first, and of ``output_weight`` (E * C, H).
        router_initializer: Initializer of the weight of ``router`` (E, C).
        **kwargs: See `HybridBlock`.

    Inputs:
        x: (..., C).

    Outputs:
        y: shape of ``x``.
        loss: with ``return_loss``, ``E * sum(f[e] * mean(p[e]))`` over experts, (1,) in float32,
            where f is the number of tokens that use an expert, divided by the number of all. It
            is ``top_k`` if all are used equally, and grows to ``E`` as few experts get all tokens.
            Add it to the network's loss, with a factor such as 0.01.

    Raises:
        ArgumentError: ``top_k`` is above ``num_experts``, a number is below 1, or there is no such
            activation.

    References:
        N. Shazeer et al., Outrageously Large Neural Networks: The Sparsely-Gated
        Mixture-of-Experts Layer, 2017.
        W. Fedus, B. Zoph, N. Shazeer, Switch Transformers: Scaling to Trillion Parameter Models
        with Simple and Efficient Sparsity, 2022; there ``top_k`` is 1.

    Example:
        >>> import gluonish as mx
        >>> layer = mx.gluon.nn.MixtureOfExperts(8, 16, num_experts=4, return_loss=True)
        >>> layer.initialize()
        >>> y, loss = layer(mx.nd.ones((2, 5, 8)))
        >>> y.shape
        (2, 5, 8)
    """

    def __init__(
        self,
        units: int,
        hidden_units: int,
        num_experts: int,
        top_k: int = 2,
        gated: bool = True,
        activation: str | HybridBlock = "silu",
        normalize: bool = True,
        return_loss: bool = False,
        dtype: Any = "float32",
        weight_initializer: Init | None = None,
        router_initializer: Init | None = None,
        **kwargs: Any,
    ) -> None:
        name = type(self).__name__
        super().__init__(**kwargs)
        check_positive(name, units=units, hidden_units=hidden_units)
        check_positive(name, num_experts=num_experts, top_k=top_k)
        if top_k > num_experts:
            raise ArgumentError(
                f"{name}: expected top_k of at most num_experts {num_experts}, got {top_k}"
            )
        if gated:
            check_gate(name, activation)
        self._units, self._hidden = units, hidden_units * (2 if gated else 1)
        self._experts, self._top_k = num_experts, top_k
        self._normalize, self._return_loss = bool(normalize), bool(return_loss)
        self._gate = activation if gated else None
        self._text = f"{units}, {hidden_units}, num_experts={num_experts}, top_k={top_k}"
        with self.name_scope():
            self.router = Dense(
                num_experts,
                use_bias=False,
                in_units=units,
                dtype=dtype,
                weight_initializer=router_initializer,
                prefix="router_",
            )
            self.activation = None if gated else activation_block(activation)
            shape = (num_experts * self._hidden, units)
            given = {"dtype": dtype}
            declare = self.params._declare
            self.hidden_weight = declare("hidden_weight", shape, weight_initializer, **given)
            shape = (num_experts * units, hidden_units)
            self.output_weight = declare("output_weight", shape, weight_initializer, **given)

    def hybrid_forward(
        self, F: ModuleType, x: Tensor, hidden_weight: Tensor, output_weight: Tensor
    ) -> Any:
        """Route tokens to experts, and add up what these compute.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            x: (..., C).
            hidden_weight: Weights of the hidden units of all experts, a parameter.
            output_weight: Weights of the outputs of all experts, a parameter.
        """
        tokens = F.reshape(x, shape=(-1, self._units))
        probabilities = F.softmax(self.router(tokens), axis=-1)
        gates, chosen = F.topk(probabilities, axis=-1, k=self._top_k, ret_typ="both", dtype="int32")
        if self._normalize:
            gates = F.broadcast_div(gates, F.sum(gates, axis=-1, keepdims=True))
        uses = F.one_hot(F.reshape(chosen, shape=(-1,)), depth=self._experts)
        made = self._compute(F, tokens, chosen, F.sum(uses, axis=0), hidden_weight, output_weight)
        made = F.reshape(made, shape=(-1, self._top_k, self._units))
        y = F.sum(F.broadcast_mul(made, F.expand_dims(gates, axis=2)), axis=1)
        y = F.reshape_like(y, x)
        if not self._return_loss:
            return y
        shares = F.cast(F.mean(probabilities, axis=0), dtype="float32")
        loss = F.sum(F.BlockGrad(F.mean(uses, axis=0)) * shares)
        return y, loss * (self._experts * self._top_k)

    def _compute(
        self, F: ModuleType, tokens: Any, chosen: Any, counts: Any, hidden: Any, output: Any
    ) -> Any:
        """Return what each token's experts compute, (tokens * top_k, C)."""
        order = F.argsort(F.reshape(chosen, shape=(-1,)), dtype="int32")
        if self._top_k > 1:
            tokens = F.repeat(tokens, repeats=self._top_k, axis=0)
        rows = F.take(tokens, order, axis=0)
        weight = F.reshape(hidden, shape=(self._experts, -1, self._units))
        rows = F._internal._grouped_dense(rows, weight, counts)
        rows = gated(F, rows, self._gate) if self.activation is None else self.activation(rows)
        weight = F.reshape(output, shape=(self._experts, self._units, -1))
        rows = F._internal._grouped_dense(rows, weight, counts)
        return F.take(rows, F.argsort(order, dtype="int32"), axis=0)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._text})"
