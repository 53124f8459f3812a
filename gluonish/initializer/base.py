"""Initializer, the base class: the name of an array selects the method that fills it."""

import json
import logging
import math
import warnings
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np

from gluonish.core.errors import ArgumentError, ArgumentTypeError, NotSupportedError
from gluonish.core.object_repr import default_repr
from gluonish.core.registry import get_alias_func, get_create_func, get_register_func
from gluonish.ndarray import NDArray

I = TypeVar("I", bound="type[Initializer]")  # noqa: E741  # a type variable


class InitDesc(str):
    """Name of an array to initialize, a string that also carries attributes.

    Args:
        name: Name of the array.
        attrs: Attributes of the variable. A non-empty ``__init__`` selects the initializer of this
            array, in any form that `create` accepts.
        global_init: Initializer of the whole model; None is replaced by the first initializer that
            is called.
    """

    attrs: dict[str, Any]
    global_init: "Initializer | None"

    def __new__(
        cls,
        name: str,
        attrs: Mapping[str, Any] | None = None,
        global_init: "Initializer | None" = None,
    ) -> "InitDesc":
        """Create the name with its attributes."""
        made = super().__new__(cls, name)
        made.attrs = dict(attrs or {})
        made.global_init = global_init
        return made


class Initializer:
    """Base class of initializers: called with a name and an array, it fills the array.

    If an `InitDesc` has an attribute ``__init__``, that initializer fills the array as a weight.
    Otherwise the suffix of the name decides: ``weight`` is filled by `_init_weight`, which
    subclasses define; ``bias``, ``beta``, ``min`` and ``bias_quantize`` with 0; ``gamma`` and
    ``max`` with 1; ``weight_quantize`` with an integer from -127 to 126. For a plain string also
    the suffixes ``moving_mean``, ``moving_avg``, ``moving_inv_var`` (0) and ``moving_var`` (1), and
    the prefixes ``upsampling`` (bilinear) and ``stn_loc`` (identity transform) are supported.

    Args:
        **kwargs: The constructor's arguments, for `dumps` and comparison.
    """

    __repr__ = default_repr

    def __init__(self, **kwargs: Any) -> None:
        self._kwargs = kwargs
        self._verbose = False
        self._print_func: Callable[[NDArray], Any] = _root_mean_square

    def set_verbosity(
        self, verbose: bool = False, print_func: Callable[[NDArray], Any] | None = None
    ) -> "Initializer":
        """Log each array that is initialized, at level INFO.

        Args:
            verbose: Whether to log.
            print_func: Function that formats an array for the log; None logs its root mean square.

        Returns:
            The initializer itself.
        """
        self._verbose = verbose
        self._print_func = _root_mean_square if print_func is None else print_func
        return self

    def dumps(self) -> str:
        """Serialize the initializer to JSON for `create`."""
        return json.dumps([type(self).__name__.lower(), self._kwargs])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Initializer):
            return NotImplemented
        return type(self) is type(other) and self._kwargs == other._kwargs

    __hash__ = None  # type: ignore[assignment]  # arguments may be unhashable

    def __call__(self, desc: str, arr: NDArray) -> None:
        """Fill an array with initial values.

        Args:
            desc: Name of the array as an `InitDesc`; a plain string is deprecated.
            arr: The array, which is overwritten.

        Raises:
            ArgumentTypeError: ``desc`` is not a string.
            ArgumentError: The name has no known suffix.
        """
        if not isinstance(desc, str):
            raise ArgumentTypeError(
                f"{type(self).__name__}: expected an InitDesc or a name, got {desc!r}"
            )
        if not isinstance(desc, InitDesc):
            self._legacy_init(desc, arr)
            return
        if desc.global_init is None:
            desc.global_init = self
        chosen = desc.attrs.get("__init__", "")
        if chosen:
            create(chosen)._init_weight(desc, arr)
            self._verbose_print(desc, chosen, arr)
        else:
            self._init_by_ending(desc, arr)

    def _init_by_ending(self, name: str, arr: NDArray) -> None:
        for ending, method in _METHODS.items():
            if name.endswith(ending):
                getattr(self, method)(name, arr)
                self._verbose_print(name, ending, arr)
                return
        self._init_default(name, arr)

    def _legacy_init(self, name: str, arr: NDArray) -> None:
        warnings.warn(
            "an initializer was called with a plain string; use InitDesc(name)",
            DeprecationWarning,
            stacklevel=3,
        )
        if name.startswith("upsampling"):
            self._init_bilinear(name, arr)
        elif name.startswith("stn_loc") and name.endswith("weight"):
            self._init_zero(name, arr)
        elif name.startswith("stn_loc") and name.endswith("bias"):
            self._init_loc_bias(name, arr)
        elif name.endswith(("moving_mean", "moving_avg", "moving_inv_var")):
            self._init_zero(name, arr)
        elif name.endswith("moving_var"):
            self._init_one(name, arr)
        else:
            self._init_by_ending(name, arr)

    def _verbose_print(self, name: str, how: object, arr: NDArray) -> None:
        if self._verbose:
            logging.info("Initialized %s as %s: %s", name, how, self._print_func(arr))

    def _init_weight(self, name: str, arr: NDArray) -> None:
        raise NotSupportedError(
            f"{type(self).__name__}: expected a subclass that defines _init_weight(name, arr), "
            f"got none to fill {name!r}"
        )

    def _init_default(self, name: str, arr: NDArray) -> None:
        raise ArgumentError(
            f"{type(self).__name__}: expected a name that ends in {', '.join(_METHODS)}, got "
            f"{str(name)!r}; set an initializer by Variable(init=...) or Parameter(init=...)"
        )

    def _init_zero(self, name: str, arr: NDArray) -> None:
        arr[:] = 0

    def _init_one(self, name: str, arr: NDArray) -> None:
        arr[:] = 1

    def _init_bias(self, name: str, arr: NDArray) -> None:
        arr[:] = 0

    def _init_gamma(self, name: str, arr: NDArray) -> None:
        arr[:] = 1

    def _init_beta(self, name: str, arr: NDArray) -> None:
        arr[:] = 0

    def _init_quantized_weight(self, name: str, arr: NDArray) -> None:
        arr[:] = int(np.random.randint(-127, 127))  # noqa: NPY002  # MXNet's generator and a single number

    def _init_quantized_bias(self, name: str, arr: NDArray) -> None:
        arr[:] = 0

    def _init_bilinear(self, name: str, arr: NDArray) -> None:
        arr[:] = bilinear_kernel(name, arr.shape)

    def _init_loc_bias(self, name: str, arr: NDArray) -> None:
        if arr.shape != (6,):
            raise ArgumentError(f"Initializer: expected {name!r} of shape (6,), got {arr.shape}")
        arr[:] = np.array([1, 0, 0, 0, 1, 0], np.float32)


_METHODS = {
    "weight": "_init_weight",
    "bias": "_init_bias",
    "gamma": "_init_gamma",
    "beta": "_init_beta",
    "min": "_init_zero",
    "max": "_init_one",
    "weight_quantize": "_init_quantized_weight",
    "bias_quantize": "_init_quantized_bias",
}


def _root_mean_square(arr: NDArray) -> float:
    values = arr.asnumpy().astype(np.float64)
    return math.sqrt(np.square(values).sum() / max(1, values.size))


def bilinear_kernel(name: str, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """Return the weights of a transposed convolution for bilinear upsampling.

    Args:
        name: Name of the array, for error messages.
        shape: Shape of the array, (..., H, W) of rank 4.

    Raises:
        ArgumentError: The rank is not 4.
    """
    if len(shape) != 4:
        raise ArgumentError(
            f"Bilinear: expected {str(name)!r} of rank 4 (..., H, W), got shape {shape}"
        )
    factor = math.ceil(shape[3] / 2)
    center = (2 * factor - 1 - factor % 2) / (2 * factor)
    vertical, horizontal = (1 - np.abs(np.arange(size) / factor - center) for size in shape[2:])
    return np.broadcast_to(np.outer(vertical, horizontal), shape).astype(np.float32)


_registered = get_register_func(Initializer, "initializer")


def register(klass: I) -> I:
    """Class decorator that makes an initializer available by its lower-case class name.

    Args:
        klass: Subclass of `Initializer`.
    """
    made: I = _registered(klass)
    return made


alias = get_alias_func(Initializer, "initializer")
create = get_create_func(Initializer, "initializer")
