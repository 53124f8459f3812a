"""Tests that plugins of pytest leave out."""

import pytest


def deselect(config: pytest.Config, items: list[pytest.Item], left_out: list[pytest.Item]) -> None:
    """Take tests out of ``items``, and have pytest tell how many they are."""
    if left_out:
        out = {*left_out}
        items[:] = [item for item in items if item not in out]
        config.hook.pytest_deselected(items=left_out)
