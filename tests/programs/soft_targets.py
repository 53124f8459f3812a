"""Label smoothing, mixup, knowledge distillation and focal loss, with soft labels."""

from types import ModuleType
from typing import Any

from tests.programs.inputs import classes, fill, normal, values_of


def make_focal(mx: ModuleType) -> Any:
    class FocalLoss(mx.gluon.loss.Loss):
        def __init__(self, gamma: float = 2.0, weight: Any = None, batch_axis: int = 0, **kw: Any):
            super().__init__(weight, batch_axis, **kw)
            self._gamma = gamma

        def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:
            p = F.pick(F.softmax(pred), label, axis=-1, keepdims=True)
            loss = -((1 - p) ** self._gamma) * F.log(F.clip(p, 1e-7, 1.0))
            if sample_weight is not None:
                loss = F.broadcast_mul(loss, sample_weight)
            return F.mean(loss, axis=self._batch_axis, exclude=True)

    return FocalLoss


def smooth(mx: ModuleType, label: Any, count: int, eta: float = 0.1) -> Any:
    low = eta / count
    return mx.nd.one_hot(label, count, on_value=1 - eta + low, off_value=low)


def mixup(mx: ModuleType, x: Any, label: Any, share: float) -> tuple[Any, Any]:
    return share * x + (1 - share) * x[::-1], share * label + (1 - share) * label[::-1]


def run(mx: ModuleType, hybridize: bool = False) -> dict[str, Any]:
    nd, gluon, nn, count = mx.nd, mx.gluon, mx.gluon.nn, 4

    def make(prefix: str, width: int) -> Any:
        net = nn.HybridSequential(prefix=prefix)
        with net.name_scope():
            net.add(nn.Dense(width, activation="relu"), nn.Dense(count))
        net.initialize()
        net(nd.array(normal(0, 1, 5)))
        fill(mx, net.collect_params(), width, scale=0.8)
        if hybridize:
            net.hybridize()
        return net

    teacher, student = make("teacher_", 8), make("student_", 4)
    soft = gluon.loss.SoftmaxCrossEntropyLoss(sparse_label=False)
    hard = gluon.loss.SoftmaxCrossEntropyLoss(weight=0.5)
    logits = gluon.loss.SoftmaxCELoss(from_logits=True, sparse_label=False, axis=1)
    divergence = gluon.loss.KLDivLoss(from_logits=False)
    focal = make_focal(mx)(1.5, weight=2.0)
    if hybridize:
        for loss in (soft, hard, logits, divergence, focal):
            loss.hybridize()
    trainer = gluon.Trainer(teacher.collect_params(), "adam", {"learning_rate": 0.02})
    x, y = nd.array(normal(1, 8, 5)), nd.array(classes(2, count, 8))
    weights = nd.array([[1], [0], [2], [1], [0.5], [1], [1], [3]])
    losses = []
    for share in (0.9, 0.4, 1.0, 0.7):
        mixed, target = mixup(mx, x, smooth(mx, y, count), share)
        with mx.autograd.record():
            scores = teacher(mixed)
            parts = [
                soft(scores, target),
                hard(scores, y, weights),
                logits(nd.log_softmax(scores), target),
                focal(scores, y, weights),
            ]
            total = nd.add_n(*parts)
        total.backward()
        trainer.step(8)
        losses.append(nd.stack(*parts).asnumpy())
    trainer = gluon.Trainer(
        student.collect_params(), "sgd", {"learning_rate": 0.3, "clip_gradient": 0.2}
    )
    distilled = []
    for temperature in (1, 2, 4):
        target = nd.softmax(teacher(x), temperature=temperature)
        with mx.autograd.record():
            scores = student(x)
            loss = divergence(scores / temperature, target) * temperature**2 + hard(scores, y)
        loss.backward()
        trainer.step(8)
        distilled.append(loss.asnumpy())
    return {
        "losses": losses,
        "distilled": distilled,
        "target": smooth(mx, y, count).asnumpy(),
        "repr": [repr(soft), repr(focal)],
        **values_of(teacher.collect_params()),
        **values_of(student.collect_params()),
    }
