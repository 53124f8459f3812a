"""Lion, RAdam, Adafactor and Muon over 200 steps, see tests/golden/optimizers_of_torch/make.py."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.core.errors import ArgumentError, OperatorError
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
    "adafactor": ("adafactor", {}),
    "adafactor_all": (
        "adafactor",
        {
            "beta2_decay": -0.6,
            "epsilon1": 1e-5,
            "epsilon2": 0.01,
            "clip_threshold": 1.2,
            "wd": 0.2,
            **SCALING,
        },
    ),
    "muon": ("muon", {}),
    "muon_all": (
        "muon",
        {
            "wd": 0.2,
            "momentum": 0.8,
            "nesterov": False,
            "coefficients": (3.0, -4.0, 2.0),
            "iterations": 3,
            "epsilon": 1e-4,
            **SCALING,
        },
    ),
    "muon_matched": ("muon", {"wd": 0.1, "adjustment": "match_rms_adamw"}),
    "radam_decoupled": ("radam", {"beta2": 0.98, "wd": 0.2, "decoupled_weight_decay": True}),
}


def data(name: str) -> tuple[list[Any], list[list[Any]]]:
    """Return initial weights, and the gradients of each step."""
    shapes = [(4, 3), (3, 6)] if name.startswith("muon") else [(4, 3), (5,), (2, 3, 2)]
    draw = np.random.RandomState(7)
    weights = [draw.randn(*shape).astype("float32") for shape in shapes]
    grads = [[draw.randn(*shape).astype("float32") for shape in shapes] for _ in range(200)]
    return weights, grads


def train(
    name: str, dtype: str, together: bool = True, steps: int = 200, **changed: Any
) -> list[list[Any]]:
    """Return the weights after the saved steps, one list for each weight."""
    kind, kwargs = CASES[name]
    update = mx.optimizer.get_updater(create(kind, learning_rate=RATE, **kwargs, **changed))
    start, grads = data(name)
    weights = [mx.nd.array(w, dtype=dtype) for w in start]
    indices = list(range(len(weights)))
    found: list[list[Any]] = [[] for _ in weights]
    for step, now in enumerate(grads[:steps]):
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
    together, alone = train(name, "float32"), train(name, "float32", together=False, steps=20)
    for i, values in enumerate(together):
        np.testing.assert_allclose(values, GOLDEN[f"{name}-{i}"], rtol=1e-5, atol=1e-5)
        np.testing.assert_array_equal(values[: len(alone[i])], alone[i])


@pytest.mark.parametrize("name", CASES)
def test_float16_follows_its_float32_copy(name: str) -> None:
    for i, values in enumerate(train(name, "float16", steps=20, multi_precision=True)):
        expected = GOLDEN[f"{name}-{i}"][: len(values)]
        np.testing.assert_allclose(values, expected, rtol=0.005, atol=0.005)


@pytest.mark.parametrize("name", ["lion", "radam", "adafactor", "muon"])
def test_states_are_saved_and_loaded(name: str, tmp_path: Path) -> None:
    found = []
    for resumed in (False, True):
        mx.random.seed(0)
        net = mx.gluon.nn.Dense(3, in_units=4, use_bias=False)
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


def test_adafactor_keeps_one_state_for_each_row_and_column() -> None:
    adafactor = create("adafactor")
    states = adafactor.create_state(0, mx.nd.zeros((2, 30, 40)))
    assert [state.shape for state in states] == [(2, 30, 1), (2, 1, 40)]
    assert adafactor.create_state(0, mx.nd.zeros((7,)))[0].shape == (7,)


def test_states_of_another_shape_are_refused() -> None:
    adafactor, weight = create("adafactor"), mx.nd.zeros((3, 4))
    state = adafactor.create_state(0, mx.nd.zeros((4, 3)))
    with pytest.raises(OperatorError, match=r"expected states of shapes \(\(3, 1\), \(1, 4\)\)"):
        adafactor.update(0, weight, weight, state)


def test_muon_takes_matrices_and_kernels_but_no_vectors() -> None:
    muon = create("muon", learning_rate=0.1)
    with pytest.raises(ArgumentError, match=r"weights of 2 axes or more, got shape \(5,\)"):
        muon.create_state(0, mx.nd.zeros((5,)))
    kernel, grad = mx.nd.zeros((4, 2, 3, 3)), mx.nd.random.normal(shape=(4, 2, 3, 3))
    matrix = mx.nd.zeros((4, 18))
    muon.update(0, kernel, grad, muon.create_state(0, kernel))
    muon.update(1, matrix, grad.reshape((4, 18)), muon.create_state(1, matrix))
    np.testing.assert_array_equal(kernel.reshape((4, 18)).asnumpy(), matrix.asnumpy())


def test_step_of_muon_is_nearly_orthogonal() -> None:
    muon, weight = create("muon", learning_rate=1.0), mx.nd.zeros((6, 40))
    muon.update(0, weight, mx.nd.random.normal(shape=(6, 40)), muon.create_state(0, weight))
    values = np.linalg.svd(weight.asnumpy())[1]
    assert 0.5 < values.min() <= values.max() < 1.3


@pytest.mark.parametrize(
    ("name", "kwargs", "message"),
    [
        ("adafactor", {"clip_threshold": 0.5}, "clip_threshold of 1 or more, got 0.5"),
        ("muon", {"adjustment": "x"}, "'original' or 'match_rms_adamw', got 'x'"),
        ("muon", {"iterations": -1}, "iterations of 0 or more"),
        ("muon", {"coefficients": (1, 2)}, "three numbers"),
    ],
)
def test_wrong_arguments_are_refused(name: str, kwargs: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        create(name, **kwargs)
