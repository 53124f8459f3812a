"""Imported weights give PyTorch's logits: every family, with weights that follow from names."""

from pathlib import Path

import numpy as np
import pytest

from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.nn import Conv2D, Flatten, HybridSequential
from gluonish.model_zoo.foreign import convert, import_weights
from gluonish.model_zoo.registry import get_model
from gluonish.ndarray import array, zeros
from tests.golden.foreign_values import image, legacy_densenet_name
from tests.model_zoo.foreign.checkpoints import NAMES, state_of, write_safetensors

GOLDEN_FOLDER = Path(__file__).parents[2] / "golden"
LOGITS = np.load(GOLDEN_FOLDER / "foreign.npz")
# By case: the network of the zoo, the side of its image.
CASES = {
    "torchvision alexnet": ("alexnet", 224),
    "torchvision vgg11": ("vgg11", 64),
    "torchvision vgg11_bn": ("vgg11_bn", 64),
    "torchvision vgg19": ("vgg19", 64),
    "timm vgg11": ("vgg11", 224),
    "torchvision resnet18": ("resnet18_v1", 64),
    "torchvision resnet34": ("resnet34_v1", 64),
    "timm resnet18": ("resnet18_v1", 64),
    "caffe resnet50": ("resnet50_v1", 64),
    "torchvision densenet121": ("densenet121", 224),
    "torchvision squeezenet1_0": ("squeezenet1.0", 224),
    "torchvision squeezenet1_1": ("squeezenet1.1", 224),
    "torchvision inception_v3": ("inceptionv3", 299),
    "timm inception_v3": ("inceptionv3", 299),
    "torchvision mobilenet_v2": ("mobilenetv2_1.0", 64),
    "timm mobilenetv2_100": ("mobilenetv2_1.0", 64),
    "timm mobilenetv1_100": ("mobilenet1.0", 64),
    "listed mobilenet": ("mobilenet1.0", 64),
}
SLOW = ("timm vgg11", "torchvision vgg19", "timm inception_v3", "torchvision resnet34")
# The file does not tell where the stride was; and timm clips activations at 6, which few of these
# reach.
INEXACT = {"caffe resnet50": 2e-5, "timm mobilenetv1_100": 1e-3}
CLASSES = 10


def network(name: str, side: int) -> HybridBlock:
    """A network that knows its shapes; that of MobileNet v2 has a bias in its head, as theirs."""
    net = get_model(name, classes=CLASSES)
    if name.startswith("mobilenetv2"):
        head = HybridSequential(prefix="output_")
        with head.name_scope():
            head.add(Conv2D(CLASSES, 1, prefix="pred_"), Flatten())
        net.output = head
    net.infer_shape(zeros((1, 3, side, side)))
    return net


@pytest.mark.parametrize(
    "case",
    [pytest.param(case, marks=pytest.mark.slow) if case in SLOW else case for case in CASES],
)
def test_logits_are_those_of_the_origin(case: str, tmp_path: Path) -> None:
    name, side = CASES[case]
    path = write_safetensors(tmp_path / "x.safetensors", state_of(case))
    net = network(name, side)
    conversion = convert(net, path, allow_inexact=case in INEXACT)
    assert list(conversion.arrays) == list(net._collect_params_with_prefix())
    assert conversion.classes == CLASSES
    conversion.load(net)
    net.hybridize()
    found = net(array(image(side))).asnumpy()[0]
    scale = np.abs(LOGITS[case]).max()
    assert scale > 0.05
    tolerance = INEXACT.get(case, 2e-5) * scale
    np.testing.assert_allclose(found, LOGITS[case], rtol=0, atol=tolerance)


def test_older_names_of_densenet_are_known(tmp_path: Path) -> None:
    case = "torchvision densenet121"
    state = state_of(case)
    older = {legacy_densenet_name(name): value for name, value in state.items()}
    assert older.keys() != state.keys()
    paths = [
        write_safetensors(tmp_path / f"{i}.safetensors", s) for i, s in enumerate((state, older))
    ]
    found, expected = (import_weights("densenet121", path).arrays for path in reversed(paths))
    for path in expected:
        np.testing.assert_array_equal(found[path], expected[path])


def test_stride_in_the_other_convolution_gives_other_logits() -> None:
    # Why torchvision's ResNet-50 is refused: the same weights, the same shapes, another network.
    apart = np.abs(LOGITS["torchvision resnet50"] - LOGITS["caffe resnet50"]).max()
    assert NAMES["torchvision resnet50"] == NAMES["caffe resnet50"]
    assert apart > 0.01 * np.abs(LOGITS["caffe resnet50"]).max()
