"""Twenty steps of a task with an optimizer, from weights and data that are the same everywhere."""

from typing import Any
from zlib import crc32

import numpy as np

from tests.training.networks import TASKS, Task

STEPS = 20
# Elements of each parameter that the golden data keeps.
KEPT = 48

# Optimizers by a name of the case: MXNet's name, its arguments.
OPTIMIZERS: dict[str, tuple[str, dict[str, Any]]] = {
    "sgd": ("sgd", {"learning_rate": 0.1, "wd": 1e-3}),
    "sgd_momentum": ("sgd", {"learning_rate": 0.05, "momentum": 0.9, "clip_gradient": 0.5}),
    "nag": ("nag", {"learning_rate": 0.05, "momentum": 0.9, "wd": 1e-3}),
    "signum": ("signum", {"learning_rate": 0.001, "momentum": 0.9, "wd_lh": 1e-3}),
    "ftml": ("ftml", {"learning_rate": 0.01}),
    "lars": ("lars", {"learning_rate": 0.5, "momentum": 0.9, "wd": 1e-3}),
    "lamb": ("lamb", {"learning_rate": 0.01, "wd": 1e-2}),
    "lbsgd": ("lbsgd", {"learning_rate": 0.05, "momentum": 0.9}),
    "dcasgd": ("dcasgd", {"learning_rate": 0.1, "wd": 1e-3}),
    "adam": ("adam", {"learning_rate": 0.01, "wd": 1e-3}),
    "adagrad": ("adagrad", {"learning_rate": 0.01}),
    "adadelta": ("adadelta", {"rho": 0.9, "wd": 1e-3}),
    "adamax": ("adamax", {"learning_rate": 0.01, "wd": 1e-3}),
    "nadam": ("nadam", {"learning_rate": 0.01}),
    "rmsprop": ("rmsprop", {"learning_rate": 0.002}),
    "rmsprop_centered": ("rmsprop", {"learning_rate": 0.001, "centered": True}),
    "ftrl": ("ftrl", {"learning_rate": 0.05, "lamda1": 0.001}),
    "groupadagrad": ("groupadagrad", {"learning_rate": 0.02}),
    "test": ("test", {"rescale_grad": -0.1}),
}


def initial(name: str, shape: tuple[int, ...]) -> Any:
    """The value that a parameter starts with, by its name."""
    rng = np.random.RandomState(crc32(name.encode()) & 0x7FFFFFFF)
    if name.endswith(("gamma", "running_var")):
        return rng.uniform(0.5, 1.5, shape).astype("float32")
    fan_in = int(np.prod(shape[1:])) or 1
    return (rng.standard_normal(shape) / np.sqrt(fan_in)).astype("float32")


def parameters(task: Task) -> dict[str, Any]:
    """All parameters by name."""
    return {
        name: parameter
        for block in task.blocks()
        for name, parameter in block.collect_params().items()
    }


def trained(block: Any, optimizer: str) -> list[Any]:
    """The parameters that a Trainer gets: GroupAdaGrad takes matrices only."""
    found = list(block.collect_params().values())
    return [p for p in found if optimizer != "groupadagrad" or len(p.shape) == 2]


def run(
    mx: Any, task_name: str, optimizer: str, arguments: dict[str, Any], hybridize: bool = False
) -> dict[str, Any]:
    """Train, and give the losses of each step and the parameters after the last."""
    task = TASKS[task_name](mx)
    rng = np.random.RandomState(crc32(task_name.encode()) & 0x7FFFFFFF)
    batches = [tuple(map(mx.nd.array, task.batch(rng))) for _ in range(STEPS)]
    for block in task.blocks():
        block.initialize()
    task.losses(*batches[0])  # the shapes of all parameters are known after it
    for name, parameter in parameters(task).items():
        parameter.set_data(mx.nd.array(initial(name, parameter.shape)))
    if hybridize:
        for block in task.blocks():
            block.hybridize(static_alloc=True)
    if isinstance(getattr(task, "state", None), list):
        task.state = [mx.nd.zeros(state.shape) for state in task.state]  # type: ignore[attr-defined]
    trainers = [
        mx.gluon.Trainer(trained(block, optimizer), optimizer, dict(arguments))
        for block in task.blocks()
    ]
    losses = [task.step(batch, trainers) for batch in batches]
    result = {"losses": np.array(losses, "float32")}
    for name, parameter in parameters(task).items():
        result[name] = parameter.data().asnumpy()
    return result


def kept(values: Any) -> Any:
    """Up to `KEPT` elements of a parameter, spread over it."""
    flat = np.asarray(values).reshape(-1)
    return flat[np.linspace(0, flat.size - 1, min(KEPT, flat.size)).astype(int)]
