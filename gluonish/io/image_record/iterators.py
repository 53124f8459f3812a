"""ImageRecordIter, and its versions for other dtypes."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from gluonish.core.errors import ArgumentError
from gluonish.core.schema import Schema
from gluonish.io.image_record.labels import LabelSource
from gluonish.io.image_record.mean_image import mean_image_of
from gluonish.io.image_record.normalization import Normalization
from gluonish.io.image_record.parameters import BYTES_SCHEMA, SCHEMA, check_image_parameters
from gluonish.io.image_record.source import ImageRecordSource, ImageSamples
from gluonish.io.native_iter import MXDataIter, parse_parameters


class ImageRecordIter(MXDataIter):
    """Iterates over the images of a record file in batches; threads decode and augment them.

    Each image is resized (``resize``), warped (rotation, shear, scale, aspect ratio), padded,
    cropped or resized to ``data_shape``, colour-augmented, mirrored, and normalized to
    ``((pixel - mean) * contrast + light) * scale / std``, in that order. Random choices depend
    only on the seeds, the epoch and the record, not on the threads.

    Differences from MXNet: ``index`` of a batch has the ids in the records' headers, even if they
    are zeros; without ``round_batch`` the last batch is filled with zeros, counted by ``pad``;
    every dtype is supported, and integers are normalized, too; hue wraps around; contrast and
    saturation weight red, green and blue correctly; a batch may be larger than the data set.

    Args:
        path_imgrec: Path of the record file, of several files, or of a folder: see `input_files`.
        path_imgidx: Path of the index file, one for each record file. With it, parts have equal
            numbers of records; without it, equal numbers of bytes.
        path_imglist: Path of list files whose labels replace those in the records.
        data_shape: Shape (channels, height, width) of a sample; 1, 3 (RGB) or 4 (RGBA) channels.
        batch_size: Number of samples in a batch.
        label_width: Number of labels of an image.
        preprocess_threads: Maximum number of threads that decode and augment, limited to the number
            of CPU cores.
        verbose: Whether to log the file and the number of threads.
        prefetch_buffer: Number of batches to load ahead.
        shuffle: Whether to reshuffle the records in each epoch. Without an index the headers of all
            records are read first.
        shuffle_chunk_size: Size in megabytes of the chunks of the file that are shuffled as units,
            in an order drawn from ``shuffle_chunk_seed``; 0 shuffles single records.
        seed: Seed of the order, and of the augmentation unless ``seed_aug`` is set.
        num_parts: Number of parts that the data are divided into, for several workers.
        part_index: Index of the part to use, from 0.
        round_batch: Whether an incomplete last batch is filled with samples of the next epoch,
            which then starts after them.
        resize: Length in pixels to which the shorter side is resized first; -1 for no resizing.
        rand_crop: Whether to crop at a random position instead of the centre.
        random_resized_crop: Whether to crop a random area, ``min_random_area`` to
            ``max_random_area`` as a fraction of the image, with an aspect ratio of
            ``min_aspect_ratio`` to ``max_aspect_ratio`` or its inverse, and to resize the crop.
        max_crop_size: With ``min_crop_size``: range of the side of a square crop, in pixels, which
            is then resized; -1 for neither.
        max_rotate_angle: Maximum random rotation either way, in whole degrees; ``rotate`` is a
            fixed angle for all images.
        max_random_scale: With ``min_random_scale``: range of the random scale factor.
        max_aspect_ratio: Without ``random_resized_crop``: the image is stretched by a ratio drawn
            from 1 - r to 1 + r; with ``min_aspect_ratio``, from ``min_aspect_ratio`` to
            ``max_aspect_ratio``.
        max_shear_ratio: Maximum random shear, either way.
        max_img_size: With ``min_img_size``: limits of the warped image's sides, in pixels.
        pad: Width in pixels of the border of ``fill_value`` (0 to 255) added on every side.
        brightness: Maximum random change of brightness, as a fraction; likewise ``contrast`` and
            ``saturation``.
        pca_noise: Standard deviation of the PCA (AlexNet) lighting noise.
        random_h: Maximum random shift of hue, in steps of 2 degrees; likewise ``random_s`` for
            saturation and ``random_l`` for lightness, both on a scale of 0 to 255.
        inter_method: Interpolation: 0 nearest, 1 bilinear, 2 bicubic, 3 area, 4 Lanczos, 9 chosen
            by the sizes, 10 random.
        mirror: Whether to flip all images horizontally; ``rand_mirror`` flips half of them.
        mean_img: Path of a file with the mean image; it is computed and written if missing.
        mean_r: Mean of the red (or gray) channel; likewise ``mean_g``, ``mean_b``, ``mean_a``.
        std_r: Standard deviation of the red (or gray) channel; likewise ``std_g``, ``std_b``,
            ``std_a``.
        scale: Factor of the normalized values.
        max_random_contrast: Maximum random change of the contrast factor, around 1.
        max_random_illumination: Maximum random offset added to the normalized pixels.
        ctx: Accepted for MXNet's programs, as is ``device_id``; has no effect, batches are always
            in CPU memory.
        aug_seq: Only ``"aug_default"``, the sequence above.
        dtype: Element type of the data, float32 by default.
        data_name: Name of the data.
        label_name: Name of the labels.

    Raises:
        ArgumentError: A parameter is out of range.
        OperatorError: A parameter is missing or of the wrong type.
        MissingFileError: A file does not exist.
        FileFormatError: A file is damaged, or its labels or channels differ from the parameters;
            also raised by `next`.
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
                    "use ImageRecordIter for others"
                )
            dtype = parsed["dtype"]
        mean = None
        if parsed.get("mean_img"):
            mean = mean_image_of(
                name, parsed, lambda params: _source(name, params, np.dtype(np.float32), None)
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
    """`ImageRecordIter` that returns uint8 pixels, 0 to 255, not mirrored or normalized."""

    _schema = BYTES_SCHEMA
    _dtype = np.uint8
    _other_dtypes = False


class ImageRecordInt8Iter(ImageRecordIter):
    """`ImageRecordIter` that returns int8 pixels, clipped at 127, not mirrored or normalized."""

    _schema = BYTES_SCHEMA
    _dtype = np.int8
    _other_dtypes = False


class ImageRecordIter_v1(ImageRecordIter):
    """`ImageRecordIter` under an older name."""


class ImageRecordUInt8Iter_v1(ImageRecordUInt8Iter):
    """`ImageRecordUInt8Iter` under an older name."""
