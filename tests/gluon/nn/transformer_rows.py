"""How to make and call the layers of transformers; see `tests.gluon.nn.rows`."""

from typing import Any, NamedTuple

import numpy as np

from gluonish.gluon import nn
from gluonish.gluon.block.hybrid_block import HybridBlock

UNITS = 8


class Row(NamedTuple):
    """As in `tests.gluon.nn.rows`, which imports this module."""

    make: Any
    inputs: Any
    differentiable: int = 1


class Called(HybridBlock):
    """A block called with arrays under names."""

    def __init__(self, block: HybridBlock, *names: str) -> None:
        super().__init__()
        self._names = names
        with self.name_scope():
            self.block = block

    def hybrid_forward(self, F: Any, *args: Any) -> Any:  # type: ignore[override]  # any number
        return self.block(**dict(zip(self._names, args, strict=True)))


def tokens(*lengths: int) -> Any:
    """Return a function of arrays (n, length, UNITS)."""
    return lambda rng, n: [rng.standard_normal((n, length, UNITS)) for length in lengths]


def _with_lengths(rng: np.random.Generator, n: int) -> list[Any]:
    return [rng.standard_normal((n, 5, UNITS)), rng.integers(0, 6, (n,))]


def _with_mask(rng: np.random.Generator, n: int) -> list[Any]:
    return [rng.standard_normal((n, 5, UNITS)), rng.standard_normal((n, 1, 5, 5))]


def _attention(known: bool, **options: Any) -> HybridBlock:
    return nn.MultiHeadAttention(UNITS, 4, in_units=UNITS * known, **options)


ATTENTION = [
    Row(_attention, tokens(5)),
    Row(
        lambda known: _attention(known, num_kv_heads=2, causal=True, dropout=0.3, qk_norm=True),
        tokens(5),
    ),
    Row(lambda known: Called(_attention(known, use_bias=False), "query", "key"), tokens(5, 3), 2),
    Row(lambda known: Called(_attention(known), "query", "key", "value"), tokens(5, 3, 3), 3),
    Row(
        lambda _: Called(
            nn.MultiHeadAttention(6, 2, fused=False, head_units=4, layout="TNC"), "query", "key"
        ),
        lambda rng, n: [rng.standard_normal((5, n, 8)), rng.standard_normal((3, n, 7))],
        2,
    ),
    Row(lambda known: Called(_attention(known, window=2), "query", "valid_length"), _with_lengths),
    Row(lambda known: Called(_attention(known, softcap=2.0), "query", "mask"), _with_mask, 2),
]

SIZES = (UNITS, 12, 2)
ENCODERS = [
    Row(lambda _: nn.TransformerEncoderLayer(*SIZES), tokens(5)),
    Row(
        lambda _: Called(
            nn.TransformerEncoderLayer(
                *SIZES, 0.0, activation="gelu_tanh", norm_first=True, norm="rms", use_bias=False
            ),
            "x",
            "valid_length",
        ),
        _with_lengths,
    ),
]
DECODER = Row(
    lambda _: Called(
        nn.TransformerDecoderLayer(*SIZES, 0.1, norm_first=True, activation="silu"), "x", "memory"
    ),
    tokens(5, 3),
    2,
)


def images(*shape: int) -> Any:
    return lambda rng, n: [rng.standard_normal((n, *shape))]


def _with_positions(rng: np.random.Generator, n: int) -> list[Any]:
    return [rng.standard_normal((n, 5, UNITS)), rng.integers(0, 9, (n, 5))]


POSITIONS: dict[str, list[Row]] = {
    "ALiBiBias": [
        Row(lambda _: Called(nn.ALiBiBias(3), "query", "key"), tokens(5, 7), 0),
    ],
    "PositionalEmbedding": [
        Row(lambda _: nn.PositionalEmbedding(UNITS, 9), tokens(5)),
        Row(lambda _: Called(nn.PositionalEmbedding(UNITS, 9), "x", "positions"), _with_positions),
        Row(lambda _: nn.PositionalEmbedding(UNITS, 5, "sinusoidal"), tokens(5)),
    ],
    "RelativePositionBias": [
        Row(lambda _: nn.RelativePositionBias(3, 8, 6), tokens(9), 0),
        Row(
            lambda _: Called(nn.RelativePositionBias(3, 8, 6, bidirectional=False), "query", "key"),
            tokens(5, 9),
            0,
        ),
    ],
}

PARTS: dict[str, list[Row]] = {
    "DropPath": [
        Row(lambda _: nn.DropPath(0.4), tokens(5)),
        Row(lambda _: nn.DropPath(0.4, 1), images(6, 2, 3)),
    ],
    "GatedMLP": [
        Row(lambda known: nn.GatedMLP(6, 10, in_units=UNITS * known), tokens(5)),
        Row(
            lambda known: nn.GatedMLP(
                6, 10, "gelu_tanh", use_bias=True, dropout=0.2, in_units=UNITS * known
            ),
            tokens(5),
        ),
    ],
    "LayerScale": [
        Row(lambda _: nn.LayerScale(UNITS), tokens(5)),
        Row(lambda _: nn.LayerScale(4, axis=-3), images(4, 3, 2)),
    ],
    "MixtureOfExperts": [
        Row(lambda _: nn.MixtureOfExperts(UNITS, 6, 4), tokens(5)),
        Row(
            lambda _: nn.MixtureOfExperts(
                UNITS, 6, 4, 1, gated=False, activation="gelu", normalize=False
            ),
            tokens(5),
        ),
    ],
    "PatchEmbedding": [
        Row(lambda known: nn.PatchEmbedding(UNITS, 2, 3 * known), images(3, 6, 4)),
        Row(
            lambda known: nn.PatchEmbedding(UNITS, (2, 3), 3 * known, "NHWC", use_bias=False),
            images(4, 6, 3),
        ),
    ],
    "Residual": [
        Row(
            lambda known: nn.Residual(
                nn.LayerNorm(in_channels=UNITS * known),
                nn.Dense(UNITS, flatten=False, in_units=UNITS * known),
            ),
            tokens(5),
        )
    ],
}

ROWS: dict[str, list[Row]] = {
    **POSITIONS,
    **PARTS,
    "MultiHeadAttention": ATTENTION,
    "TransformerDecoder": [
        Row(
            lambda _: Called(nn.TransformerDecoder(2, *SIZES, dropout=0.2), "x", "memory"),
            tokens(5, 3),
            2,
        )
    ],
    "TransformerDecoderLayer": [DECODER],
    "TransformerEncoder": [
        Row(lambda _: nn.TransformerEncoder(2, *SIZES, causal=True, norm_first=True), tokens(5))
    ],
    "TransformerEncoderLayer": ENCODERS,
}
