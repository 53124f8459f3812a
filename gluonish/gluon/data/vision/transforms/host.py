"""Direct execution of transforms: images in host memory, as NumPy arrays.

Images may also come as NumPy arrays; transforms convert them, functions get them as they are.

A loader's worker transforms small images of different sizes. Each size would need a new graph plan,
and an operator call costs more than its computation. So for images in host memory, without
recording, tracing or monitoring, transforms are functions of NumPy arrays: a crop or a flip is a
view, and `Compose` creates an NDArray of the final result only.
"""

import sys
from functools import cache
from typing import Any

import numpy as np

from gluonish.core.context import cpu
from gluonish.core.device import Device, device_of
from gluonish.core.random_state import next_key
from gluonish.core.spec import Spec
from gluonish.core.tracebacks import shorten
from gluonish.gluon.block import Block
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.image.pil_images import as_image, is_pil_image
from gluonish.ndarray import NDArray, from_numpy, recording
from gluonish.ndarray.recording import HOOKED, RECORDING, tracer
from gluonish.numpy.array import gluon_array
from gluonish.ops.registry import Operator
from gluonish_engine import Var

Array = np.ndarray[Any, Any]

_OVERRIDES = {"__call__", "forward", "hybrid_forward"}
_DIRECT_METHODS = {"carry", "on_host"}


@cache
def _host() -> Device:
    return device_of(cpu())


def runs_on_host(x: Any) -> bool:
    """Whether an input is an array that transforms can process as a NumPy array."""
    return (
        isinstance(x, NDArray)
        and x.stype == "default"
        and x._device is _host()
        and not recording.mode.get() & (RECORDING | HOOKED)
        and tracer.get() is None
    )


def random_key() -> tuple[int, int]:
    """Return the random key of the next operator on the host."""
    return next_key(_host().context)


def run_operator(
    op: Operator, values: Array, key: tuple[int, int] | None = None, **attrs: Any
) -> Array:
    """Apply an operator to one array, with the kernel selected for the host.

    Args:
        op: Operator with one input and one output.
        values: The input, a NumPy array.
        key: Random key; None for `random_key`.
        **attrs: All parameters of the operator, parsed by its schema.

    Raises:
        OperatorError: The operator does not accept the array.
    """
    spec_in = Spec(values.shape, values.dtype)
    (spec,) = op.infer(spec_in, **attrs)
    out = np.empty(spec.shape, spec.dtype)
    if op.draws(attrs):
        attrs["key"] = random_key() if key is None else key
    kernel = op.select_kernel("cpu", (spec_in,), attrs)
    kernel(np, out, values, **attrs)
    return out


def _from_host(image: Array) -> NDArray:
    """Return an image as an NDArray, a copy."""
    return gluon_array(from_numpy(np.array(image, order="C")))


def _with_array(args: tuple[Any, ...], *, numpy: bool) -> tuple[Any, ...]:
    """Return the arguments of a transform with an image of PIL, or perhaps of NumPy, as an NDArray.

    Args:
        args: The arguments.
        numpy: Whether to convert a NumPy array.
    """
    if args and not isinstance(args[0], NDArray):
        if numpy and isinstance(args[0], np.ndarray):
            return (_from_host(args[0]), *args[1:])
        if is_pil_image(args[0]):
            return (as_image(args[0]), *args[1:])
    return args


def with_others(image: Any, others: tuple[Any, ...]) -> Any:
    """Return a transformed image, with further arguments of the call if there are any."""
    return (image, *others) if others else image


class DirectBlock(Block):
    """A block that can process images directly, by `transform_flow`, without intermediate NDArrays.

    A subclass that overrides ``forward`` but not `transform_flow` is run as an ordinary block.
    """

    _is_direct = True

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        attributes = cls.__dict__.keys()
        if attributes & _DIRECT_METHODS:
            cls._is_direct = True
        elif attributes & _OVERRIDES:
            cls._is_direct = False

    def transform_flow(self, flow: "Flow") -> None:
        """Transform an image."""
        raise NotImplementedError

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Apply the transform; an image of PIL is converted to an NDArray first.

        So is a NumPy array, unless functions may be among several transforms.
        """
        try:
            numpy = isinstance(self, HybridBlock)
            return super().__call__(*_with_array(args, numpy=numpy), **kwargs)
        except Exception as error:
            shorten(error, sys._getframe(1))
            raise


class HostTransform(DirectBlock):
    """A transform with a direct implementation for NumPy arrays, `on_host`.

    It computes the same values and draws the same random numbers as the block.
    """

    def on_host(self, values: Array) -> Array:
        """Return the transformed image, possibly a view of ``values``, which is not modified.

        Args:
            values: Input of the transform, a NumPy array with any strides.
        """
        raise NotImplementedError

    def transform_flow(self, flow: "Flow") -> None:
        """Transform an image."""
        values = flow.values()
        if values is None:
            flow.apply_block(self)
        else:
            flow.replace(self.on_host(values))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Apply the transform, directly if possible and the block is not hybridized.

        Further arguments, such as a label, are returned after the image, as in MXNet 2.0.
        """
        try:
            args = _with_array(args, numpy=True)
            if len(args) > 1 and not kwargs and self._is_direct:
                return self(args[0]), *args[1:]
            direct = self._is_direct and not self._hooks and not getattr(self, "_active", False)
            if direct and len(args) == 1 and not kwargs and runs_on_host(args[0]):
                flow = Flow(args[0])
                self.transform_flow(flow)
                return flow.array()
            return super().__call__(*args, **kwargs)
        except Exception as error:
            shorten(error, sys._getframe(1))
            raise


class Flow:
    """An image passed through transforms: an NDArray, or a NumPy array between direct transforms.

    Args:
        x: The input.
    """

    __slots__ = ("_like", "_values", "_x")

    def __init__(self, x: Any) -> None:
        self._x = x
        self._like: NDArray | None = None
        self._values: Array | None = None

    def values(self) -> Array | None:
        """Return the image as a NumPy array; None if it is not an array on the host."""
        if self._values is None and isinstance(self._x, np.ndarray):
            self._x = _from_host(self._x)
        if self._values is None and runs_on_host(self._x):
            self._like = self._x
            self._x.wait_to_read()
            self._values = self._x._data
        return self._values

    def replace(self, values: Array) -> None:
        """Replace the image by new values."""
        self._values = values

    def array(self) -> Any:
        """Return the image as an NDArray that shares no memory with the input."""
        values, like = self._values, self._like
        if values is not None and like is not None:
            flags = values.flags
            shared = values.base is not None and np.may_share_memory(values, like._data)
            if shared or values is like._data or not (flags.c_contiguous and flags.writeable):
                values = np.array(values, order="C")
            spec = Spec(values.shape, values.dtype)
            self._x = type(like)(values, spec, like._device, Var())
            self._values = self._like = None
        return self._x

    def apply(self, block: Block) -> None:
        """Apply a transform, directly if possible."""
        if isinstance(block, DirectBlock) and block._is_direct and not block._hooks:
            block.transform_flow(self)
        else:
            self.apply_block(block)

    def apply_block(self, block: Block) -> None:
        """Apply a transform as a block."""
        x = self.array()
        if isinstance(x, np.ndarray) and isinstance(block, HybridBlock):
            x = _from_host(x)
        self._x = block(x)
