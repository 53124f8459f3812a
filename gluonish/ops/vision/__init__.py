"""Operators that read images: samplers, regions, resizing, and windows in other forms."""

from gluonish.ops.vision.adaptive_avg_pooling import ADAPTIVE_AVG_POOLING
from gluonish.ops.vision.bilinear_resize import BILINEAR_RESIZE
from gluonish.ops.vision.bilinear_sampler import (
    BILINEAR_SAMPLER,
    GRID_GENERATOR,
    SPATIAL_TRANSFORMER,
)
from gluonish.ops.vision.correlation import CORRELATION
from gluonish.ops.vision.count_sketch import COUNT_SKETCH
from gluonish.ops.vision.crop import CROP
from gluonish.ops.vision.deformable_convolution import (
    DEFORMABLE_CONVOLUTION,
    MODULATED_DEFORMABLE_CONVOLUTION,
)
from gluonish.ops.vision.deformable_psroi import DEFORMABLE_PSROI_POOLING
from gluonish.ops.vision.depth_space import DEPTH_TO_SPACE, SPACE_TO_DEPTH
from gluonish.ops.vision.image_columns import COL2IM, IM2COL
from gluonish.ops.vision.mask_target import MRCNN_MASK_TARGET
from gluonish.ops.vision.moments import MOMENTS
from gluonish.ops.vision.roi_align import PSROI_POOLING, ROI_ALIGN
from gluonish.ops.vision.roi_pooling import ROI_POOLING
from gluonish.ops.vision.rroi_align import RROI_ALIGN
from gluonish.ops.vision.version1 import BATCH_NORM_V1, CONVOLUTION_V1, POOLING_V1

__all__ = [
    "ADAPTIVE_AVG_POOLING",
    "BATCH_NORM_V1",
    "BILINEAR_RESIZE",
    "BILINEAR_SAMPLER",
    "COL2IM",
    "CONVOLUTION_V1",
    "CORRELATION",
    "COUNT_SKETCH",
    "CROP",
    "DEFORMABLE_CONVOLUTION",
    "DEFORMABLE_PSROI_POOLING",
    "DEPTH_TO_SPACE",
    "GRID_GENERATOR",
    "IM2COL",
    "MODULATED_DEFORMABLE_CONVOLUTION",
    "MOMENTS",
    "MRCNN_MASK_TARGET",
    "POOLING_V1",
    "PSROI_POOLING",
    "ROI_ALIGN",
    "ROI_POOLING",
    "RROI_ALIGN",
    "SPACE_TO_DEPTH",
    "SPATIAL_TRANSFORMER",
]
