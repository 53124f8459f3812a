"""Networks for image classification."""

from typing import TYPE_CHECKING

from gluonish.core.lazy import attach as _attach
from gluonish.model_zoo.registry import get_model
from gluonish.model_zoo.vision.alexnet import AlexNet, alexnet
from gluonish.model_zoo.vision.cifar_resnet import (
    CIFARBasicBlockV2,
    CIFARResNetV1,
    CIFARResNetV2,
    cifar_resnet20_v1,
    cifar_resnet20_v2,
    cifar_resnet32_v1,
    cifar_resnet32_v2,
    cifar_resnet44_v1,
    cifar_resnet44_v2,
    cifar_resnet56_v1,
    cifar_resnet56_v2,
    cifar_resnet110_v1,
    cifar_resnet110_v2,
    get_cifar_resnet,
)
from gluonish.model_zoo.vision.classifier import ImageClassifier
from gluonish.model_zoo.vision.densenet import (
    DenseNet,
    densenet121,
    densenet161,
    densenet169,
    densenet201,
)
from gluonish.model_zoo.vision.inception import Inception3, inception_v3
from gluonish.model_zoo.vision.inception_bn import InceptionBN, inception_bn
from gluonish.model_zoo.vision.mobilenet import (
    MobileNet,
    MobileNetV2,
    get_mobilenet,
    get_mobilenet_v2,
    mobilenet0_5,
    mobilenet0_25,
    mobilenet0_75,
    mobilenet1_0,
    mobilenet_v2_0_5,
    mobilenet_v2_0_25,
    mobilenet_v2_0_75,
    mobilenet_v2_1_0,
)
from gluonish.model_zoo.vision.resnet import (
    BasicBlockV1,
    BasicBlockV2,
    BottleneckV1,
    BottleneckV2,
    ResNetV1,
    ResNetV2,
    get_resnet,
    resnet18_v1,
    resnet18_v2,
    resnet34_v1,
    resnet34_v2,
    resnet50_v1,
    resnet50_v2,
    resnet101_v1,
    resnet101_v2,
    resnet152_v1,
    resnet152_v2,
)
from gluonish.model_zoo.vision.squeezenet import SqueezeNet, squeezenet1_0, squeezenet1_1
from gluonish.model_zoo.vision.vgg import (
    VGG,
    get_vgg,
    vgg11,
    vgg11_bn,
    vgg13,
    vgg13_bn,
    vgg16,
    vgg16_bn,
    vgg19,
    vgg19_bn,
)

if TYPE_CHECKING:
    from gluonish.model_zoo.vision.convnext import ConvNeXt
    from gluonish.model_zoo.vision.efficientnet import EfficientNet
    from gluonish.model_zoo.vision.mobilenet_v3 import MobileNetV3
    from gluonish.model_zoo.vision.regnet import RegNet
    from gluonish.model_zoo.vision.swin import Swin
else:
    # Networks that most programs do not use.
    __getattr__ = _attach(
        __name__,
        (),
        {
            "ConvNeXt": "gluonish.model_zoo.vision.convnext:ConvNeXt",
            "EfficientNet": "gluonish.model_zoo.vision.efficientnet:EfficientNet",
            "MobileNetV3": "gluonish.model_zoo.vision.mobilenet_v3:MobileNetV3",
            "RegNet": "gluonish.model_zoo.vision.regnet:RegNet",
            "Swin": "gluonish.model_zoo.vision.swin:Swin",
        },
    )

__all__ = [
    "VGG",
    "AlexNet",
    "BasicBlockV1",
    "BasicBlockV2",
    "BottleneckV1",
    "BottleneckV2",
    "CIFARBasicBlockV2",
    "CIFARResNetV1",
    "CIFARResNetV2",
    "ConvNeXt",
    "DenseNet",
    "EfficientNet",
    "ImageClassifier",
    "Inception3",
    "InceptionBN",
    "MobileNet",
    "MobileNetV2",
    "MobileNetV3",
    "RegNet",
    "ResNetV1",
    "ResNetV2",
    "SqueezeNet",
    "Swin",
    "alexnet",
    "cifar_resnet20_v1",
    "cifar_resnet20_v2",
    "cifar_resnet32_v1",
    "cifar_resnet32_v2",
    "cifar_resnet44_v1",
    "cifar_resnet44_v2",
    "cifar_resnet56_v1",
    "cifar_resnet56_v2",
    "cifar_resnet110_v1",
    "cifar_resnet110_v2",
    "densenet121",
    "densenet161",
    "densenet169",
    "densenet201",
    "get_cifar_resnet",
    "get_mobilenet",
    "get_mobilenet_v2",
    "get_model",
    "get_resnet",
    "get_vgg",
    "inception_bn",
    "inception_v3",
    "mobilenet0_5",
    "mobilenet0_25",
    "mobilenet0_75",
    "mobilenet1_0",
    "mobilenet_v2_0_5",
    "mobilenet_v2_0_25",
    "mobilenet_v2_0_75",
    "mobilenet_v2_1_0",
    "resnet18_v1",
    "resnet18_v2",
    "resnet34_v1",
    "resnet34_v2",
    "resnet50_v1",
    "resnet50_v2",
    "resnet101_v1",
    "resnet101_v2",
    "resnet152_v1",
    "resnet152_v2",
    "squeezenet1_0",
    "squeezenet1_1",
    "vgg11",
    "vgg11_bn",
    "vgg13",
    "vgg13_bn",
    "vgg16",
    "vgg16_bn",
    "vgg19",
    "vgg19_bn",
]
