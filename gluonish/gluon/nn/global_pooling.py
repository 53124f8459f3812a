"""Global pooling over one, two and three spatial axes: the largest or the mean of each channel."""

from typing import Any

from gluonish.gluon.nn.pooling import PoolingLayer

__all__ = [
    "GlobalAvgPool1D",
    "GlobalAvgPool2D",
    "GlobalAvgPool3D",
    "GlobalMaxPool1D",
    "GlobalMaxPool2D",
    "GlobalMaxPool3D",
]


class GlobalMaxPool1D(PoolingLayer):
    """Take the largest element of each channel, over one spatial axis.

    Args:
        layout: ``"NCW"`` or ``"NWC"``.
        **kwargs: See `HybridBlock`.

    Inputs:
        x: (N, C, W), or (N, W, C) with the channels last.

    Outputs:
        y: (N, C, 1), or (N, 1, C) with the channels last.
    """

    def __init__(self, layout: str = "NCW", **kwargs: Any) -> None:
        super().__init__((1,), None, 0, True, True, "max", layout, **kwargs)


class GlobalMaxPool2D(PoolingLayer):
    """Take the largest element of each channel, over two spatial axes.

    Args:
        layout: ``"NCHW"`` or ``"NHWC"``.
        **kwargs: See `HybridBlock`.

    Inputs:
        x: (N, C, H, W), or (N, H, W, C) with the channels last.

    Outputs:
        y: (N, C, 1, 1), or (N, 1, 1, C) with the channels last.
    """

    def __init__(self, layout: str = "NCHW", **kwargs: Any) -> None:
        super().__init__((1,) * 2, None, 0, True, True, "max", layout, **kwargs)


class GlobalMaxPool3D(PoolingLayer):
    """Take the largest element of each channel, over three spatial axes.

    Args:
        layout: ``"NCDHW"`` or ``"NDHWC"``.
        **kwargs: See `HybridBlock`.

    Inputs:
        x: (N, C, D, H, W), or (N, D, H, W, C) with the channels last.

    Outputs:
        y: (N, C, 1, 1, 1), or (N, 1, 1, 1, C) with the channels last.
    """

    def __init__(self, layout: str = "NCDHW", **kwargs: Any) -> None:
        super().__init__((1,) * 3, None, 0, True, True, "max", layout, **kwargs)


class GlobalAvgPool1D(PoolingLayer):
    """Take the mean of each channel, over one spatial axis.

    Args:
        layout: ``"NCW"`` or ``"NWC"``.
        **kwargs: See `HybridBlock`.

    Inputs:
        x: (N, C, W), or (N, W, C) with the channels last.

    Outputs:
        y: (N, C, 1), or (N, 1, C) with the channels last.
    """

    def __init__(self, layout: str = "NCW", **kwargs: Any) -> None:
        super().__init__((1,), None, 0, True, True, "avg", layout, **kwargs)


class GlobalAvgPool2D(PoolingLayer):
    """Take the mean of each channel, over two spatial axes.

    Args:
        layout: ``"NCHW"`` or ``"NHWC"``.
        **kwargs: See `HybridBlock`.

    Inputs:
        x: (N, C, H, W), or (N, H, W, C) with the channels last.

    Outputs:
        y: (N, C, 1, 1), or (N, 1, 1, C) with the channels last.
    """

    def __init__(self, layout: str = "NCHW", **kwargs: Any) -> None:
        super().__init__((1,) * 2, None, 0, True, True, "avg", layout, **kwargs)


class GlobalAvgPool3D(PoolingLayer):
    """Take the mean of each channel, over three spatial axes.

    Args:
        layout: ``"NCDHW"`` or ``"NDHWC"``.
        **kwargs: See `HybridBlock`.

    Inputs:
        x: (N, C, D, H, W), or (N, D, H, W, C) with the channels last.

    Outputs:
        y: (N, C, 1, 1, 1), or (N, 1, 1, 1, C) with the channels last.
    """

    def __init__(self, layout: str = "NCDHW", **kwargs: Any) -> None:
        super().__init__((1,) * 3, None, 0, True, True, "avg", layout, **kwargs)
