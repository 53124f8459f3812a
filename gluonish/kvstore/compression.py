"""Gradient compression with error feedback: two bits an element, or one.

The error stays in a residual, to which the next gradient is added. Within one process values are
quantized but not packed, as nothing is sent. A store that sends them over a network packs them with
`Compression.pack`, in MXNet's layout: 16 elements of two bits, or 32 of one bit, in each four
bytes; elements fill a byte from its most significant bit.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import partial
from math import inf, prod
from typing import Any, ClassVar

import numpy as np

from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.core.spec import Shape
from gluonish.kvstore.device_sums import apply_in_place, private_array
from gluonish.ndarray import NDArray, zeros

_Bytes = np.ndarray[Any, np.dtype[np.uint8]]
_Floats = np.ndarray[Any, np.dtype[np.float32]]


class Compression(ABC):
    """Compresses the gradients of one process; stores the error of each key and device.

    Args:
        threshold: Threshold for an element; see the subclasses.
    """

    kind: ClassVar[str]
    bits: ClassVar[int]

    def __init__(self, threshold: float = 0.5) -> None:
        self.threshold = threshold
        self._residuals: dict[tuple[int | str, int], NDArray] = {}

    def compress(self, key: int | str, sender: int, gradient: NDArray, priority: int) -> NDArray:
        """Return the gradient as the receiver decompresses it, and update the residual.

        Args:
            key: Key of the gradient.
            sender: Index of the device that sends it.
            gradient: Any shape, float32.
            priority: Operations of higher priority run first.

        Raises:
            ArgumentTypeError: The gradient is not float32.
        """
        if gradient.dtype.__name__ != "float32":
            raise ArgumentTypeError(
                f"gradient compression: expected float32 at key {key!r},"
                f" got {gradient.dtype.__name__}"
            )
        residual = self._residuals.get((key, sender))
        if residual is None or residual.context != gradient.context:
            residual = zeros(gradient.shape, gradient.context, gradient.dtype)
            self._residuals[key, sender] = residual
        step = partial(_add_gradient, gradient._data)
        apply_in_place(step, residual, [gradient], priority)
        sent = private_array(gradient, gradient.context)
        quantize = partial(self._quantize, residual._data)
        apply_in_place(quantize, sent, [residual], priority, private=True)
        apply_in_place(partial(_subtract, sent._data), residual, [sent], priority)
        return sent

    @abstractmethod
    def _quantize(self, residual: Any, out: Any) -> None:
        """Fill ``out`` with the decompressed values of a residual."""

    @abstractmethod
    def pack(self, sent: _Floats) -> _Bytes:
        """Return the result of `compress` as bytes, a multiple of four.

        Args:
            sent: Any shape, float32, in host memory.
        """

    @abstractmethod
    def unpack(self, packed: _Bytes, shape: Shape) -> _Floats:
        """Return the float32 array that `pack` converted to bytes.

        Args:
            packed: The bytes.
            shape: Shape of the array.

        Raises:
            ArgumentError: The number of bytes does not match the shape.
        """

    def _filled(self, codes: _Bytes) -> _Bytes:
        """Pad codes with zeros to a multiple of 32 bits."""
        return np.pad(codes, (0, -codes.size % (32 // self.bits)))

    def _check(self, packed: _Bytes, shape: Shape) -> None:
        expected = 4 * -(-prod(shape) * self.bits // 32)
        if packed.size != expected:
            raise ArgumentError(
                f"gradient compression: expected {expected} bytes for shape {shape},"
                f" got {packed.size}"
            )


class TwoBitCompression(Compression):
    """Compresses each element to 2 bits: ``threshold``, 0 or ``-threshold``.

    The codes are 11 for ``threshold``, 10 for ``-threshold`` and 00 for 0; 01 is read as 0.

    Args:
        threshold: Minimum absolute value of an element that is not sent as 0; above 0.

    Raises:
        ArgumentError: ``threshold`` is not above 0, or infinite.
    """

    kind = "2bit"
    bits = 2

    def __init__(self, threshold: float = 0.5) -> None:
        if not 0 < threshold < inf:
            raise ArgumentError(
                f"gradient compression: expected a finite threshold above 0, got {threshold}"
            )
        super().__init__(threshold)

    def _quantize(self, residual: Any, out: Any) -> None:
        # Boolean masks would take ten times as long on a CPU, and synchronize with a GPU.
        out[...] = residual >= self.threshold
        out -= residual <= -self.threshold
        out *= self.threshold

    def pack(self, sent: _Floats) -> _Bytes:
        """Pack the codes of four elements into each byte.

        Args:
            sent: Any shape, float32, in host memory.
        """
        flat = sent.reshape(-1)
        codes = (flat != 0).astype(np.uint8) << 1 | (flat > 0).astype(np.uint8)
        codes = self._filled(codes.astype(np.uint8)).reshape(-1, 4)
        packed = codes[:, 0] << 6 | codes[:, 1] << 4 | codes[:, 2] << 2 | codes[:, 3]
        return packed.astype(np.uint8)

    def unpack(self, packed: _Bytes, shape: Shape) -> _Floats:
        """Return ``threshold``, 0 or ``-threshold`` for each code.

        Args:
            packed: The bytes.
            shape: Shape of the array.
        """
        self._check(packed, shape)
        codes = (packed[:, None] >> np.array([6, 4, 2, 0], np.uint8) & 3).reshape(-1)
        values = np.array([0, 0, -self.threshold, self.threshold], np.float32)
        found: _Floats = values[codes[: prod(shape)]].reshape(shape)
        return found


class OneBitCompression(Compression):
    """Compresses each element to 1 bit: 1 if it is above ``threshold``, else -1.

    From MXNet 2.0.

    Args:
        threshold: The threshold.
    """

    kind = "1bit"
    bits = 1

    def _quantize(self, residual: Any, out: Any) -> None:
        out[...] = residual > self.threshold
        out *= 2
        out -= 1

    def pack(self, sent: _Floats) -> _Bytes:
        """Pack the bits of eight elements into each byte.

        Args:
            sent: Any shape, float32, in host memory.
        """
        return np.packbits(self._filled((sent.reshape(-1) > 0).astype(np.uint8)))

    def unpack(self, packed: _Bytes, shape: Shape) -> _Floats:
        """Return 1 or -1 for each bit.

        Args:
            packed: The bytes.
            shape: Shape of the array.
        """
        self._check(packed, shape)
        bits = np.unpackbits(packed, count=prod(shape)).astype(np.float32)
        return (2 * bits - 1).reshape(shape)


_KINDS: Mapping[str, type[Compression]] = {
    klass.kind: klass for klass in (TwoBitCompression, OneBitCompression)
}


def _add_gradient(gradient: Any, residual: Any) -> None:
    residual += gradient


def _subtract(sent: Any, residual: Any) -> None:
    residual -= sent


def compression_from(params: Mapping[str, Any]) -> Compression:
    """Return the compression for the parameters of ``set_gradient_compression``.

    Args:
        params: ``{"type": "2bit" or "1bit", "threshold": number}``.

    Raises:
        ArgumentError: The type or another parameter is unknown.
        ArgumentTypeError: ``params`` is not a mapping.
    """
    if not isinstance(params, Mapping):
        raise ArgumentTypeError(f"gradient compression: expected a mapping, got {params!r}")
    unknown = set(params) - {"type", "threshold"}
    kind = _KINDS.get(params.get("type", ""))
    if unknown or kind is None:
        raise ArgumentError(
            "gradient compression: expected {'type': '2bit' or '1bit', 'threshold': number},"
            f" got {dict(params)}"
        )
    return kind(float(params.get("threshold", 0.5)))
