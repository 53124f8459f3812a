"""Networks for images; vision transformers are loaded at their first use."""

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
from gluonish.model_zoo.vision.classifier import PooledClassifier
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
    from gluonish.model_zoo.vision.clip import CLIP, CLIPText, CLIPVision, Projection
    from gluonish.model_zoo.vision.convnext import ConvNeXt
    from gluonish.model_zoo.vision.dinov2 import DINOv2
    from gluonish.model_zoo.vision.efficientnet import EfficientNet
    from gluonish.model_zoo.vision.image_heads import DistilledClassifier, ImageClassifier
    from gluonish.model_zoo.vision.mobilenet_v3 import MobileNetV3
    from gluonish.model_zoo.vision.regnet import RegNet
    from gluonish.model_zoo.vision.siglip import SigLIP, SigLIPText, SigLIPVision
    from gluonish.model_zoo.vision.swin import Swin
    from gluonish.model_zoo.vision.vit import DeiT, ViT
else:
    # Networks that most programs do not use.
    __getattr__ = _attach(
        __name__,
        ("clip", "dinov2", "image_heads", "siglip", "vit"),
        {
            "CLIP": "gluonish.model_zoo.vision.clip:CLIP",
            "CLIPText": "gluonish.model_zoo.vision.clip:CLIPText",
            "CLIPVision": "gluonish.model_zoo.vision.clip:CLIPVision",
            "ConvNeXt": "gluonish.model_zoo.vision.convnext:ConvNeXt",
            "DINOv2": "gluonish.model_zoo.vision.dinov2:DINOv2",
            "DeiT": "gluonish.model_zoo.vision.vit:DeiT",
            "DistilledClassifier": "gluonish.model_zoo.vision.image_heads:DistilledClassifier",
            "EfficientNet": "gluonish.model_zoo.vision.efficientnet:EfficientNet",
            "ImageClassifier": "gluonish.model_zoo.vision.image_heads:ImageClassifier",
            "MobileNetV3": "gluonish.model_zoo.vision.mobilenet_v3:MobileNetV3",
            "Projection": "gluonish.model_zoo.vision.clip:Projection",
            "RegNet": "gluonish.model_zoo.vision.regnet:RegNet",
            "SigLIP": "gluonish.model_zoo.vision.siglip:SigLIP",
            "SigLIPText": "gluonish.model_zoo.vision.siglip:SigLIPText",
            "SigLIPVision": "gluonish.model_zoo.vision.siglip:SigLIPVision",
            "Swin": "gluonish.model_zoo.vision.swin:Swin",
            "ViT": "gluonish.model_zoo.vision.vit:ViT",
        },
    )

__all__ = [
    "CLIP",
    "VGG",
    "AlexNet",
    "BasicBlockV1",
    "BasicBlockV2",
    "BottleneckV1",
    "BottleneckV2",
    "CIFARBasicBlockV2",
    "CIFARResNetV1",
    "CIFARResNetV2",
    "CLIPText",
    "CLIPVision",
    "ConvNeXt",
    "DINOv2",
    "DeiT",
    "DenseNet",
    "DistilledClassifier",
    "EfficientNet",
    "ImageClassifier",
    "Inception3",
    "InceptionBN",
    "MobileNet",
    "MobileNetV2",
    "MobileNetV3",
    "PooledClassifier",
    "Projection",
    "RegNet",
    "ResNetV1",
    "ResNetV2",
    "SigLIP",
    "SigLIPText",
    "SigLIPVision",
    "SqueezeNet",
    "Swin",
    "ViT",
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
