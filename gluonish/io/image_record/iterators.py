"""ImageRecordIter and the iterators that are it with another dtype."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from gluonish.core.errors import ArgumentError
from gluonish.core.schema import Schema
from gluonish.io.image_record.labels import LabelSource
from gluonish.io.image_record.mean_image import mean_image_of
from gluonish.io.image_record.normalization import Normalization
from gluonish.io.image_record.parameters import BYTES_SCHEMA, SCHEMA, check_image_parameters
from gluonish.io.image_record.samples import ImageSamples
from gluonish.io.image_record.source import ImageRecordSource
from gluonish.io.native_iter import MXDataIter, parse_parameters

__all__ = [
    "ImageRecordInt8Iter",
    "ImageRecordIter",
    "ImageRecordIter_v1",
    "ImageRecordUInt8Iter",
    "ImageRecordUInt8Iter_v1",
]


class ImageRecordIter(MXDataIter):
    """Iterates over the images of a record file in batches, decoded and augmented by threads.

    An image is resized (``resize``), mapped (rotation, shear, scale, proportions), padded, cut to
    ``data_shape`` (or resampled to it), changed in its colours, mirrored and normalized to
    ``((pixel - mean) * contrast + light) * scale / std``, in that order. What is random depends on
    the seeds, the pass and the record, not on threads.

    Otherwise than in MXNet: ``index`` holds the numbers of the records' headers, also where that
    gives zeros; without ``round_batch`` the last batch is filled with zeros and has its ``pad``;
    all dtypes serve, and whole-number ones are normalized too; hues go round at red; contrast and
    saturation weigh red, green and blue as they are meant; batches may be larger than the data.

    Args:
        path_imgrec: Path of the record file, or of several, or of a folder: see `input_files`.
        path_imgidx: Path of its index, or of one for each file: then parts have equal numbers of
            records, else of bytes.
        path_imglist: Path of lists whose labels count instead of those in the records.
        data_shape: (channels, height, width) of a sample; 1, 3 or 4 channels, red first.
        batch_size: Number of samples in a batch.
        label_width: Labels of an image.
        preprocess_threads: Threads that decode and augment; no more than there are cores.
        verbose: Whether to log the file and the number of threads.
        prefetch_buffer: Number of batches to load ahead.
        shuffle: Whether each pass has an order of its own; without an index the heads of all
            records are read first.
        shuffle_chunk_size: Megabytes that are shuffled together, in an order drawn from
            ``shuffle_chunk_seed``; 0 for all.
        seed: What orders are drawn from; and augmentation, where ``seed_aug`` is None.
        num_parts: Number of parts that the data are divided into, for several workers.
        part_index: Index of the part to use, from 0.
        round_batch: Whether the last batch is filled from the next pass, which then begins behind.
        resize: Length of the shorter side, in pixels.
        rand_crop: Whether the region is anywhere rather than in the middle.
        random_resized_crop: Whether the region has an area of ``min_random_area`` to
            ``max_random_area`` of the image, and proportions of ``min_aspect_ratio`` to
            ``max_aspect_ratio`` or the inverse.
        max_crop_size: Largest side of a square region; with ``min_crop_size``.
        max_rotate_angle: In degrees, whole; ``rotate`` is an angle for all images.
        max_random_scale: With ``min_random_scale``: what the image is scaled by.
        max_aspect_ratio: Without ``random_resized_crop`` the image is stretched by 1 give or take
            that much, or by ``min_aspect_ratio`` to ``max_aspect_ratio``.
        max_shear_ratio: Largest shear, either way.
        max_img_size: With ``min_img_size``: limits of the mapped image's sides, in pixels.
        pad: Margin, in pixels, of ``fill_value``.
        brightness: Largest change, as a share; so ``contrast`` and ``saturation``.
        pca_noise: Standard deviation of the changes along the colours' principal components.
        random_h: Largest change of hue, in steps of two degrees; so ``random_s`` of saturation and
            ``random_l`` of lightness, of 255.
        inter_method: 0 nearest, 1 linear, 2 cubic, 3 area, 4 Lanczos; 9 by the sizes, 10 any.
        mirror: Whether all images are mirrored; ``rand_mirror``: half of them.
        mean_img: Path of a file with the mean of each pixel; it is made where it is missing.
        mean_r: Mean of red, or of gray; so ``mean_g``, ``mean_b``, ``mean_a``.
        std_r: Deviation of red, or of gray; so ``std_g``, ``std_b``, ``std_a``.
        scale: Factor of the result.
        max_random_contrast: Largest change of the factor of a normalized image.
        max_random_illumination: Largest number added to a normalized image.
        ctx: Has no effect, nor has ``device_id``: batches are in ordinary CPU memory, where MXNet's
            are in memory pinned for the copy to a GPU.
        aug_seq: Only ``"aug_default"``, the sequence above.
        dtype: Of the data; float32 by default.
        data_name: Name of the data.
        label_name: Name of the labels.

    Raises:
        ArgumentError: A parameter is out of its range.
        OperatorError: One is missing, or of a wrong kind.
        MissingFileError: A file does not exist.
        FileFormatError: A file is damaged, or has other labels or channels: here, or at `next`.
    """

    _schema: ClassVar[Schema] = SCHEMA
    _dtype: ClassVar[type[Any]] = np.float32
    _other_dtypes: ClassVar[bool] = True

    def __init__(self, **parameters: Any) -> None:
        name = type(self).__name__
        parsed, names = parse_parameters(name, self._schema, parameters)
        check_image_parameters(name, parsed)
        dtype = np.dtype(self._dtype)
        if parsed["dtype"] is not None and parsed["dtype"] != dtype:
            if not self._other_dtypes:
                raise ArgumentError(
                    f"{name}: expected dtype None or {dtype}, got {parsed['dtype']}; "
                    "ImageRecordIter has others"
                )
            dtype = parsed["dtype"]
        mean = None
        if parsed.get("mean_img"):
            mean = mean_image_of(
                name, parsed, lambda plain: _source(name, plain, np.dtype(np.float32), None)
            )
        super().__init__(_source(name, parsed, dtype, mean), **names)


def _source(
    name: str,
    parameters: Mapping[str, Any],
    dtype: np.dtype[Any],
    mean: np.ndarray[Any, Any] | None,
) -> ImageRecordSource:
    width = parameters["label_width"]
    return ImageRecordSource(
        name,
        parameters,
        dtype,
        () if width == 1 else (width,),
        LabelSource(name, parameters["path_imglist"], width),
        ImageSamples(name, parameters, Normalization(name, parameters, dtype, mean)),
    )


class ImageRecordUInt8Iter(ImageRecordIter):
    """`ImageRecordIter` with uint8 pixels, 0 to 255, not mirrored and not normalized."""

    _schema = BYTES_SCHEMA
    _dtype = np.uint8
    _other_dtypes = False


class ImageRecordInt8Iter(ImageRecordIter):
    """`ImageRecordIter` with int8 pixels, limited to 127."""

    _schema = BYTES_SCHEMA
    _dtype = np.int8
    _other_dtypes = False


class ImageRecordIter_v1(ImageRecordIter):
    """`ImageRecordIter` under an older name."""


class ImageRecordUInt8Iter_v1(ImageRecordUInt8Iter):
    """`ImageRecordUInt8Iter` under an older name."""
