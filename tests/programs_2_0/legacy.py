import mxnet as mx
import numpy as onp
from mxnet import autograd, nd

from tests.programs_2_0.errors import error

X = onp.array([[1.0, -2.0, 3.0], [0.5, 4.0, -1.0]], "float32")


def _legacy(function):
    """Run with the arrays of MXNet 1."""
    mx.npx.reset_np()
    try:
        return function()
    finally:
        mx.npx.set_np()


def creation():
    return nd.zeros((2, 2)), nd.ones(2), nd.array([1, 2]), nd.full((2,), 3), nd.arange(4), nd.eye(2)


def creation_dtypes():
    return nd.array(onp.arange(2)), nd.array([1, 2], dtype="int32"), nd.zeros(2, dtype="float16")


def arithmetic():
    x = nd.array(X)
    return x + 1, x * x, 2 - x, x / 2, x**2, -x, x % 2, x > 1, x == 3


def reductions():
    x = nd.array(X)
    return x.sum(), x.mean(axis=1), nd.max(x, axis=0), nd.norm(x), x.argmax(axis=1), nd.prod(x)


def shapes():
    x = nd.array(X)
    return (
        x.T,
        x.reshape((3, -1)),
        x.reshape((0, -4, 3, 1)).shape,
        x.expand_dims(0).shape,
        nd.flip(x, 1),
    )


def reshape_specials():
    x = nd.ones((2, 3, 4))
    return [
        _legacy(lambda s=s: x.reshape(s).shape) for s in [(0, -1), (-2,), (-3, 0), (-4, 1, 2, -2)]
    ]


def joining():
    x = nd.array(X)
    return nd.concat(x, x, dim=0), nd.stack(x, x).shape, nd.split(x, 3, axis=1), nd.tile(x, (1, 2))


def indexing():
    x = nd.array(X)
    return (
        x[0],
        x[:, 1],
        x[1, 2],
        x[0:1, ::2],
        nd.take(x, nd.array([1, 0])),
        nd.pick(x, nd.array([0, 1])),
    )


def assignment():
    x = nd.zeros((2, 3))
    x[0] = 1
    x[:, 2] = nd.array([5, 6])
    x[1, 0] = 9
    return x


def scalars():
    return nd.array([3.5]).asscalar(), nd.array([2]).asscalar(), error(nd.ones(2).asscalar)


def linear_algebra():
    x = nd.array(X)
    return (
        nd.dot(x, x.T),
        nd.dot(x, x, transpose_a=True),
        nd.batch_dot(nd.ones((1, 2, 3)), nd.ones((1, 3, 2))),
    )


def linalg_namespace():
    a = nd.array([[2.0, 0.5], [0.5, 1.0]])
    return nd.linalg.potrf(a), nd.linalg.gemm2(a, a), nd.linalg.inverse(a), nd.linalg.det(a)


def elementwise():
    x = nd.array([0.5, 1.0, 2.0])
    return [
        getattr(nd, f)(x)
        for f in ("exp", "log", "sqrt", "sigmoid", "tanh", "relu", "softsign", "rsqrt")
    ]


def broadcasting():
    a, b = nd.ones((2, 1)), nd.arange(3)
    return (
        nd.broadcast_add(a, b.reshape((1, 3))),
        nd.broadcast_maximum(a, b.reshape((1, 3))),
        a.broadcast_to((2, 2)),
    )


def sorting():
    x = nd.array(X)
    return nd.sort(x), nd.argsort(x), nd.topk(x, k=2), nd.topk(x, k=1, ret_typ="value")


def neural_operators():
    x = nd.array(X)
    return (
        nd.FullyConnected(x, nd.ones((2, 3)), nd.zeros(2), num_hidden=2),
        nd.softmax(x),
        nd.Activation(x, act_type="relu"),
        nd.LayerNorm(x, nd.ones(3), nd.zeros(3)),
        nd.SoftmaxOutput(x, nd.array([0, 1])),
        nd.L2Normalization(x),
    )


def convolution_operators():
    x = nd.arange(16).reshape((1, 1, 4, 4))
    return (
        nd.Convolution(x, nd.ones((1, 1, 2, 2)), kernel=(2, 2), num_filter=1, no_bias=True),
        nd.Pooling(x, kernel=(2, 2), stride=(2, 2), pool_type="max"),
        nd.UpSampling(x, scale=2, sample_type="nearest").shape,
    )


def sequence_operators():
    x = nd.arange(12).reshape((3, 2, 2))
    n = nd.array([1, 3])
    return (
        nd.SequenceMask(x, n, use_sequence_length=True),
        nd.SequenceLast(x, n, use_sequence_length=True),
        nd.SequenceReverse(x, n, use_sequence_length=True),
    )


def gradients():
    x = nd.array(X)
    x.attach_grad()
    with autograd.record():
        y = (x * x).sum()
    y.backward()
    return x.grad, type(x.grad).__name__


def second_order_gradient():
    x = nd.array([0.3, 0.7])
    x.attach_grad()
    with autograd.record():
        y = nd.sin(x)
        g = autograd.grad(y, x, create_graph=True, retain_graph=True)
        g = g[0] if isinstance(g, list) else g
    g.backward()
    return x.grad


def saving():
    nd.save("a.nd", [nd.ones(2), nd.zeros((1, 2))])
    nd.save("b.nd", {"w": nd.ones(2)})
    return nd.load("a.nd"), nd.load("b.nd")


def legacy_repr():
    return repr(nd.array([1.0, 2.0])), repr(nd.ones((1, 2), dtype="int32"))


def embedding_and_one_hot():
    return nd.Embedding(nd.array([1, 0]), nd.arange(6).reshape((3, 2)), 3, 2), nd.one_hot(
        nd.array([1, 0]), 3
    )


def where_and_clip():
    x = nd.array(X)
    return nd.where(x > 0, x, nd.zeros_like(x)), nd.clip(x, -1, 1), nd.sign(x), nd.abs(x)


def slices():
    x = nd.array(X)
    return (
        nd.slice(x, (0, 1), (2, 3)),
        nd.slice_axis(x, axis=1, begin=0, end=2),
        nd.slice_like(x, nd.ones((1, 2))),
    )


def scatters():
    i = nd.array([[0, 1], [1, 0]])
    return nd.scatter_nd(nd.array([5, 6]), i, shape=(2, 2)), nd.gather_nd(nd.array(X), i)


def casts():
    x = nd.array(X)
    return x.astype("int32"), nd.cast(x, "float16"), x.astype("float32", copy=False) is x


def contexts():
    x = nd.ones(2)
    return str(x.context), x.as_in_context(mx.cpu()) is x, x.copyto(mx.cpu())


def dtype_mixture():
    return error(lambda: nd.ones(2) + nd.ones(2, dtype="float64"))


def csr_matrices():
    x = nd.sparse.csr_matrix(([1.0, 2.0, 3.0], [0, 2, 1], [0, 2, 3]), shape=(2, 3))
    return x, x.stype, x.data, x.indices, x.indptr, x.shape


def row_sparse_arrays():
    x = nd.sparse.row_sparse_array((onp.ones((2, 2), "float32"), [0, 2]), shape=(4, 2))
    return x, x.stype, x.indices, x.data, x.tostype("default")


def storage_casts():
    x = nd.array([[0, 1], [0, 0]])
    return x.tostype("csr"), x.tostype("row_sparse").indices, nd.cast_storage(x, "csr").indptr


def sparse_products():
    a = nd.array([[0.0, 1.0], [2.0, 0.0]]).tostype("csr")
    b = nd.array([[1.0, 2.0], [3.0, 4.0]])
    return nd.sparse.dot(a, b), nd.sparse.dot(a, b, transpose_a=True)


def sparse_arithmetic():
    a = nd.array([[0.0, 1.0], [2.0, 0.0]]).tostype("csr")
    return (
        a * 2,
        (a + a).stype,
        nd.sparse.retain(
            nd.array([[1.0], [2.0]]).tostype("row_sparse"), nd.array([0], dtype="int64")
        ),
    )


def sparse_zeros_and_slices():
    a = nd.sparse.zeros("csr", (2, 3))
    b = nd.array([[0.0, 1.0], [2.0, 0.0]]).tostype("csr")
    return a, b[1], b[0:1]


def sparse_gradients_of_embedding():
    w = nd.ones((4, 2))
    w.attach_grad(stype="row_sparse")
    with autograd.record():
        y = nd.Embedding(nd.array([1, 3]), w, 4, 2, sparse_grad=True).sum()
    y.backward()
    return w.grad.stype, w.grad.tostype("default")


def wrong_operators():
    x = nd.array(X)
    return (
        error(nd.dot, x, x),
        error(nd.concat, x, nd.ones((3, 2)), dim=0),
        error(lambda: x.reshape((4, 4))),
    )


def batch_norm_legacy():
    x = nd.array(X)
    mean, var = nd.zeros(3), nd.ones(3)
    with autograd.record():
        y = nd.BatchNorm(x, nd.ones(3), nd.zeros(3), mean, var, momentum=0.5, fix_gamma=False)
    y.wait_to_read()
    return y, mean, var


def legacy_training():
    w = nd.array([1.0, 2.0])
    w.attach_grad()
    for _ in range(3):
        with autograd.record():
            loss = nd.sum(nd.square(w))
        loss.backward()
        nd.sgd_update(w, w.grad, lr=0.1, out=w)
    return w


def contrib_namespace():
    a = nd.array([[0, 0, 2, 2]])
    return (
        nd.contrib.box_iou(a, nd.array([[1, 1, 3, 3]])),
        nd.contrib.arange_like(nd.zeros((2, 2)), axis=0),
        nd.contrib.div_sqrt_dim(nd.ones((1, 4))),
        nd.contrib.index_copy(nd.zeros((2, 2)), nd.array([1]), nd.ones((1, 2))),
    )


def image_namespace():
    x = nd.array(onp.arange(12).reshape(2, 2, 3), dtype="uint8")
    return nd.image.to_tensor(x), nd.image.flip_left_right(x), nd.image.crop(x, 0, 0, 1, 2)


def mixing_faces_is_refused():
    return error(lambda: mx.np.exp(nd.ones(2))), error(lambda: nd.exp(mx.np.ones(2)))


def out_keyword():
    y = nd.zeros(2)
    nd.elemwise_add(nd.ones(2), nd.ones(2), out=y)
    return y


def maximum_and_add_n():
    return (
        nd.maximum(nd.array([1, 5]), 3),
        nd.add_n(nd.ones(2), nd.ones(2), nd.ones(2)),
        nd.minimum(2, nd.array([1, 5])),
    )


def moments_and_khatri():
    return nd.moments(nd.array(X), axes=[0]), nd.khatri_rao(nd.ones((1, 2)), nd.ones((2, 2)))
