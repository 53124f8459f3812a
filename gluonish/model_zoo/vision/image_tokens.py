"""ImageTokens: patches of images as vectors, learned tokens, and vectors of positions."""

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.errors import ArgumentError, OperatorError
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.nn.basic_layers import Dropout
from gluonish.gluon.nn.patch_embedding import PatchEmbedding
from gluonish.gluon.nn.sequential import HybridSequential
from gluonish.gluon.nn.tensor import Extents, Tensor, as_extents, check_positive, check_rate
from gluonish.gluon.nn.transformer_layers import TransformerEncoderLayer
from gluonish.initializer import Normal
from gluonish.ndarray import NDArray, array
from gluonish.ops.image.resampling import CUBIC, by_weights

__all__ = ["ImageTokens", "encoder_layers"]

_INIT = Normal(0.02)
_TOKENS = ("class_token", "distillation_token")


class ImageTokens(HybridBlock):
    """Project patches of images, put learned tokens before them, and add vectors of positions.

    Args:
        image_size: Height and width of the images in pixels; one number for both.
        patch_size: Height and width of a patch.
        units: Length C of a vector.
        in_channels: Number of channels of the images.
        tokens: Names of the tokens before the patches, of ``class_token`` and
            ``distillation_token``.
        mask_token: Whether there is a vector in place of masked patches.
        use_bias: Whether the projection of patches has a bias.
        dropout: Probability of dropping an element of the result, in [0, 1).
        **kwargs: See `HybridBlock`.

    Inputs:
        images: (N, in_channels, height, width).
        masked: (N, patches), 1 where a patch is replaced by the mask token; None for none.

    Outputs:
        y: (N, T, C), where T is the number of tokens and patches.

    Raises:
        ArgumentError: A size is below 1, the image is smaller than a patch, or there is no such
            token.
        OperatorError: In the call, if images have another size.

    References:
        A. Dosovitskiy et al., An Image Is Worth 16x16 Words, 2021.
    """

    def __init__(
        self,
        image_size: Extents,
        patch_size: Extents,
        units: int,
        in_channels: int = 3,
        tokens: Sequence[str] = ("class_token",),
        mask_token: bool = False,
        use_bias: bool = True,
        dropout: float = 0.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        name = type(self).__name__
        self._patch = as_extents(patch_size, 2, f"{name}: patch_size")
        check_rate(name, "dropout", dropout)
        self._tokens, self._channels = tuple(tokens), in_channels
        with self.name_scope():
            self.patches = PatchEmbedding(
                units,
                patch_size,
                in_channels=in_channels,
                use_bias=use_bias,
                weight_initializer=_INIT,
                prefix="patches_",
            )
            self.dropout = Dropout(dropout) if dropout else None
        for token in (*self._tokens, *(["mask_token"] if mask_token else [])):
            if token not in (*_TOKENS, "mask_token"):
                raise ArgumentError(f"{name}: expected tokens of {_TOKENS}, got {token!r}")
            setattr(self, token, self.params._declare(token, (units,), _INIT))
        self._grid = self._grid_of(image_size)
        self._units = units
        shape = (self.num_tokens, units)
        self.positions = self.params._declare("positions", shape, _INIT)

    @property
    def image_size(self) -> tuple[int, int]:
        """Height and width of the images."""
        return self._image_size

    @property
    def num_tokens(self) -> int:
        """The number of tokens and patches."""
        return len(self._tokens) + self._grid[0] * self._grid[1]

    def _grid_of(self, image_size: Extents) -> tuple[int, int]:
        """Set the size of the images, and return the numbers of patches along it."""
        height, width = as_extents(image_size, 2, f"{type(self).__name__}: image_size")
        grid = (height // self._patch[0], width // self._patch[1])
        if not all(grid):
            raise ArgumentError(
                f"{type(self).__name__}: expected image_size of at least a patch "
                f"{self._patch[0]} x {self._patch[1]}, got {height} x {width}"
            )
        self._image_size = (height, width)
        return grid

    def hybrid_forward(
        self,
        F: ModuleType,
        images: Tensor,
        masked: Tensor | None = None,
        positions: Any = None,
        class_token: Any = None,
        distillation_token: Any = None,
        mask_token: Any = None,
    ) -> Any:
        """Compute the vectors.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            images: (N, in_channels, height, width).
            masked: (N, patches), or None.
            positions: Vectors (T, C), a parameter.
            class_token: Vector (C,), a parameter.
            distillation_token: Vector (C,), a parameter.
            mask_token: Vector (C,), a parameter.
        """
        x = self.patches(images)
        if masked is not None:
            x = self._masked(F, x, masked, mask_token)
        learned = [token for token in (class_token, distillation_token) if token is not None]
        if learned:
            axes = {"lhs_axes": (0,), "rhs_axes": (0,)}
            vectors = [F.reshape(token, shape=(1, 1, -1)) for token in learned]
            x = F.concat(*(F.broadcast_like(token, x, **axes) for token in vectors), x, dim=1)
        x = F.broadcast_add(x, F.expand_dims(positions, axis=0))
        return x if self.dropout is None else self.dropout(x)

    def _masked(self, F: ModuleType, x: Any, masked: Any, mask_token: Any) -> Any:
        """Replace masked patches."""
        if mask_token is None:
            raise ArgumentError(f"{self.name}: expected mask_token=True with masked, got False")
        places = F.expand_dims(masked, axis=2)
        places = F.broadcast_like(places, x, lhs_axes=(2,), rhs_axes=(2,))
        vector = F.reshape(mask_token, shape=(1, 1, -1))
        vector = F.broadcast_like(vector, x, lhs_axes=(0, 1), rhs_axes=(0, 1))
        return F.where(places, vector, x)

    def check(self, images: Any, name: str) -> None:
        """Refuse images of another size.

        Args:
            images: What a network was called with; only arrays are checked.
            name: Name of the network in the message.

        Raises:
            OperatorError: The message says what to do.
        """
        if not isinstance(images, NDArray):
            return
        expected = (self._channels, *self._image_size)
        if images.ndim != 4 or images.shape[1:] != expected:
            raise OperatorError(
                f"{name}: expected images (N, {', '.join(map(str, expected))}), got "
                f"{images.shape}; set_image_size makes the network fit another size"
            )

    def set_image_size(self, image_size: Extents) -> None:
        """Make vectors of positions for images of another size, by bicubic interpolation.

        Args:
            image_size: Height and width of the images in pixels; one number for both.

        Raises:
            ArgumentError: The size is below a patch, or a `Trainer` has the parameter already.
        """
        if self.positions._trainer is not None:
            raise ArgumentError(
                f"{self.name}: expected set_image_size before a Trainer is made, got one after"
            )
        old, count = self._grid, len(self._tokens)
        self._grid = self._grid_of(image_size)
        if old == self._grid:
            return
        parameter = self.positions
        shape = (self.num_tokens, self._units)
        if parameter._arrays is None:
            parameter._shape, parameter._var = shape, None
        else:
            contexts, values = parameter.list_ctx(), parameter._reduce().asnumpy()
            tokens, vectors = np.split(values.astype(np.float64), [count])
            resized = np.empty((*self._grid, shape[1]))
            by_weights(np, resized, vectors.reshape(*old, -1), CUBIC)
            made = np.concatenate([tokens, resized.reshape(-1, shape[1])])
            parameter._replace_arrays(None)
            parameter._shape, parameter._var, parameter._grads = shape, None, None
            kind = parameter.dtype
            parameter._load_init(array(made, dtype="float32").astype(kind), contexts)
        self._clear_cached_op()


def encoder_layers(
    name: str,
    num_layers: int,
    units: int,
    hidden_units: int,
    num_heads: int,
    make: Callable[..., HybridBlock] = TransformerEncoderLayer,
    **options: Any,
) -> HybridSequential:
    """Return layers that normalize first, and drop hidden units nowhere but before each sum.

    Args:
        name: Name of the network in messages.
        num_layers: Number of layers.
        units: Number of features.
        hidden_units: Number of hidden units of the feed-forward networks.
        num_heads: Number of heads.
        make: Class of a layer, or a function that returns one.
        **options: Further arguments of `TransformerEncoderLayer`.

    Raises:
        ArgumentError: A number is below 1.
    """
    check_positive(name, num_layers=num_layers)
    options = {"norm_first": True, "activation_dropout": 0.0, **options}
    layers = HybridSequential(prefix="layers_")
    with layers.name_scope():
        for _ in range(num_layers):
            layers.add(make(units, hidden_units, num_heads, **options))
    return layers
