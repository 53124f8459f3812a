"""ImageDetRecordIter: batches of images with objects."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from gluonish.core.errors import ArgumentError
from gluonish.io.image_record.labels import LabelSource, longest_label
from gluonish.io.image_record.mean_image import mean_image_of
from gluonish.io.image_record.normalization import Normalization
from gluonish.io.image_record.objects import LABEL_HEAD, ObjectSamples
from gluonish.io.image_record.parameters import DETECTION_SCHEMA, check_image_parameters
from gluonish.io.image_record.source import ImageRecordSource
from gluonish.io.native_iter import MXDataIter, parse_parameters


class ImageDetRecordIter(MXDataIter):
    """Iterates over a record file of images with labelled objects, for object detection.

    The label of a record is a flat list of numbers: the width of the header (at least 2), the width
    of one object (at least 5), the rest of the header, and then the objects, each with class, left,
    top, right, bottom as fractions of the image's size, and any further numbers. In a batch, a
    label row is: channels, height and width of the image, the length of the label, the label, and
    ``label_pad_value`` up to the end of the row. Boxes refer to the stored image, so its EXIF
    orientation is ignored.

    Each image is resized, padded, cropped, mirrored, resized to ``data_shape``, colour-augmented
    and normalized, in that order, and its boxes are adjusted. Random choices depend only on the
    seeds, the epoch and the record, not on the threads. The constructor reads the labels of all
    records once, to find the longest.

    Differences from MXNet: every dtype is supported, and integers are normalized, too; a standard
    deviation of 0 means 1; a part of the file without records has no batches.

    Args:
        path_imgrec: Path of the record file, of several files, or of a folder: see `input_files`.
        path_imglist: Path of list files whose labels replace those in the records.
        data_shape: Shape (channels, height, width) of a sample; 1, 3 (RGB) or 4 (RGBA) channels.
        batch_size: Number of samples in a batch.
        label_width: Length that every label must have; -1 accepts any length.
        label_pad_width: Minimum length to which labels are padded; 0 pads to the longest label.
        label_pad_value: Value of the padding.
        preprocess_threads: Maximum number of threads that decode and augment, limited to the number
            of CPU cores.
        verbose: Whether to log the file and the number of threads.
        prefetch_buffer: Number of batches to load ahead.
        shuffle: Whether to reshuffle the records in each epoch.
        shuffle_chunk_size: Size in megabytes of the chunks of the file that are shuffled as units,
            in an order drawn from ``shuffle_chunk_seed``; 0 shuffles single records.
        seed: Seed of the order and of the augmentation.
        num_parts: Number of parts that the data are divided into, for several workers.
        part_index: Index of the part to use, from 0.
        round_batch: Whether an incomplete last batch is filled with samples of the next epoch,
            which then starts after them.
        resize: Length in pixels to which the shorter side is resized first; -1 for no resizing.
        rand_pad_prob: Probability of placing the image at random on a larger canvas of
            ``fill_value``, up to ``max_pad_scale`` times as wide and high.
        rand_crop_prob: Probability of a random crop.
        num_crop_sampler: Number of crop samplers. They are tried in random order, each
            ``max_crop_trials`` times, until a crop satisfies its limits. Every crop parameter is
            one number for all samplers, or one number for each.
        min_crop_scales: With ``max_crop_scales``: range of the square root of the crop's area as a
            fraction of the image's area.
        min_crop_aspect_ratios: With ``max_crop_aspect_ratios``: range of width / height in pixels.
        min_crop_overlaps: With ``max_crop_overlaps``: limits of the IoU of the crop and an object;
            at least one object must satisfy all limits.
        min_crop_sample_coverages: With ``max_crop_sample_coverages``: limits of the fraction of
            the crop that the object covers.
        min_crop_object_coverages: With ``max_crop_object_coverages``: limits of the fraction of the
            object inside the crop.
        crop_emit_mode: Objects kept by a crop: ``"center"``, objects with their centre in the crop;
            ``"overlap"``, objects with more than ``emit_overlap_thresh`` of their area in it.
        rand_mirror_prob: Probability of a horizontal flip.
        max_random_hue: Maximum shift of hue, in steps of 2 degrees, applied with probability
            ``random_hue_prob``. Likewise ``max_random_saturation`` and
            ``max_random_illumination`` (0 to 255), and ``max_random_contrast`` (a fraction).
        resize_mode: ``"force"`` stretches to ``data_shape``; ``"fit"`` keeps the aspect ratio and
            fills the right or the bottom with zeros; ``"shrink"`` does so for larger images only.
        inter_method: Interpolation: 0 nearest, 1 bilinear, 2 bicubic, 3 area, 4 Lanczos, 9 chosen
            by the sizes, 10 random.
        mean_img: Path of a file with the mean image; it is computed and written if missing.
        mean_r: Mean of the red (or gray) channel; likewise ``mean_g``, ``mean_b``, ``mean_a``.
        std_r: Standard deviation of the red (or gray) channel; likewise ``std_g``, ``std_b``,
            ``std_a``. 0 does not divide.
        scale: Factor of the normalized values.
        ctx: Accepted for MXNet's programs; has no effect, batches are always in CPU memory.
        aug_seq: Only ``"det_aug_default"``, the sequence above.
        dtype: Element type of the data, float32 by default.
        data_name: Name of the data.
        label_name: Name of the labels.

    Raises:
        ArgumentError: A parameter is out of range, or ``label_pad_width`` is too small.
        OperatorError: A parameter is missing or of the wrong type.
        MissingFileError: A file does not exist.
        FileFormatError: A file is damaged or a label is invalid; also raised by `next`.
    """

    def __init__(self, **parameters: Any) -> None:
        name = type(self).__name__
        parsed, names = parse_parameters(name, DETECTION_SCHEMA, parameters)
        check_image_parameters(name, parsed)
        dtype = np.dtype(np.float32) if parsed["dtype"] is None else parsed["dtype"]
        labels = LabelSource(name, parsed["path_imglist"], parsed["label_width"])
        longest = longest_label(name, parsed["path_imgrec"], labels)
        pad_width = parsed["label_pad_width"]
        if 0 < pad_width < longest:
            raise ArgumentError(
                f"{name}: expected label_pad_width of at least {longest}, the length of the "
                f"longest label, got {pad_width}"
            )
        width = LABEL_HEAD + max(longest, pad_width)
        mean = None
        if parsed["mean_img"]:
            mean = mean_image_of(
                name, parsed, lambda p: _source(name, p, np.dtype(np.float32), width, labels)
            )
        super().__init__(_source(name, parsed, dtype, width, labels, mean), **names)


def _source(
    name: str,
    parameters: Mapping[str, Any],
    dtype: np.dtype[Any],
    width: int,
    labels: LabelSource,
    mean: np.ndarray[Any, Any] | None = None,
) -> ImageRecordSource:
    normalization = Normalization(name, {**parameters, **_NO_JITTER}, dtype, mean)
    return ImageRecordSource(
        name,
        parameters,
        dtype,
        (width,),
        labels,
        ObjectSamples(name, parameters, normalization),
        upright=False,
    )


# Detection applies these to bytes, not to normalized pixels.
_NO_JITTER = {"max_random_contrast": 0.0, "max_random_illumination": 0.0}
