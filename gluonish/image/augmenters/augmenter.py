"""Augmenter, and augmenters that combine others."""

import inspect
import json
import random
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from gluonish.core.errors import ArgumentTypeError, NotSupportedError
from gluonish.core.object_repr import brief, default_repr, object_repr
from gluonish.image.pil_images import as_image
from gluonish.image.pixels import Array, as_host, as_ndarray
from gluonish.ndarray import NDArray


def json_arguments(arguments: dict[str, Any]) -> dict[str, Any]:
    """Convert arguments that are arrays to lists, for JSON."""
    return {
        name: np.asarray(value.asnumpy() if isinstance(value, NDArray) else value).tolist()
        if isinstance(value, NDArray | np.ndarray)
        else value
        for name, value in arguments.items()
    }


class Augmenter:
    """Base class of image augmenters, which are called with an image.

    A subclass overrides ``__call__``, a function from NDArray to NDArray.

    Args:
        **kwargs: Arguments of the constructor, for `dumps`.

    Inputs:
        src: (height, width, channels), an NDArray or a NumPy array; the output has the same type.

    Outputs:
        The augmented image, a new array; the input is not modified.

    Example:
        >>> import gluonish as mx
        >>> class InvertAug(mx.image.Augmenter):
        ...     def __call__(self, src):
        ...         return 255 - src
        >>> InvertAug()(mx.nd.zeros((2, 2, 3))).max().asscalar().item()
        255.0
    """

    __repr__ = default_repr

    def __init__(self, **kwargs: Any) -> None:
        self._kwargs = json_arguments(kwargs)

    def dumps(self) -> Any:
        """Return the class's name and its arguments as JSON."""
        return json.dumps([type(self).__name__.lower(), self._kwargs])

    def __call__(self, src: Any) -> Any:
        """Return the augmented image.

        Args:
            src: Image (height, width, channels), or an image of PIL.

        Raises:
            ArgumentTypeError: ``src`` is not an array.
        """
        name = type(self).__name__
        if isinstance(src, np.ndarray):
            return self._change(src)
        src = as_image(src)
        made = self._change(as_host(name, src))
        return as_ndarray(made, src.context)

    def _change(self, image: Array) -> Array:
        """Transform an image on the host; the result may share memory with the image."""
        raise NotSupportedError(
            f"{type(self).__name__}: expected a subclass that overrides __call__, got one without"
        )


def apply_augmenter(augmenter: Callable[[Any], Any], image: Array) -> Array:
    """Apply an augmenter, or another function of an NDArray, to an image in host memory."""
    if isinstance(augmenter, Augmenter) and type(augmenter).__call__ is Augmenter.__call__:
        return augmenter._change(image)
    return as_host(type(augmenter).__name__, augmenter(as_ndarray(image.copy())))


def augmenter_list(name: str, augmenters: Iterable[Any]) -> list[Any]:
    """Check augmenters; return them as a list.

    Args:
        name: Class name of the caller, for error messages.
        augmenters: The augmenters.

    Raises:
        ArgumentTypeError: ``augmenters`` is not a list, or an item is not callable.
    """
    found = list(augmenters) if isinstance(augmenters, Iterable) else None
    if found is None or not all(map(callable, found)):
        raise ArgumentTypeError(f"{name}: expected a list of augmenters, got {augmenters!r:.200}")
    return found


def resolve_augmenters(
    name: str,
    make: Callable[..., list[Any]],
    data_shape: tuple[int, ...],
    aug_list: Iterable[Any] | None,
    keywords: Mapping[str, Any],
) -> list[Any]:
    """Return an iterator's ``aug_list``, or create augmenters from its keywords.

    Args:
        name: Class name of the iterator, for error messages.
        make: Function that creates the augmenters from ``data_shape`` and keywords.
        data_shape: Shape (channels, height, width) of the resulting images.
        aug_list: The augmenters; None to create them.
        keywords: Keyword arguments of ``make``; must be empty with ``aug_list``.

    Raises:
        ArgumentTypeError: A keyword is unknown, or ``aug_list`` is not a list of augmenters.
    """
    known = inspect.signature(make).parameters if aug_list is None else ()
    unknown = sorted(set(keywords).difference(known))
    if unknown:
        raise ArgumentTypeError(
            f"{name}: expected keywords of {getattr(make, '__name__', make)}, or none with "
            f"aug_list, got {', '.join(unknown)}"
        )
    return augmenter_list(name, make(data_shape, **keywords) if aug_list is None else aug_list)


def _dumped(augmenters: list[Any]) -> list[Any]:
    return [augmenter.dumps() for augmenter in augmenters]


class SequentialAug(Augmenter):
    """Apply augmenters one after the other.

    Args:
        ts: List of the augmenters.

    Raises:
        ArgumentTypeError: ``ts`` is not a list of augmenters.
    """

    def __init__(self, ts: Iterable[Any]) -> None:
        super().__init__()
        self.ts = augmenter_list(type(self).__name__, ts)

    def __repr__(self) -> str:
        return object_repr(self, *map(brief, self.ts))

    def dumps(self) -> list[Any]:
        """Return a list: the class's name in lower case, and the `dumps` of its augmenters."""
        return [type(self).__name__.lower(), _dumped(self.ts)]

    def _change(self, image: Array) -> Array:
        for augmenter in self.ts:
            image = apply_augmenter(augmenter, image)
        return image


class RandomOrderAug(Augmenter):
    """Apply augmenters in random order, drawn from Python's `random` for each image.

    Args:
        ts: List of the augmenters.

    Raises:
        ArgumentTypeError: ``ts`` is not a list of augmenters.
    """

    def __init__(self, ts: Iterable[Any]) -> None:
        super().__init__()
        self.ts = augmenter_list(type(self).__name__, ts)

    def __repr__(self) -> str:
        return object_repr(self, *map(brief, self.ts))

    def dumps(self) -> list[Any]:
        """Return a list: the class's name in lower case, and the `dumps` of its augmenters."""
        return [type(self).__name__.lower(), _dumped(self.ts)]

    def _change(self, image: Array) -> Array:
        random.shuffle(self.ts)
        for augmenter in self.ts:
            image = apply_augmenter(augmenter, image)
        return image
