"""The rules of MXNet 2.0 under the name ``mxnet``, each checked against MXNet 2.0.0b1."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as onp
import pytest

from gluonish import autograd, gluon, np, npx
from gluonish.core import user_functions as npx_util
from gluonish.core.mxnet_rules import Rules, follow_mxnet
from gluonish.gluon import nn

PROGRAM = """
import subprocess, sys
import mxnet as mx
import numpy
print(mx.__version__, *mx.gluon.nn.Dense(2).collect_params(), hasattr(numpy, "float_"))
if len(sys.argv) == 1:
    command = [sys.executable, __file__, "child"]
    print(subprocess.run(command, capture_output=True, text=True).stdout)
"""


@pytest.fixture
def mxnet2() -> Iterator[None]:
    before = follow_mxnet(Rules.MXNET2)
    npx.set_np()
    yield
    npx.reset_np()
    follow_mxnet(before)


@pytest.mark.parametrize("options", [["--mxnet2"], ["--mxnet2", "--numpy1"]])
def test_program_and_its_child_process(tmp_path: Path, options: list[str]) -> None:
    file = tmp_path / "program.py"
    file.write_text(PROGRAM)
    command = [sys.executable, "-m", "gluonish", "run", *options, str(file)]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    restored = str("--numpy1" in options)
    assert printed.split() == ["2.0.0", "weight", "bias", restored] * 2


@pytest.mark.parametrize("options", [["--mxnet2"], ["--mxnet2", "--numpy1"]])
def test_child_process_finds_another_copy_of_gluonish(tmp_path: Path, options: list[str]) -> None:
    """A program started in a folder with gluonish's sources, with gluonish installed, too."""
    sources = tmp_path / "sources"
    sources.mkdir()
    (sources / "gluonish").symlink_to(Path(gluon.__file__).parents[1])
    file = tmp_path / "program.py"
    file.write_text(PROGRAM)
    command = [sys.executable, "-m", "gluonish", "run", *options, str(file)]
    printed = subprocess.run(
        command, capture_output=True, text=True, check=True, cwd=sources
    ).stdout
    assert printed.split() == ["2.0.0", "weight", "bias", str("--numpy1" in options)] * 2


def test_first_line(tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(f"import gluonish.as_mxnet2\n{PROGRAM}")
    printed = subprocess.run(
        [sys.executable, str(file)], capture_output=True, text=True, check=True
    ).stdout
    assert printed.split() == ["2.0.0", "weight", "bias", "False"] * 2


class Net(nn.HybridBlock):
    """A network with its own parameter, a container and a shared layer."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.HybridSequential()
        self.body.add(nn.Dense(4), nn.BatchNorm())
        self.head = nn.Dense(1)
        self.again = self.head
        self.scale = gluon.Parameter("factor", shape=(1,), init="ones")

    def forward(self, x: Any) -> Any:
        return self.again(self.body(x)) * self.scale.data()


PATHS = ["scale", "body.0.weight", "body.0.bias", "body.1.gamma", "body.1.beta"]
PATHS += ["body.1.running_mean", "body.1.running_var", "head.weight", "head.bias"]
PATHS += ["again.weight", "again.bias"]


@pytest.mark.usefixtures("mxnet2")
def test_parameters_are_named_by_structure(tmp_path: Path) -> None:
    net = Net()
    net.initialize()
    net(np.ones((2, 3)))
    parameters = net.collect_params()
    assert isinstance(parameters, dict)
    assert list(parameters) == PATHS
    assert list(net.collect_params("body.*weight|scale")) == ["scale", "body.0.weight"]
    assert parameters["body.0.weight"] is net.body[0].weight
    net.save_parameters(str(tmp_path / "net.params"))
    other = Net()
    other.load_parameters(str(tmp_path / "net.params"))
    onp.testing.assert_array_equal(other(np.ones((2, 3))).asnumpy(), net(np.ones((2, 3))).asnumpy())


@pytest.mark.usefixtures("mxnet2")
@pytest.mark.parametrize("hybrid", [False, True])
def test_network_trains_by_the_dict_of_its_parameters(hybrid: bool) -> None:
    net = Net()
    net.initialize()
    if hybrid:
        net.hybridize(static_alloc=True)
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
    losses = []
    for _ in range(5):
        with autograd.record():
            loss = ((net(np.array([[1.0, 2, 3], [0, 1, 0]])) - 1) ** 2).mean()
        loss.backward()
        trainer.step(1)
        losses.append(float(loss))
    assert losses[-1] < 0.5 * losses[0]


@pytest.mark.usefixtures("mxnet2")
def test_exported_network_has_paths_and_computes_the_same(tmp_path: Path) -> None:
    net = Net()
    net.initialize()
    net.hybridize()
    x = np.array([[1.0, 2, 3], [0, 1, 0]])
    wanted = net(x).asnumpy()
    files = net.export(str(tmp_path / "net"), epoch=3)
    names = {name.split(":")[1] for name in npx.load(files[1])}
    assert names == {path for path in PATHS if not path.startswith("again")}
    onp.testing.assert_array_equal(net(x).asnumpy(), wanted)
    loaded = gluon.SymbolBlock.imports(files[0], ["data"], files[1])
    onp.testing.assert_array_equal(loaded(x).asnumpy(), wanted)
    assert set(loaded.collect_params()) == names


@pytest.mark.usefixtures("mxnet2")
def test_losses_average_over_all_axes_but_the_first() -> None:
    rng = onp.random.default_rng(5)
    pred, label = rng.normal(size=(2, 4, 3, 2))
    log = pred - onp.log(onp.exp(pred).sum(-1, keepdims=True))
    label = onp.exp(label) / onp.exp(label).sum(-1, keepdims=True)
    x, y = np.array(pred), np.array(label)
    found = gluon.loss.KLDivLoss(from_logits=False)(x, y).asnumpy()
    wanted = (label * (onp.log(label) - log)).mean((1, 2))
    onp.testing.assert_allclose(found, wanted, rtol=1e-5)
    found = gluon.loss.PoissonNLLLoss()(x, y).asnumpy()
    onp.testing.assert_allclose(found, (onp.exp(pred) - label * pred).mean((1, 2)), rtol=1e-5)
    a, b = x[:, :, 0], y[:, :, 0]
    found = gluon.loss.CosineEmbeddingLoss()(a, b, np.array([1, -1, 1, -1])).asnumpy()
    cosine = (pred[..., 0] * label[..., 0]).sum(1)
    cosine /= onp.linalg.norm(pred[..., 0], axis=1) * onp.linalg.norm(label[..., 0], axis=1)
    wanted = onp.where([True, False, True, False], 1 - cosine, onp.maximum(cosine, 0))
    onp.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.usefixtures("mxnet2")
def test_group_norm_scales_channels() -> None:
    net = nn.GroupNorm(2)
    net.initialize()
    net(np.ones((1, 6, 2)))
    assert [p.shape for p in net.collect_params().values()] == [(6,), (6,)]


@pytest.mark.usefixtures("mxnet2")
def test_parameters_print_without_names() -> None:
    assert repr(nn.Dense(2, in_units=3).weight) == "Parameter (shape=(2, 3), dtype=float32)"


# Weights after three steps of `trained`, from MXNet 2.0.0b1; Dense(1), (y ** 2).mean(), wd 0.1.
TRAINED = {
    "sgd": [0.643779, 0.3172589, 1.296819],
    "nag": [0.4380215, -0.04485148, 1.403767],
    "ftml": [0.9946707, 0.9946707, 1.005329],
    "lars": [0.9997863, 0.9995779, 1.000203],
    "signum": [0.97, 0.97, 1.03],
    "adam": [0.9970002, 0.9970002, 1.003],
    "adamax": [0.9940066, 0.9940067, 1.005993],
    "nadam": [0.9974294, 0.9974294, 1.002571],
    "rmsprop": [0.9926386, 0.9926387, 1.007361],
    "ftrl": [0.6320226, 0.7049757, 0.9643848],
    "adamw": [0.9969249, 0.9969249, 1.002924],
    "adabelief": [0.9964957, 0.9964956, 1.003504],
}


@pytest.mark.usefixtures("mxnet2")
@pytest.mark.parametrize("name", TRAINED)
def test_optimizers_with_their_default_rates(name: str) -> None:
    net = nn.Dense(1, in_units=3, use_bias=False)
    net.initialize(init="ones")
    trainer = gluon.Trainer(net.collect_params(), name, {"wd": 0.1})
    for _ in range(3):
        with autograd.record():
            loss = (net(np.array([[1.0, 2, -1]])) ** 2).mean()
        loss.backward()
        trainer.step(1)
    onp.testing.assert_allclose(net.weight.data().asnumpy()[0], TRAINED[name], rtol=2e-5)


def _block(function: Any) -> gluon.HybridBlock:
    class Net(gluon.HybridBlock):
        def forward(self, x: Any) -> Any:
            return function(x)

    return Net()


@pytest.mark.usefixtures("mxnet2")
def test_hybridized_blocks_return_lists() -> None:
    net = _block(lambda x: (x, (x + 1, [x + 2])))
    x = np.ones((2,))
    assert isinstance(net(x), tuple)
    net.hybridize()
    for _ in range(2):
        first, second = (found := net(x))
        assert isinstance(found, list)
        assert isinstance(second, list)
        assert [first.tolist(), second[0].tolist(), second[1][0].tolist()] == [
            [1] * 2,
            [2] * 2,
            [3] * 2,
        ]


@pytest.mark.usefixtures("mxnet2")
@pytest.mark.parametrize("other", [3, "text", {"a": 1}])
def test_hybridized_blocks_refuse_other_outputs(other: Any) -> None:
    net = _block(lambda x: (x, other))
    assert net(np.ones((2,)))[1] == other
    net.hybridize()
    with pytest.raises(ValueError, match="arrays and nested lists of them, got a "):
        net(np.ones((2,)))


@pytest.mark.usefixtures("mxnet2")
def test_misspelt_option_of_hybridize_is_refused() -> None:
    with pytest.raises(TypeError, match="static_aloc"):
        gluon.nn.HybridSequential().hybridize(static_aloc=True)


@pytest.mark.usefixtures("mxnet2")
def test_names_of_parameters_have_no_prefix() -> None:
    class Net(gluon.HybridBlock):
        def __init__(self) -> None:
            super().__init__()
            self.body = nn.Dense(2, in_units=3)
            self.scale = gluon.Parameter("size", shape=(2,))
            self.table = gluon.Constant(np.ones((3,)))
            self.name, self.prefix = "mine", 3

    net = Net()
    names = {path: p.name for path, p in net.collect_params().items()}
    assert names == {
        "scale": "size",
        "table": "const",
        "body.weight": "weight",
        "body.bias": "bias",
    }
    assert (net.name, net.prefix) == ("mine", 3)
    follow_mxnet(Rules.GLUONISH)
    assert net.body.weight.name.endswith("_weight")
    with pytest.raises(AttributeError, match="pass prefix= to the constructor"):
        net.name = "other"
    follow_mxnet(Rules.MXNET2)


@pytest.mark.usefixtures("mxnet2")
def test_infer_shape_of_a_class_in_use_np() -> None:
    @npx_util.use_np
    class Net(gluon.HybridBlock):
        def __init__(self) -> None:
            super().__init__()
            self.weight = gluon.Parameter("weight", shape=(2, -1), allow_deferred_init=True)

        def infer_shape(self, x: Any, *others: Any) -> None:
            self.weight.shape = (2, x.shape[-1])

        def forward(self, x: Any) -> Any:
            return np.dot(x, self.weight.data().T)

    net: Any = Net()
    net.initialize()
    assert net(np.ones((4, 3))).shape == (4, 2)
    assert net.weight.shape == (2, 3)


class _Two(gluon.HybridBlock):
    def forward(self, x: Any, y: Any) -> Any:
        return x + y, x - y


@pytest.mark.usefixtures("mxnet2")
@pytest.mark.parametrize("kind", [nn.Sequential, nn.HybridSequential])
@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.filterwarnings("ignore:All children")
def test_outputs_are_separate_inputs_of_the_next_layer(kind: Any, hybridize: bool) -> None:
    net = kind()
    net.add(_Two(), _Two())
    net.hybridize(hybridize)
    x, y = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    for _ in range(2):
        assert [found.tolist() for found in net(x, y)] == [[2.0, 4.0], [6.0, 8.0]]


@pytest.mark.usefixtures("mxnet2")
@pytest.mark.parametrize("hybridize", [False, True])
def test_hybrid_lambda_has_no_namespace(hybridize: bool) -> None:
    x = np.array([-1.0, 1.0])
    for function in (lambda x: npx.relu(x) + 1, "relu"):
        net = nn.HybridLambda(function)
        net.hybridize(hybridize)
        added = float(not isinstance(function, str))
        for _ in range(2):
            assert net(x).tolist() == [added, 1 + added]
    with pytest.raises(ValueError, match="foo"):
        nn.HybridLambda("foo")


def test_transforms_return_labels() -> None:
    transforms = gluon.data.vision.transforms
    image = np.ones((8, 10, 3), dtype="uint8")
    steps = [transforms.CenterCrop(4), transforms.RandomFlipLeftRight(), transforms.ToTensor()]
    for step in (*steps[:2], transforms.RandomCrop(4), transforms.Resize(4)):
        found, label = step(image, 7)
        assert label == 7
        assert found.shape[2] == 3
    found, label, other = transforms.Compose(steps)(image, 7, "b")
    assert (found.shape, label, other) == ((3, 4, 4), 7, "b")
    assert transforms.RandomApply(transforms.ToTensor(), 0)(image, 7)[1] == 7
