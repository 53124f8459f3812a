"""The names that NumPy 1.24 and 2 removed, for programs written before."""

__all__ = ["put_back"]


def put_back() -> None:
    """Give the module ``numpy`` of this process the names back."""
