"""MixUp and CutMix: batches whose samples and labels are mixed in pairs."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.core.number_check import as_int
from gluonish.gluon.block import Block
from gluonish.gluon.data.batchify import default_mp_batchify_fn
from gluonish.gluon.data.vision.transforms.augmentation import (
    array_like,
    number_above,
    random_generator,
)
from gluonish.gluon.data.vision.transforms.host import Array
from gluonish.ndarray import NDArray, array


class _PairMixing(Block):
    """Base class of transforms that mix each sample of a batch with the one before it."""

    _expected: ClassVar[str]

    def __init__(self, alpha: float, num_classes: int | None) -> None:
        super().__init__()
        name = type(self).__name__
        self._alpha = number_above(name, "alpha", alpha, 0)
        self._classes = None if num_classes is None else as_int(name, "num_classes", num_classes, 1)

    def forward(self, data: Any, label: Any = None) -> Any:
        """Mix a batch.

        Args:
            data: Batch of samples; or a list of samples (data, label), which become a batch.
            label: Labels of the batch.
        """
        listed = label is None and isinstance(data, Sequence) and len(data) > 0
        if listed and isinstance(data[0], Sequence):
            data = default_mp_batchify_fn(data)
        if listed:
            if len(data) != 2:
                raise ArgumentError(
                    f"{type(self).__name__}: expected samples (data, label), got {len(data)} parts"
                )
            return list(self._both(*data))
        if label is None:
            raise ArgumentTypeError(
                f"{type(self).__name__}: expected data and label, or a list of samples (data, "
                f"label), got {type(data).__name__} alone"
            )
        return self._both(data, label)

    def _both(self, data: Any, label: Any) -> tuple[NDArray, NDArray]:
        values = _values(data)
        whole = values.dtype.kind in "iub" and values.dtype != np.uint8
        if whole or values.ndim < 2 or not values.size:
            raise ArgumentError(
                f"{type(self).__name__}: expected data {self._expected} of uint8 or floats, got "
                f"shape {values.shape} of {values.dtype}"
            )
        soft = self._soft_labels(_values(label), len(values))
        mixed, soft = self.mixed(values, soft, random_generator())
        return _array_like(mixed, data), _array_like(soft, label)

    def mixed(self, values: Array, soft: Array, rng: np.random.Generator) -> tuple[Array, Array]:
        """Mix a batch of NumPy arrays, with a given generator of random numbers.

        Args:
            values: Batch of samples, uint8 or floating point; it may be modified.
            soft: Labels (N, classes), float32.
            rng: Generator of the random numbers.
        """
        mixed, kept = self._mixed(values, float(rng.beta(self._alpha, self._alpha)), rng)
        kept_part = np.float32(kept)
        return mixed, soft * kept_part + np.roll(soft, 1, 0) * (1 - kept_part)

    def _mixed(self, values: Array, part: float, rng: np.random.Generator) -> tuple[Array, float]:
        """Return the mixed batch, possibly in ``values``, and each sample's own part of it."""
        raise NotImplementedError

    def _soft_labels(self, label: Array, samples: int) -> Array:
        """Return labels (N, classes), float32."""
        name = type(self).__name__
        if len(label.shape) not in (1, 2) or len(label) != samples:
            raise ArgumentError(
                f"{name}: expected label of shape ({samples},) or ({samples}, classes), got "
                f"{label.shape}"
            )
        if label.ndim == 2 and (self._classes in (None, label.shape[1])):
            return label.astype(np.float32)
        if label.ndim == 2 and label.shape[1] != 1:
            raise ArgumentError(
                f"{name}: expected label with num_classes ({self._classes}) columns, got shape "
                f"{label.shape}"
            )
        if self._classes is None:
            raise ArgumentError(
                f"{name}: expected soft labels ({samples}, classes), got class numbers of shape "
                f"{label.shape}; pass num_classes"
            )
        numbers = label.reshape(-1).astype(np.float64)
        valid = (numbers >= 0) & (numbers < self._classes) & (numbers == np.floor(numbers))
        if not valid.all():
            raise ArgumentError(
                f"{name}: expected label of whole numbers from 0 to {self._classes - 1}, got "
                f"{numbers[~valid][0]:g}"
            )
        return np.eye(self._classes, dtype=np.float32)[numbers.astype(np.int64)]


def _values(x: Any) -> Array:
    """Return a copy as a NumPy array."""
    return x.asnumpy() if isinstance(x, NDArray) else np.array(x)


def _array_like(values: Array, x: Any) -> NDArray:
    return array_like(values, x) if isinstance(x, NDArray) else array(values, dtype=values.dtype)


class MixUp(_PairMixing):
    """Mix each sample of a batch with the one before it: ``part x + (1 - part) x_before``.

    The labels are mixed alike, and go to ``SoftmaxCrossEntropyLoss(sparse_label=False)``. Call it
    with a batch, or give it to a `DataLoader` as ``batchify_fn``. It runs on the host.

    Args:
        alpha: ``part`` is drawn from Beta(alpha, alpha) for each batch; above 0.
        num_classes: Number of classes; None if labels are soft labels already.

    Inputs:
        data: (N, ...), uint8 or floating point; or a list of samples (data, label).
        label: class numbers (N,), or soft labels (N, num_classes).

    Outputs:
        data: shape and dtype of ``data``; bytes are rounded to the nearest.
        label: (N, num_classes), float32; each row has the sum 1.

    Raises:
        ArgumentError: ``alpha`` is not above 0, or ``num_classes`` below 1; at the call: shapes do
            not go together, or a label is no class.
        ArgumentTypeError: At the call: there are no labels.

    References:
        H. Zhang, M. Cisse, Y. N. Dauphin, D. Lopez-Paz, mixup: Beyond Empirical Risk Minimization,
        ICLR 2018.
    """

    _expected = "(N, ...)"

    def __init__(self, alpha: float = 1.0, num_classes: int | None = None) -> None:
        super().__init__(alpha, num_classes)

    def _mixed(self, values: Array, part: float, rng: np.random.Generator) -> tuple[Array, float]:
        whole = values.dtype == np.uint8
        dtype = np.dtype(np.float32) if whole else values.dtype
        own, other = dtype.type(part), dtype.type(1 - part)
        out = np.empty(values.shape, values.dtype)
        for index in range(len(values)):
            # The first one is mixed with the last.
            mixed = values[index] * own
            mixed += values[index - 1] * other
            out[index] = np.rint(mixed, out=mixed) if whole else mixed
        return out, part


class CutMix(_PairMixing):
    """Replace a random rectangle of each image of a batch by that of the image before it.

    The labels are mixed by area, and go to ``SoftmaxCrossEntropyLoss(sparse_label=False)``. Call it
    with a batch, or give it to a `DataLoader` as ``batchify_fn``. It runs on the host.

    Args:
        alpha: The part of the area that is kept is drawn from Beta(alpha, alpha) for each batch;
            above 0. A rectangle that leaves the image is cut off.
        num_classes: Number of classes; None if labels are soft labels already.
        layout: ``"NCHW"``, or ``"NHWC"`` for images that `ToTensor` has not changed.

    Inputs:
        data: (N, channels, height, width), or (N, height, width, channels) in layout NHWC, uint8 or
            floating point; or a list of samples (data, label).
        label: class numbers (N,), or soft labels (N, num_classes).

    Outputs:
        data: shape and dtype of ``data``.
        label: (N, num_classes), float32; each row has the sum 1.

    Raises:
        ArgumentError: ``alpha`` is not above 0, ``num_classes`` below 1, or ``layout`` is another;
            at the call: shapes do not go together, or a label is no class.
        ArgumentTypeError: At the call: there are no labels.

    References:
        S. Yun, D. Han, S. J. Oh, S. Chun, J. Choe, Y. Yoo, CutMix: Regularization Strategy to Train
        Strong Classifiers with Localizable Features, ICCV 2019.
    """

    _expected = "of four axes"

    def __init__(
        self, alpha: float = 1.0, num_classes: int | None = None, layout: str = "NCHW"
    ) -> None:
        super().__init__(alpha, num_classes)
        if layout not in ("NCHW", "NHWC"):
            raise ArgumentError(f"CutMix: expected layout 'NCHW' or 'NHWC', got {layout!r}")
        self._layout = layout

    def _mixed(self, values: Array, part: float, rng: np.random.Generator) -> tuple[Array, float]:
        if values.ndim != 4:
            raise ArgumentError(
                f"CutMix: expected data of four axes ({self._layout}), got shape {values.shape}"
            )
        first = self._layout.index("H")
        extents = values.shape[first : first + 2]
        half = 0.5 * (1 - part) ** 0.5
        region = []
        for extent in extents:
            middle, reach = int(rng.integers(extent)), int(half * extent)
            region.append(slice(max(middle - reach, 0), min(middle + reach, extent)))
        place = (slice(None),) * first + tuple(region)
        values[place] = np.roll(values[place], 1, 0)
        rows, columns = (found.stop - found.start for found in region)
        return values, 1 - rows * columns / (extents[0] * extents[1])
