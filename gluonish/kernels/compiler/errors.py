"""Errors of the kernel compiler."""

from gluonish.ops.kernel import RefusedError


class KernelError(RefusedError):
    """A kernel's source cannot be compiled here."""


class SourceError(Exception):
    """A statement is outside the language of kernels; `lower` adds the line and raises KernelError.

    Args:
        expected: What a source may hold there.
        got: What it holds.
    """

    def __init__(self, expected: str, got: str) -> None:
        super().__init__(f"expected {expected}, got {got}")
