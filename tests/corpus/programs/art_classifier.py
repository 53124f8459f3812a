"""Adversarial Robustness Toolbox 1.14.1: its classifier of Gluon networks, and attacks on them."""

import numpy as np
from art.attacks.evasion import FastGradientMethod, ProjectedGradientDescent
from art.estimators.classification import MXClassifier
from corpus_cases import arrays, fill
from mxnet import gluon, nd
from mxnet.gluon import nn

X = arrays((24, 1, 12, 12))
Y = np.eye(4)[np.arange(24) % 4].astype("float32")


def _classifier():
    net = nn.HybridSequential()
    net.add(nn.Conv2D(4, 3, activation="relu"), nn.MaxPool2D(2), nn.Flatten(), nn.Dense(4))
    net.initialize()
    net(nd.array(X))
    fill(net.collect_params())
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.01})
    return MXClassifier(
        model=net,
        loss=gluon.loss.SoftmaxCrossEntropyLoss(),
        input_shape=(1, 12, 12),
        nb_classes=4,
        optimizer=trainer,
        clip_values=(-4, 4),
    )


def case_fit_and_predict():
    classifier = _classifier()
    before = classifier.predict(X)
    classifier.fit(X, Y, batch_size=8, nb_epochs=3)
    return before, classifier.predict(X).shape


def case_gradients():
    classifier = _classifier()
    # Shapes alone: MXNet's numbers differ from differences of its outputs by up to their own size.
    return (
        list(classifier.class_gradient(X[:4]).shape),
        list(classifier.class_gradient(X[:4], label=2).shape),
        list(classifier.loss_gradient(X[:4], Y[:4]).shape),
    )


def case_attacks():
    classifier = _classifier()
    fast = FastGradientMethod(estimator=classifier, eps=0.3).generate(X[:6])
    projected = ProjectedGradientDescent(
        estimator=classifier, eps=0.3, eps_step=0.1, max_iter=3, verbose=False
    ).generate(X[:6])
    return list(fast.shape), list(projected.shape)


def case_compute_loss_and_save():
    import tempfile
    from pathlib import Path

    classifier = _classifier()
    with tempfile.TemporaryDirectory() as folder:
        classifier.save("model", path=folder)
        return [path.name for path in Path(folder).iterdir()], repr(classifier)[:20]
