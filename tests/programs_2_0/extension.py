import mxnet as mx
import numpy as onp
from mxnet import autograd, np, npx

from tests.programs_2_0.errors import error

X = onp.array([[-1.5, 0.25, 2.0], [0.5, -0.75, 1.0]], "float32")
IMAGE = (onp.arange(32).reshape(1, 2, 4, 4) % 7 - 3).astype("float32")


def activations():
    x = np.array(X)
    return [
        npx.activation(x, act_type=a) for a in ("relu", "sigmoid", "tanh", "softrelu", "softsign")
    ]


def more_activations():
    x = np.array(X)
    return npx.relu(x), npx.sigmoid(x), npx.leaky_relu(x, slope=0.1)


def leaky_kinds():
    x = np.array(X)
    return [npx.leaky_relu(x, act_type=a, slope=0.3) for a in ("leaky", "elu", "selu", "gelu")]


def prelu_with_gamma():
    return npx.leaky_relu(np.array(X), np.array([0.1, 0.2, 0.3]), act_type="prelu")


def gelu_kinds():
    x = np.array(X)
    return npx.leaky_relu(x, act_type="gelu"), npx.leaky_relu(x.astype("float64"), act_type="gelu")


def softmax_forms():
    x = np.array(X)
    return (
        npx.softmax(x),
        npx.softmax(x, axis=0),
        npx.softmax(x, temperature=2.0),
        npx.log_softmax(x),
    )


def softmax_with_length():
    x = np.array(X)
    n = np.array([2, 1], dtype="int32")
    return npx.softmax(x, length=n, use_length=True, axis=-1)


def softmax_dtype():
    x = np.array(X, dtype="float16")
    return npx.softmax(x, dtype="float32"), npx.softmax(x)


def masked_softmaxes():
    x = np.array(X)
    mask = np.array([[1, 1, 0], [0, 1, 1]]).astype(bool)
    return npx.masked_softmax(x, mask, axis=-1), npx.masked_log_softmax(x, mask)[0, :2]


def fully_connected():
    x, w, b = np.array(X), np.ones((4, 3)), np.ones(4) * 2
    return (
        npx.fully_connected(x, w, b, num_hidden=4),
        npx.fully_connected(x, w, num_hidden=4, no_bias=True),
        npx.fully_connected(
            np.ones((2, 3, 5)), np.ones((1, 5)), num_hidden=1, no_bias=True, flatten=False
        ),
    )


def convolution_forms():
    x, w = np.array(IMAGE), np.ones((3, 2, 3, 3)) * 0.1
    return (
        npx.convolution(x, w, np.arange(3), kernel=(3, 3), num_filter=3),
        npx.convolution(x, w, kernel=(3, 3), num_filter=3, pad=(1, 1), stride=(2, 2), no_bias=True),
    )


def grouped_and_dilated_convolution():
    x = np.array(IMAGE)
    w = np.arange(16).reshape(2, 1, 2, 4) * 0.1
    return (
        npx.convolution(x, w, kernel=(2, 4), num_filter=2, num_group=2, no_bias=True),
        npx.convolution(
            x, np.ones((1, 2, 2, 2)), kernel=(2, 2), dilate=(2, 2), num_filter=1, no_bias=True
        ),
    )


def convolution_of_sequences():
    x = np.arange(10).reshape(1, 2, 5)
    return npx.convolution(x, np.ones((3, 2, 2)), np.zeros(3), kernel=(2,), num_filter=3)


def deconvolution_forms():
    x = np.arange(4).reshape(1, 1, 2, 2)
    w = np.arange(9).reshape(1, 1, 3, 3)
    return (
        npx.deconvolution(x, w, kernel=(3, 3), num_filter=1, no_bias=True),
        npx.deconvolution(
            x, w, kernel=(3, 3), stride=(2, 2), pad=(1, 1), adj=(1, 1), num_filter=1, no_bias=True
        ),
    )


def pooling_forms():
    x = np.array(IMAGE)
    return (
        npx.pooling(x, kernel=(2, 2), stride=(2, 2), pool_type="max"),
        npx.pooling(x, kernel=(2, 2), stride=(2, 2), pool_type="avg"),
        npx.pooling(x, global_pool=True, kernel=(1, 1), pool_type="max"),
        npx.pooling(x, kernel=(3, 3), stride=(2, 2), pooling_convention="full", pool_type="avg"),
    )


def pooling_sum_and_padding():
    x = np.array(IMAGE)
    return (
        npx.pooling(x, kernel=(3, 3), pad=(1, 1), pool_type="avg", count_include_pad=False),
        npx.pooling(x, kernel=(2, 2), pool_type="sum"),
        npx.pooling(x, kernel=(2, 2), pool_type="lp", p_value=2),
    )


def batch_norm_modes():
    x = np.array(IMAGE)
    gamma, beta, mean, var = np.ones(2), np.zeros(2), np.zeros(2), np.ones(2)
    y = npx.batch_norm(x, gamma, beta, mean, var)
    with autograd.record():
        z = npx.batch_norm(x, gamma, beta, mean, var, fix_gamma=False, momentum=0.5)
    z.wait_to_read()
    return y, z, mean, var


def layer_norm_forms():
    x = np.array(X)
    return npx.layer_norm(x, np.ones(3), np.zeros(3)), npx.layer_norm(
        x, np.ones(2), np.ones(2), axis=0
    )


def group_and_instance_norm():
    x = np.array(IMAGE)
    return (
        npx.group_norm(x, np.ones(2), np.zeros(2), num_groups=2),
        npx.instance_norm(x, np.ones(2), np.zeros(2)),
    )


def l2_normalization_modes():
    x = np.array(IMAGE)
    y = x.as_nd_ndarray()
    return [mx.nd.L2Normalization(y, mode=m) for m in ("instance", "channel", "spatial")]


def embedding_lookup():
    w = np.arange(10).reshape(5, 2)
    i = np.array([[0, 4], [2, 2]])
    return npx.embedding(i, w, input_dim=5, output_dim=2)


def embedding_of_integer_index():
    w = np.arange(10).reshape(5, 2)
    return npx.embedding(np.array([1, 3], dtype="int64"), w, 5, 2)


def one_hot_forms():
    i = np.array([0, 2, 3])
    return (
        npx.one_hot(i, 3),
        npx.one_hot(i, 4, on_value=5, off_value=-1),
        npx.one_hot(np.array([[1]]), 2, dtype="int32"),
    )


def pick_forms():
    x = np.array(X)
    return (
        npx.pick(x, np.array([0, 2])),
        npx.pick(x, np.array([0, 1, 1]), axis=0),
        npx.pick(x, np.array([9, -5]), mode="clip"),
        npx.pick(x, np.array([4, -1]), mode="wrap"),
    )


def topk_forms():
    x = np.array([[3.0, 1.0, 2.0], [0.5, 9.0, 4.0]])
    return (
        npx.topk(x, k=2),
        npx.topk(x, k=2, ret_typ="value"),
        npx.topk(x, k=1, ret_typ="both"),
        npx.topk(x, k=2, ret_typ="mask"),
        npx.topk(x, k=2, is_ascend=True, ret_typ="value"),
        npx.topk(x, k=1, axis=0, dtype="int32"),
    )


def gathers():
    x = np.arange(6).reshape(2, 3)
    i = np.array([[0, 1], [2, 0]])
    return npx.gather_nd(x, i), npx.gather_nd(x, np.array([[1]]))


def scatter_like_updates():
    x = np.zeros((2, 3))
    i = np.array([[0, 1], [2, 0]], dtype="int32")
    return (
        npx.index_update(x, i, np.array([5.0, 6.0])),
        npx.index_add(x, i, np.array([1.0, 2.0])),
        x,
    )


def index_add_repeats():
    i = np.array([[0, 0, 1]], dtype="int32")
    return npx.index_add(np.zeros((2, 2)), i, np.ones((3, 2)))


def sequences():
    x = np.arange(12).reshape(3, 2, 2)
    n = np.array([1, 3])
    return (
        npx.sequence_mask(x, n, use_sequence_length=True, value=-1),
        npx.sequence_mask(x.swapaxes(0, 1), n, use_sequence_length=True, axis=1),
    )


def sequence_last_and_reverse():
    x = mx.np.arange(12).reshape(3, 2, 2)
    n = np.array([1, 3])
    return (
        mx.nd.SequenceLast(x.as_nd_ndarray(), n.as_nd_ndarray(), use_sequence_length=True),
        mx.nd.SequenceReverse(x.as_nd_ndarray(), n.as_nd_ndarray(), use_sequence_length=True),
    )


def batch_dot_forms():
    a, b = np.arange(12).reshape(2, 2, 3), np.arange(12).reshape(2, 3, 2)
    return (
        npx.batch_dot(a, b),
        npx.batch_dot(a, a, transpose_b=True),
        npx.batch_dot(a, a, transpose_a=True),
    )


def smooth_l1_and_gamma():
    x = np.array(X)
    return npx.smooth_l1(x, scalar=1.0), npx.gamma(np.abs(x)), npx.gammaln(np.abs(x)), npx.erf(x)


def error_functions():
    x = np.array([-0.5, 0.0, 0.9])
    return npx.erf(x), npx.erfinv(x), npx.digamma(np.array([1.0, 2.5]))


def slices():
    x = np.arange(12).reshape(3, 4)
    return (
        npx.slice(x, begin=(0, 1), end=(2, 3)),
        npx.slice(x, begin=(None, 0), end=(None, 4), step=(None, 2)),
        npx.slice_like(x, np.zeros((2, 2))),
        npx.slice_like(x, np.zeros((2, 2)), axes=(1,)),
    )


def reshape_like_and_broadcast_like():
    x = np.arange(6)
    return (
        npx.reshape_like(x, np.zeros((3, 2))),
        npx.broadcast_like(np.ones((1, 3)), np.zeros((2, 3))),
        npx.arange_like(np.zeros((2, 3)), axis=1),
        npx.arange_like(np.zeros((2, 2)), start=1.0, step=0.5),
    )


def shape_arrays():
    x = np.ones((2, 3))
    return npx.shape_array(x), npx.reshape(x, (-1,)).shape


def batch_flatten():
    return npx.batch_flatten(np.ones((2, 3, 4))).shape, npx.batch_flatten(np.ones((2, 3))).shape


def stop_gradients():
    x = np.array([2.0, 3.0])
    x.attach_grad()
    with autograd.record():
        y = npx.stop_gradient(x * x) * x
    y.backward()
    return y, x.grad


def dropout_outside_training():
    x = np.array(X)
    with autograd.record():
        y = npx.dropout(x, p=0.0)
    return npx.dropout(x, p=0.9), y, npx.dropout(x, p=0.5, mode="training")


def dropout_axes():
    with autograd.train_mode():
        y = npx.dropout(np.ones((40, 50)), p=0.5, axes=(1,))
    rows = y.asnumpy()
    return bool((rows == rows[:, :1]).all()), sorted(set(rows.ravel().tolist()))


def ctc_losses():
    x = np.array(onp.linspace(-1, 1, 4 * 2 * 3).reshape(4, 2, 3), dtype="float32")
    y = np.array([[1, 2], [2, 0]])
    return mx.nd.ctc_loss(x.as_nd_ndarray(), y.as_nd_ndarray())


def roi_pools():
    x = np.arange(64).reshape(1, 1, 8, 8)
    rois = np.array([[0, 0, 0, 3, 3], [0, 2, 2, 7, 7]])
    return npx.roi_pooling(x, rois, pooled_size=(2, 2), spatial_scale=1.0)


def roi_aligns():
    x = np.arange(64).reshape(1, 1, 8, 8)
    rois = np.array([[0, 0, 0, 3, 3]])
    return mx.nd.contrib.ROIAlign(
        x.as_nd_ndarray(), rois.as_nd_ndarray(), pooled_size=(2, 2), spatial_scale=1.0
    )


def box_ious():
    a = np.array([[0, 0, 2, 2], [1, 1, 3, 3]])
    b = np.array([[0, 0, 2, 2], [4, 4, 5, 5]])
    return npx.box_iou(a, b) if hasattr(npx, "box_iou") else 0


def box_suppression():
    boxes = np.array(
        [[0, 0.9, 0, 0, 2, 2], [0, 0.8, 0, 0, 2.1, 2], [1, 0.7, 3, 3, 4, 4], [0, 0.05, 8, 8, 9, 9]]
    )
    return (
        npx.box_nms(boxes, overlap_thresh=0.5, valid_thresh=0.1, id_index=0)
        if hasattr(npx, "box_nms")
        else 0
    )


def multibox_priors():
    x = np.ones((1, 3, 2, 2))
    return npx.multibox_prior(x, sizes=(0.5, 0.25), ratios=(1, 2))


def multibox_targets():
    anchors = np.array([[[0.1, 0.1, 0.4, 0.4], [0.5, 0.5, 0.9, 0.9]]])
    labels = np.array([[[1, 0.1, 0.1, 0.45, 0.4]]])
    return npx.multibox_target(anchors, labels, np.zeros((1, 3, 2)))


def multibox_detections():
    probs = np.array([[[0.1, 0.8], [0.9, 0.2]]])
    offsets = np.zeros((1, 8))
    anchors = np.array([[[0.1, 0.1, 0.4, 0.4], [0.5, 0.5, 0.9, 0.9]]])
    return npx.multibox_detection(probs, offsets, anchors, threshold=0.3)


def control_of_np_mode():
    on = npx.is_np_array(), npx.is_np_shape()
    npx.reset_np()
    off = npx.is_np_array(), npx.is_np_shape()
    npx.set_np()
    return on, off, npx.is_np_array()


def default_dtype_mode():
    npx.set_np(dtype=True)
    found = (
        np.ones(2).dtype.name,
        np.array([1.5]).dtype.name,
        np.arange(3).dtype.name,
        npx.is_np_default_dtype(),
    )
    npx.set_np()
    return found, np.ones(2).dtype.name


def np_scopes():
    npx.reset_np()
    with mx.util.np_shape(True):
        a = mx.util.is_np_shape()
    with mx.util.np_array(True):
        b = mx.util.is_np_array()
    npx.set_np()
    return a, b


def use_np_decorator():
    npx.reset_np()

    @mx.util.use_np
    def inside():
        return mx.util.is_np_array(), mx.util.is_np_shape()

    found = inside(), mx.util.is_np_array()
    npx.set_np()
    return found


def save_and_load_list():
    npx.savez("a.npz", np.ones(2), np.zeros((1, 2), dtype="int32"))
    return npx.load("a.npz")


def save_and_load_dict():
    npx.savez("d.npz", w=np.ones((2, 2)), b=np.arange(3, dtype="float64"))
    found = npx.load("d.npz")
    return sorted(found), found["w"], found["b"]


def save_single_array():
    npx.save("one.npy", np.arange(4))
    found = npx.load("one.npy")
    return type(found).__name__, found


def numpy_reads_saved():
    npx.savez("d.npz", w=np.ones(2))
    return onp.load("d.npz")["w"]


def dlpack_round_trip():
    x = np.arange(4)
    y = npx.from_dlpack(npx.to_dlpack_for_read(x))
    z = npx.from_dlpack(npx.to_dlpack_for_write(x))
    z[0] = 9
    return y, x


def from_numpy_shares():
    a = onp.arange(4, dtype="float32")
    x = npx.from_numpy(a, zero_copy=False)
    x[0] = 7
    return a, x


def devices_of_npx():
    return str(npx.cpu()), npx.num_gpus(), str(npx.current_device()), npx.cpu() == mx.cpu(0)


def nonzero_npx():
    return npx.nonzero(np.array([[1, 0, 2], [0, 0, 3]]))


def constraint_checks():
    a = np.array([1, 0])
    return npx.constraint_check(a >= 0), error(npx.constraint_check, a > 0, "broken")


def cond_of_values():
    return [
        npx.cond(lambda a: a.sum() > 0, lambda a: a + 1, lambda a: a - 1, [np.array([v])])
        for v in (1.0, -1.0)
    ]


def wrong_arguments():
    x = np.array(X)
    return (
        error(npx.activation, x, act_type="nothing"),
        error(npx.fully_connected, x, np.ones((4, 2)), num_hidden=4, no_bias=True),
        error(npx.topk, x, k=2, ret_typ="what"),
        error(npx.pooling, np.ones((1, 1, 2, 2)), kernel=(5, 5), pool_type="max"),
        error(
            npx.convolution,
            np.array(IMAGE),
            np.ones((1, 3, 1, 1)),
            kernel=(1, 1),
            num_filter=1,
            no_bias=True,
        ),
    )


def rnn_operator_of_lstm():
    t, n, i, h = 3, 2, 4, 5
    size = 4 * h * (i + h + 2)
    x = np.array(onp.linspace(-1, 1, t * n * i).reshape(t, n, i), dtype="float32")
    w = np.array(onp.linspace(-0.3, 0.3, size), dtype="float32")
    s = np.zeros((1, n, h))
    y, last, cell = npx.rnn(x, w, s, s, mode="lstm", state_size=h, num_layers=1, state_outputs=True)
    return y, last, cell


def gradient_of_softmax():
    x = np.array(X)
    x.attach_grad()
    with autograd.record():
        y = (npx.log_softmax(x) * np.array([1.0, 2.0, 3.0])).sum() + npx.softmax(x)[:, 0].sum()
    y.backward()
    return x.grad


def gradient_of_convolution():
    x, w, b = np.array(IMAGE), np.ones((2, 2, 3, 3)) * 0.1, np.ones(2) * 0.25
    for a in (x, w, b):
        a.attach_grad()
    with autograd.record():
        y = npx.relu(npx.convolution(x, w, b, kernel=(3, 3), pad=(1, 1), num_filter=2))
    y.backward()
    return x.grad, w.grad, b.grad


def gradient_of_norms():
    x, g, b = np.array(X), np.ones(3) * 2, np.zeros(3)
    for a in (x, g, b):
        a.attach_grad()
    with autograd.record():
        y = (npx.layer_norm(x, g, b) ** 2 * np.array([1.0, 2.0, 3.0])).sum()
    y.backward()
    return x.grad, g.grad, b.grad


def gradient_of_pick_and_embedding():
    w = np.arange(6).reshape(3, 2)
    w.attach_grad()
    with autograd.record():
        e = npx.embedding(np.array([0, 2, 2]), w, 3, 2)
        y = npx.pick(e, np.array([0, 1, 1])).sum()
    y.backward()
    return w.grad


def gradient_of_batch_dot_and_topk():
    a, b = np.arange(6).reshape(1, 2, 3), np.ones((1, 3, 2))
    a.attach_grad()
    with autograd.record():
        y = npx.batch_dot(a, b).sum() + npx.topk(a, k=1, ret_typ="value").sum()
    y.backward()
    return a.grad
