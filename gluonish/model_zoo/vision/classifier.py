"""Base class of the networks, and loading of published weights."""

import os
from collections.abc import Mapping, Sequence
from types import MappingProxyType, ModuleType
from typing import Any

from gluonish.core.context import Context
from gluonish.core.errors import NotSupportedError
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.data.vision.transforms import Compose
from gluonish.gluon.nn.basic_layers import Dense, Dropout
from gluonish.gluon.nn.sequential import HybridSequential
from gluonish.gluon.nn.tensor import Tensor, check_positive, check_rate
from gluonish.model_zoo.model_store import get_model_file
from gluonish.model_zoo.pretrained.families import keeps_arguments
from gluonish.model_zoo.pretrained.image_transform import (
    PREPROCESSOR,
    ImageTransform,
    of_processor,
    of_timm,
)


class WithTransform(HybridBlock):
    """Base class of networks whose weights were trained with images of a known transform."""

    # Settings of the images: timm's, and those of an image processor of transformers.
    _pretrained_cfg: Mapping[str, Any] = MappingProxyType({})
    _preprocessor: Mapping[str, Any] = MappingProxyType({})

    @property
    def transform(self) -> Compose | None:
        """The transform from images (H, W, 3) of uint8 to inputs (3, height, width), or None.

        A network of `from_pretrained` has that of its folder. A vision transformer's gives images
        of the size that it was made for, or that ``set_image_size`` gave it.

        Raises:
            FileFormatError: A setting of it is of another type or out of range.
            NotSupportedError: A setting of it is not supported.
        """
        made = self._transform()
        return None if made is None else made.block()

    def _transform(self) -> ImageTransform | None:
        if self._preprocessor:
            made = of_processor(self._preprocessor, PREPROCESSOR)
            return made if self._image_size is None else made.sized(self._image_size)
        cfg = dict(self._pretrained_cfg)
        if "mean" not in cfg:
            return None
        shape = cfg.get("input_size") or (3, 0, 0)
        if self._image_size is not None and isinstance(shape, list | tuple):
            cfg["input_size"] = (*shape[:1], *self._image_size)
        return of_timm(cfg, "pretrained_cfg")

    def preprocessing(self) -> Mapping[str, Any]:
        """Return the settings of preprocessor_config.json; none if the transform is not known.

        Those of a file stay as they are, unless the network is for images of another size now.
        """
        try:
            made = self._transform()
            if made is None:
                return {}
            if self._preprocessor and made == of_processor(self._preprocessor, PREPROCESSOR):
                return self._preprocessor
            return made.entries()
        except NotSupportedError:  # there is no transform, but other programs have one
            return self._preprocessor

    @property
    def _image_size(self) -> tuple[int, int] | None:
        """Height and width of the images that the network computes; None for any."""
        return None


class Classifier(WithTransform):
    """Base class of the zoo's networks; both children can be replaced or used separately.

    Attributes:
        features: All layers up to the last hidden features, set by subclasses.
        output: The last layer, from features to logits, set by subclasses.
    """

    features: HybridSequential
    output: HybridBlock

    def hybrid_forward(self, F: ModuleType, x: Tensor) -> Any:
        """Compute the logits of the classes.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            x: Images (N, C, H, W).
        """
        return self.output(self.features(x))


class PooledClassifier(WithTransform):
    """A body that gives features of images, and a dense layer that gives logits of classes.

    Args:
        body: Network with an attribute ``units`` that gives features (N, units), such as
            `EfficientNet`.
        classes: Number of classes.
        dropout: Probability of dropping a feature in training, in [0, 1).
        **kwargs: See `HybridBlock`.

    Attributes:
        body: The body; `features` is another name of it.
        output: The dense layer, from features to logits.
        transform: The transform from images to inputs that the weights were trained with; None if
            no file of weights has said.

    Inputs:
        x: images (N, C, H, W).

    Outputs:
        y: (N, classes) logits.

    Raises:
        ArgumentError: ``classes`` is below 1, or ``dropout`` is out of range.
    """

    _timm_name: str  # of networks that `get_model` made
    _arguments: Mapping[str, Any]

    @keeps_arguments
    def __init__(
        self, body: HybridBlock, classes: int = 1000, dropout: float = 0.0, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        check_positive("PooledClassifier", classes=classes)
        check_rate("PooledClassifier", "dropout", dropout)
        self.body: Any = body
        given: Any = body
        with self.name_scope():
            self.dropout = Dropout(dropout) if dropout else None
            self.output = Dense(classes, in_units=given.units, prefix="output_")

    @property
    def features(self) -> Any:
        """The body, as the zoo's other networks call it."""
        return self.body

    def hybrid_forward(self, F: ModuleType, x: Tensor) -> Any:
        """Compute the logits of the classes.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            x: Images (N, C, H, W).
        """
        features = self.body(x)
        return self.output(features if self.dropout is None else self.dropout(features))


def chain(*layers: HybridBlock) -> HybridSequential:
    """Return a HybridSequential of layers without a name prefix."""
    sequence = HybridSequential(prefix="")
    sequence.add(*layers)
    return sequence


def load_published(
    network: HybridBlock,
    name: str,
    ctx: Context | Sequence[Context],
    root: str | os.PathLike[str] | None,
) -> None:
    """Load weights trained on ImageNet into a network; download them if they are missing.

    Args:
        network: The network.
        name: Model name, such as ``resnet50_v1``.
        ctx: Device or devices for the weights.
        root: Folder of the weights; ``$MXNET_HOME/models`` by default.

    Raises:
        ArgumentError: No weights of that name were published.
        DownloadError: The weights could not be downloaded.
    """
    network.load_parameters(get_model_file(name, root), ctx=ctx)
