"""How to make and call every hybridizable layer and loss; test_hybrid_equals_imperative walks this.

A row's ``make`` gets whether the extents of the inputs are known beforehand: ``in_units=5 * known``
gives them, or 0 for what the first batch has. Its ``inputs`` get a generator and a batch size.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, cast

import numpy as np

import gluonish.symbol as sym
from gluonish.gluon import loss, nn
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.contrib import nn as contrib_nn
from gluonish.initializer import Constant, Normal
from tests.gluon.nn import transformer_rows

Inputs = Callable[[np.random.Generator, int], list[Any]]


class Row(NamedTuple):
    """One way to make a block, and what to call it with."""

    make: Callable[[bool], HybridBlock]
    inputs: Inputs
    # How many inputs, from the first, have gradients; labels and numbers of words have none.
    differentiable: int = 1


def normal(*shape: int) -> Inputs:
    return lambda rng, n: [rng.standard_normal((n, *shape))]


def _plain(make: Callable[[], HybridBlock], *shapes: tuple[int, ...]) -> list[Row]:
    return [Row(lambda _: make(), normal(*shape)) for shape in shapes]


def _weight_only(*args: Any, **options: Any) -> HybridBlock:
    layer = nn.WeightOnlyDense(4, *args, **options)
    layer.weight.init = Constant(3)  # integers are not random, scales are
    layer.scale.init = Normal(0.5)
    return layer


class Scaled(HybridBlock):
    """A block in the style of 2.0, with a parameter of its own."""

    def __init__(self, known: bool) -> None:
        super().__init__()
        with self.name_scope():
            self.dense = nn.Dense(4, in_units=5 * known)
            self.scale = self.params.get("scale", shape=(4,))

    def forward(self, x: Any) -> Any:  # type: ignore[override]  # one input is all it takes
        return self.dense(x).tanh() * self.scale.data(getattr(x, "context", None))


class Absolute(loss.Loss):
    """A loss of the user's own."""

    def hybrid_forward(self, F: Any, x: Any, y: Any) -> Any:  # type: ignore[override]  # as losses do
        return self._mean(F, self._weighted(F, F.abs(x - y), None))


def _stack(known: bool) -> HybridBlock:
    net = nn.HybridSequential()
    with net.name_scope():
        net.add(
            nn.Conv2D(6, 3, padding=1, in_channels=4 * known, use_bias=False),
            nn.BatchNorm(in_channels=6 * known),
            nn.Activation("relu"),
            nn.MaxPool2D(2),
            nn.Dense(5, in_units=54 * known, activation="tanh"),
            nn.LayerNorm(in_channels=5 * known),
            nn.Dense(3, in_units=5 * known),
        )
    return net


def _symbols(known: bool) -> HybridBlock:
    x = sym.var("data")
    hidden = sym.FullyConnected(x, num_hidden=4, name="hidden")
    return nn.SymbolBlock(sym.tanh(hidden) * 2, x)


def _words(rng: np.random.Generator, n: int) -> list[Any]:
    return [rng.integers(0, 7, (n, 3))]


def _convolutions() -> dict[str, list[Row]]:
    def rows(make: Any, shape: tuple[int, ...], last: str) -> list[Row]:
        channels_last = (*shape[1:], shape[0])
        options: list[tuple[dict[str, Any], tuple[int, ...]]] = [
            ({"padding": 1}, shape),
            ({"strides": 2, "dilation": 2, "use_bias": False, "activation": "relu"}, shape),
            ({"groups": 2}, shape),
            *([({"layout": last}, channels_last)] if len(shape) > 2 else []),
        ]
        return [
            Row(
                lambda known, chosen=chosen: make(  # type: ignore[misc]  # a default binds it
                    4, 3, in_channels=4 * (known or "groups" in chosen), **chosen
                ),
                normal(*extents),
            )
            for chosen, extents in options
        ]

    return {
        "Conv1D": rows(nn.Conv1D, (4, 9), "NWC"),
        "Conv2D": rows(nn.Conv2D, (4, 6, 7), "NHWC"),
        "Conv3D": rows(nn.Conv3D, (4, 5, 6, 5), "NDHWC"),
    }


def _transposed() -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for rank in (1, 2, 3):
        make = getattr(nn, f"Conv{rank}DTranspose")
        shape = (4, 4, 3, 2)[: rank + 1]
        options: list[dict[str, Any]] = [
            {"strides": 2, "padding": 1, "output_padding": 1, "activation": "tanh"},
            {"groups": 2, "dilation": 2, "use_bias": False},
        ]
        found[f"Conv{rank}DTranspose"] = [
            Row(lambda known, m=make, o=o: m(6, 3, in_channels=4 * known, **o), normal(*shape))  # type: ignore[misc]  # defaults bind
            for o in options
        ]
    found["Conv2DTranspose"].append(
        Row(
            lambda known: nn.Conv2DTranspose(6, 3, layout="NHWC", in_channels=4 * known),
            normal(3, 4, 4),
        )
    )
    return found


def _poolings() -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for ndim, last in ((1, "NWC"), (2, "NHWC"), (3, "NDHWC")):
        shape = (3, 8, 7, 6)[: ndim + 1]
        channels_last = (*shape[1:], shape[0])
        for kind in ("Max", "Avg"):
            pool = getattr(nn, f"{kind}Pool{ndim}D")
            options: list[dict[str, Any]] = [
                {},
                {"pool_size": 3, "strides": 2, "padding": 1, "ceil_mode": True},
                *([{"padding": 1, "count_include_pad": False}] if kind == "Avg" else []),
            ]
            rows = [Row(lambda _, p=pool, o=o: p(**o), normal(*shape)) for o in options]  # type: ignore[misc]  # defaults bind
            rows += _plain(lambda p=pool, layout=last: p(layout=layout), channels_last)  # type: ignore[misc]  # defaults bind
            found[f"{kind}Pool{ndim}D"] = rows
            whole = getattr(nn, f"Global{kind}Pool{ndim}D")
            found[f"Global{kind}Pool{ndim}D"] = [
                *_plain(whole, shape),
                *_plain(lambda p=whole, layout=last: p(layout=layout), channels_last),  # type: ignore[misc]  # defaults bind
            ]
    return found


def _norms() -> dict[str, list[Row]]:
    def batch(known: bool, **options: Any) -> HybridBlock:
        return nn.BatchNorm(in_channels=4 * known, **options)

    def instance(known: bool, **options: Any) -> HybridBlock:
        return nn.InstanceNorm(in_channels=4 * known, **options)

    return {
        "BatchNormReLU": [
            Row(lambda known: nn.BatchNormReLU(in_channels=4 * known), normal(4, 3, 5)),
            Row(lambda _: nn.BatchNormReLU(axis=-1, scale=False), normal(3, 4)),
        ],
        "GroupNorm": [
            Row(lambda _: nn.GroupNorm(), normal(4, 5)),
            Row(lambda _: nn.GroupNorm(2, scale=False, epsilon=0.1), normal(4, 3, 2)),
        ],
        "InstanceNorm": [
            Row(instance, normal(4, 5)),
            Row(lambda known: instance(known, axis=-1, scale=True), normal(3, 2, 4)),
        ],
        "BatchNorm": [
            Row(batch, normal(4, 3, 5)),
            Row(lambda known: batch(known, axis=-1, momentum=0.5), normal(3, 4)),
            Row(lambda known: batch(known, scale=False, center=False), normal(4)),
            Row(lambda known: batch(known, use_global_stats=True), normal(4, 3)),
        ],
        "RotaryEmbedding": [
            Row(lambda _: nn.RotaryEmbedding(), normal(2, 5, 6)),
            Row(
                lambda _: nn.RotaryEmbedding(4, pairing="neighbours", layout="NTHC", base=100),
                lambda rng, n: [rng.standard_normal((n, 5, 2, 6)), rng.integers(0, 90, (n, 5))],
            ),
        ],
        "RMSNorm": [
            Row(lambda known: nn.RMSNorm(in_channels=5 * known), normal(3, 5)),
            Row(lambda known: nn.RMSNorm(axis=1, in_channels=3 * known, offset=True), normal(3, 5)),
            Row(lambda known: nn.RMSNorm(scale=False, epsilon=1e-3), normal(5)),
        ],
        "LayerNorm": [
            Row(lambda known: nn.LayerNorm(in_channels=5 * known), normal(3, 5)),
            Row(lambda known: nn.LayerNorm(axis=1, in_channels=3 * known), normal(3, 5)),
            Row(lambda known: nn.LayerNorm(scale=False, center=False), normal(5)),
        ],
    }


def _beside(kind: Any, known: bool, **options: Any) -> HybridBlock:
    net = kind(**options)
    net.add(nn.Dense(5, in_units=5 * known), nn.Identity())
    return cast(HybridBlock, net)


def _deformable() -> dict[str, list[Row]]:
    options: list[dict[str, Any]] = [
        {"kernel_size": (3, 3), "padding": 1},
        {"kernel_size": (3, 2), "strides": 2, "groups": 2, "num_deformable_group": 2}
        | {"use_bias": False, "offset_use_bias": False, "activation": "tanh"},
    ]
    return {
        name: [
            Row(
                lambda known, name=name, o=o: getattr(nn, name)(  # type: ignore[misc]  # defaults bind
                    4, in_channels=4 * (known or "groups" in o), **o
                ),
                normal(4, 6, 5),
            )
            for o in options
        ]
        for name in ("DeformableConvolution", "ModulatedDeformableConvolution")
    }


LAYERS: dict[str, list[Row]] = {
    **_convolutions(),
    **_transposed(),
    **_poolings(),
    **_norms(),
    **_deformable(),
    "Activation": [
        Row(lambda _, kind=kind: nn.Activation(kind), normal(3, 4))  # type: ignore[misc]  # a default binds it
        for kind in ("relu", "sigmoid", "tanh", "softrelu", "softsign")
    ],
    "WeightOnlyDense": [
        Row(lambda known: _weight_only(in_units=15 * known), normal(3, 5)),
        Row(
            lambda known: _weight_only("relu", False, False, group_size=5, in_units=10 * known),
            normal(3, 10),
        ),
    ],
    "Dense": [
        Row(lambda known: nn.Dense(4, in_units=15 * known), normal(3, 5)),
        Row(
            lambda known: nn.Dense(4, "relu", use_bias=False, flatten=False, in_units=5 * known),
            normal(3, 5),
        ),
    ],
    "Dropout": [
        Row(lambda _: nn.Dropout(0.4), normal(3, 50)),
        Row(lambda _: nn.Dropout(0.4, axes=(1,)), normal(3, 50)),
        Row(lambda _: nn.Dropout(0), normal(3, 5)),
    ],
    "ELU": _plain(nn.ELU, (3, 4)),
    "Embedding": [Row(lambda _: nn.Embedding(7, 4), _words, 0)],
    "Flatten": _plain(nn.Flatten, (3, 4), (2, 3, 4)),
    "GELU": [
        Row(lambda _, kind=kind: nn.GELU(kind), normal(3, 4))  # type: ignore[misc]  # a default binds it
        for kind in ("erf", "tanh", "sigmoid")
    ],
    "HybridBlock": [Row(Scaled, normal(5))],
    "HybridConcatenate": [
        Row(lambda known: _beside(nn.HybridConcatenate, known), normal(5)),
        Row(lambda known: _beside(nn.HybridConcatenate, known, axis=0), normal(5)),
    ],
    "HybridLambda": [
        Row(lambda _: nn.HybridLambda("tanh"), normal(3, 4)),
        Row(
            lambda _: nn.HybridLambda(lambda F, x, y: F.broadcast_mul(F.relu(x), y)),
            lambda rng, n: [rng.standard_normal((n, 3)), rng.standard_normal((n, 1))],
            2,
        ),
    ],
    "HybridSequential": [Row(_stack, normal(4, 6, 6))],
    "Identity": _plain(nn.Identity, (3, 4)),
    "LeakyReLU": _plain(lambda: nn.LeakyReLU(0.3), (3, 4)),
    "PReLU": [
        Row(lambda _: nn.PReLU(), normal(3, 4)),
        Row(lambda _: nn.PReLU(in_channels=3), normal(3, 4)),
    ],
    "PixelShuffle1D": _plain(lambda: nn.PixelShuffle1D(2), (6, 3)),
    "PixelShuffle2D": _plain(lambda: nn.PixelShuffle2D((2, 3)), (12, 3, 2)),
    "PixelShuffle3D": _plain(lambda: nn.PixelShuffle3D((2, 1, 3)), (12, 2, 1, 3)),
    "ReflectionPad2D": _plain(lambda: nn.ReflectionPad2D(2), (3, 4, 5)),
    "SELU": _plain(nn.SELU, (3, 4)),
    "SiLU": _plain(nn.SiLU, (3, 4)),
    "Swish": _plain(lambda: nn.Swish(0.7), (3, 4)),
    "SyncBatchNorm": [
        Row(lambda known: nn.SyncBatchNorm(4 * known, 1), normal(4, 3, 5)),
        Row(
            lambda known: nn.SyncBatchNorm(4 * known, 1, scale=False, center=False),
            normal(4),
        ),
    ],
    "SymbolBlock": [Row(_symbols, normal(3))],
    **{name: [Row(*row) for row in rows] for name, rows in transformer_rows.ROWS.items()},
}

# Those of `gluon.contrib` that are not among the layers above.
CONTRIB: dict[str, list[Row]] = {
    "HybridConcurrent": [Row(lambda known: _beside(contrib_nn.HybridConcurrent, known), normal(5))],
}


def _numbers(rng: np.random.Generator, n: int) -> list[Any]:
    return [rng.standard_normal((n, 4)), rng.standard_normal((n, 4)), rng.uniform(1, 2, (n, 1))]


def _signs(rng: np.random.Generator, n: int) -> list[Any]:
    return [rng.standard_normal((n, 4)), rng.integers(0, 2, (n, 4)) * 2 - 1]


def _bits(rng: np.random.Generator, n: int) -> list[Any]:
    return [rng.standard_normal((n, 4)), rng.integers(0, 2, (n, 4))]


def _classes(rng: np.random.Generator, n: int) -> list[Any]:
    return [rng.standard_normal((n, 4)), rng.integers(0, 4, (n,))]


def _distributions(rng: np.random.Generator, n: int) -> list[Any]:
    return [np.log(rng.dirichlet(np.ones(4), n)), rng.dirichlet(np.ones(4), n)]


def _sequences(rng: np.random.Generator, n: int) -> list[Any]:
    return [rng.standard_normal((n, 6, 5)), rng.integers(0, 4, (n, 3))]


def _triples(rng: np.random.Generator, n: int) -> list[Any]:
    return [rng.standard_normal((n, 4)) for _ in range(3)]


def _pairs(rng: np.random.Generator, n: int) -> list[Any]:
    return [*_triples(rng, n)[:2], rng.integers(0, 2, (n,)) * 2 - 1]


def _loss(
    inputs: Inputs, kind: Any, *options: dict[str, Any], differentiable: int = 1
) -> list[Row]:
    return [
        Row(lambda _, o=o: kind(**o), inputs, differentiable)  # type: ignore[misc]  # a default binds it
        for o in ({}, *options)
    ]


_BINARY = [
    *_loss(_bits, loss.SigmoidBCELoss),
    Row(
        lambda _: loss.SigmoidBCELoss(from_sigmoid=True),
        lambda rng, n: [rng.uniform(0.1, 0.9, (n, 4)), rng.integers(0, 2, (n, 4))],
    ),
]
_SOFTMAX = [
    *_loss(_classes, loss.SoftmaxCELoss),
    *_loss(
        _distributions,
        lambda **o: loss.SoftmaxCELoss(sparse_label=False, **o),
        {"from_logits": True},
    ),
]

# SDMLLoss needs the batch size and cannot be hybridized, as in MXNet.
LOSSES: dict[str, list[Row]] = {
    "CTCLoss": _loss(_sequences, loss.CTCLoss, {"weight": 2}),
    "CosineEmbeddingLoss": _loss(
        _pairs, loss.CosineEmbeddingLoss, {"margin": 0.2}, differentiable=2
    ),
    "DiceLoss": [
        *_loss(_bits, loss.DiceLoss),
        *_loss(_classes, lambda **o: loss.DiceLoss(num_classes=4, **o)),
    ],
    "FocalLoss": _loss(_bits, loss.FocalLoss, {"gamma": 0, "alpha": None}),
    "HingeLoss": _loss(_signs, loss.HingeLoss, {"margin": 2}),
    "HuberLoss": _loss(_numbers, loss.HuberLoss, {"rho": 0.3}, differentiable=2),
    "KLDivLoss": _loss(_distributions, loss.KLDivLoss, {"from_logits": False}),
    "L1Loss": _loss(_numbers, loss.L1Loss, {"weight": 2}, differentiable=3),
    "L2Loss": _loss(_numbers, loss.L2Loss, {"weight": 2}, differentiable=3),
    "LinearCrossEntropyLoss": _loss(
        _classes,
        lambda **o: loss.LinearCrossEntropyLoss(4, **o),
        {"use_bias": True, "label_smoothing": 0.1},
        {"reduction": "none", "ignore_label": 1},
    ),
    "LogisticLoss": [
        *_loss(_signs, loss.LogisticLoss),
        *_loss(_bits, lambda **o: loss.LogisticLoss(label_format="binary", **o)),
    ],
    "Loss": [
        Row(
            lambda _: Absolute(2.0, 0),
            lambda rng, n: [rng.standard_normal((n, 3)), rng.standard_normal((n, 3))],
            2,
        )
    ],
    "PoissonNLLLoss": _loss(
        lambda rng, n: [rng.standard_normal((n, 4)), rng.poisson(3.0, (n, 4))],
        loss.PoissonNLLLoss,
        {"compute_full": True},
    ),
    "SigmoidBCELoss": _BINARY,
    "SigmoidBinaryCrossEntropyLoss": _BINARY,
    "SoftmaxCELoss": _SOFTMAX,
    "SoftmaxCrossEntropyLoss": _SOFTMAX,
    "SoftmaxFocalLoss": _loss(_classes, loss.SoftmaxFocalLoss, {"gamma": 1}),
    "SquaredHingeLoss": _loss(_signs, loss.SquaredHingeLoss, {"margin": 2}),
    "TripletLoss": _loss(_triples, loss.TripletLoss, {"margin": 3}, differentiable=3),
}
