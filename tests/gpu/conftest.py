"""What tests on a real device need: CuPy's remarks about an installation are no failures.

Warnings are errors in all tests. CuPy warns of libraries that nobody asked for (NCCL), of parts of
its own that are experimental, of several CuPys in one environment. Its PerformanceWarning, which
tells of kernels on another device's memory, stays an error.
"""

import pytest

_REMARKS = ("UserWarning", "FutureWarning", "DeprecationWarning")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let CuPy warn in the tests of this folder."""
    for item in items:
        if "tests/gpu/" in item.path.as_posix():
            for category in _REMARKS:
                for module in ("cupy", "cupyx", "cupy_backends"):
                    item.add_marker(
                        pytest.mark.filterwarnings(rf"ignore::{category}:{module}(\.|$)")
                    )
