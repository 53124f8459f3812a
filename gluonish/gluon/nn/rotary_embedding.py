"""RotaryEmbedding: positions of queries and keys as rotations."""

from types import ModuleType
from typing import Any

from gluonish.core.errors import ArgumentError
from gluonish.core.number_check import check_attributes
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.nn.tensor import Tensor
from gluonish.ops.attention.rotary import AXES
from gluonish.ops.attention.rotary_frequencies import ATTRIBUTES

_KINDS = ("none", "linear", "dynamic", "llama3", "yarn")


class RotaryEmbedding(HybridBlock):
    """Rotate pairs of elements of queries or keys by angles of their positions.

    Pair i of the first ``dim`` elements is rotated by ``position * base**(-2 * i / dim)``, so that
    products of queries and keys depend on distances.

    Args:
        dim: Number of elements that are rotated, from the first; None for all.
        base: Base of the angles; large ones make long sequences distinct.
        pairing: ``"halves"`` pairs element i with ``i + dim / 2``, as in Llama and GPT-NeoX,
            ``"neighbours"`` element 2 i with ``2 i + 1``, as in RoFormer and GPT-J.
        layout: Order of the axes of the input: ``"NHTC"``, ``"NTHC"`` or ``"TNHC"``.
        scaling: How angles are changed for sequences longer than those of the training:
            ``"none"``, ``"linear"``, ``"dynamic"``, ``"llama3"`` or ``"yarn"``.
        factor: How much longer the sequences are.
        original_max_position_embeddings: Length T of the training's sequences, which all but
            ``"none"`` and ``"linear"`` need.
        low_freq_factor: Of ``"llama3"``: angles with fewer rotations than this in T steps are
            divided by ``factor``.
        high_freq_factor: Of ``"llama3"``: angles with more rotations than this stay.
        beta_fast: Of ``"yarn"``: angles with more rotations than this stay.
        beta_slow: Of ``"yarn"``: angles with fewer rotations than this are divided by ``factor``.
        truncate: Of ``"yarn"``: whether the bounds between both are whole numbers.
        attention_factor: Factor of the output; None for ``0.1 * log(factor) + 1`` with ``"yarn"``,
            and 1 otherwise.
        **kwargs: See `HybridBlock`.

    Inputs:
        x: (N, H, T, C) in the order of ``layout``, or (N, T, C).
        positions: (T,) or (N, T), whole numbers of at least 0; None counts from 0.

    Outputs:
        y: shape of ``x``.

    Raises:
        ArgumentError: There is no such pairing, layout or scaling.
        OperatorError: In the call, if numbers do not fit the input.

    References:
        J. Su et al., RoFormer: Enhanced Transformer with Rotary Position Embedding, 2021.
    """

    def __init__(
        self,
        dim: int | None = None,
        base: float = 10000.0,
        pairing: str = "halves",
        layout: str = "NHTC",
        scaling: str = "none",
        factor: float = 1.0,
        original_max_position_embeddings: int | None = None,
        low_freq_factor: float = 1.0,
        high_freq_factor: float = 4.0,
        beta_fast: float = 32.0,
        beta_slow: float = 1.0,
        truncate: bool = True,
        attention_factor: float | None = None,
        **kwargs: Any,
    ) -> None:
        for name, value, allowed in (
            ("pairing", pairing, ("halves", "neighbours")),
            ("layout", layout, tuple(AXES)),
            ("scaling", scaling, _KINDS),
        ):
            if value not in allowed:
                raise ArgumentError(
                    f"RotaryEmbedding: expected {name} among {', '.join(allowed)}, got {value!r}"
                )
        check_attributes("RotaryEmbedding", base=base, factor=factor)
        super().__init__(**kwargs)
        self._attrs = {
            "dim": dim,
            "base": base,
            "pairing": pairing,
            "layout": layout,
            "scaling": scaling,
            "factor": factor,
            "original_max_position_embeddings": original_max_position_embeddings,
            "low_freq_factor": low_freq_factor,
            "high_freq_factor": high_freq_factor,
            "beta_fast": beta_fast,
            "beta_slow": beta_slow,
            "truncate": truncate,
            "attention_factor": attention_factor,
        }

    def hybrid_forward(self, F: ModuleType, x: Tensor, positions: Tensor | None = None) -> Any:
        """Rotate each step of the input.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            x: (N, H, T, C) in the order of ``layout``, or (N, T, C).
            positions: (T,) or (N, T), whole numbers of at least 0; None counts from 0.
        """
        return F.rotary_embedding(x, positions, **self._attrs)

    def __repr__(self) -> str:
        defaults = {"dim": None, "pairing": "halves", "layout": "NHTC"}
        defaults |= {name: attribute.default for name, attribute in ATTRIBUTES.items()}
        shown = [f"{k}={v}" for k, v in self._attrs.items() if v != defaults[k]]
        return f"{type(self).__name__}({', '.join(shown)})"
