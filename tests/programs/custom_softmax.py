"""A softmax with its loss's gradient as a CustomOp, in a Gluon block and in a Symbol."""

from types import ModuleType
from typing import Any

import numpy as np

from tests.programs.inputs import classes, fill, normal, values_of


def register(mx: ModuleType) -> None:
    class Softmax(mx.operator.CustomOp):
        def __init__(self, scale: float) -> None:
            super().__init__()
            self.scale = scale

        def forward(self, is_train: bool, req: Any, in_data: Any, out_data: Any, aux: Any) -> None:
            x = in_data[0].asnumpy()
            y = np.exp(x - x.max(axis=1, keepdims=True))
            y /= y.sum(axis=1, keepdims=True)
            self.assign(out_data[0], req[0], mx.nd.array(y))
            if is_train:
                aux[0][:] += 1

        def backward(
            self, req: Any, out_grad: Any, in_data: Any, out_data: Any, in_grad: Any, aux: Any
        ) -> None:
            label = in_data[1].asnumpy().ravel().astype(int)
            y = out_data[0].asnumpy()
            y[np.arange(label.shape[0]), label] -= 1.0
            self.assign(in_grad[0], req[0], mx.nd.array(y * self.scale))

    class SoftmaxProp(mx.operator.CustomOpProp):
        def __init__(self, scale: str = "1.0") -> None:
            super().__init__(need_top_grad=False)
            self.scale = float(scale)

        def list_arguments(self) -> list[str]:
            return ["data", "label"]

        def list_outputs(self) -> list[str]:
            return ["output"]

        def list_auxiliary_states(self) -> list[str]:
            return ["calls"]

        def infer_shape(self, in_shape: Any) -> Any:
            return [in_shape[0], [in_shape[0][0]]], [in_shape[0]], [[1]]

        def infer_type(self, in_type: Any) -> Any:
            return in_type, [in_type[0]], [in_type[0]]

        def create_operator(self, ctx: Any, shapes: Any, dtypes: Any) -> Any:
            return Softmax(self.scale)

    mx.operator.register("program_softmax")(SoftmaxProp)


def train_block(mx: ModuleType, hybridize: bool) -> dict[str, Any]:
    nn = mx.gluon.nn

    class Classifier(mx.gluon.HybridBlock):
        def __init__(self, **kwargs: Any) -> None:
            super().__init__(**kwargs)
            with self.name_scope():
                self.body = nn.Dense(8, activation="relu")
                self.head = nn.Dense(3)

        def hybrid_forward(self, F: Any, x: Any, label: Any, calls: Any) -> Any:
            scores = self.head(self.body(x))
            return F.Custom(scores, label, calls, op_type="program_softmax", scale=0.5)

    net = Classifier(prefix="classifier_")
    net.initialize()
    x, y = mx.nd.array(normal(1, 10, 4)), mx.nd.array(classes(2, 3, 10))
    calls = mx.nd.zeros(1)
    net(x, y, calls)
    fill(mx, net.collect_params(), 3)
    if hybridize:
        net.hybridize()
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.5})
    losses = []
    for _ in range(5):
        with mx.autograd.record():
            output = net(x, y, calls)
        output.backward()
        trainer.step(10)
        losses.append(-output.pick(y).log().mean().asscalar())
    return {"losses": losses, "output": output.asnumpy(), **values_of(net.collect_params())}


def train_symbol(mx: ModuleType) -> dict[str, Any]:
    sym = mx.sym
    net = sym.FullyConnected(sym.Variable("data"), num_hidden=3, name="fc")
    net = sym.Custom(data=net, name="softmax", op_type="program_softmax")
    executor = net.simple_bind(mx.cpu(), data=(10, 4))
    x, y = mx.nd.array(normal(1, 10, 4)), mx.nd.array(classes(2, 3, 10))
    executor.arg_dict["fc_weight"][:] = 0.3 * normal(8, 3, 4)
    executor.arg_dict["fc_bias"][:] = 0
    losses = []
    for _ in range(4):
        (output,) = executor.forward(is_train=True, data=x, softmax_label=y)
        executor.backward()
        for name in ("fc_weight", "fc_bias"):
            weight = executor.arg_dict[name]
            mx.nd.sgd_update(weight, executor.grad_dict[name], lr=0.05, out=weight)
        losses.append(-np.log(output.pick(y).asnumpy()).mean())
    return {
        "symbol's losses": losses,
        "symbol's arguments": net.list_arguments(),
        "symbol's states": net.list_auxiliary_states(),
        "symbol's calls": executor.aux_arrays[0].asnumpy(),
        "symbol's weight": executor.arg_dict["fc_weight"].asnumpy(),
    }


def run(mx: ModuleType, hybridize: bool = False) -> dict[str, Any]:
    register(mx)
    return {**train_block(mx, hybridize), **train_symbol(mx)}
