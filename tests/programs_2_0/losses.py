import numpy as onp
from mxnet import autograd, gluon, np, npx

from tests.programs_2_0.errors import error

P = onp.array([[0.3, -1.2, 2.0], [1.5, 0.1, -0.4]], "float32")
Q = onp.array([[0.5, -1.0, 1.0], [1.0, 0.0, -1.0]], "float32")


def _loss(loss, *inputs):
    """Values of a loss and the gradient of the first input."""
    first = inputs[0]
    first.attach_grad()
    with autograd.record():
        y = loss(*inputs)
    y.backward()
    return y, first.grad


def l2():
    return _loss(gluon.loss.L2Loss(), np.array(P), np.array(Q))


def l1():
    return _loss(gluon.loss.L1Loss(), np.array(P), np.array(Q))


def l2_with_weights():
    w = np.array([[1.0], [0.0]])
    loss = gluon.loss.L2Loss(weight=2.0)
    return loss(np.array(P), np.array(Q)), loss(np.array(P), np.array(Q), w)


def batch_axis_of_loss():
    return gluon.loss.L1Loss(batch_axis=1)(np.array(P), np.array(Q))


def softmax_cross_entropy():
    return _loss(gluon.loss.SoftmaxCrossEntropyLoss(), np.array(P), np.array([2, 0]))


def softmax_cross_entropy_dense_labels():
    y = np.array([[0.0, 0.5, 0.5], [1.0, 0.0, 0.0]])
    return _loss(gluon.loss.SoftmaxCrossEntropyLoss(sparse_label=False), np.array(P), y)


def softmax_cross_entropy_from_logits():
    loss = gluon.loss.SoftmaxCELoss(from_logits=True)
    return loss(npx.log_softmax(np.array(P)), np.array([1, 1]))


def softmax_cross_entropy_axis():
    x = np.array(onp.arange(12).reshape(1, 3, 4) * 0.1, dtype="float32")
    return gluon.loss.SoftmaxCrossEntropyLoss(axis=1)(x, np.array([[0, 1, 2, 0]]))


def softmax_cross_entropy_sample_weights():
    loss = gluon.loss.SoftmaxCrossEntropyLoss()
    return loss(np.array(P), np.array([2, 0]), np.array([[1.0], [0.5]]))


def sigmoid_cross_entropy():
    y = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    return _loss(gluon.loss.SigmoidBinaryCrossEntropyLoss(), np.array(P), y)


def sigmoid_cross_entropy_from_probabilities():
    y = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    loss = gluon.loss.SigmoidBCELoss(from_sigmoid=True)
    return loss(npx.sigmoid(np.array(P)), y)


def sigmoid_cross_entropy_positive_weight():
    y = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    loss = gluon.loss.SigmoidBCELoss()
    return loss(np.array(P), y, None, np.array([2.0, 1.0, 3.0]))


def kl_divergence():
    y = np.array([[0.2, 0.3, 0.5], [0.1, 0.8, 0.1]])
    return _loss(gluon.loss.KLDivLoss(), npx.log_softmax(np.array(P)), y)


def kl_divergence_of_scores():
    y = np.array([[0.2, 0.3, 0.5], [0.1, 0.8, 0.1]])
    return _loss(gluon.loss.KLDivLoss(from_logits=False), np.array(P), y)


def huber():
    return _loss(gluon.loss.HuberLoss(rho=0.5), np.array(P), np.array(Q))


def hinge():
    y = np.array([[1.0, -1.0, 1.0], [-1.0, 1.0, 1.0]])
    return _loss(gluon.loss.HingeLoss(), np.array(P), y)


def squared_hinge():
    y = np.array([[1.0, -1.0, 1.0], [-1.0, 1.0, 1.0]])
    return _loss(gluon.loss.SquaredHingeLoss(margin=0.5), np.array(P), y)


def logistic_signed():
    y = np.array([[1.0, -1.0, 1.0], [-1.0, 1.0, 1.0]])
    return _loss(gluon.loss.LogisticLoss(), np.array(P), y)


def logistic_binary():
    y = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]])
    return _loss(gluon.loss.LogisticLoss(label_format="binary"), np.array(P), y)


def logistic_unknown_format():
    return error(gluon.loss.LogisticLoss, label_format="other")


def triplet():
    return _loss(gluon.loss.TripletLoss(margin=2), np.array(P), np.array(Q), np.array(Q) * 2)


def poisson_nll():
    y = np.array([[1.0, 2.0, 0.0], [3.0, 1.0, 1.0]])
    return _loss(gluon.loss.PoissonNLLLoss(), np.array(P), y)


def poisson_nll_full():
    y = np.array([[1.0, 2.0, 0.0], [3.0, 1.0, 1.0]])
    loss = gluon.loss.PoissonNLLLoss(from_logits=False, compute_full=True)
    return loss(np.exp(np.array(P)), y)


def cosine_embedding():
    return _loss(gluon.loss.CosineEmbeddingLoss(), np.array(P), np.array(Q), np.array([1, -1]))


def cosine_embedding_margin():
    loss = gluon.loss.CosineEmbeddingLoss(margin=0.5)
    return loss(np.array(P), np.array(Q), np.array([-1, -1]))


def ctc_layouts():
    x = np.array(onp.linspace(-1, 1, 24).reshape(2, 4, 3), dtype="float32")
    y = np.array([[0, 1], [1, -1]])
    return (
        gluon.loss.CTCLoss()(x, y),
        gluon.loss.CTCLoss(layout="TNC")(x.swapaxes(0, 1), y),
    )


def ctc_with_lengths():
    x = np.array(onp.linspace(-1, 1, 24).reshape(2, 4, 3), dtype="float32")
    y = np.array([[0, 1], [1, 0]])
    return gluon.loss.CTCLoss()(x, y, np.array([3, 4]), np.array([1, 2]))


def ctc_gradient():
    x = np.array(onp.linspace(-1, 1, 12).reshape(1, 4, 3), dtype="float32")
    return _loss(gluon.loss.CTCLoss(), x, np.array([[0, 1]]))


def sdml():
    return gluon.loss.SDMLLoss()(np.array(P), np.array(Q))


def loss_reprs():
    return (
        repr(gluon.loss.L2Loss()),
        repr(gluon.loss.SoftmaxCELoss(axis=1)),
        repr(gluon.loss.HuberLoss()),
    )


def hybridized_losses():
    found = []
    for loss in (gluon.loss.L2Loss(), gluon.loss.HuberLoss(), gluon.loss.HingeLoss()):
        loss.hybridize()
        found.append(loss(np.array(P), np.array(Q)))
    return found


def labels_of_other_shape():
    return gluon.loss.L2Loss()(np.array([[1.0], [2.0]]), np.array([1.0, 3.0]))


def integer_labels():
    return gluon.loss.SoftmaxCrossEntropyLoss()(np.array(P), np.array([1, 2], dtype="int32"))


def half_precision_loss():
    loss = gluon.loss.SoftmaxCrossEntropyLoss()
    return loss(np.array(P, dtype="float16"), np.array([1, 2]))


def own_loss():
    class Quantile(gluon.loss.Loss):
        def __init__(self, tau, weight=None, batch_axis=0, **kwargs):
            super().__init__(weight, batch_axis, **kwargs)
            self.tau = tau

        def forward(self, pred, label, sample_weight=None):
            e = label - pred
            loss = np.maximum(self.tau * e, (self.tau - 1) * e)
            return np.mean(loss, axis=tuple(range(1, loss.ndim)))

    return _loss(Quantile(0.9), np.array(P), np.array(Q))


def label_smoothing():
    y = npx.one_hot(np.array([2, 0]), 3) * 0.9 + 0.1 / 3
    return gluon.loss.SoftmaxCELoss(sparse_label=False)(np.array(P), y)


def focal_by_hand():
    p = npx.sigmoid(np.array(P))
    y = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    pt = np.where(y == 1, p, 1 - p)
    return -(((1 - pt) ** 2) * np.log(pt)).sum(axis=1)


def loss_of_wrong_shapes():
    return error(gluon.loss.L2Loss(), np.ones((2, 3)), np.ones((2, 2)))


def mean_over_zero_size_batch():
    return gluon.loss.L2Loss()(np.ones((0, 3)), np.ones((0, 3))).shape
