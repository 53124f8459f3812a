"""Lion and RAdam over 200 steps, see tests/golden/optimizers_of_torch/make.py."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.optimizer import create

GOLDEN = np.load(Path(__file__).parents[1] / "golden/optimizers_of_torch/optimizers.npz")
SAVED = [0, 1, 4, 5, 6, 19, 99, 199]
RATE = 0.01
SCALING = {"rescale_grad": 0.5, "clip_gradient": 0.4}
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "lion": ("lion", {}),
    "lion_all": ("lion", {"beta1": 0.8, "beta2": 0.95, "wd": 0.3, **SCALING}),
    "radam": ("radam", {}),
    "radam_all": (
        "radam",
        {"beta1": 0.8, "beta2": 0.98, "epsilon": 1e-3, "wd": 0.2, **SCALING},
    ),
    "radam_decoupled": ("radam", {"beta2": 0.98, "wd": 0.2, "decoupled_weight_decay": True}),
}


def data(name: str) -> tuple[list[Any], list[list[Any]]]:
    """Return initial weights, and the gradients of each step."""
    shapes = [(4, 3), (3, 6)] if name.startswith("muon") else [(4, 3), (5,), (2, 3, 2)]
    draw = np.random.RandomState(7)
    weights = [draw.randn(*shape).astype("float32") for shape in shapes]
    grads = [[draw.randn(*shape).astype("float32") for shape in shapes] for _ in range(200)]
    return weights, grads


def train(name: str, dtype: str, together: bool = True, **changed: Any) -> list[list[Any]]:
    """Return the weights after the saved steps, one list for each weight."""
    kind, kwargs = CASES[name]
    update = mx.optimizer.get_updater(create(kind, learning_rate=RATE, **kwargs, **changed))
    start, grads = data(name)
    weights = [mx.nd.array(w, dtype=dtype) for w in start]
    indices = list(range(len(weights)))
    found: list[list[Any]] = [[] for _ in weights]
    for step, now in enumerate(grads):
        arrays = [mx.nd.array(g, dtype=dtype) for g in now]
        if together:
            update(indices, arrays, weights)
        else:
            for i in indices:
                update(i, arrays[i], weights[i])
        if step in SAVED:
            for values, weight in zip(found, weights, strict=True):
                values.append(weight.asnumpy().astype("float64"))
    return found


@pytest.mark.parametrize("name", CASES)
def test_weights_are_those_of_torch_in_float64(name: str) -> None:
    for i, values in enumerate(train(name, "float64")):
        np.testing.assert_allclose(values, GOLDEN[f"{name}-{i}"], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", CASES)
def test_float32_is_near_and_the_same_one_by_one(name: str) -> None:
    together, alone = train(name, "float32"), train(name, "float32", together=False)
    for i, values in enumerate(together):
        np.testing.assert_allclose(values, GOLDEN[f"{name}-{i}"], rtol=1e-5, atol=1e-5)
        np.testing.assert_array_equal(values, alone[i])


@pytest.mark.parametrize("name", CASES)
def test_float16_follows_its_float32_copy(name: str) -> None:
    for i, values in enumerate(train(name, "float16", multi_precision=True)):
        np.testing.assert_allclose(values, GOLDEN[f"{name}-{i}"], rtol=0.02, atol=0.02)


@pytest.mark.parametrize("name", ["lion", "radam"])
def test_states_are_saved_and_loaded(name: str, tmp_path: Path) -> None:
    found = []
    for resumed in (False, True):
        mx.random.seed(0)
        net = mx.gluon.nn.Dense(3, in_units=4)
        net.initialize(mx.init.One())
        trainer = mx.gluon.Trainer(net.collect_params(), name, {"learning_rate": 0.1})
        for step in range(6):
            with mx.autograd.record():
                value = (net(mx.nd.arange(8).reshape((2, 4)) / 8 - step / 5) ** 2).sum()
            value.backward()
            trainer.step(2)
            if resumed and step == 2:
                trainer.save_states(str(tmp_path / "states"))
                trainer = mx.gluon.Trainer(net.collect_params(), name, {"learning_rate": 0.1})
                trainer.load_states(str(tmp_path / "states"))
        found.append(net.weight.data().asnumpy())
    np.testing.assert_array_equal(*found)
