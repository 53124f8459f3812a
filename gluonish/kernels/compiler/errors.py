"""Errors of the kernel compiler."""

from gluonish.ops.kernel import RefusedError


class KernelError(RefusedError):
    """Raised when a kernel's source cannot be compiled."""


class SourceError(Exception):
    """Raised for an unsupported statement; `lower` adds the line and raises KernelError."""

    def __init__(self, expected: str, got: str) -> None:
        super().__init__(f"expected {expected}, got {got}")
