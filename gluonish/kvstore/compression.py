"""Two-bit gradient compression: each element becomes ``threshold``, 0 or ``-threshold``.

What is lost stays in a residual that the next gradient is added to. Within one process nothing is
packed, because nothing is sent; the values are those that packing and unpacking would give.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.kvstore.transfer import apply_in_place, new_array
from gluonish.ndarray import NDArray, zeros

__all__ = ["TwoBitCompression", "compression_from"]


class TwoBitCompression:
    """Compresses gradients of one process, with a residual for each key and device.

    Args:
        threshold: What an element's absolute value must reach to be sent; above 0.

    Raises:
        ArgumentError: The threshold is not above 0.
    """

    def __init__(self, threshold: float = 0.5) -> None:
        if not threshold > 0:
            raise ArgumentError(
                f"gradient compression: expected a threshold above 0, got {threshold}"
            )
        self.threshold = threshold
        self._residuals: dict[tuple[int | str, int], NDArray] = {}

    def compress(self, key: int | str, sender: int, gradient: NDArray, priority: int) -> NDArray:
        """Return the gradient as its receiver sees it.

        Args:
            key: Key of the gradient.
            sender: Position of its device.
            gradient: Any shape, float32.
            priority: Priority in the engine.

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
        sent = new_array(gradient, gradient.context)
        apply_in_place(
            partial(_quantize, residual._data, self.threshold), sent, [residual], priority
        )
        apply_in_place(partial(_subtract, sent._data), residual, [sent], priority)
        return sent


def _add_gradient(gradient: Any, residual: Any) -> None:
    residual += gradient


def _quantize(residual: Any, threshold: float, out: Any) -> None:
    out[...] = 0
    out[residual >= threshold] = threshold
    out[residual <= -threshold] = -threshold


def _subtract(sent: Any, residual: Any) -> None:
    residual -= sent


def compression_from(params: Mapping[str, Any]) -> TwoBitCompression:
    """Return the compression that ``set_gradient_compression`` names.

    Raises:
        ArgumentError: The type is not ``"2bit"``, or a setting is unknown.
    """
    unknown = set(params) - {"type", "threshold"}
    if unknown or params.get("type") != "2bit":
        raise ArgumentError(
            "gradient compression: expected {'type': '2bit', 'threshold': above 0},"
            f" got {dict(params)}"
        )
    return TwoBitCompression(float(params.get("threshold", 0.5)))
