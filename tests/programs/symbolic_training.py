"""A Symbol trained by hand: simple_bind, forward, backward, and an update for each argument."""

from types import ModuleType
from typing import Any

import numpy as np

from tests.programs.inputs import classes, normal

KEPT = ("data", "softmax_label", "bn2_gamma")


def compose(mx: ModuleType) -> Any:
    sym = mx.sym
    data = sym.Variable("data")
    net = sym.FullyConnected(data, name="fc1", num_hidden=12)
    net = sym.BatchNorm(net, name="bn1", fix_gamma=False, momentum=0.8)
    net = sym.Activation(net, name="relu1", act_type="relu")
    net = sym.FullyConnected(net, name="fc2", num_hidden=8)
    net = sym.BatchNorm(net, name="bn2")
    net = sym.LeakyReLU(net, name="elu2", act_type="elu", slope=0.5)
    net = sym.FullyConnected(net, name="fc3", num_hidden=4)
    return sym.SoftmaxOutput(net, name="softmax", normalization="batch")


def fill(mx: ModuleType, executor: Any) -> list[str]:
    names = [name for name in executor.arg_dict if name not in KEPT]
    for seed, name in enumerate(names):
        value = 0.4 * normal(seed, *executor.arg_dict[name].shape)
        executor.arg_dict[name][:] = 1 + value if name.endswith("gamma") else value
    executor.arg_dict["bn2_gamma"][:] = 1
    for name, array in executor.aux_dict.items():
        array[:] = mx.nd.ones(array.shape) if name.endswith("var") else 0.1
    return names


def run(mx: ModuleType, hybridize: bool = False) -> dict[str, Any]:
    del hybridize  # a Symbol is a graph in any case
    net = compose(mx)
    # MXNet writes ones into a gamma that is fixed, so that it is no weight to update.
    req = {name: "null" if name == "bn2_gamma" else "write" for name in net.list_arguments()}
    executor = net.simple_bind(ctx=mx.cpu(), grad_req=req, data=(12, 5), softmax_label=(12,))
    names = fill(mx, executor)
    momenta = {name: mx.nd.zeros(executor.arg_dict[name].shape) for name in names}
    x, y = mx.nd.array(normal(31, 12, 5)), mx.nd.array(classes(32, 4, 12))
    settings = {"lr": 0.3, "momentum": 0.9, "wd": 1e-3, "clip_gradient": 0.5}
    losses = []
    for _ in range(6):
        (output,) = executor.forward(is_train=True, data=x, softmax_label=y)
        executor.backward()
        for name in names:
            weight, gradient = executor.arg_dict[name], executor.grad_dict[name]
            mx.nd.sgd_mom_update(weight, gradient, momenta[name], out=weight, **settings)
        losses.append(-np.log(output.pick(y).asnumpy()).mean())
    smaller = executor.reshape(allow_up_sizing=False, data=(4, 5), softmax_label=(4,))
    tested = smaller.forward(is_train=False, data=x[:4])[0].asnumpy()
    return {
        "losses": losses,
        "arguments": net.list_arguments(),
        "auxiliary": net.list_auxiliary_states(),
        "tested": tested,
        **{name: executor.arg_dict[name].asnumpy() for name in names},
        **{f"momentum of {name}": momenta[name].asnumpy() for name in names},
        **{name: array.asnumpy() for name, array in executor.aux_dict.items()},
    }
