"""The parameters of the iterators over image records, in MXNet's order, and their ranges."""

from collections.abc import Mapping
from typing import Any

from gluonish.core.errors import ArgumentError
from gluonish.core.schema import (
    Attribute,
    Schema,
    boolean,
    choice,
    integer,
    number,
    numbers,
    optional,
    shape,
    text,
)
from gluonish.io.native_iter import PREFETCH_PARAMETERS, check_parts

_MAX_SIDE = 1 << 15  # pixels; limit of resampling

_FILES: Mapping[str, Attribute] = {
    "path_imglist": text(""),
    "path_imgrec": text(""),
    "path_imgidx": text(""),
    "aug_seq": choice("aug_default", default="aug_default"),
    "label_width": integer(1, low=1),
    "data_shape": shape(),
    "preprocess_threads": integer(4, low=1),
    "verbose": boolean(True),
    "num_parts": integer(1),
    "part_index": integer(0),
    "device_id": integer(0),
    "shuffle_chunk_size": integer(0, low=0),
    "shuffle_chunk_seed": integer(0),
    "seed_aug": optional(integer()),
}

_BATCHES: Mapping[str, Attribute] = {
    "shuffle": boolean(False),
    "seed": integer(0),
    "batch_size": integer(low=1),
    "round_batch": boolean(True),
    **PREFETCH_PARAMETERS,
}

_AUGMENTATION: Mapping[str, Attribute] = {
    "resize": integer(-1),
    "rand_crop": boolean(False),
    "random_resized_crop": boolean(False),
    "max_rotate_angle": integer(0),
    "max_aspect_ratio": number(0.0),
    "min_aspect_ratio": optional(number()),
    "max_shear_ratio": number(0.0),
    "max_crop_size": integer(-1),
    "min_crop_size": integer(-1),
    "max_random_scale": number(1.0),
    "min_random_scale": number(1.0),
    "max_random_area": number(1.0),
    "min_random_area": number(1.0),
    "max_img_size": number(1e10),
    "min_img_size": number(0.0),
    "brightness": number(0.0),
    "contrast": number(0.0),
    "saturation": number(0.0),
    "pca_noise": number(0.0),
    "random_h": integer(0),
    "random_s": integer(0),
    "random_l": integer(0),
    "rotate": integer(-1),
    "fill_value": integer(255),
    "inter_method": integer(1),
    "pad": integer(0),
}


def _normalization(std: float) -> dict[str, Attribute]:
    means = {f"mean_{letter}": number(0.0) for letter in "rgba"}
    deviations = {f"std_{letter}": number(std) for letter in "rgba"}
    return {"mean_img": text(""), **means, **deviations, "scale": number(1.0)}


SCHEMA = Schema(
    **_FILES,
    **_BATCHES,
    **_AUGMENTATION,
    mirror=boolean(False),
    rand_mirror=boolean(False),
    **_normalization(1.0),
    max_random_contrast=number(0.0),
    max_random_illumination=number(0.0),
)

# The iterators of bytes neither mirror nor normalize.
BYTES_SCHEMA = Schema(**_FILES, **_BATCHES, **_AUGMENTATION)

_DETECTION_FILES: Mapping[str, Attribute] = {
    "path_imglist": text(""),
    "path_imgrec": text("./data/imgrec.rec"),
    "aug_seq": choice("det_aug_default", default="det_aug_default"),
    "label_width": integer(-1),
    "data_shape": shape(),
    "preprocess_threads": integer(4, low=1),
    "verbose": boolean(True),
    "num_parts": integer(1),
    "part_index": integer(0),
    "shuffle_chunk_size": integer(0, low=0),
    "shuffle_chunk_seed": integer(0),
    "label_pad_width": integer(0, low=0),
    "label_pad_value": number(-1.0),
}

_CROPS: Mapping[str, Attribute] = {
    "resize": integer(-1),
    "rand_crop_prob": number(0.0),
    "min_crop_scales": numbers((0.0,)),
    "max_crop_scales": numbers((1.0,)),
    "min_crop_aspect_ratios": numbers((1.0,)),
    "max_crop_aspect_ratios": numbers((1.0,)),
    "min_crop_overlaps": numbers((0.0,)),
    "max_crop_overlaps": numbers((1.0,)),
    "min_crop_sample_coverages": numbers((0.0,)),
    "max_crop_sample_coverages": numbers((1.0,)),
    "min_crop_object_coverages": numbers((0.0,)),
    "max_crop_object_coverages": numbers((1.0,)),
    "num_crop_sampler": integer(1, low=0),
    "crop_emit_mode": choice("center", "overlap", default="center"),
    "emit_overlap_thresh": number(0.3),
    "max_crop_trials": shape((25,)),
}

_DETECTION_LOOK: Mapping[str, Attribute] = {
    "rand_pad_prob": number(0.0),
    "max_pad_scale": number(1.0),
    "max_random_hue": integer(0),
    "random_hue_prob": number(0.0),
    "max_random_saturation": integer(0),
    "random_saturation_prob": number(0.0),
    "max_random_illumination": integer(0),
    "random_illumination_prob": number(0.0),
    "max_random_contrast": number(0.0),
    "random_contrast_prob": number(0.0),
    "rand_mirror_prob": number(0.0),
    "fill_value": integer(127),
    "inter_method": integer(1),
    "resize_mode": choice("fit", "force", "shrink", default="force"),
}

DETECTION_SCHEMA = Schema(
    **_DETECTION_FILES,
    **_BATCHES,
    **_CROPS,
    **_DETECTION_LOOK,
    **_normalization(0.0),
)


def check_image_parameters(name: str, parameters: Mapping[str, Any]) -> None:
    """Check the common parameters of all iterators over image records.

    Args:
        name: Class name of the iterator, for error messages.
        parameters: The parameters, parsed by the iterator's schema.

    Raises:
        ArgumentError: A value is out of range.
    """
    check_parts(name, parameters["num_parts"], parameters["part_index"])
    data_shape = parameters["data_shape"]
    fits = len(data_shape) == 3 and data_shape[0] in (1, 3, 4)
    if not (fits and all(0 < extent <= _MAX_SIDE for extent in data_shape[1:])):
        raise ArgumentError(
            f"{name}: expected data_shape (channels, height, width) with 1, 3 or 4 channels and "
            f"sides of 1 to {_MAX_SIDE} pixels, got {data_shape}"
        )
    if not parameters["path_imgrec"]:
        raise ArgumentError(f"{name}: expected path_imgrec, the path of a record file, got none")
    if parameters["inter_method"] not in (0, 1, 2, 3, 4, 9, 10):
        raise ArgumentError(
            f"{name}: expected inter_method 0 to 4, 9 or 10, got {parameters['inter_method']}"
        )
    if not 0 <= parameters["fill_value"] <= 255:
        raise ArgumentError(
            f"{name}: expected fill_value from 0 to 255, got {parameters['fill_value']}"
        )
    if parameters["resize"] > _MAX_SIDE:
        raise ArgumentError(
            f"{name}: expected resize of at most {_MAX_SIDE} pixels, got {parameters['resize']}"
        )
