"""What the namespace offers: versions, devices, element types."""

from types import MappingProxyType
from typing import Any

import numpy as np

from gluonish.core.devices import Context, cpu, current_context, gpu, num_gpus
from gluonish.core.dtype import FLOAT32, INT64
from gluonish.core.errors import ArgumentError
from gluonish.numpy.type_functions import isdtype

__all__ = ["ArrayNamespaceInfo", "array_namespace_info", "check_version"]

VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12")

_DTYPES = MappingProxyType(
    {
        name: np.dtype(name)
        for name in (
            *("bool", "int8", "int16", "int32", "int64"),
            *("uint8", "uint16", "uint32", "uint64", "float32", "float64"),
        )
    }
)


def check_version(api_version: str | None) -> None:
    """Check a requested version of the standard.

    Raises:
        ArgumentError: The version is unknown.
    """
    if api_version is not None and api_version not in VERSIONS:
        raise ArgumentError(
            f"__array_namespace__: expected api_version in {list(VERSIONS)}, got {api_version!r}"
        )


class ArrayNamespaceInfo:
    """Capabilities, devices and element types of `gluonish.numpy.array_api`."""

    def capabilities(self) -> dict[str, Any]:
        """Return whether boolean indices and shapes that depend on data work, and the most axes."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> Context:
        """Return the current context."""
        return current_context()

    def default_dtypes(self, *, device: Context | None = None) -> dict[str, Any]:
        """Return the default element types by kind; there are no complex ones.

        Args:
            device: Ignored: all devices have the same.
        """
        return {
            "real floating": FLOAT32,
            "complex floating": None,
            "integral": INT64,
            "indexing": INT64,
        }

    def devices(self) -> list[Context]:
        """Return the CPU and all GPUs."""
        return [cpu(), *(gpu(i) for i in range(num_gpus()))]

    def dtypes(
        self, *, device: Context | None = None, kind: str | tuple[str, ...] | None = None
    ) -> dict[str, Any]:
        """Return element types by name.

        Args:
            device: Ignored: all devices have the same.
            kind: A kind of `isdtype`, or several; None for all.
        """
        return {
            name: dtype for name, dtype in _DTYPES.items() if kind is None or isdtype(dtype, kind)
        }


def array_namespace_info() -> ArrayNamespaceInfo:
    """Return what the namespace offers: ``__array_namespace_info__`` of the standard."""
    return ArrayNamespaceInfo()
