"""Write foreign.json.gz, foreign.npz and foreign/: checkpoints of PyTorch and what they give.

Run with a Python that has PyTorch, torchvision, timm and safetensors, from any folder:
``peers/bin/python make_foreign.py``. For networks of each family foreign.json.gz has the names and
shapes of the state dict, and foreign.npz the logits of one image, with weights made from names by
`foreign_values`. The files in foreign/ are small ones that PyTorch and safetensors wrote.
"""

import argparse
import collections
import gzip
import json
from pathlib import Path

import numpy as np
import safetensors.torch
import timm
import torch
import torchvision
from foreign_values import KEPT, image, is_kept_as_made, legacy_densenet_name, values

FOLDER = Path(__file__).parent
FILES = FOLDER / "foreign"
CLASSES = 10


def torchvision_net(name, **options):
    options = {"num_classes": CLASSES, "weights": None, **options}
    return getattr(torchvision.models, name)(**options)


def small_vgg(name):
    """A VGG for images of 64 x 64: its first dense layer takes maps of 2 x 2."""
    net = torchvision_net(name)
    net.avgpool = torch.nn.Identity()
    net.classifier[0] = torch.nn.Linear(512 * 2 * 2, 4096)
    return net


class Mobile(torch.nn.Module):
    """MobileNet as programs of 2017 wrote it: a list of layers called model, and fc."""

    def __init__(self):
        super().__init__()

        def conv(inputs, outputs, stride):
            return [
                torch.nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False),
                torch.nn.BatchNorm2d(outputs),
                torch.nn.ReLU(),
            ]

        def pair(inputs, outputs, stride):
            return torch.nn.Sequential(
                torch.nn.Conv2d(inputs, inputs, 3, stride, 1, groups=inputs, bias=False),
                torch.nn.BatchNorm2d(inputs),
                torch.nn.ReLU(),
                torch.nn.Conv2d(inputs, outputs, 1, bias=False),
                torch.nn.BatchNorm2d(outputs),
                torch.nn.ReLU(),
            )

        sizes = [(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), *[(512, 1)] * 5]
        sizes += [(1024, 2), (1024, 1)]
        layers, inputs = [torch.nn.Sequential(*conv(3, 32, 2))], 32
        for outputs, stride in sizes:
            layers.append(pair(inputs, outputs, stride))
            inputs = outputs
        self.model = torch.nn.Sequential(*layers)
        self.fc = torch.nn.Linear(1024, CLASSES)

    def forward(self, x):
        return self.fc(self.model(x).mean((2, 3)))


def caffe_resnet50():
    """ResNet-50 with the stride of bottlenecks in the first convolution, as Gluon has it."""
    net = torchvision_net("resnet50")
    for module in net.modules():
        if isinstance(module, torchvision.models.resnet.Bottleneck):
            module.conv1.stride, module.conv2.stride = module.conv2.stride, module.conv1.stride
    return net


# By case: how the network is made, and the side of its image.
NETWORKS = {
    "torchvision alexnet": (lambda: torchvision_net("alexnet"), 224),
    "torchvision vgg11": (lambda: small_vgg("vgg11"), 64),
    "torchvision vgg11_bn": (lambda: small_vgg("vgg11_bn"), 64),
    "torchvision vgg19": (lambda: small_vgg("vgg19"), 64),
    "timm vgg11": (lambda: timm.create_model("vgg11", num_classes=CLASSES), 224),
    "torchvision resnet18": (lambda: torchvision_net("resnet18"), 64),
    "torchvision resnet34": (lambda: torchvision_net("resnet34"), 64),
    "timm resnet18": (lambda: timm.create_model("resnet18", num_classes=CLASSES), 64),
    "torchvision resnet50": (lambda: torchvision_net("resnet50"), 64),
    "caffe resnet50": (caffe_resnet50, 64),
    "torchvision densenet121": (lambda: torchvision_net("densenet121"), 224),
    "torchvision squeezenet1_0": (lambda: torchvision_net("squeezenet1_0"), 224),
    "torchvision squeezenet1_1": (lambda: torchvision_net("squeezenet1_1"), 224),
    "torchvision inception_v3": (
        lambda: torchvision_net("inception_v3", init_weights=False, transform_input=False),
        299,
    ),
    "timm inception_v3": (lambda: timm.create_model("inception_v3", num_classes=CLASSES), 299),
    "torchvision mobilenet_v2": (lambda: torchvision_net("mobilenet_v2"), 64),
    "timm mobilenetv2_100": (
        lambda: timm.create_model("mobilenetv2_100", num_classes=CLASSES),
        64,
    ),
    "timm mobilenetv1_100": (
        lambda: timm.create_model("mobilenetv1_100", num_classes=CLASSES),
        64,
    ),
    "listed mobilenet": (Mobile, 64),
}


def logits_of(case):
    """The state dict's entries and the logits of a network with weights from names."""
    make, side = NETWORKS[case]
    net = make().eval()
    state = net.state_dict()
    entries = []
    for name, tensor in state.items():
        entries.append(f"{name} {','.join(map(str, tensor.shape))}")
        if not is_kept_as_made(name):
            state[name] = torch.from_numpy(values(name, tuple(tensor.shape)))
    net.load_state_dict(state)
    with torch.no_grad():
        # In float64: what is compared is the other side's round-off alone.
        logits = net.double()(torch.from_numpy(image(side)).double())
    return entries, logits[0, :KEPT].numpy()


def write_networks():
    names, logits = {}, {}
    for case in NETWORKS:
        names[case], logits[case] = logits_of(case)
    # The names that DenseNet had in checkpoints of PyTorch before 0.4 are those with other dots.
    assert legacy_densenet_name("a.denselayer1.norm1.weight") == "a.denselayer1.norm.1.weight"
    text = json.dumps(names, indent=0).encode()
    (FOLDER / "foreign.json.gz").write_bytes(gzip.compress(text, mtime=0))
    np.savez_compressed(FOLDER / "foreign.npz", **logits)


def tensors():
    """A state dict with all dtypes, strides, shared storages, an empty tensor and a scalar."""
    base = torch.arange(24, dtype=torch.float32).reshape(4, 6)
    state = collections.OrderedDict()
    for name in ("float64", "float32", "float16", "bfloat16", "int64", "int32", "int16", "int8"):
        state[name] = torch.arange(-3, 3).reshape(2, 3).to(getattr(torch, name))
    state["uint8"] = torch.arange(6, dtype=torch.uint8).reshape(2, 3)
    state["bool"] = torch.tensor([True, False, True])
    state["scalar"] = torch.tensor(1.5)
    state["empty"] = torch.zeros(0, 3)
    state["base"] = base
    state["transposed"] = base.t()
    state["inner"] = base[1:3, 2:5]
    state["every_second"] = base[:, ::2]
    state["parameter"] = torch.nn.Parameter(torch.ones(3))
    return state


def write_files():
    FILES.mkdir(exist_ok=True)
    state = tensors()
    torch.save(state, FILES / "tensors.pth")
    torch.save(state, FILES / "tensors_legacy.pth", _use_new_zipfile_serialization=False)
    plain = {k: v.detach().contiguous().clone() for k, v in state.items()}
    safetensors.torch.save_file(plain, FILES / "tensors.safetensors", {"format": "pt"})
    net = torch.nn.Linear(2, 1, bias=False)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    net(torch.ones(1, 2)).backward()
    optimizer.step()
    training = {
        "epoch": 3,
        "arch": "linear",
        "args": argparse.Namespace(lr=0.1),
        "best": np.float64(0.5),
        "state_dict": {f"module.{k}": torch.full_like(v, 1) for k, v in net.state_dict().items()},
        "state_dict_ema": {
            f"module.{k}": torch.full_like(v, 2) for k, v in net.state_dict().items()
        },
        "optimizer": optimizer.state_dict(),
    }
    torch.save(training, FILES / "training.pth")
    torch.save(net, FILES / "whole_model.pth")
    torch.jit.save(torch.jit.script(net), FILES / "program.pt")


if __name__ == "__main__":
    write_files()
    write_networks()
