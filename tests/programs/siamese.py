"""One trunk called twice and three times under one record: contrastive and triplet losses."""

from types import ModuleType
from typing import Any

from tests.programs.inputs import fill, normal, values_of


def make_classes(mx: ModuleType) -> Any:
    nn = mx.gluon.nn

    class Trunk(mx.gluon.HybridBlock):
        def __init__(self, **kwargs: Any) -> None:
            super().__init__(**kwargs)
            with self.name_scope():
                self.conv = nn.Conv2D(3, 3, padding=1)
                self.norm = nn.BatchNorm()
                self.dense = nn.Dense(4)

        def hybrid_forward(self, F: Any, x: Any) -> Any:
            return F.L2Normalization(self.dense(F.relu(self.norm(self.conv(x)))))

    class Siamese(mx.gluon.HybridBlock):
        def __init__(self, trunk: Any, **kwargs: Any) -> None:
            super().__init__(**kwargs)
            self.trunk = trunk

        def hybrid_forward(self, F: Any, left: Any, right: Any) -> Any:
            a, b = self.trunk(left), self.trunk(right)
            return F.sqrt(F.sum((a - b) ** 2, axis=1) + 1e-6), a, b

    return Trunk, Siamese


def run(mx: ModuleType, hybridize: bool = False) -> dict[str, Any]:
    nd, gluon = mx.nd, mx.gluon
    trunk_class, siamese_class = make_classes(mx)
    trunk = trunk_class(prefix="trunk_")
    net = siamese_class(trunk, prefix="siamese_")
    net.initialize()
    left, right = nd.array(normal(1, 5, 2, 6, 6)), nd.array(normal(2, 5, 2, 6, 6))
    same = nd.array([1, 0, 1, 0, 0])
    net(left, right)
    fill(mx, net.collect_params(), 3)
    if hybridize:
        net.hybridize()
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1, "momentum": 0.5})
    out: dict[str, Any] = {}
    losses = []
    for step in range(3):
        with mx.autograd.record():
            distance, _, _ = net(left, right)
            far = nd.maximum(1.0 - distance, 0)
            loss = same * distance.square() + (1 - same) * far.square()
        loss.backward()
        out[f"{step} gradient"] = trunk.conv.weight.grad().asnumpy()
        trainer.step(5)
        losses.append(loss.mean().asscalar())
    triplet = gluon.loss.TripletLoss(margin=0.5)
    cosine = gluon.loss.CosineEmbeddingLoss(margin=0.1)
    for _ in range(3):
        with mx.autograd.record():
            anchor, positive, negative = trunk(left), trunk(left + 0.1), trunk(right)
            loss = triplet(anchor, positive, negative) + cosine(anchor, negative, same * 2 - 1)
        mx.autograd.backward([loss])
        trainer.step(5)
        losses.append(loss.mean().asscalar())
    with mx.autograd.train_mode():
        distance, a, b = net(left, right)
    return {
        **out,
        "losses": losses,
        "distance": distance.asnumpy(),
        "a": a.asnumpy(),
        "b": b.asnumpy(),
        "names": list(net.collect_params()),
        **values_of(net.collect_params(".*(weight|bias|gamma|beta)")),
    }
