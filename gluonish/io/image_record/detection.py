"""ImageDetRecordIter: batches of images with objects."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from gluonish.core.errors import ArgumentError
from gluonish.io.image_record.labels import LabelSource, widest_label
from gluonish.io.image_record.mean_image import mean_image_of
from gluonish.io.image_record.normalization import Normalization
from gluonish.io.image_record.object_samples import LABEL_HEAD, ObjectSamples
from gluonish.io.image_record.parameters import DETECTION_SCHEMA, check_image_parameters
from gluonish.io.image_record.source import ImageRecordSource
from gluonish.io.native_iter import MXDataIter, parse_parameters

__all__ = ["ImageDetRecordIter"]


class ImageDetRecordIter(MXDataIter):
    """Batches of the images in a record file and of the objects in them.

    A record's label is the width of its header, the width of an object, what else the header holds,
    and then the objects: class, left, top, right, bottom as shares of the image, and the rest. A
    batch's labels are (batch_size, width): channels, height and width of the image, how many
    numbers follow, these, and ``label_pad_value`` behind.

    An image is resized, padded, cut, mirrored, resampled to ``data_shape``, and changed in its
    colours, in that order; its boxes go along. What is random depends on the seeds, the pass and
    the record, not on threads. The heads and labels of all records are read once at the start, to
    find the widest label.

    Otherwise than in MXNet: all dtypes serve, and whole-number ones are normalized too; each
    deviation of 0 counts as 1; a part of the file that has no record gives no batches.

    Args:
        path_imgrec: Path of the record file, or of several, or of a folder: see `input_files`.
        path_imglist: Path of lists whose labels count instead of those in the records.
        data_shape: (channels, height, width) of a sample; 1, 3 or 4 channels, red first.
        batch_size: Number of samples in a batch.
        label_width: Numbers in each label; -1 for any.
        label_pad_width: Numbers that a label is filled up to at least; 0 for those of the widest.
        label_pad_value: What it is filled with.
        preprocess_threads: Threads that decode and augment; no more than there are cores.
        verbose: Whether to log the file and the number of threads.
        prefetch_buffer: Number of batches to load ahead.
        shuffle: Whether each pass has an order of its own.
        shuffle_chunk_size: Megabytes that are shuffled together, in an order drawn from
            ``shuffle_chunk_seed``; 0 for all.
        seed: What orders and augmentation are drawn from.
        num_parts: Number of parts that the data are divided into, for several workers.
        part_index: Index of the part to use, from 0.
        round_batch: Whether the last batch is filled from the next pass, which then begins behind.
        resize: Length of the shorter side before all else, in pixels.
        rand_pad_prob: Share of images that are put within a larger one of ``fill_value``, by up to
            ``max_pad_scale`` a side.
        rand_crop_prob: Share of images that are cut.
        num_crop_sampler: How many kinds of regions there are; they are tried in a random order,
            each ``max_crop_trials`` times, and each parameter of theirs has a number for all or one
            for each.
        min_crop_scales: With ``max_crop_scales``: root of a region's share of the image's area.
        min_crop_aspect_ratios: With ``max_crop_aspect_ratios``: width by height, in pixels.
        min_crop_overlaps: With ``max_crop_overlaps``: intersection over union of the region and at
            least one object.
        min_crop_sample_coverages: The same of the share of the region that the object covers.
        min_crop_object_coverages: The same of the share of the object that is in the region.
        crop_emit_mode: Which objects a region keeps: ``"center"``, those whose centre it has, or
            ``"overlap"``, those of which it has more than ``emit_overlap_thresh``.
        rand_mirror_prob: Share of images that are mirrored.
        max_random_hue: Largest change of hue, in steps of two degrees, of ``random_hue_prob`` of
            the images; the same for ``saturation``, ``illumination`` (of 255) and ``contrast`` (a
            share).
        resize_mode: ``"force"`` resamples to ``data_shape``; ``"fit"`` keeps the proportions, with
            zeros below or beside; ``"shrink"`` also leaves smaller images as they are.
        inter_method: 0 nearest, 1 linear, 2 cubic, 3 area, 4 Lanczos; 9 by the sizes, 10 any.
        mean_img: Path of a file with the mean of each pixel; it is made where it is missing.
        mean_r: Mean of red, or of gray; so ``mean_g``, ``mean_b``, ``mean_a``.
        std_r: Deviation of red, or of gray; so ``std_g``, ``std_b``, ``std_a``; 0 for none.
        scale: Factor of the result.
        ctx: Has no effect: batches are in ordinary CPU memory, where MXNet's are in memory pinned
            for the copy to a GPU.
        aug_seq: Only ``"det_aug_default"``, the sequence above.
        dtype: Of the data; float32 by default.
        data_name: Name of the data.
        label_name: Name of the labels.

    Raises:
        ArgumentError: A parameter is out of its range, or ``label_pad_width`` too small.
        OperatorError: One is missing, or of a wrong kind.
        MissingFileError: A file does not exist.
        FileFormatError: A file is damaged, or a label is none: here, or at `next`.
    """

    def __init__(self, **parameters: Any) -> None:
        name = type(self).__name__
        parsed, names = parse_parameters(name, DETECTION_SCHEMA, parameters)
        check_image_parameters(name, parsed)
        dtype = np.dtype(np.float32) if parsed["dtype"] is None else parsed["dtype"]
        labels = LabelSource(name, parsed["path_imglist"], parsed["label_width"])
        widest = widest_label(name, parsed["path_imgrec"], labels)
        wanted = parsed["label_pad_width"]
        if 0 < wanted < widest:
            raise ArgumentError(
                f"{name}: expected label_pad_width of at least {widest}, the width of the widest "
                f"label, got {wanted}"
            )
        width = LABEL_HEAD + max(widest, wanted)
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
    )


# Of bytes here, not of normalized pixels.
_NO_JITTER = {"max_random_contrast": 0.0, "max_random_illumination": 0.0}
