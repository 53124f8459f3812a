"""PatchEmbedding: images as sequences of vectors."""

from types import ModuleType
from typing import Any

from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.nn.conv_layers import Conv2D
from gluonish.gluon.nn.tensor import (
    Extents,
    Tensor,
    as_extents,
    check_layout,
    check_positive,
)
from gluonish.gluon.parameter.parameter import Init

__all__ = ["PatchEmbedding"]


class PatchEmbedding(HybridBlock):
    """Cut images into patches, and project each to a vector.

    Args:
        units: Length C of a vector.
        patch_size: Height and width of a patch; one number for both.
        in_channels: Number of channels of the images; 0 infers it from the first batch.
        layout: ``"NCHW"`` or ``"NHWC"``, of the images.
        use_bias: Whether vectors have a bias.
        weight_initializer: Initializer of the weight (C, in_channels, height, width), with the
            channels last if those of ``layout`` are.
        bias_initializer: Initializer of the bias (C,).
        **kwargs: See `HybridBlock`.

    Inputs:
        x: images (N, in_channels, H, W) or (N, H, W, in_channels).

    Outputs:
        y: (N, T, C), with the T whole patches in rows from the top left.

    Raises:
        ArgumentError: A size is below 1, or there is no such layout.

    References:
        A. Dosovitskiy et al., An Image Is Worth 16x16 Words, 2021.

    Example:
        >>> import gluonish as mx
        >>> layer = mx.gluon.nn.PatchEmbedding(units=8, patch_size=16)
        >>> layer.initialize()
        >>> layer(mx.nd.ones((2, 3, 64, 32))).shape
        (2, 8, 8)
    """

    def __init__(
        self,
        units: int,
        patch_size: Extents,
        in_channels: int = 0,
        layout: str = "NCHW",
        use_bias: bool = True,
        weight_initializer: Init | None = None,
        bias_initializer: Init = "zeros",
        **kwargs: Any,
    ) -> None:
        name = type(self).__name__
        super().__init__(**kwargs)
        height, width = as_extents(patch_size, 2, f"{name}: patch_size")
        check_positive(name, units=units, height=height, width=width)
        check_layout(layout, ("NCHW", "NHWC"), name)
        self._channels_last = layout == "NHWC"
        with self.name_scope():
            self.projection = Conv2D(
                units,
                (height, width),
                strides=(height, width),
                layout=layout,
                in_channels=in_channels,
                use_bias=use_bias,
                weight_initializer=weight_initializer,
                bias_initializer=bias_initializer,
                prefix="projection_",
            )

    def hybrid_forward(self, F: ModuleType, x: Tensor) -> Any:
        """Project patches.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            x: (N, in_channels, H, W) or (N, H, W, in_channels).
        """
        patches = self.projection(x)
        if self._channels_last:
            return F.reshape(patches, shape=(0, -3, 0))
        return F.transpose(F.reshape(patches, shape=(0, 0, -1)), axes=(0, 2, 1))
