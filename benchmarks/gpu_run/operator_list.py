"""The operators that stage 3 times, as `interleaved.operator_table` has those of CPUs. Data only.

In a call ``F`` is ``mx.nd`` or ``torch``, ``N`` is ``torch.nn.functional``, and a, b, c are arrays.
Shapes come in pairs: those of a rehearsal, and those of the device.
"""

from typing import NamedTuple

Shapes = tuple[tuple[int, ...], ...]


class Operator(NamedTuple):
    """One operator; attributes mean what they do in `benchmarks.interleaved.operator_table.Row`.

    Attributes:
        precision: ``float32``, ``TF32``, or a type that arrays are converted to.
    """

    name: str
    call: str
    torch: str
    small: Shapes
    large: Shapes
    kind: str = "normal"
    backward: bool = False
    precision: str = "float32"


_S, _L = (4, 6), (4096, 4096)
_IMAGES = ((2, 4, 8, 8), (64, 256, 56, 56))
_FILTERS = ((4, 4, 3, 3), (64, 64, 3, 3))
_FEW = ((2, 4, 8, 8), (64, 64, 56, 56))
_CONV = "F.Convolution(a, b, kernel=b.shape[2:], num_filter=b.shape[0], no_bias=True"


def _dense(name: str, precision: str) -> Operator:
    return Operator(
        name,
        "F.FullyConnected(a, b, num_hidden=b.shape[0], no_bias=True)",
        "N.linear(a, b)",
        ((4, 6), (5, 6)),
        ((1024, 1024), (1024, 1024)),
        precision=precision,
    )


def _convolution(
    name: str,
    ours: str,
    torch: str,
    filters: Shapes,
    images: Shapes = _FEW,
) -> tuple[Operator, Operator]:
    small, large = ((image, weight) for image, weight in zip(images, filters, strict=True))
    forward = Operator(name, f"{_CONV}, {ours})", f"N.conv2d(a, b, {torch})", small, large,
                       precision="TF32")  # fmt: skip
    return forward, forward._replace(name=f"{name}, and gradient", backward=True)


OPERATORS: tuple[Operator, ...] = (
    Operator("relu", "F.relu(a)", "F.relu(a)", (_S,), (_L,)),
    Operator("gelu", "F.LeakyReLU(a, act_type='gelu')", "N.gelu(a)", (_S,), (_L,), backward=True),
    Operator("add, broadcast", "F.broadcast_add(a, b)", "a + b", (_S, (1, 6)), (_L, (1, 4096))),
    Operator("mul, broadcast", "F.broadcast_mul(a, b)", "a * b", (_S, (4, 1)), (_L, (4096, 1))),
    _dense("dense 1024, float32", "float32"),
    _dense("dense 1024, TF32", "TF32"),
    _dense("dense 1024, bfloat16", "bfloat16"),
    *_convolution("convolution 3x3", "pad=(1, 1)", "padding=1", _FILTERS),
    Operator(
        "batch norm, and gradient",
        "F.BatchNorm(a, b, c, F.zeros_like(b), F.ones_like(b), fix_gamma=False, eps=1e-5)",
        "N.batch_norm(a, F.zeros_like(b), F.ones_like(b), b, c, True, eps=1e-5)",
        (_IMAGES[0], (4,), (4,)),
        (_IMAGES[1], (256,), (256,)),
        backward=True,
    ),
    Operator("softmax over 1,000", "F.softmax(a)", "N.softmax(a, 1)", (_S,), ((4096, 1000),)),
    Operator("softmax over 30,522", "F.softmax(a)", "N.softmax(a, 1)", (_S,), ((4096, 30522),)),
    Operator(
        "layer norm, and gradient",
        "F.LayerNorm(a, b, c)",
        "N.layer_norm(a, b.shape, b, c)",
        (_S, (6,), (6,)),
        ((4096, 768), (768,), (768,)),
        backward=True,
    ),
    Operator(
        "dropout, and gradient",
        "F.Dropout(a, p=0.1)",
        "N.dropout(a, 0.1)",
        (_S,),
        (_L,),
        "random",
        backward=True,
    ),
    Operator(
        "batch_dot",
        "F.batch_dot(a, b)",
        "F.bmm(a, b)",
        ((2, 3, 4), (2, 4, 3)),
        ((384, 128, 64), (384, 64, 128)),
        precision="TF32",
    ),
    Operator(
        "cross entropy, and gradient",
        "F.softmax_cross_entropy(a, b)",
        "N.cross_entropy(a, b.long(), reduction='sum')",
        (_S, (4,)),
        ((4096, 30522), (4096,)),
        "index",
        backward=True,
    ),
    Operator(
        "log_softmax, and gradient",
        "F.log_softmax(a)",
        "N.log_softmax(a, 1)",
        (_S,),
        ((4096, 30522),),
        backward=True,
    ),
    Operator(
        "embedding, and gradient",
        "F.Embedding(b, a, input_dim=a.shape[0], output_dim=a.shape[1])",
        "N.embedding(b.long(), a)",
        ((9, 6), (4,)),
        ((30522, 768), (4096,)),
        "index",
        backward=True,
    ),
    *_convolution(
        "convolution 1x1",
        "pad=(0, 0)",
        "padding=0",
        ((4, 4, 1, 1), (64, 256, 1, 1)),
        _IMAGES,
    ),
    *_convolution(
        "convolution 3x3 depthwise",
        "pad=(1, 1), num_group=b.shape[0]",
        "padding=1, groups=b.shape[0]",
        ((4, 1, 3, 3), (64, 1, 3, 3)),
    ),
    *_convolution(
        "convolution 3x3 of stride 2", "pad=(1, 1), stride=(2, 2)", "padding=1, stride=2", _FILTERS
    ),
    Operator(
        "max pooling, and gradient",
        "F.Pooling(a, kernel=(3, 3), stride=(2, 2), pad=(1, 1))",
        "N.max_pool2d(a, 3, 2, 1)",
        (_FEW[0],),
        ((64, 64, 112, 112),),
        backward=True,
    ),
    Operator(
        "average pooling",
        "F.Pooling(a, kernel=(3, 3), stride=(2, 2), pad=(1, 1), pool_type='avg')",
        "N.avg_pool2d(a, 3, 2, 1)",
        (_FEW[0],),
        (_FEW[1],),
    ),
    Operator(
        "global pooling",
        "F.Pooling(a, global_pool=True, pool_type='avg', kernel=(1, 1))",
        "N.adaptive_avg_pool2d(a, 1)",
        (_FEW[0],),
        ((64, 2048, 7, 7),),
    ),
    Operator("sum over rows", "F.sum(a, axis=0)", "F.sum(a, 0)", (_S,), (_L,)),
    Operator("sum over columns", "F.sum(a, axis=1)", "F.sum(a, 1)", (_S,), (_L,)),
    Operator("mean over rows", "F.mean(a, axis=0)", "F.mean(a, 0)", (_S,), (_L,)),
    Operator("mean over columns", "F.mean(a, axis=1)", "F.mean(a, 1)", (_S,), (_L,)),
    Operator("transpose", "F.transpose(a)", "a.t().contiguous()", (_S,), (_L,)),
    Operator("concat", "F.concat(a, b, dim=1)", "F.cat((a, b), 1)", (_S, _S), (_L, _L)),
    Operator(
        "take", "F.take(a, b)", "a[b.long()]", ((9, 6), (4,)), ((30522, 768), (4096,)), "index"
    ),
    Operator(
        "topk",
        "F.topk(a, k=5, ret_typ='value')",
        "F.topk(a, 5).values",
        ((4, 6),),
        ((4096, 1000),),
    ),
    Operator("cumsum", "F.cumsum(a, axis=1)", "F.cumsum(a, 1)", (_S,), (_L,)),
    Operator(
        "upsampling",
        "F.UpSampling(a, scale=2, sample_type='nearest')",
        "N.interpolate(a, scale_factor=2)",
        (_FEW[0],),
        (_FEW[1],),
    ),
)
