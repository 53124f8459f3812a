"""Swin: transformers whose attention stays within windows, shifted in every second layer.

References:
    Z. Liu et al., Swin Transformer: Hierarchical Vision Transformer Using Shifted Windows, 2021.
"""

from collections.abc import Sequence
from types import ModuleType
from typing import Any

from gluonish.core.errors import ArgumentError, OperatorError
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.nn.activations import GELU
from gluonish.gluon.nn.attention import MultiHeadAttention
from gluonish.gluon.nn.basic_layers import Dense, Dropout
from gluonish.gluon.nn.conv_layers import Conv2D
from gluonish.gluon.nn.normalization import LayerNorm
from gluonish.gluon.nn.residual import DropPath
from gluonish.gluon.nn.sequential import HybridSequential
from gluonish.gluon.nn.tensor import Extents, Tensor, as_extents, check_positive, check_rate
from gluonish.initializer import Normal
from gluonish.model_zoo.pretrained.families import keeps_arguments
from gluonish.model_zoo.vision.classifier import WithTransform
from gluonish.model_zoo.vision.map_norm import CHANNELS_LAST, MapNorm
from gluonish.ndarray import NDArray

__all__ = ["Swin", "SwinLayer", "WindowAttention"]

_HIDDEN = -100.0  # what is added to scores of pixels that are no neighbours
Size = tuple[int, int]


class WindowAttention(HybridBlock):
    """Attention within windows of a map, with a learned bias for each offset of two pixels.

    Args:
        units: Number C of channels.
        num_heads: Number of heads.
        size: Height and width of the map.
        window_size: Height and width of a window; maps are padded to whole windows.
        shift: Pixels that windows are moved down and to the right, around the edges.
        use_bias: Whether the projections of queries, keys and values have a bias.
        dropout: Probability of dropping a weight of attention in training, in [0, 1).
        pads_shifted: Whether maps are padded after they were shifted, as in timm, and not before.
        **kwargs: See `HybridBlock`.

    Inputs:
        x: (N, H, W, C).

    Outputs:
        y: shape of ``x``.
    """

    def __init__(
        self,
        units: int,
        num_heads: int,
        size: Size,
        window_size: Size,
        shift: Size = (0, 0),
        use_bias: bool = True,
        dropout: float = 0.0,
        pads_shifted: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self._size, self._window, self._shift = size, window_size, shift
        height, width = window_size
        self._counts = (-(-size[0] // height), -(-size[1] // width))  # of windows
        self._full = (self._counts[0] * height, self._counts[1] * width)
        self._pads_shifted = pads_shifted
        offsets = (2 * height - 1) * (2 * width - 1)
        options: dict[str, Any] = {
            "use_bias": use_bias,
            "use_output_bias": True,
            "dropout": dropout,
        }
        self.bias_table = self.params._declare("bias_table", (offsets, num_heads), Normal(0.02))
        with self.name_scope():
            self.attention = MultiHeadAttention(units, num_heads, in_units=units, **options)

    def hybrid_forward(self, F: ModuleType, x: Tensor, bias_table: Any) -> Any:
        """Attend within windows.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            x: (N, H, W, C).
            bias_table: Bias of each offset and head, a parameter.
        """
        (height, width), (down, across) = self._window, self._counts
        x = self._shifted(F, x, -1) if self._pads_shifted else x
        x = padded(F, x, self._size, self._full)
        x = x if self._pads_shifted else self._shifted(F, x, -1)
        x = F.reshape(x, shape=(0, down, height, across, width, -1))
        x = F.transpose(x, axes=(0, 1, 3, 2, 4, 5))
        windows = F.reshape(x, shape=(-1, height * width, 0), reverse=True)
        y = self.attention(windows, None, None, self._mask(F, x, bias_table))
        y = F.reshape(y, shape=(-1, down, across, height, width, 0), reverse=True)
        y = F.reshape(F.transpose(y, axes=(0, 1, 3, 2, 4, 5)), shape=(0, *self._full, -1))
        y = y if self._pads_shifted else self._shifted(F, y, 1)
        y = cropped(F, y, self._size, self._full)
        return self._shifted(F, y, 1) if self._pads_shifted else y

    def _shifted(self, F: ModuleType, x: Any, direction: int) -> Any:
        """Return maps moved by the shift, around the edges."""
        if not any(self._shift):
            return x
        shift = tuple(direction * pixels for pixels in self._shift)
        return F._internal._np_roll(x, shift=shift, axis=(1, 2))

    def _mask(self, F: ModuleType, x: Any, table: Any) -> Any:
        """Return what is added to scores: (1, heads, T, T), or if windows are shifted of each."""
        height, width = self._window
        place = F.arange(height * width)
        # A pixel's column, plus its row times the number of offsets of columns.
        key = place + F.floor((place + 0.5) / width) * (width - 1)
        offset = F.broadcast_sub(F.expand_dims(key, axis=1), F.expand_dims(key, axis=0))
        offset = offset + (height - 1) * (2 * width - 1) + width - 1
        bias = F.expand_dims(F.transpose(F.take(table, offset), axes=(2, 0, 1)), axis=0)
        if not any(self._shift):
            return bias
        # (1, windows, 1, T, T) and (1, 1, heads, T, T).
        mask = F.broadcast_add(self._hidden(F), F.expand_dims(bias, axis=0))
        mask = F.broadcast_like(mask, x, lhs_axes=(0,), rhs_axes=(0,))
        return F.reshape(mask, shape=(-3, 0, 0, 0))

    def _hidden(self, F: ModuleType) -> Any:
        """Return -100 for pixels of a window that are neighbours only around the edge, else 0."""
        part: list[Any] = []
        for count, extent, shift in zip(self._counts, self._window, self._shift, strict=True):
            place = F.arange(count * extent)
            last = F.broadcast_greater_equal(place, F.full((1,), (count - 1) * extent))
            moved = F.broadcast_greater_equal(place, F.full((1,), count * extent - shift))
            # Without a shift, no pixels of a window came around the edge.
            found = last + moved if shift else place * 0
            part.append(F.reshape(found, shape=(count, extent)))
        height, width = self._window
        rows = F.reshape(part[0], shape=(-1, 1, height, 1)) * 3
        columns = F.reshape(part[1], shape=(1, -1, 1, width))
        places = F.reshape(F.broadcast_add(rows, columns), shape=(-3, -3))
        pairs = F.broadcast_not_equal(F.expand_dims(places, axis=2), F.expand_dims(places, axis=1))
        return F.reshape(pairs * _HIDDEN, shape=(1, -1, 1, height * width, height * width))


def padded(F: ModuleType, x: Any, size: Size, full: Size) -> Any:
    """Return maps (N, H, W, C) with zeros below and to the right, up to a size."""
    if size == full:
        return x
    widths = (0, 0, 0, 0, 0, full[0] - size[0], 0, full[1] - size[1], 0, 0)
    x = F.pad(F.expand_dims(x, axis=1), mode="constant", pad_width=widths, constant_value=0)
    return F.reshape(x, shape=(0, -3, 0, 0))


def cropped(F: ModuleType, x: Any, size: Size, full: Size) -> Any:
    """Return the top left part of maps (N, H, W, C)."""
    if size == full:
        return x
    return F.slice(x, begin=(None, 0, 0, None), end=(None, *size, None))


class SwinLayer(HybridBlock):
    """``x + attention(norm(x))`` within windows, then ``x + MLP(norm(x))``.

    Args:
        units: Number C of channels.
        hidden_units: Number of hidden units of the MLP.
        attention: The attention, called with (N, H, W, C).
        dropout: Probability of dropping an element before each sum, in [0, 1).
        drop_path: Probability of dropping a branch for a sample in training, in [0, 1).
        epsilon: Small constant of the normalizations.
        **kwargs: See `HybridBlock`.

    Inputs:
        x: (N, H, W, C).

    Outputs:
        y: shape of ``x``.
    """

    def __init__(
        self,
        units: int,
        hidden_units: int,
        attention: HybridBlock,
        dropout: float = 0.0,
        drop_path: float = 0.0,
        epsilon: float = 1e-5,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.attention_norm = LayerNorm(epsilon=epsilon, in_channels=units)
            self.attention = attention
            self.norm = LayerNorm(epsilon=epsilon, in_channels=units)
            self.hidden = Dense(hidden_units, flatten=False, in_units=units, prefix="hidden_")
            self.activation = GELU()
            self.output = Dense(units, flatten=False, in_units=hidden_units, prefix="output_")
            self.dropout = Dropout(dropout) if dropout else None
            self.drop_path = DropPath(drop_path) if drop_path else None

    def hybrid_forward(self, F: ModuleType, x: Tensor) -> Any:
        """Compute the layer's output.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            x: (N, H, W, C).
        """
        y = x + self._branch(self.attention(self.attention_norm(x)))
        return y + self._branch(self.output(self.activation(self.hidden(self.norm(y)))))

    def _branch(self, branch: Any) -> Any:
        branch = branch if self.dropout is None else self.dropout(branch)
        return branch if self.drop_path is None else self.drop_path(branch)


class PatchMerging(HybridBlock):
    """Join each 2x2 pixels, and project them to twice the channels.

    Args:
        units: Number C of channels.
        size: Height and width of the map; odd ones are padded.
        epsilon: Small constant of the normalization.
        **kwargs: See `HybridBlock`.

    Inputs:
        x: (N, H, W, C).

    Outputs:
        y: (N, ceil(H / 2), ceil(W / 2), 2 C).
    """

    def __init__(self, units: int, size: Size, epsilon: float = 1e-5, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._size = size
        self.merged = (-(-size[0] // 2), -(-size[1] // 2))
        options: dict[str, Any] = {"flatten": False, "use_bias": False, "in_units": 4 * units}
        with self.name_scope():
            self.norm = LayerNorm(epsilon=epsilon, in_channels=4 * units, prefix="norm_")
            self.projection = Dense(2 * units, prefix="projection_", **options)

    def hybrid_forward(self, F: ModuleType, x: Tensor) -> Any:
        """Join and project pixels.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            x: (N, H, W, C).
        """
        height, width = self.merged
        x = padded(F, x, self._size, (2 * height, 2 * width))
        x = F.reshape(x, shape=(0, height, 2, width, 2, -1))
        x = F.reshape(F.transpose(x, axes=(0, 1, 3, 4, 2, 5)), shape=(0, height, width, -1))
        return self.projection(self.norm(x))


class Swin(WithTransform):
    """The body of a Swin Transformer: patches, stages of layers of ever smaller maps, and a norm.

    Args:
        image_size: Height and width of the images in pixels; one number for both.
        units: Number of channels of the first stage; each further one has twice as many.
        num_layers: Number of layers of each stage.
        num_heads: Number of heads of each stage.
        window_size: Height and width of a window of attention.
        patch_size: Height and width of a patch.
        in_channels: Number of channels of the images.
        hidden_ratio: Hidden units of an MLP for each of its inputs.
        use_bias: Whether the projections of queries, keys and values have a bias.
        dropout: Probability of dropping an element before each sum, in [0, 1).
        attention_dropout: That of a weight of attention.
        drop_path: Probability of dropping the last layer in training, in [0, 1); that of the others
            grows from 0 with their position.
        epsilon: Small constant of the normalizations.
        pads_shifted: Whether maps that are no whole number of windows are padded after they were
            shifted, as in timm, and not before.
        **kwargs: See `HybridBlock`.

    Attributes:
        units: Number of features.
        stem: Patches and their normalization.
        stages: Stages, each of which gives feature maps (N, H, W, C).
        norm: The last normalization.

    Inputs:
        x: images (N, in_channels, H, W) of ``image_size``.

    Outputs:
        features: (N, units), means over all pixels.

    Raises:
        ArgumentError: Arguments of stages differ in length, heads do not divide channels, or a
            number is out of range.
        OperatorError: In the call, if images have another size.

    Example:
        >>> import gluonish as mx
        >>> from gluonish.model_zoo.vision import Swin
        >>> net = Swin(32, units=8, num_layers=(2, 2), num_heads=(2, 4), window_size=4)
        >>> net.initialize()
        >>> net(mx.nd.ones((1, 3, 32, 32))).shape
        (1, 16)
    """

    @keeps_arguments
    def __init__(
        self,
        image_size: Extents,
        units: int,
        num_layers: Sequence[int],
        num_heads: Sequence[int],
        window_size: int = 7,
        patch_size: int = 4,
        in_channels: int = 3,
        hidden_ratio: float = 4.0,
        use_bias: bool = True,
        dropout: float = 0.0,
        attention_dropout: float = 0.0,
        drop_path: float = 0.0,
        epsilon: float = 1e-5,
        pads_shifted: bool = False,
        **kwargs: Any,
    ) -> None:
        name = type(self).__name__
        super().__init__(**kwargs)
        self._images = as_extents(image_size, 2, f"{name}: image_size")
        check_positive(name, height=self._images[0], width=self._images[1])
        check_positive(name, units=units, window_size=window_size, patch_size=patch_size)
        check_rate(name, "drop_path", drop_path)
        if not len(num_layers) == len(num_heads) > 0:
            raise ArgumentError(
                f"{name}: expected num_layers and num_heads of one length, got {len(num_layers)} "
                f"and {len(num_heads)}"
            )
        size = (self._images[0] // patch_size, self._images[1] // patch_size)
        if min(size) < 1 or any(extent % patch_size for extent in self._images):
            raise ArgumentError(
                f"{name}: expected image_size that patch_size={patch_size} divides, got "
                f"{image_size}"
            )
        total = sum(num_layers)
        rates = iter(drop_path * i / max(total - 1, 1) for i in range(total))
        layer = {"epsilon": epsilon, "dropout": dropout}
        options: dict[str, Any] = {"use_bias": use_bias, "dropout": attention_dropout}
        options["pads_shifted"] = pads_shifted
        with self.name_scope():
            self.stem = HybridSequential(prefix="stem_")
            with self.stem.name_scope():
                self.stem.add(
                    Conv2D(units, patch_size, patch_size, in_channels=in_channels),
                    MapNorm(units, epsilon),
                )
            self.stages = HybridSequential(prefix="stages_")
            with self.stages.name_scope():
                for count, heads in zip(num_layers, num_heads, strict=True):
                    merging = None
                    if len(self.stages):
                        merging = PatchMerging(units, size, epsilon)
                        units, size = 2 * units, merging.merged
                    layers = []
                    for index in range(count):
                        window, shift = _window(size, window_size, shifted=index % 2 == 1)
                        attention = WindowAttention(units, heads, size, window, shift, **options)
                        hidden = int(units * hidden_ratio)
                        layers.append(
                            SwinLayer(units, hidden, attention, drop_path=next(rates), **layer)
                        )
                    self.stages.add(_Stage(merging, layers))
            self.units = units
            self.norm = LayerNorm(epsilon=epsilon, in_channels=units, prefix="norm_")

    def hybrid_forward(self, F: ModuleType, x: Tensor) -> Any:
        """Compute the features.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            x: Images (N, in_channels, H, W).
        """
        if isinstance(x, NDArray) and x.shape[2:] != self._images:
            raise OperatorError(
                f"Swin: expected images of size {self._images}, got {x.shape[2:]}; image_size= "
                "makes a network for others"
            )
        maps = self.stages(F.transpose(self.stem(x), axes=CHANNELS_LAST))
        return F.mean(self.norm(maps), axis=(1, 2))


def _window(size: Size, window_size: int, shifted: bool) -> tuple[Size, Size]:
    """Return window and shift for a map, of which a side may be smaller than a window."""
    height, width = (min(extent, window_size) for extent in size)
    down, across = (window_size // 2 * (shifted and extent > window_size) for extent in size)
    return (height, width), (down, across)


class _Stage(HybridBlock):
    """Layers, behind a merging of patches."""

    def __init__(self, downsample: HybridBlock | None, layers: Sequence[HybridBlock]) -> None:
        super().__init__()
        self.downsample = downsample
        self.layers = HybridSequential()
        self.layers.add(*layers)

    def hybrid_forward(self, F: ModuleType, x: Tensor) -> Any:
        """Compute feature maps.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            x: (N, H, W, C).
        """
        return self.layers(x if self.downsample is None else self.downsample(x))
