"""Calls of every function of mx.npx, as text, that MXNet 2.0.0b1 and gluonish both evaluate.

`CALLS` has them by function; `inputs` gives the arrays by the names that the calls use. It imports
NumPy alone, since both interpreters run it (MXNet's is Python 3.8).
"""

import numpy

# Arguments that several calls share.
_CONV = "kernel=(3, 3), pad=(1, 1), num_filter=2"
_NMS = "overlap_thresh=0.1, coord_start=2, score_index=1, id_index=0"
_NORM4 = "g4, b4"
_QUANT = "q8, lo, hi"
_PAIR8 = "q8, q8, lo, hi, lo, hi"

CALLS = {
    "activation": [
        *[f"npx.activation(a, '{kind}')" for kind in ("relu", "sigmoid", "tanh", "softrelu")],
        *[f"npx.activation(a, act_type='{kind}')" for kind in ("softsign", "mish", "log_sigmoid")],
        "npx.activation(a)",
        "npx.activation(z)",
        "npx.activation(e)",
    ],
    "add_n": ["npx.add_n(a, b, a)", "npx.add_n(i, i)"],
    "arange_like": [
        "npx.arange_like(a)",
        "npx.arange_like(a, axis=-1)",
        "npx.arange_like(a, start=1, step=2, repeat=2)",
    ],
    "batch_dot": [
        "npx.batch_dot(t, t, transpose_b=True)",
        "npx.batch_dot(a=t, b=t, transpose_a=True)",
    ],
    "batch_flatten": ["npx.batch_flatten(t)"],
    "batch_norm": [
        "npx.batch_norm(x4, g4, b4, zeros4, ones4)",
        "npx.batch_norm(x=x4, gamma=g4, beta=b4, running_mean=b4, running_var=g4, "
        "fix_gamma=False, use_global_stats=True, axis=1)",
    ],
    "bipartite_matching": [
        "npx.bipartite_matching(s, threshold=1e-12)",
        "npx.bipartite_matching(s, threshold=0.5, is_ascend=True, topk=1)",
    ],
    "box_decode": ["npx.box_decode(boxes[None, :, :4] / 10, boxes[None, :, :4], format='corner')"],
    "box_encode": [
        "npx.box_encode(ones12, ids12, boxes[None, :2, :4], boxes[None, 1:3, :4], zeros4, ones4)"
    ],
    "box_iou": [
        "npx.box_iou(boxes[:, :4], boxes[1:, :4])",
        "npx.box_iou(boxes[:, :4], boxes[1:, :4], format='center')",
    ],
    "box_nms": [
        f"npx.box_nms(found, {_NMS})",
        f"npx.box_nms(found, {_NMS}, force_suppress=True, topk=2)",
        f"npx.box_nms(found, {_NMS}, valid_thresh=0.45)",
    ],
    "broadcast_greater": ["npx.broadcast_greater(a, v)"],
    "broadcast_like": [
        "npx.broadcast_like(v[None], a)",
        "npx.broadcast_like(v[None], t, lhs_axes=(0,), rhs_axes=(2,))",
    ],
    "cast": ["npx.cast(a, dtype='int32')", "npx.cast(a, dtype='float16')"],
    "cond": [
        "npx.cond(lambda x, y: x.sum() < y.sum(), lambda x, y: x + y, lambda x, y: x - y, (a, b))",
        "npx.cond(lambda x: x.sum() > 1e9, lambda x: [x, x], lambda x: [-x, 2 * x], [a])",
    ],
    "constraint_check": ["npx.constraint_check(m | ~m, 'never')"],
    "contrib_calibrate_entropy": [],
    "contrib_quantize": [
        "npx.contrib_quantize(a, lo, hi, out_type='int8')",
        "npx.contrib_quantize(p, lo, hi, out_type='uint8')",
    ],
    "contrib_quantize_v2": [
        "npx.contrib_quantize_v2(a, out_type='int8')",
        "npx.contrib_quantize_v2(a, out_type='int8', min_calib_range=-2., max_calib_range=2.)",
    ],
    "convolution": [f"npx.convolution(x4, w4, {_CONV}, no_bias=True)"],
    "ctc_loss": [
        "npx.ctc_loss(t.transpose(2, 0, 1), labels)",
        "npx.ctc_loss(t.transpose(2, 0, 1), labels0, blank_label='last')",
    ],
    "deconvolution": [
        f"npx.deconvolution(x4[:, :2], w4, {_CONV.replace('=2', '=4')}, no_bias=True)"
    ],
    "deformable_convolution": [
        f"npx.deformable_convolution(x4, offset, w4, {_CONV}, no_bias=True)"
    ],
    "digamma": ["npx.digamma(p)"],
    "dropout": ["npx.dropout(a)", "npx.dropout(a, p=0., mode='always')"],
    "embedding": ["npx.embedding(j, x, input_dim=3, output_dim=3)"],
    "erf": ["npx.erf(a)", "npx.erf(z)"],
    "erfinv": ["npx.erfinv(s)"],
    "foreach": [
        "npx.foreach(lambda d, s: (d + s[0], [d * s[0]]), a, [v])",
        "npx.foreach(lambda d, s: ([d, d * 2], s), a, [])",
    ],
    "fully_connected": [
        "npx.fully_connected(a, b, num_hidden=2)",
        "npx.fully_connected(a, b, v[:2], num_hidden=2, no_bias=False)",
        "npx.fully_connected(x=t, weight=t[0], num_hidden=3, flatten=False)",
    ],
    "gamma": ["npx.gamma(p)"],
    "gammaln": ["npx.gammaln(p)"],
    "gather_nd": ["npx.gather_nd(a, ind)"],
    "group_norm": [
        f"npx.group_norm(x4, {_NORM4}, num_groups=2)",
        f"npx.group_norm(x4, {_NORM4}, num_groups=2, eps=1e-5, output_mean_var=True)",
        f"npx.group_norm(x4, {_NORM4}, num_groups=4)",
    ],
    "index_add": [
        "npx.index_add(a, ind, v[:2])",
        "npx.index_add(a, ind[:1], b)",
        "npx.index_add(a, ind[0], z)",
    ],
    "index_update": ["npx.index_update(a, ind, v[:2])", "npx.index_update(a, ind[1:] - 1, z)"],
    "instance_norm": [f"npx.instance_norm(x4, {_NORM4})"],
    "interleaved_matmul_encdec_qk": ["npx.interleaved_matmul_encdec_qk(qu, kv, heads=2)"],
    "interleaved_matmul_encdec_valatt": [
        "npx.interleaved_matmul_encdec_valatt(kv, npx.interleaved_matmul_encdec_qk(qu, kv, "
        "heads=2), heads=2)"
    ],
    "interleaved_matmul_selfatt_qk": ["npx.interleaved_matmul_selfatt_qk(qkv, heads=2)"],
    "interleaved_matmul_selfatt_valatt": [
        "npx.interleaved_matmul_selfatt_valatt(qkv, npx.interleaved_matmul_selfatt_qk(qkv, "
        "heads=2), heads=2)"
    ],
    "intgemm_fully_connected": [],
    "intgemm_maxabsolute": ["npx.intgemm_maxabsolute(a)"],
    "intgemm_prepare_data": ["npx.intgemm_prepare_data(a, hi)"],
    "intgemm_prepare_weight": [],
    "intgemm_take_weight": [],
    "layer_norm": [
        "npx.layer_norm(a, v, w, axis=-1, eps=1e-5)",
        "npx.layer_norm(a, v, w, axis=-1, eps=1e-5, output_mean_var=True)",
    ],
    "leaky_relu": [
        "npx.leaky_relu(a)",
        "npx.leaky_relu(a, act_type='elu', slope=0.5)",
        "npx.leaky_relu(a, act_type='gelu')",
        "npx.leaky_relu(a, act_type='selu')",
    ],
    "log_softmax": ["npx.log_softmax(a)", "npx.log_softmax(a, axis=0, temperature=2.)"],
    "masked_log_softmax": [
        "npx.masked_log_softmax(a, m)",
        "npx.masked_log_softmax(a, m, axis=0, temperature=0.5)",
    ],
    "masked_softmax": [
        "npx.masked_softmax(a, m)",
        "npx.masked_softmax(a, m, axis=0, temperature=0.5)",
        "npx.masked_softmax(t, m[:, :, None])",
        "npx.masked_softmax(h, m)",
    ],
    "modulated_deformable_convolution": [
        "npx.modulated_deformable_convolution(x4, offset, npx.sigmoid(offset[:, :9]), w4, "
        f"{_CONV}, no_bias=True)"
    ],
    "multibox_detection": ["npx.multibox_detection(npx.softmax(scores, axis=1), zeros16, anchors)"],
    "multibox_prior": ["npx.multibox_prior(x4, sizes=(0.5, 0.25), ratios=(1., 2.))"],
    "multibox_target": ["npx.multibox_target(anchors, objects, scores)"],
    "nonzero": ["npx.nonzero(m)", "npx.nonzero(i - 1)"],
    "norm": [
        "npx.norm(a)",
        "npx.norm(a, ord=1)",
        "npx.norm(a, axis=1)",
        "npx.norm(t, axis=(0, 2), keepdims=True)",
    ],
    "one_hot": [
        "npx.one_hot(j, 5)",
        "npx.one_hot(data=j, depth=3, on_value=2., off_value=-1., dtype='float64')",
    ],
    "pad": [
        "npx.pad(x4, mode='constant', pad_width=(0, 0, 0, 0, 1, 1, 0, 2), constant_value=5)",
        "npx.pad(x4, mode='edge', pad_width=(0, 0, 0, 0, 1, 1, 0, 2))",
        "npx.pad(x4, mode='reflect', pad_width=(0, 0, 0, 0, 1, 1, 0, 2))",
    ],
    "pick": ["npx.pick(a, ids2)", "npx.pick(a, ids2, 1, 'wrap', True)"],
    "pooling": [
        "npx.pooling(x4, kernel=(2, 2), stride=(2, 2))",
        "npx.pooling(x4, (2, 2), (1, 1), (1, 1), 'avg')",
        "npx.pooling(x4, kernel=(2, 2), global_pool=True, pool_type='sum')",
    ],
    "quantized_act": [f"npx.quantized_act({_QUANT}, act_type='relu')"],
    "quantized_conv": [],
    "quantized_elemwise_add": [],
    "quantized_elemwise_mul": [f"npx.quantized_elemwise_mul({_PAIR8})[0]"],
    "quantized_embedding": ["npx.quantized_embedding(ids2, q8, lo, hi, input_dim=2, output_dim=3)"],
    "quantized_flatten": ["npx.quantized_flatten(q8[:, None], lo, hi)"],
    "quantized_fully_connected": [],
    "quantized_pooling": [],
    "quantized_reshape": [f"npx.quantized_reshape({_QUANT}, newshape=(3, 2))"],
    "quantized_transpose": [
        f"npx.quantized_transpose({_QUANT})",
        f"npx.quantized_transpose({_QUANT}, axes=(1, 0))",
    ],
    "relu": ["npx.relu(a)", "npx.relu(z)", "npx.relu(e)"],
    "requantize": ["npx.requantize(i32, lo, hi, min_calib_range=-1., max_calib_range=1.)"],
    "reshape": ["npx.reshape(t, (-5, -4))", "npx.reshape(t, (-6, 1, 2, -4))", "npx.reshape(a, -1)"],
    "reshape_like": ["npx.reshape_like(a, x[:2])", "npx.reshape_like(a, t[0, :, :2])"],
    "rnn": [
        "npx.rnn(t, params, state, mode='rnn_tanh', state_size=2, num_layers=1)",
        "npx.rnn(t, params, state, None, None, 'rnn_relu', 2, 1)",
    ],
    "roi_pooling": ["npx.roi_pooling(x4, rois, pooled_size=(2, 2), spatial_scale=1.)"],
    "round_ste": ["npx.round_ste(a)"],
    "scalar_poisson": ["npx.scalar_poisson(lam=0., shape=(2, 2))"],
    "sequence_last": [
        "npx.sequence_last(t)",
        "npx.sequence_last(t.transpose(1, 0, 2), lengths, use_sequence_length=True)",
    ],
    "sequence_mask": ["npx.sequence_mask(t, lengths3, use_sequence_length=True, value=-1.)"],
    "sequence_reverse": [
        "npx.sequence_reverse(t)",
        "npx.sequence_reverse(t.transpose(1, 0, 2), lengths, use_sequence_length=True)",
    ],
    "shape_array": ["npx.shape_array(t)"],
    "sigmoid": ["npx.sigmoid(a)", "npx.sigmoid(z)"],
    "sign_ste": ["npx.sign_ste(a)"],
    "sldwin_atten_context": [
        "npx.sldwin_atten_context(npx.sldwin_atten_score(wq, wq, dil, w=1, symmetric=True), wq, "
        "dil, w=1, symmetric=True)"
    ],
    "sldwin_atten_mask_like": [
        "npx.sldwin_atten_mask_like(npx.sldwin_atten_score(wq, wq, dil, w=1, symmetric=True), "
        "dil, wlen, w=1, symmetric=True)"
    ],
    "sldwin_atten_score": [
        "npx.sldwin_atten_score(wq, wq, dil, w=1, symmetric=True)",
        "npx.sldwin_atten_score(wq, wq, dil, w=1, symmetric=False)",
    ],
    "slice": ["npx.slice(a, begin=(0, 1), end=(2, 3))"],
    "slice_channel": [
        "npx.slice_channel(a, num_outputs=3, axis=1)",
        "npx.slice_channel(a, num_outputs=3, axis=1, squeeze_axis=True)",
    ],
    "slice_like": ["npx.slice_like(a, x[:1, :2])", "npx.slice_like(a, x[:1], axes=(0,))"],
    "smooth_l1": ["npx.smooth_l1(a, scalar=2.)"],
    "softmax": [
        "npx.softmax(a)",
        "npx.softmax(a, axis=0, temperature=2.)",
        "npx.softmax(a, lengths, use_length=True)",
        "npx.softmax(a, dtype='float64')",
        "npx.softmax(h)",
        "npx.softmax(e)",
        "npx.softmax(z)",
    ],
    "softsign": ["npx.softsign(a)"],
    "stop_gradient": ["npx.stop_gradient(a)"],
    "sync_batch_norm": [
        "npx.sync_batch_norm(x4, g4, b4, zeros4, ones4, key='npx2', use_global_stats=True)"
    ],
    "tensor_poisson": ["npx.tensor_poisson(v * 0, shape=(2,))"],
    "topk": [
        "npx.topk(a, k=2)",
        "npx.topk(a, k=2, ret_typ='both')",
        "npx.topk(a, ret_typ='mask', k=2)",
        "npx.topk(a, ret_typ='value', k=2, is_ascend=True)",
    ],
    "while_loop": [  # rows beyond the last iteration are not set in MXNet
        "npx.while_loop(lambda n, s: n < 3, lambda n, s: (n * s, (n + 1, s + n)), (o1, v), "
        "max_iterations=2)",
    ],
}

# Functions without a call that both answer alike, and where their tests are.
ELSEWHERE = {
    "contrib_calibrate_entropy": "tests/contrib/quantization; MXNet 2.0.0b1 returns 1 and 0",
    "contrib_quantized_rnn": "MXNet 2.0.0b1 lacks it",
    "from_dlpack": "test_sharing",
    "from_numpy": "test_sharing",
    "intgemm_fully_connected": "test_intgemm; MXNet's sums saturate",
    "intgemm_prepare_weight": "test_intgemm; MXNet's order depends on the CPU",
    "intgemm_take_weight": "test_intgemm; MXNet's order depends on the CPU",
    "quantized_conv": "tests/contrib/quantization",
    "quantized_elemwise_add": "tests/contrib/quantization; MXNet 2.0.0b1 rounds in float32",
    "quantized_fully_connected": "tests/contrib/quantization",
    "quantized_npi_add": "MXNet 2.0.0b1 lacks it",
    "quantized_pooling": "tests/contrib/quantization",
    "to_dlpack_for_read": "test_sharing",
    "to_dlpack_for_write": "test_sharing",
}

# Calls whose gradients MXNet 2.0.0b1 gets wrong, by central differences.
WRONG_GRADIENTS = (
    "npx.leaky_relu(a, act_type='selu')",
    *CALLS["foreach"][:1],
    *CALLS["cond"][1:],
    *CALLS["index_add"][:1],
)

# Calls whose gradients by all floating arrays that they name are stored too.
GRADIENTS = [
    call
    for name in (
        *("activation", "add_n", "batch_dot", "batch_flatten", "broadcast_like", "convolution"),
        *("cond", "ctc_loss", "deconvolution", "deformable_convolution", "digamma", "embedding"),
        *("erf", "erfinv", "foreach", "fully_connected", "gamma", "gammaln", "gather_nd"),
        *("group_norm", "index_add", "index_update", "instance_norm", "layer_norm", "leaky_relu"),
        *("interleaved_matmul_encdec_qk", "interleaved_matmul_encdec_valatt", "log_softmax"),
        *("interleaved_matmul_selfatt_qk", "interleaved_matmul_selfatt_valatt", "masked_softmax"),
        *("masked_log_softmax", "modulated_deformable_convolution", "norm", "pad", "pick"),
        *("pooling", "relu", "reshape", "reshape_like", "rnn", "round_ste", "sequence_last"),
        *("sequence_mask", "sequence_reverse", "sigmoid", "sign_ste", "slice", "slice_channel"),
        *("sldwin_atten_context", "sldwin_atten_score", "slice_like", "smooth_l1", "softmax"),
        *("softsign", "while_loop"),
    )
    for call in CALLS[name]
    if call not in WRONG_GRADIENTS
    and "(e)" not in call
    and "(z)" not in call
    and "(h" not in call
    and "(i" not in call
]


def inputs():
    """Return the arrays that the calls name."""
    draw = numpy.random.RandomState(9)

    def normal(*shape):
        return draw.normal(size=shape).astype("float32")

    def uniform(low, high, *shape):
        return draw.uniform(low, high, shape).astype("float32")

    corners = uniform(0, 0.5, 4, 2)
    boxes = numpy.concatenate([corners, corners + uniform(0.1, 0.4, 4, 2)], 1)
    found = numpy.concatenate(
        [numpy.array([[0, 0.5], [1, 0.4], [0, 0.3], [0, 0.6]], "float32"), boxes], 1
    )
    return {
        "a": normal(2, 3),
        "b": normal(2, 3),
        "p": uniform(1.1, 3, 2, 3),
        "s": uniform(0.1, 0.9, 2, 3),
        "t": normal(2, 3, 4),
        "v": normal(3),
        "w": normal(3),
        "x": normal(3, 3),
        "z": numpy.array(2.5, "float32"),
        "e": numpy.zeros((0, 3), "float32"),
        "h": normal(2, 3).astype("float16"),
        "i": numpy.array([3, 1, 3], "int32"),
        "j": numpy.array([2, 0, 1], "int32"),
        "m": numpy.array([[True, False, True], [False, False, True]]),
        "o1": numpy.array([1.0], "float32"),
        "ids2": numpy.array([1, 0], "int32"),
        "ind": numpy.array([[0, 1], [1, 2]], "int32"),
        "lengths": numpy.array([1, 2], "int32"),
        "lengths3": numpy.array([1, 2, 1], "float32"),
        "labels0": numpy.array([[1, 0], [0, -1]], "float32"),
        "labels": numpy.array([[1, 2], [2, 0]], "float32"),
        "x4": normal(2, 4, 5, 5),
        "w4": normal(2, 4, 3, 3),
        "g4": uniform(0.5, 2, 4),
        "b4": normal(4),
        "offset": (normal(2, 18, 5, 5) * 0.3).astype("float32"),
        "boxes": boxes.astype("float32"),
        "found": found.astype("float32"),
        "ones12": numpy.ones((1, 2), "float32"),
        "ids12": numpy.array([[0, 1]], "float32"),
        "zeros4": numpy.zeros(4, "float32"),
        "ones4": numpy.ones(4, "float32"),
        "zeros16": numpy.zeros((1, 16), "float32"),
        "anchors": boxes[None].astype("float32"),
        "objects": numpy.concatenate([numpy.zeros((2, 1)), boxes[:2]], 1)[None].astype("float32"),
        "scores": normal(1, 3, 4),
        "rois": numpy.array([[0, 0, 0, 4, 4], [1, 1, 1, 3, 4]], "float32"),
        "lo": numpy.array([-3], "float32"),
        "hi": numpy.array([3], "float32"),
        "q8": numpy.array([[-100, 3, 127], [0, 50, -128]], "int8"),
        "i32": numpy.array([[100000, -20000000, 2000000000]], "int32"),
        "qu": normal(3, 2, 4),
        "kv": normal(3, 2, 8),
        "qkv": normal(3, 2, 12),
        "params": normal(16),
        "state": normal(1, 3, 2),
        "wq": normal(1, 4, 2, 3),
        "dil": numpy.array([1, 1], "int32"),
        "wlen": numpy.array([3], "int32"),
    }
