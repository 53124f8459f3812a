"""Networks for images; vision transformers are loaded at their first use."""

from typing import TYPE_CHECKING

from gluonish.core.lazy import attach as _attach
from gluonish.model_zoo.registry import get_model, register_module
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
    from gluonish.model_zoo.vision.dinov2 import DINOv2
    from gluonish.model_zoo.vision.image_heads import DistilledClassifier, ImageClassifier
    from gluonish.model_zoo.vision.siglip import SigLIP, SigLIPText, SigLIPVision
    from gluonish.model_zoo.vision.vit import DeiT, ViT
else:
    __getattr__ = _attach(
        __name__,
        ("clip", "dinov2", "image_heads", "siglip", "vit"),
        {
            "CLIP": "gluonish.model_zoo.vision.clip:CLIP",
            "CLIPText": "gluonish.model_zoo.vision.clip:CLIPText",
            "CLIPVision": "gluonish.model_zoo.vision.clip:CLIPVision",
            "DINOv2": "gluonish.model_zoo.vision.dinov2:DINOv2",
            "DeiT": "gluonish.model_zoo.vision.vit:DeiT",
            "DistilledClassifier": "gluonish.model_zoo.vision.image_heads:DistilledClassifier",
            "ImageClassifier": "gluonish.model_zoo.vision.image_heads:ImageClassifier",
            "Projection": "gluonish.model_zoo.vision.clip:Projection",
            "SigLIP": "gluonish.model_zoo.vision.siglip:SigLIP",
            "SigLIPText": "gluonish.model_zoo.vision.siglip:SigLIPText",
            "SigLIPVision": "gluonish.model_zoo.vision.siglip:SigLIPVision",
            "ViT": "gluonish.model_zoo.vision.vit:ViT",
        },
    )

register_module(
    "gluonish.model_zoo.vision.vit",
    *(f"vit_{size}_patch16_224" for size in ("tiny", "small", "base", "large")),
    *("vit_base_patch16_384", "vit_base_patch32_224", "vit_huge_patch14_224"),
    *(f"deit_{size}_patch16_224" for size in ("tiny", "small", "base")),
    *(f"deit_{size}_distilled_patch16_224" for size in ("tiny", "small", "base")),
)
register_module(
    "gluonish.model_zoo.vision.dinov2",
    *(f"vit_{size}_patch14_dinov2" for size in ("small", "base", "large", "giant")),
)
register_module(
    "gluonish.model_zoo.vision.clip",
    *("clip_vit_base_patch32", "clip_vit_base_patch16", "clip_vit_large_patch14"),
)
register_module(
    "gluonish.model_zoo.vision.siglip", "siglip_base_patch16_224", "siglip_so400m_patch14_384"
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
    "DINOv2",
    "DeiT",
    "DenseNet",
    "DistilledClassifier",
    "ImageClassifier",
    "Inception3",
    "InceptionBN",
    "MobileNet",
    "MobileNetV2",
    "Projection",
    "ResNetV1",
    "ResNetV2",
    "SigLIP",
    "SigLIPText",
    "SigLIPVision",
    "SqueezeNet",
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
