"""The operators that `operators.py` times: calls as text, for gluonish and MXNet, and for PyTorch.

In a call ``F`` is ``mx.nd`` or ``torch``, ``N`` is ``torch.nn.functional``, and a, b, c .. are the
arrays. Shapes come in pairs: small, where the call's own cost shows, and large, where memory and
arithmetic do. Data only.
"""

from typing import NamedTuple

Shapes = tuple[tuple[int, ...], ...]


class Row(NamedTuple):
    """One operator.

    Attributes:
        name: In the tables.
        call: For gluonish and MXNet.
        torch: For PyTorch; empty where it has none.
        small: Shapes of the arrays, in order.
        large: The same.
        kind: How values are made: ``normal``; ``positive``; ``index``, ``labels`` and ``length``
            (the last array holds row numbers, labels from 1 on, or lengths); ``mask`` (the first
            one holds 0 and 1); ``unit`` (all but the first are ones and zeros); ``random`` (what
            comes out is drawn, and not compared).
        backward: Whether the gradient is timed too.
    """

    name: str
    call: str
    torch: str
    small: Shapes
    large: Shapes
    kind: str = "normal"
    backward: bool = True


_S, _L = (32, 64), (1024, 2048)


def _unary(name: str, torch: str, kind: str = "normal", *, backward: bool = True) -> Row:
    return Row(name, f"F.{name}(a)", torch, (_S,), (_L,), kind, backward)


def _binary(name: str, torch: str, kind: str = "normal", *, backward: bool = True) -> Row:
    return Row(name, f"F.{name}(a, b)", torch, (_S, _S), (_L, _L), kind, backward)


_POINT = ((8, 16, 14, 14), (32, 64, 56, 56))
_CHANNELS = ((16,), (64,))
_NORM_SMALL = (_POINT[0], *[_CHANNELS[0]] * 2)
_NORM_LARGE = (_POINT[1], *[_CHANNELS[1]] * 2)

ROWS: tuple[Row, ...] = (
    # Elementwise, one array.
    _unary("exp", "F.exp(a)"),
    _unary("log", "F.log(a)", "positive"),
    _unary("sqrt", "F.sqrt(a)", "positive"),
    _unary("rsqrt", "F.rsqrt(a)", "positive"),
    _unary("square", "F.square(a)"),
    _unary("abs", "F.abs(a)"),
    _unary("negative", "F.neg(a)"),
    _unary("reciprocal", "F.reciprocal(a)", "positive"),
    _unary("sigmoid", "F.sigmoid(a)"),
    _unary("tanh", "F.tanh(a)"),
    _unary("relu", "F.relu(a)"),
    _unary("erf", "F.erf(a)"),
    _unary("sin", "F.sin(a)"),
    _unary("cos", "F.cos(a)"),
    _unary("log1p", "F.log1p(a)", "positive"),
    _unary("expm1", "F.expm1(a)"),
    _unary("floor", "F.floor(a)", backward=False),
    _unary("sign", "F.sign(a)", backward=False),
    _unary("softsign", "N.softsign(a)"),
    _unary("gammaln", "F.lgamma(a)", "positive"),
    Row("clip", "F.clip(a, -0.5, 0.5)", "F.clamp(a, -0.5, 0.5)", (_S,), (_L,)),
    Row(
        "Activation softrelu", "F.Activation(a, act_type='softrelu')", "N.softplus(a)", (_S,), (_L,)
    ),
    Row("LeakyReLU", "F.LeakyReLU(a, slope=0.1)", "N.leaky_relu(a, 0.1)", (_S,), (_L,)),
    Row("LeakyReLU elu", "F.LeakyReLU(a, act_type='elu', slope=1.0)", "N.elu(a)", (_S,), (_L,)),
    Row("LeakyReLU gelu", "F.LeakyReLU(a, act_type='gelu')", "N.gelu(a)", (_S,), (_L,)),
    Row(
        "LeakyReLU gelu, tanh form",
        "F.LeakyReLU(a, act_type='gelu_tanh')",
        "N.gelu(a, approximate='tanh')",
        (_S,),
        (_L,),
    ),
    Row("swiglu", "F.swiglu(a, b)", "N.silu(a) * b", (_S, _S), (_L, _L)),
    Row(
        "swiglu of halves",
        "F.swiglu(a)",
        "N.silu(a[..., :a.shape[-1] // 2]) * a[..., a.shape[-1] // 2:]",
        (_S,),
        (_L,),
    ),
    Row(
        "LeakyReLU prelu",
        "F.LeakyReLU(a, b, act_type='prelu')",
        "N.prelu(a, b)",
        (_S, (64,)),
        (_L, (2048,)),
    ),
    Row("hard_sigmoid", "F.hard_sigmoid(a)", "F.clamp(a * 0.2 + 0.5, 0, 1)", (_S,), (_L,)),
    Row(
        "smooth_l1",
        "F.smooth_l1(a, scalar=1.0)",
        "N.smooth_l1_loss(a, F.zeros_like(a), reduction='none')",
        (_S,),
        (_L,),
    ),
    Row("Cast float16", "F.Cast(a, dtype='float16')", "a.half()", (_S,), (_L,)),
    Row("BlockGrad", "F.BlockGrad(a) + a", "a.detach() + a", (_S,), (_L,)),
    # Elementwise, two arrays and scalars.
    _binary("elemwise_add", "a + b"),
    _binary("elemwise_sub", "a - b"),
    _binary("elemwise_mul", "a * b"),
    _binary("elemwise_div", "a / b", "positive"),
    Row("broadcast_add", "F.broadcast_add(a, b)", "a + b", (_S, (1, 64)), (_L, (1, 2048))),
    Row("broadcast_mul", "F.broadcast_mul(a, b)", "a * b", (_S, (32, 1)), (_L, (1024, 1))),
    Row("broadcast_sub", "F.broadcast_sub(a, b)", "a - b", (_S, (1, 64)), (_L, (1, 2048))),
    Row(
        "broadcast_div",
        "F.broadcast_div(a, b)",
        "a / b",
        (_S, (32, 1)),
        (_L, (1024, 1)),
        "positive",
    ),
    Row("broadcast_maximum", "F.broadcast_maximum(a, b)", "F.maximum(a, b)", (_S, _S), (_L, _L)),
    Row(
        "broadcast_power", "F.broadcast_power(a, b)", "F.pow(a, b)", (_S, _S), (_L, _L), "positive"
    ),
    Row(
        "broadcast_greater",
        "F.broadcast_greater(a, b)",
        "(a > b).float()",
        (_S, _S),
        (_L, _L),
        backward=False,
    ),
    Row(
        "broadcast_equal",
        "F.broadcast_equal(a, b)",
        "(a == b).float()",
        (_S, _S),
        (_L, _L),
        backward=False,
    ),
    Row("_plus_scalar", "a + 1.5", "a + 1.5", (_S,), (_L,)),
    Row("_mul_scalar", "a * 1.5", "a * 1.5", (_S,), (_L,)),
    Row("_rdiv_scalar", "1.5 / a", "1.5 / a", (_S,), (_L,), "positive"),
    Row("_power_scalar", "a ** 3", "a ** 3", (_S,), (_L,), "positive"),
    Row("_maximum_scalar", "F.maximum(a, 0.5)", "F.clamp(a, min=0.5)", (_S,), (_L,)),
    Row("add_n", "F.add_n(a, b, c)", "a + b + c", (_S,) * 3, (_L,) * 3),
    Row("where", "F.where(a, b, c)", "F.where(a != 0, b, c)", (_S,) * 3, (_L,) * 3, "mask"),
    # Reductions.
    Row("sum all", "F.sum(a)", "F.sum(a)", (_S,), (_L,)),
    Row("sum axis 0", "F.sum(a, axis=0)", "F.sum(a, 0)", (_S,), (_L,)),
    Row("sum axis 1", "F.sum(a, axis=1)", "F.sum(a, 1)", (_S,), (_L,)),
    Row("mean axis 1", "F.mean(a, axis=1)", "F.mean(a, 1)", (_S,), (_L,)),
    Row("mean NCHW", "F.mean(a, axis=(2, 3))", "F.mean(a, (2, 3))", (_POINT[0],), (_POINT[1],)),
    Row("max axis 1", "F.max(a, axis=1)", "F.amax(a, 1)", (_S,), (_L,)),
    Row("min axis 0", "F.min(a, axis=0)", "F.amin(a, 0)", (_S,), (_L,)),
    Row(
        "prod axis 1", "F.prod(a, axis=1)", "F.prod(a, 1)", (_S,), (_L,), "positive", backward=False
    ),
    Row("norm", "F.norm(a)", "F.linalg.vector_norm(a)", (_S,), (_L,)),
    Row("argmax", "F.argmax(a, axis=1)", "F.argmax(a, 1).float()", (_S,), (_L,), backward=False),
    Row("L2Normalization", "F.L2Normalization(a)", "N.normalize(a, dim=1, eps=1e-5)", (_S,), (_L,)),
    # Shape.
    Row("reshape", "F.reshape(a, shape=(-1,)) * 1", "F.reshape(a, (-1,)) * 1", (_S,), (_L,)),
    Row("transpose", "F.transpose(a)", "a.t().contiguous()", (_S,), (_L,)),
    Row(
        "transpose NCHW",
        "F.transpose(a, axes=(0, 2, 3, 1))",
        "a.permute(0, 2, 3, 1).contiguous()",
        (_POINT[0],),
        (_POINT[1],),
    ),
    Row("concat", "F.concat(a, b, dim=1)", "F.cat((a, b), 1)", (_S, _S), (_L, _L)),
    Row("stack", "F.stack(a, b, axis=1)", "F.stack((a, b), 1)", (_S, _S), (_L, _L)),
    Row(
        "split",
        "F.add_n(*F.split(a, num_outputs=2, axis=1))",
        "sum(F.split(a, a.shape[1] // 2, 1))",
        (_S,),
        (_L,),
    ),
    Row(
        "slice",
        "F.slice(a, begin=(4, 8), end=(28, 60))",
        "a[4:28, 8:60].contiguous()",
        (_S,),
        (_L,),
    ),
    Row(
        "slice_axis",
        "F.slice_axis(a, axis=1, begin=8, end=-8)",
        "a[:, 8:-8].contiguous()",
        (_S,),
        (_L,),
    ),
    Row("tile", "F.tile(a, reps=(2, 2))", "F.tile(a, (2, 2))", (_S,), (_L,)),
    Row("repeat", "F.repeat(a, repeats=2, axis=1)", "F.repeat_interleave(a, 2, 1)", (_S,), (_L,)),
    Row("flip", "F.flip(a, axis=1)", "F.flip(a, (1,))", (_S,), (_L,)),
    Row("expand_dims", "F.expand_dims(a, axis=1) * 1", "a.unsqueeze(1) * 1", (_S,), (_L,)),
    Row(
        "broadcast_to",
        "F.broadcast_to(a, shape=b.shape)",
        "a.expand(b.shape).contiguous()",
        ((1, 64), _S),
        ((1, 2048), _L),
    ),
    Row(
        "Pad",
        "F.Pad(a, mode='constant', pad_width=(0, 0, 0, 0, 1, 1, 1, 1))",
        "N.pad(a, (1, 1, 1, 1))",
        (_POINT[0],),
        (_POINT[1],),
    ),
    Row(
        "depth_to_space",
        "F.depth_to_space(a, 2)",
        "N.pixel_shuffle(a, 2)",
        (_POINT[0],),
        (_POINT[1],),
        backward=False,
    ),
    # Indexing and sorting.
    Row(
        "take", "F.take(a, b)", "a[b.long()]", ((100, 64), (32,)), ((10000, 512), (4096,)), "index"
    ),
    Row(
        "Embedding",
        "F.Embedding(b, a, input_dim=a.shape[0], output_dim=a.shape[1])",
        "N.embedding(b.long(), a)",
        ((100, 64), (32,)),
        ((10000, 512), (4096,)),
        "index",
    ),
    Row(
        "pick",
        "F.pick(a, b)",
        "F.gather(a, 1, b.long()[:, None])[:, 0]",
        (_S, (32,)),
        (_L, (1024,)),
        "index",
    ),
    Row(
        "one_hot",
        "F.one_hot(a, 64)",
        "N.one_hot(a.long(), 64).float()",
        ((32,),),
        ((32768,),),
        "index",
        backward=False,
    ),
    Row(
        "gather_nd",
        "F.gather_nd(a, F.reshape(b, (1, -1)))",
        "a[b.long()]",
        ((100, 64), (32,)),
        ((10000, 512), (4096,)),
        "index",
    ),
    Row(
        "topk",
        "F.topk(a, k=5, ret_typ='value')",
        "F.topk(a, 5).values",
        (_S,),
        (_L,),
        backward=False,
    ),
    Row("sort", "F.sort(a)", "F.sort(a).values", (_S,), ((256, 2048),), backward=False),
    Row("argsort", "F.argsort(a)", "F.argsort(a).float()", (_S,), ((256, 2048),), backward=False),
    Row(
        "SequenceMask",
        "F.SequenceMask(a, b, use_sequence_length=True)",
        "a * (F.arange(a.shape[0])[:, None] < b[None])[:, :, None]",
        ((16, 8, 32), (8,)),
        ((128, 64, 512), (64,)),
        "length",
    ),
    # Products.
    Row("dot", "F.dot(a, b)", "a @ b", (_S, (64, 32)), ((1024, 1024),) * 2),
    Row(
        "dot transposed",
        "F.dot(a, b, transpose_b=True)",
        "a @ b.t()",
        (_S, _S),
        ((1024, 1024),) * 2,
    ),
    Row(
        "batch_dot",
        "F.batch_dot(a, b)",
        "F.bmm(a, b)",
        ((8, 16, 32), (8, 32, 16)),
        ((64, 128, 256), (64, 256, 128)),
    ),
    Row(
        "linalg_gemm2",
        "F.linalg_gemm2(a, b)",
        "F.matmul(a, b)",
        ((8, 16, 32), (8, 32, 16)),
        ((64, 128, 256), (64, 256, 128)),
    ),
    Row(
        "FullyConnected",
        "F.FullyConnected(a, b, c, num_hidden=b.shape[0])",
        "N.linear(a, b, c)",
        (_S, (16, 64), (16,)),
        ((256, 1024), (1024, 1024), (1024,)),
    ),
    # Networks.
    Row(
        "Convolution 3x3",
        "F.Convolution(a, b, c, kernel=(3, 3), pad=(1, 1), num_filter=b.shape[0])",
        "N.conv2d(a, b, c, padding=1)",
        ((2, 8, 14, 14), (8, 8, 3, 3), (8,)),
        ((16, 64, 56, 56), (64, 64, 3, 3), (64,)),
    ),
    Row(
        "Convolution 1x1",
        "F.Convolution(a, b, kernel=(1, 1), num_filter=b.shape[0], no_bias=True)",
        "N.conv2d(a, b)",
        ((2, 8, 14, 14), (16, 8, 1, 1)),
        ((16, 256, 28, 28), (128, 256, 1, 1)),
    ),
    Row(
        "Convolution depthwise",
        "F.Convolution(a, b, kernel=(3, 3), pad=(1, 1), num_filter=b.shape[0], "
        "num_group=b.shape[0], no_bias=True)",
        "N.conv2d(a, b, padding=1, groups=b.shape[0])",
        ((2, 8, 14, 14), (8, 1, 3, 3)),
        ((16, 128, 28, 28), (128, 1, 3, 3)),
    ),
    Row(
        "Deconvolution",
        "F.Deconvolution(a, b, kernel=(4, 4), stride=(2, 2), pad=(1, 1), num_filter=b.shape[1])",
        "N.conv_transpose2d(a, b, stride=2, padding=1)",
        ((2, 8, 7, 7), (8, 4, 4, 4)),
        ((8, 64, 28, 28), (64, 32, 4, 4)),
    ),
    Row(
        "Pooling max",
        "F.Pooling(a, kernel=(2, 2), stride=(2, 2))",
        "N.max_pool2d(a, 2)",
        (_POINT[0],),
        (_POINT[1],),
    ),
    Row(
        "Pooling avg",
        "F.Pooling(a, kernel=(3, 3), stride=(2, 2), pad=(1, 1), pool_type='avg')",
        "N.avg_pool2d(a, 3, 2, 1)",
        (_POINT[0],),
        (_POINT[1],),
    ),
    Row(
        "Pooling global",
        "F.Pooling(a, global_pool=True, pool_type='avg', kernel=(1, 1))",
        "N.adaptive_avg_pool2d(a, 1)",
        (_POINT[0],),
        (_POINT[1],),
    ),
    Row(
        "BatchNorm",
        "F.BatchNorm(a, b, c, F.zeros_like(b), F.ones_like(b), fix_gamma=False, eps=1e-5)",
        "N.batch_norm(a, F.zeros_like(b), F.ones_like(b), b, c, F.is_grad_enabled(), eps=1e-5)",
        _NORM_SMALL,
        _NORM_LARGE,
    ),
    Row(
        "LayerNorm",
        "F.LayerNorm(a, b, c)",
        "N.layer_norm(a, b.shape, b, c)",
        (_S, (64,), (64,)),
        ((4096, 512), (512,), (512,)),
    ),
    Row(
        "rms_norm",
        "F.rms_norm(a, b)",
        "N.rms_norm(a, b.shape, b, 1e-6)",
        (_S, (64,)),
        ((4096, 512), (512,)),
    ),
    Row(
        "add_rms_norm",
        "F.add_rms_norm(a, b, c)[0]",
        "N.rms_norm(a + b, c.shape, c, 1e-6)",
        (_S, _S, (64,)),
        ((4096, 512), (4096, 512), (512,)),
    ),
    Row(
        "GroupNorm",
        "F.GroupNorm(a, b, c, num_groups=4)",
        "N.group_norm(a, 4, F.ones(a.shape[1]), F.zeros(a.shape[1]))",
        (_POINT[0], (4,), (4,)),
        (_POINT[1], (4,), (4,)),
        kind="unit",
    ),
    Row(
        "InstanceNorm",
        "F.InstanceNorm(a, b, c, eps=1e-5)",
        "N.instance_norm(a, weight=b, bias=c)",
        _NORM_SMALL,
        _NORM_LARGE,
    ),
    Row(
        "LRN",
        "F.LRN(a, nsize=5)",
        "N.local_response_norm(a, 5, alpha=1e-4, k=2.0)",
        (_POINT[0],),
        ((8, 64, 28, 28),),
    ),
    Row("softmax", "F.softmax(a)", "N.softmax(a, 1)", (_S,), (_L,)),
    Row("log_softmax", "F.log_softmax(a)", "N.log_softmax(a, 1)", (_S,), (_L,)),
    Row(
        "UpSampling",
        "F.UpSampling(a, scale=2, sample_type='nearest')",
        "N.interpolate(a, scale_factor=2)",
        (_POINT[0],),
        ((8, 64, 28, 28),),
    ),
    Row(
        "Dropout",
        "F.Dropout(a, p=0.5)",
        "N.dropout(a, 0.5, F.is_grad_enabled())",
        (_S,),
        (_L,),
        kind="random",
    ),
    Row(
        "softmax_cross_entropy",
        "F.softmax_cross_entropy(a, b)",
        "N.cross_entropy(a, b.long(), reduction='sum')",
        (_S, (32,)),
        (_L, (1024,)),
        kind="index",
    ),
    Row(
        "CTCLoss",
        "F.CTCLoss(a, b)",
        "N.ctc_loss(N.log_softmax(a, 2), b.long(), (a.shape[0],) * a.shape[1], "
        "(b.shape[1],) * b.shape[0], reduction='none')",
        ((20, 4, 10), (4, 5)),
        ((100, 32, 64), (32, 20)),
        kind="labels",
    ),
    # Random numbers and updates.
    Row(
        "random uniform",
        "F.random.uniform(shape=a.shape)",
        "F.rand(a.shape)",
        (_S,),
        (_L,),
        "random",
        backward=False,
    ),
    Row(
        "random normal",
        "F.random.normal(shape=a.shape)",
        "F.randn(a.shape)",
        (_S,),
        (_L,),
        "random",
        backward=False,
    ),
    Row("zeros", "F.zeros(a.shape)", "F.zeros(a.shape)", (_S,), (_L,), backward=False),
    Row(
        "arange",
        "F.arange(a.shape[0] * a.shape[1])",
        "F.arange(a.shape[0] * a.shape[1], dtype=F.float32)",
        (_S,),
        (_L,),
        backward=False,
    ),
    Row("copy", "a.copy()", "a.clone()", (_S,), (_L,)),
    # Attention: eight short sequences and a long one, then one of medium length.
    Row(
        "attention, causal",
        "F.scaled_dot_product_attention(a, b, c, causal=True)",
        "N.scaled_dot_product_attention(a, b, c, is_causal=True)",
        ((8, 12, 128, 64),) * 3,
        ((1, 12, 4096, 64),) * 3,
    ),
    Row(
        "attention",
        "F.scaled_dot_product_attention(a, b, c)",
        "N.scaled_dot_product_attention(a, b, c)",
        ((8, 12, 128, 64),) * 3,
        ((1, 12, 512, 64),) * 3,
    ),
)
