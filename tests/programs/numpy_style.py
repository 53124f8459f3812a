"""A net on arrays of mx.np: np and npx in hybrid_forward, under NumPy's semantics."""

from types import ModuleType
from typing import Any

from tests.programs.inputs import classes, normal, values_of


def make_class(mx: ModuleType) -> Any:
    nn = mx.gluon.nn

    class Gated(mx.gluon.HybridBlock):
        def __init__(self, **kwargs: Any) -> None:
            super().__init__(**kwargs)
            with self.name_scope():
                self.body = nn.Dense(8, activation="tanh", flatten=False)
                self.norm = nn.LayerNorm()
                self.head = nn.Dense(3)
                self.gate = self.params.get("gate", shape=(8,), init="zeros")

        def hybrid_forward(self, F: Any, x: Any, gate: Any) -> Any:
            body = self.norm(self.body(x))
            weights = F.npx.softmax(F.np.sum(body * gate, axis=-1), axis=-1)
            mean = F.np.sum(F.np.expand_dims(weights, -1) * body, axis=1)
            spread = F.np.sqrt(F.np.mean((body - body.mean(axis=1, keepdims=True)) ** 2, 1) + 0.1)
            joined = F.np.concatenate([mean, spread, F.np.maximum(mean, 0)], axis=1)
            kept = F.np.where(joined > 1, 2 - 1 / (F.np.abs(joined) + 0.1), joined)
            return self.head(F.npx.relu(kept) + 0.1 * F.np.tanh(kept))

    return Gated


def fill(mx: ModuleType, params: Any) -> None:
    for seed, (name, parameter) in enumerate(params.items()):
        values = 0.5 * normal(seed, *parameter.shape)
        parameter.set_data(mx.np.array(1 + values if name.endswith("gamma") else values))


def train(mx: ModuleType, hybridize: bool) -> dict[str, Any]:
    np = mx.np
    net = make_class(mx)(prefix="gated_")
    net.initialize()
    x, y = np.array(normal(1, 6, 4, 5)), np.array(classes(2, 3, 6))
    net(x)
    fill(mx, net.collect_params())
    if hybridize:
        net.hybridize()
    loss_fn = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    trainer = mx.gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.03})
    losses = []
    for _ in range(5):
        with mx.autograd.record():
            output = net(x)
            loss = loss_fn(output, y) + 0.01 * np.abs(output).sum(axis=1)
        loss.backward()
        trainer.step(6)
        losses.append(float(loss.mean()))
    output = net(x)
    return {
        "losses": losses,
        "output": output.asnumpy(),
        "classes": output.argmax(axis=1).asnumpy(),
        "right": float((output.argmax(axis=1).astype("float32") == y).sum()),
        "scalar": str((loss.mean().shape, type(output).__name__)),
        "sorted": np.sort(output, axis=1)[::2, 1:].asnumpy(),
        "einsum": np.einsum("ij,kj->ik", output, output).asnumpy(),
        "norm": np.linalg.norm(output, axis=1).asnumpy(),
        "empty": str(np.zeros((0, 3)).sum(axis=1).shape),
        **values_of(net.collect_params()),
    }


def run(mx: ModuleType, hybridize: bool = False) -> dict[str, Any]:
    mx.npx.set_np()
    try:
        return train(mx, hybridize)
    finally:
        mx.npx.reset_np()
