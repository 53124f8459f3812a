"""Cases of operators on images: samplers, regions, resizing, windows, first forms of layers."""

from typing import Any

import numpy as np

from tests.golden.case import Case, computed, distinct, integers, normal, uniform, values

_NO_LABEL = "MXNet does not have it on a CPU"


def _regions(corners: Any) -> Any:
    """Return rows (image, x1, y1, x2, y2) of rows (image, x, y, width, height)."""
    result = corners.copy()
    result[:, 0] = np.floor(result[:, 0])
    result[:, 3:] += result[:, 1:3]
    return result


def _rois(count: int, images: int = 2, dtype: str = "float32") -> Any:
    parts = computed(
        _columns, uniform(0, images, count, 1), uniform(-1, 4, count, 2), uniform(0, 5, count, 2)
    )
    return computed(_cast(dtype), computed(_regions, parts))


def _columns(*parts: Any) -> Any:
    return np.concatenate(parts, axis=1)


def _cast(dtype: str) -> Any:
    def cast(x: Any) -> Any:
        return x.astype(dtype)

    cast.__name__ = f"cast_{dtype}"
    return cast


def _turned(count: int) -> Any:
    """Return the recipe of turned regions (image, x, y, width, height, degrees)."""
    first = integers(0, 2, count, 1)
    rest = (uniform(1, 5, count, 2), uniform(1, 6, count, 2), uniform(-180, 180, count, 1))
    return computed(_columns, first, *rest)


_IMAGE = normal(2, 3, 5, 6)
_GRID = uniform(-1.3, 1.3, 2, 2, 3, 4)
_AFFINE = {"transform_type": "affine", "target_shape": (3, 4)}
_SPATIAL = {**_AFFINE, "sampler_type": "bilinear"}
_ODD_ROIS = values(
    [
        [-1, 0, 0, 3, 3],
        [0, -2, -2, 2, 2],
        [1, 4, 4, 9, 9],
        [0, 3, 3, 1, 1],
        [1, 20, 20, 30, 30],
        [0, 0.5, 1.5, 2.5, 2.5],
    ]
)
_FAR_ROIS = values([[0, -2, -2, 2, 2], [1, 4, 4, 9, 9], [0, 3, 3, 1, 1], [1, 20, 20, 30, 30]])
_SAMPLERS = [
    Case("BilinearSampler", [_IMAGE, _GRID], rtol=1e-4),
    Case("BilinearSampler", [normal(1, 1, 1, 1), uniform(-2, 2, 1, 2, 2, 2)]),
    Case("BilinearSampler", [_IMAGE, _GRID], {"cudnn_off": True}, rtol=1e-4),
    Case(
        "BilinearSampler",
        [normal(1, 2, 3, 3, dtype="float64"), uniform(-1, 1, 1, 2, 2, 2, dtype="float64")],
    ),
    Case("BilinearSampler", [_IMAGE, uniform(-1, 1, 1, 2, 3, 4)], invalid=True),
    Case("BilinearSampler", [_IMAGE, uniform(-1, 1, 2, 3, 3, 4)], invalid=True),
    Case("BilinearSampler", [normal(2, 3, 5), uniform(-1, 1, 2, 2, 3, 4)], invalid=True),
    Case(
        "BilinearSampler",
        [integers(0, 9, 1, 1, 3, 3, dtype="int32"), integers(0, 1, 1, 2, 3, 3, dtype="int32")],
        invalid=True,
    ),
    Case("GridGenerator", [normal(2, 6)], _AFFINE),
    Case("GridGenerator", [normal(2, 2, 3, 4)], {"transform_type": "warp"}),
    Case("GridGenerator", [normal(2, 5)], _AFFINE, invalid=True),
    Case("GridGenerator", [normal(2, 6)], {"transform_type": "affine"}, invalid=True),
    Case("GridGenerator", [normal(2, 3, 3, 4)], {"transform_type": "warp"}, invalid=True),
    Case(
        "GridGenerator",
        [normal(2, 6)],
        {"transform_type": "bend", "target_shape": (2, 2)},
        invalid=True,
    ),
    Case("SpatialTransformer", [_IMAGE, uniform(-0.8, 0.8, 2, 6)], _SPATIAL, rtol=1e-4),
    Case("SpatialTransformer", [_IMAGE, normal(2, 5)], _SPATIAL, invalid=True),
    Case(
        "SpatialTransformer",
        [_IMAGE, normal(2, 6)],
        {"transform_type": "affine", "target_shape": (2, 2)},
        invalid=True,
    ),
]

_RESIZES = [
    Case("_contrib_BilinearResize2D", [_IMAGE], {"height": 7, "width": 4}),
    *[
        Case(
            "_contrib_BilinearResize2D", [_IMAGE], {"height": h, "width": w, "align_corners": align}
        )
        for align in (True, False)
        for h, w in ((3, 9), (1, 2), (5, 6), (10, 12))
    ],
    *[
        Case("_contrib_BilinearResize2D", [_IMAGE], {"mode": mode, "align_corners": align})
        for mode in ("to_even_down", "to_even_up", "to_odd_down", "to_odd_up")
        for align in (True, False)
    ],
    *[
        Case(
            "_contrib_BilinearResize2D",
            [_IMAGE],
            {"mode": mode, "scale_height": h, "scale_width": w, **more},
        )
        for mode in ("size", "odd_scale")
        for h, w in ((2.0, 0.5), (1.5, 1.5), (0.7, 3.3))
        for more in ({}, {"align_corners": False})
    ],
    Case("_contrib_BilinearResize2D", [_IMAGE, normal(1, 1, 3, 8)], {"mode": "like"}),
    Case(
        "_contrib_BilinearResize2D",
        [normal(1, 1, 3, 3, dtype="float64")],
        {"height": 5, "width": 5},
    ),
    Case(
        "_contrib_BilinearResize2D",
        [normal(1, 1, 3, 3, dtype="float16")],
        {"height": 5, "width": 5},
    ),
    Case("_contrib_BilinearResize2D", [_IMAGE], {"height": 0, "width": 3}, invalid=True),
    Case("_contrib_BilinearResize2D", [_IMAGE], {"scale_height": 2.0}, invalid=True),
    Case("_contrib_BilinearResize2D", [_IMAGE], {"mode": "odd_scale"}, invalid=True),
    Case("_contrib_BilinearResize2D", [normal(3, 5, 6)], {"height": 2, "width": 2}, invalid=True),
    Case(
        "_contrib_BilinearResize2D",
        [integers(0, 9, 1, 1, 3, 3, dtype="int32")],
        {"height": 2, "width": 2},
        invalid=True,
    ),
    *[
        Case("_contrib_AdaptiveAvgPooling2D", [_IMAGE], {"output_size": size})
        for size in ((2, 4), (), (3,), (7, 8), (5, 6), (1, 1))
    ],
    Case(
        "_contrib_AdaptiveAvgPooling2D",
        [normal(1, 2, 4, 4, dtype="float16")],
        {"output_size": (3, 3)},
    ),
    Case(
        "_contrib_AdaptiveAvgPooling2D", [normal(1, 2, 4, 4, dtype="float64")], {"output_size": 2}
    ),
    Case("_contrib_AdaptiveAvgPooling2D", [_IMAGE], {"output_size": (-1, 2)}, invalid=True),
    Case("_contrib_AdaptiveAvgPooling2D", [normal(2, 5, 6)], {"output_size": 2}, invalid=True),
    Case(
        "_contrib_AdaptiveAvgPooling2D",
        [integers(0, 9, 1, 1, 3, 3, dtype="int32")],
        {"output_size": 2},
        invalid=True,
    ),
]

_POOL = {"pooled_size": (2, 3), "spatial_scale": 1.0}
_PS = {"spatial_scale": 1.0, "output_dim": 2, "pooled_size": 2}
_REGIONS = [
    Case("ROIPooling", [distinct(2, 3, 5, 6), _rois(4)], _POOL),
    Case("ROIPooling", [distinct(2, 3, 5, 6), _ODD_ROIS], _POOL),
    Case(
        "ROIPooling",
        [distinct(2, 3, 5, 6), _rois(4)],
        {"pooled_size": (3, 3), "spatial_scale": 0.5},
    ),
    Case(
        "ROIPooling",
        [distinct(2, 3, 5, 6), _rois(4)],
        {"pooled_size": (1, 1), "spatial_scale": 0.0},
    ),
    Case("ROIPooling", [distinct(2, 3, 5, 6), normal(4, 4)], _POOL, invalid=True),
    Case(
        "ROIPooling",
        [distinct(2, 3, 5, 6), _rois(4)],
        {"pooled_size": (0, 2), "spatial_scale": 1.0},
        invalid=True,
    ),
    Case(
        "ROIPooling",
        [distinct(2, 3, 5, 6), _rois(4)],
        {"pooled_size": (2,), "spatial_scale": 1.0},
        invalid=True,
    ),
    Case(
        "ROIPooling",
        [distinct(2, 3, 5, 6), _rois(4)],
        {"pooled_size": (2, 2), "spatial_scale": 1.5},
        invalid=True,
    ),
    Case("ROIPooling", [distinct(2, 3, 5), _rois(4)], _POOL, invalid=True),
    Case("_contrib_ROIAlign", [_IMAGE, _rois(4)], _POOL, rtol=1e-4, atol=1e-5),
    *[
        Case("_contrib_ROIAlign", [_IMAGE, rois], {**_POOL, **attrs}, rtol=1e-4, atol=1e-5)
        for rois, attrs in (
            (_rois(5), {"sample_ratio": 2}),
            (_rois(5), {"sample_ratio": 3, "aligned": True}),
            (_rois(5), {"spatial_scale": 0.5}),
            (_rois(5), {"aligned": True}),
            (_FAR_ROIS, {"sample_ratio": 2}),  # aligned regions without width end the process
            (_FAR_ROIS, {"spatial_scale": 0.5}),
        )
    ],
    Case(
        "_contrib_ROIAlign",
        [normal(2, 12, 5, 6), _rois(3)],
        {"pooled_size": (2, 3), "spatial_scale": 1.0, "position_sensitive": True},
        rtol=1e-4,
        atol=1e-5,
    ),
    Case("_contrib_ROIAlign", [_IMAGE, normal(4, 4)], _POOL, invalid=True),
    Case(
        "_contrib_ROIAlign",
        [_IMAGE, _rois(4)],
        {"pooled_size": (2,), "spatial_scale": 1.0},
        invalid=True,
    ),
    Case(
        "_contrib_ROIAlign",
        [_IMAGE, _rois(4)],
        {"pooled_size": (0, 2), "spatial_scale": 1.0},
        invalid=True,
    ),
    Case(
        "_contrib_ROIAlign", [_IMAGE, _rois(4)], {**_POOL, "position_sensitive": True}, invalid=True
    ),
    Case(
        "_contrib_RROIAlign",
        [_IMAGE, _turned(5)],
        _POOL,
        rtol=1e-4,
        atol=1e-5,
        check={"differentiable": False},
    ),
    Case(
        "_contrib_RROIAlign",
        [_IMAGE, _turned(5)],
        {**_POOL, "sampling_ratio": 2},
        rtol=1e-4,
        atol=1e-5,
    ),
    Case(
        "_contrib_RROIAlign",
        [_IMAGE, _turned(5)],
        {"pooled_size": (3, 2), "spatial_scale": 0.5},
        rtol=1e-4,
        atol=1e-5,
    ),
    Case("_contrib_RROIAlign", [_IMAGE, _rois(5)], _POOL, invalid=True),
    Case("_contrib_PSROIPooling", [normal(2, 8, 5, 6), _rois(4)], _PS, rtol=1e-4, atol=1e-5),
    Case(
        "_contrib_PSROIPooling",
        [normal(2, 18, 5, 6), _rois(4)],
        {**_PS, "group_size": 3, "spatial_scale": 0.5},
        rtol=1e-4,
        atol=1e-5,
    ),
    Case("_contrib_PSROIPooling", [normal(2, 8, 5, 6), _FAR_ROIS], _PS, rtol=1e-4, atol=1e-5),
    Case(
        "_contrib_PSROIPooling",
        [normal(2, 7, 5, 6), _rois(4)],
        _PS,
        invalid=True,
        wrong="reads past the end of the data",
    ),
    Case("_contrib_PSROIPooling", [normal(2, 8, 5, 6), normal(4, 4)], _PS, invalid=True),
]

_DEFORM = {"kernel": (3, 2), "num_filter": 4}
_MODULATED = "the gradient is on a GPU only"
_DEFORMABLE = [
    Case(
        "_contrib_DeformableConvolution",
        [normal(2, 2, 5, 6), normal(2, 12, 3, 5), normal(4, 2, 3, 2), normal(4)],
        _DEFORM,
        rtol=1e-4,
        atol=1e-4,
        check={"rtol": 1e-4},
    ),
    Case(
        "_contrib_DeformableConvolution",
        [normal(2, 4, 5, 6), normal(2, 36, 3, 4), normal(4, 2, 3, 3)],
        {
            "kernel": (3, 3),
            "num_filter": 4,
            "num_group": 2,
            "num_deformable_group": 2,
            "pad": (2, 1),
            "stride": (2, 1),
            "dilate": (2, 2),
            "no_bias": True,
        },
        rtol=1e-4,
        atol=1e-4,
    ),
    Case(
        "_contrib_DeformableConvolution",
        [normal(1, 2, 5, 6), normal(1, 10, 3, 5), normal(4, 2, 3, 2), normal(4)],
        _DEFORM,
        invalid=True,
    ),
    Case(
        "_contrib_DeformableConvolution",
        [normal(1, 2, 5, 6), normal(1, 12, 3, 5), normal(4, 3, 3, 2), normal(4)],
        _DEFORM,
        invalid=True,
    ),
    Case(
        "_contrib_DeformableConvolution",
        [normal(1, 2, 2, 6), normal(1, 12, 1, 5), normal(4, 2, 3, 2), normal(4)],
        _DEFORM,
        invalid=True,
    ),
    Case(
        "_contrib_ModulatedDeformableConvolution",
        [
            normal(2, 2, 5, 6),
            normal(2, 12, 3, 5),
            normal(2, 6, 3, 5),
            normal(4, 2, 3, 2),
            normal(4),
        ],
        _DEFORM,
        wrong_grad=_MODULATED,
        rtol=1e-4,
        atol=1e-4,
    ),
    Case(
        "_contrib_ModulatedDeformableConvolution",
        [normal(2, 4, 5, 6), normal(2, 36, 5, 6), normal(2, 18, 5, 6), normal(4, 2, 3, 3)],
        {
            "kernel": (3, 3),
            "num_filter": 4,
            "num_group": 2,
            "num_deformable_group": 2,
            "pad": (1, 1),
            "no_bias": True,
        },
        wrong_grad=_MODULATED,
        rtol=1e-4,
        atol=1e-4,
    ),
    Case(
        "_contrib_ModulatedDeformableConvolution",
        [
            normal(1, 2, 5, 6),
            normal(1, 12, 3, 5),
            normal(1, 7, 3, 5),
            normal(4, 2, 3, 2),
            normal(4),
        ],
        _DEFORM,
        invalid=True,
    ),
]
_PSROI = "_contrib_DeformablePSROIPooling"
_PARTS = {"spatial_scale": 1.0, "output_dim": 2, "group_size": 2, "pooled_size": 2}
_MOVED = [
    Case(
        _PSROI,
        [normal(2, 8, 5, 6), _rois(3), normal(3, 2, 2, 2)],
        {**_PARTS, "trans_std": 0.1},
        rtol=1e-4,
        atol=1e-5,
    ),
    Case(
        _PSROI,
        [normal(2, 8, 5, 6), _FAR_ROIS, normal(4, 4, 2, 2)],
        {**_PARTS, "pooled_size": 3, "trans_std": 0.2, "sample_per_part": 2, "part_size": 2},
        rtol=1e-4,
        atol=1e-5,
    ),
    Case(
        _PSROI,
        [normal(2, 18, 5, 6), _rois(4)],
        {
            **_PARTS,
            "group_size": 3,
            "pooled_size": 3,
            "sample_per_part": 3,
            "no_trans": True,
            "spatial_scale": 0.5,
        },
        rtol=1e-4,
        atol=1e-5,
    ),
    Case(_PSROI, [normal(2, 8, 5, 6), normal(3, 4), normal(3, 2, 2, 2)], _PARTS, invalid=True),
    *[
        Case(
            _PSROI,
            [normal(2, 8, 5, 6), _rois(3), normal(*shape)],
            _PARTS,
            invalid=True,
            wrong="reads past the end of trans",
        )
        for shape in ((3, 3, 2, 2), (3, 2, 3, 3), (2, 2, 2, 2))
    ],
]

_WINDOWS = [
    Case("Correlation", [normal(2, 2, 4, 5), normal(2, 2, 4, 5)], {"pad_size": 1}),
    *[
        Case("Correlation", [normal(1, 2, 6, 7), normal(1, 2, 6, 7)], attrs)
        for attrs in (
            {},
            {"kernel_size": 3, "pad_size": 1},
            {"stride1": 2, "pad_size": 2},
            {"stride2": 2, "max_displacement": 2, "pad_size": 2},
            {"max_displacement": 0},
            {"is_multiply": False, "pad_size": 1},
            {
                "kernel_size": 3,
                "stride1": 2,
                "stride2": 2,
                "max_displacement": 3,
                "pad_size": 3,
                "is_multiply": False,
            },
        )
    ],
    *[
        Case("Correlation", [normal(1, 2, 4, 5), normal(1, 2, 4, 5)], attrs, invalid=True)
        for attrs in ({"kernel_size": 2}, {"max_displacement": 9})
    ],
    Case(
        "Correlation",
        [normal(1, 2, 4, 5), normal(1, 2, 4, 6)],
        invalid=True,
        wrong="reads past the end of data1",
    ),
    Case("Crop", [normal(2, 3, 5, 6)], {"num_args": 1, "h_w": (2, 3), "offset": (1, 2)}),
    Case("Crop", [normal(2, 3, 5, 6), normal(1, 1, 2, 3)], {"num_args": 2, "offset": (1, 1)}),
    Case("Crop", [normal(2, 3, 5, 6)], {"num_args": 1, "h_w": (2, 3), "center_crop": True}),
    *[
        Case("Crop", [normal(2, 3, 5, 6)], {"num_args": 1, **attrs}, invalid=True)
        for attrs in (
            {},
            {"h_w": (2, 2), "offset": (4, 4)},
            {"h_w": (9, 3)},
            {"h_w": (2, 0)},
            {"h_w": (2, 3), "offset": (-1, 0)},
        )
    ],
    Case("im2col", [normal(2, 3, 5, 6)], {"kernel": (3, 2)}),
    Case(
        "im2col",
        [normal(2, 3, 5, 6)],
        {"kernel": (3, 2), "stride": (2, 1), "dilate": (2, 1), "pad": (2, 1)},
    ),
    Case("im2col", [normal(1, 2, 4, 4, dtype="float16")], {"kernel": (2, 2)}),
    Case("im2col", [normal(1, 2, 5)], {"kernel": (2, 2)}, invalid=True),
    Case("im2col", [integers(0, 9, 1, 2, 4, 4, dtype="int32")], {"kernel": (2, 2)}, invalid=True),
    Case("col2im", [normal(2, 18, 15)], {"output_size": (5, 6), "kernel": (3, 2)}),
    Case(
        "col2im",
        [normal(2, 18, 21)],
        {
            "output_size": (5, 6),
            "kernel": (3, 2),
            "stride": (2, 1),
            "dilate": (2, 1),
            "pad": (2, 1),
        },
    ),
    Case("col2im", [normal(2, 18, 14)], {"output_size": (5, 6), "kernel": (3, 2)}, invalid=True),
    Case("col2im", [normal(2, 17, 15)], {"output_size": (5, 6), "kernel": (3, 2)}, invalid=True),
    Case("depth_to_space", [normal(2, 8, 2, 3)], {"block_size": 2}),
    Case("depth_to_space", [integers(0, 9, 1, 9, 2, 2, dtype="int32")], {"block_size": 3}),
    Case("depth_to_space", [normal(2, 6, 2, 3)], {"block_size": 2}, invalid=True),
    Case("depth_to_space", [normal(8, 2, 3)], {"block_size": 2}, invalid=True),
    Case("depth_to_space", [normal(2, 8, 2, 3)], {"block_size": 0}, invalid=True),
    Case("space_to_depth", [normal(2, 3, 4, 6)], {"block_size": 2}),
    Case("space_to_depth", [normal(1, 2, 3, 6, dtype="float16")], {"block_size": 3}),
    Case("space_to_depth", [normal(2, 3, 4, 5)], {"block_size": 2}, invalid=True),
]

_NORM_V1 = "statistics have none, and those of the prediction are taken for the batch's"
_V1 = {"kernel": (2, 3), "num_filter": 4}
_FIRST_FORMS = [
    Case(
        "Convolution_v1",
        [normal(2, 4, 5, 6), normal(4, 4, 2, 3), normal(4)],
        _V1,
        rtol=1e-4,
        atol=1e-4,
    ),
    Case(
        "Convolution_v1",
        [normal(2, 4, 5, 6), normal(4, 2, 2, 3)],
        {**_V1, "num_group": 2, "stride": (2, 1), "pad": (1, 2), "dilate": (2, 1), "no_bias": True},
        wrong_grad="the data's is not the derivative with both a stride and a dilation",
        rtol=1e-4,
        atol=1e-4,
    ),
    Case("Convolution_v1", [normal(2, 4, 5, 6), normal(4, 3, 2, 3), normal(4)], _V1, invalid=True),
    Case(
        "Convolution_v1",
        [normal(2, 4, 5), normal(4, 4, 2), normal(4)],
        {"kernel": (2,), "num_filter": 4},
        invalid=True,
    ),
    *[
        Case(
            "Pooling_v1",
            [distinct(2, 3, 5, 6)],
            {
                "kernel": (3, 2),
                "stride": (2, 2),
                "pad": (1, 1),
                "pool_type": kind,
                "pooling_convention": convention,
            },
        )
        for kind in ("max", "avg", "sum")
        for convention in ("valid", "full")
    ],
    *[
        Case("Pooling_v1", [distinct(2, 3, 5, 6)], {"global_pool": True, "pool_type": kind})
        for kind in ("max", "avg", "sum")
    ],
    Case("Pooling_v1", [distinct(2, 3, 5, 6)], {}, invalid=True),
    Case("Pooling_v1", [distinct(2, 3, 5)], {"kernel": (2,)}, invalid=True),
    Case("Pooling_v1", [distinct(2, 3, 5, 6)], {"kernel": (2, 2, 2)}, invalid=True),
    *[
        Case(
            "BatchNorm_v1",
            [normal(4, 3, 2, 2), uniform(0.5, 2, 3), normal(3), normal(3), uniform(0.5, 2, 3)],
            attrs,
            train=train,
            grad=(0, 1, 2),
            wrong_grad=_NORM_V1 if more or not train else "",
            check={"half": False},  # parameters of 16-bit data are float32
            rtol=1e-4,
            atol=1e-5,
        )
        for train in (True, False)
        for more, attrs in (
            (False, {"fix_gamma": False}),
            (False, {"fix_gamma": False, "use_global_stats": True}),
            (True, {"output_mean_var": True, "fix_gamma": False}),
        )
    ],
    Case("moments", [normal(2, 3, 4)], {"axes": (0, 2)}),
    Case("moments", [normal(2, 3, 4)], {"axes": (1,), "keepdims": True}),
    Case("moments", [normal(2, 3, 4)], {"axes": (-1,)}),
    Case("moments", [normal(5)], {"axes": (0,)}),
    Case("moments", [normal(2, 3, 4)], {"axes": (0, 1, 2)}),
    Case("moments", [normal(2, 3, 4, dtype="float16")], {"axes": (0, 2)}),
    Case("moments", [integers(0, 9, 3, 4, dtype="int32")], {"axes": (1,)}),
    Case("moments", [normal(2, 3)], {}, invalid=True),
    Case("moments", [normal(2, 3)], {"axes": ()}, invalid=True),
    Case("moments", [normal(2, 3)], {"axes": (7,)}, invalid=True),
    Case("moments", [normal(2, 3)], {"axes": (1, 1)}, invalid=True),
]


def _sketch(data: Any, h: Any, s: Any) -> Any:
    """Return a sketch of 3 columns."""
    out = np.zeros((*data.shape[:-1], 3), data.dtype)
    for column, (place, sign) in enumerate(zip(h[0].astype(int), s[0], strict=True)):
        out[..., place] += data[..., column] * sign
    return out


_SKETCHES = [
    Case(
        "_contrib_count_sketch",
        [normal(2, 5), values([[0, 1, 2, 1, 0]]), values([[1, -1, 1, 1, -1]])],
        {"out_dim": 3},
        wrong=_NO_LABEL,
        expected=_sketch,
    ),
    Case(
        "_contrib_count_sketch",
        [normal(2, 5), normal(1, 4), normal(1, 5)],
        {"out_dim": 3},
        invalid=True,
    ),
]

CASES = [
    *_SAMPLERS,
    *_RESIZES,
    *_REGIONS,
    *_DEFORMABLE,
    *_MOVED,
    *_WINDOWS,
    *_FIRST_FORMS,
    *_SKETCHES,
]
