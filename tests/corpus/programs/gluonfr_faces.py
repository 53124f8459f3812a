"""gluonfr 1.0.2 (face recognition): its networks and every loss, with gradients."""

import numpy as np
from corpus_cases import arrays, fill
from gluonfr import loss as losses
from gluonfr import model_zoo
from gluonfr.nn.basic_blocks import NormDense
from mxnet import autograd, gluon, nd

LABELS = [0, 1, 2, 3]


def _network(name, extent, **options):
    net = model_zoo.get_model(name, **options)
    net.initialize()
    x = nd.array(arrays((2, 3, extent, extent)))
    net(x)
    fill(net.collect_params())
    imperative = net(x)
    net.hybridize()
    hybridized = net(x)
    pairs = (
        zip(imperative, hybridized)
        if isinstance(imperative, (list, tuple))
        else [(imperative, hybridized)]
    )
    for one, two in pairs:
        np.testing.assert_allclose(one.asnumpy(), two.asnumpy(), rtol=1e-3, atol=1e-4)
    return hybridized


def case_mobile_facenet():
    return _network("mobilefacenet", 112, classes=10)


def case_se_resnet18():
    return _network("l_se_resnet18v2", 112, classes=10)


def case_attention_net():
    return _network("attentionfacenet56", 112, classes=10)


def case_every_model_is_made():
    return sorted(model_zoo.get_model_list())


def _loss(objective, features=4, hybridize=True):
    """Value and gradient of a loss, imperatively and hybridized."""
    objective.initialize()
    x, embedding = nd.array(arrays((4, 10))), nd.array(arrays((4, features), 1))
    label = nd.array(LABELS)
    for array in (x, embedding):
        array.attach_grad()
    results = []
    for hybrid in (False, True) if hybridize else (False,):
        if hybrid:
            objective.hybridize()
        with autograd.record():
            try:
                value = objective(x, label)
            except (TypeError, ValueError):
                value = objective(x, label, embedding)
        value.backward()
        results.append([value, x.grad])
    return results


def case_l2_softmax():
    return _loss(losses.L2Softmax(10, 10))


def case_cosine_loss():
    return _loss(losses.CosLoss(10, m=0.4, s=64))


def case_arc_loss():
    return _loss(losses.ArcLoss(10, m=0.5, s=64)), _loss(
        losses.ArcLoss(10, m=0.5, s=30, easy_margin=False)
    )


def case_sv_x_softmax():
    return _loss(losses.SVXSoftmax(10, s=32, t=1.2, m2=0.5))


def case_triplet_and_contrastive():
    a, b, c = (nd.array(arrays((4, 8), i)) for i in range(3))
    return losses.TripletLoss(margin=0.5)(a, b, c), losses.ContrastiveLoss(margin=1)(
        a, b, nd.array([0, 1, 1, 0])
    )


def _embedding_loss(objective):
    objective.initialize()
    fill(objective.collect_params())
    x, embedding, label = nd.array(arrays((4, 10))), nd.array(arrays((4, 6), 1)), nd.array(LABELS)
    x.attach_grad()
    embedding.attach_grad()
    with autograd.record():
        value = objective(x, label, embedding)
    value.backward()
    return value, embedding.grad


def case_ring_loss():
    return _embedding_loss(losses.RingLoss(0.1))


def case_center_loss():
    return _embedding_loss(losses.CenterLoss(10, 6, 0.5))


def case_git_loss():
    return _embedding_loss(losses.GitLoss(10, 6, 0.01, 0.01, 4))


def case_normalized_dense_trains():
    layer = NormDense(10, weight_norm=True, feature_norm=True, in_units=6)
    layer.initialize()
    fill(layer.collect_params())
    trainer = gluon.Trainer(layer.collect_params(), "sgd", {"learning_rate": 0.1})
    x, label = nd.array(arrays((4, 6))), nd.array(LABELS)
    objective = losses.ArcLoss(10)
    values = []
    for _ in range(3):
        with autograd.record():
            value = objective(layer(x), label)
        value.backward()
        trainer.step(4)
        values.append(value.mean())
    return values
