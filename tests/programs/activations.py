"""Every activation layer: outputs, gradients by input and by PReLU's slope."""

from types import ModuleType
from typing import Any

from tests.programs.inputs import normal


def run(mx: ModuleType, hybridize: bool = False) -> dict[str, Any]:
    nn = mx.gluon.nn
    layers = {
        "leaky": nn.LeakyReLU(0.2),
        "prelu": nn.PReLU(),
        "elu": nn.ELU(0.7),
        "selu": nn.SELU(),
        "gelu": nn.GELU(),
        "swish": nn.Swish(1.5),
        "prelu4": nn.PReLU(in_channels=4),
        "prelu_init": nn.PReLU(mx.init.Constant(0.1)),
    }
    for act in ("relu", "sigmoid", "tanh", "softrelu", "softsign"):
        layers[act] = nn.Activation(act)
    x = mx.nd.array(2 * normal(1, 3, 4, 2))
    head = mx.nd.array(normal(2, 3, 4, 2))
    out: dict[str, Any] = {}
    for name, layer in layers.items():
        layer.initialize()
        if hybridize:
            layer.hybridize()
        x.attach_grad()
        with mx.autograd.record():
            y = layer(x)
        y.backward(head)
        out[f"{name} y"] = y.asnumpy()
        if name != "selu":  # MXNet 1.9.1's gradient of it is not that of the function
            out[f"{name} gradient"] = x.grad.asnumpy()
        for p in layer.collect_params().values():
            out[f"{name} slope"] = p.grad().asnumpy()
        out[f"{name} repr"] = repr(layer)
    return out
