"""Pooling layers: maximum and average over windows, or over all spatial positions."""

from types import ModuleType
from typing import Any

from gluonish.core.number_check import DeferErrorToCall
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.nn.tensor import Extents, Tensor, as_extents, check_layout

_LAYOUTS = {1: ("NCW", "NWC"), 2: ("NCHW", "NHWC"), 3: ("NCDHW", "NDHWC")}


class PoolingLayer(HybridBlock):
    """Pooling of any rank and type; base class of `MaxPool2D` and the others.

    Args:
        pool_size: Size of the window along each spatial axis.
        strides: Step between windows; None uses ``pool_size``, so that windows do not
            overlap.
        padding: Number of elements added to both ends of each spatial axis.
        ceil_mode: Whether to round the output size up, so that a last window may reach over the
            edge; if not, it is rounded down.
        global_pool: Whether the window spans the full input.
        pool_type: ``"max"`` or ``"avg"``.
        layout: Order of the axes.
        count_include_pad: Whether the mean includes padding zeros; None for maxima.
        **kwargs: See `HybridBlock`.
    """

    def __init__(
        self,
        pool_size: tuple[int, ...],
        strides: Extents | None,
        padding: Extents,
        ceil_mode: bool,
        global_pool: bool,
        pool_type: str,
        layout: str,
        count_include_pad: bool | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        layer, rank = type(self).__name__, len(pool_size)
        check_layout(layout, _LAYOUTS[rank], layer)
        kernel = stride = pool_size
        pad = (0,) * rank
        with DeferErrorToCall(self):
            if strides is not None:
                stride = as_extents(strides, rank, f"{layer} strides", 1)
            pad = as_extents(padding, rank, f"{layer} padding", 0)
        self._kwargs: dict[str, Any] = {
            "kernel": kernel,
            "stride": stride,
            "pad": pad,
            "global_pool": global_pool,
            "pool_type": pool_type,
            "layout": layout,
            "pooling_convention": "full" if ceil_mode else "valid",
        }
        if count_include_pad is not None:
            self._kwargs["count_include_pad"] = count_include_pad

    def _alias(self) -> str:
        return "pool"

    def hybrid_forward(self, F: ModuleType, x: Tensor) -> Any:
        """Pool over windows of the input.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            x: Input, with its axes in the order of ``layout``.
        """
        return F.Pooling(x, name="fwd", **self._kwargs)

    def __repr__(self) -> str:
        ceil_mode = self._kwargs["pooling_convention"] == "full"
        return (
            "{}(size={kernel}, stride={stride}, padding={pad}, ceil_mode={}, "
            "global_pool={global_pool}, pool_type={pool_type}, layout={layout})"
        ).format(type(self).__name__, ceil_mode, **self._kwargs)


class MaxPool1D(PoolingLayer):
    """Take the maximum of each window, over one spatial axis.

    Args:
        pool_size: Size of the window along each spatial axis, or one int for all.
        strides: Step between windows; None uses ``pool_size``, so that windows do not
            overlap.
        padding: Number of elements added to both ends of each spatial axis.
        layout: ``"NCW"`` or ``"NWC"``.
        ceil_mode: Whether to round the output size up, so that a last window may reach over the
            edge; if not, it is rounded down.
        **kwargs: See `HybridBlock`.

    Inputs:
        x: (N, C, W), or (N, W, C) with the channels last.

    Outputs:
        y: (N, C, W_out), where a size x becomes
            floor((x + 2 * padding - pool_size) / strides) + 1, ceil instead with ``ceil_mode``.
    """

    def __init__(
        self,
        pool_size: Extents = 2,
        strides: Extents | None = None,
        padding: Extents = 0,
        layout: str = "NCW",
        ceil_mode: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            as_extents(pool_size, 1, "MaxPool1D pool_size"),
            strides,
            padding,
            ceil_mode,
            False,
            "max",
            layout,
            **kwargs,
        )


class MaxPool2D(PoolingLayer):
    """Take the maximum of each window, over two spatial axes.

    Args:
        pool_size: Size of the window along each spatial axis, or one int for all.
        strides: Step between windows; None uses ``pool_size``, so that windows do not
            overlap.
        padding: Number of elements added to both ends of each spatial axis.
        layout: ``"NCHW"`` or ``"NHWC"``.
        ceil_mode: Whether to round the output size up, so that a last window may reach over the
            edge; if not, it is rounded down.
        **kwargs: See `HybridBlock`.

    Inputs:
        x: (N, C, H, W), or (N, H, W, C) with the channels last.

    Outputs:
        y: (N, C, H_out, W_out), where a size x becomes
            floor((x + 2 * padding - pool_size) / strides) + 1, ceil instead with ``ceil_mode``.

    Example:
        >>> import gluonish as mx
        >>> mx.gluon.nn.MaxPool2D(pool_size=2)(mx.nd.ones((1, 3, 8, 8))).shape
        (1, 3, 4, 4)
    """

    def __init__(
        self,
        pool_size: Extents = (2, 2),
        strides: Extents | None = None,
        padding: Extents = 0,
        layout: str = "NCHW",
        ceil_mode: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            as_extents(pool_size, 2, "MaxPool2D pool_size"),
            strides,
            padding,
            ceil_mode,
            False,
            "max",
            layout,
            **kwargs,
        )


class MaxPool3D(PoolingLayer):
    """Take the maximum of each window, over three spatial axes.

    Args:
        pool_size: Size of the window along each spatial axis, or one int for all.
        strides: Step between windows; None uses ``pool_size``, so that windows do not
            overlap.
        padding: Number of elements added to both ends of each spatial axis.
        ceil_mode: Whether to round the output size up, so that a last window may reach over the
            edge; if not, it is rounded down.
        layout: ``"NCDHW"`` or ``"NDHWC"``.
        **kwargs: See `HybridBlock`.

    Inputs:
        x: (N, C, D, H, W), or (N, D, H, W, C) with the channels last.

    Outputs:
        y: (N, C, D_out, H_out, W_out), where a size x becomes
            floor((x + 2 * padding - pool_size) / strides) + 1, ceil instead with ``ceil_mode``.
    """

    def __init__(
        self,
        pool_size: Extents = (2, 2, 2),
        strides: Extents | None = None,
        padding: Extents = 0,
        ceil_mode: bool = False,
        layout: str = "NCDHW",
        **kwargs: Any,
    ) -> None:
        super().__init__(
            as_extents(pool_size, 3, "MaxPool3D pool_size"),
            strides,
            padding,
            ceil_mode,
            False,
            "max",
            layout,
            **kwargs,
        )


class AvgPool1D(PoolingLayer):
    """Take the mean of each window, over one spatial axis.

    Args:
        pool_size: Size of the window along each spatial axis, or one int for all.
        strides: Step between windows; None uses ``pool_size``, so that windows do not
            overlap.
        padding: Number of elements added to both ends of each spatial axis.
        layout: ``"NCW"`` or ``"NWC"``.
        ceil_mode: Whether to round the output size up, so that a last window may reach over the
            edge; if not, it is rounded down.
        count_include_pad: Whether padding elements (zeros) count towards the mean.
        **kwargs: See `HybridBlock`.

    Inputs:
        x: (N, C, W), or (N, W, C) with the channels last.

    Outputs:
        y: (N, C, W_out), where a size x becomes
            floor((x + 2 * padding - pool_size) / strides) + 1, ceil instead with ``ceil_mode``.
    """

    def __init__(
        self,
        pool_size: Extents = 2,
        strides: Extents | None = None,
        padding: Extents = 0,
        layout: str = "NCW",
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            as_extents(pool_size, 1, "AvgPool1D pool_size"),
            strides,
            padding,
            ceil_mode,
            False,
            "avg",
            layout,
            count_include_pad,
            **kwargs,
        )


class AvgPool2D(PoolingLayer):
    """Take the mean of each window, over two spatial axes.

    Args:
        pool_size: Size of the window along each spatial axis, or one int for all.
        strides: Step between windows; None uses ``pool_size``, so that windows do not
            overlap.
        padding: Number of elements added to both ends of each spatial axis.
        ceil_mode: Whether to round the output size up, so that a last window may reach over the
            edge; if not, it is rounded down.
        layout: ``"NCHW"`` or ``"NHWC"``.
        count_include_pad: Whether padding elements (zeros) count towards the mean.
        **kwargs: See `HybridBlock`.

    Inputs:
        x: (N, C, H, W), or (N, H, W, C) with the channels last.

    Outputs:
        y: (N, C, H_out, W_out), where a size x becomes
            floor((x + 2 * padding - pool_size) / strides) + 1, ceil instead with ``ceil_mode``.
    """

    def __init__(
        self,
        pool_size: Extents = (2, 2),
        strides: Extents | None = None,
        padding: Extents = 0,
        ceil_mode: bool = False,
        layout: str = "NCHW",
        count_include_pad: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            as_extents(pool_size, 2, "AvgPool2D pool_size"),
            strides,
            padding,
            ceil_mode,
            False,
            "avg",
            layout,
            count_include_pad,
            **kwargs,
        )


class AvgPool3D(PoolingLayer):
    """Take the mean of each window, over three spatial axes.

    Args:
        pool_size: Size of the window along each spatial axis, or one int for all.
        strides: Step between windows; None uses ``pool_size``, so that windows do not
            overlap.
        padding: Number of elements added to both ends of each spatial axis.
        ceil_mode: Whether to round the output size up, so that a last window may reach over the
            edge; if not, it is rounded down.
        layout: ``"NCDHW"`` or ``"NDHWC"``.
        count_include_pad: Whether padding elements (zeros) count towards the mean.
        **kwargs: See `HybridBlock`.

    Inputs:
        x: (N, C, D, H, W), or (N, D, H, W, C) with the channels last.

    Outputs:
        y: (N, C, D_out, H_out, W_out), where a size x becomes
            floor((x + 2 * padding - pool_size) / strides) + 1, ceil instead with ``ceil_mode``.
    """

    def __init__(
        self,
        pool_size: Extents = (2, 2, 2),
        strides: Extents | None = None,
        padding: Extents = 0,
        ceil_mode: bool = False,
        layout: str = "NCDHW",
        count_include_pad: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            as_extents(pool_size, 3, "AvgPool3D pool_size"),
            strides,
            padding,
            ceil_mode,
            False,
            "avg",
            layout,
            count_include_pad,
            **kwargs,
        )


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
