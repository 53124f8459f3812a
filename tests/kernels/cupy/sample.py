"""A pytest plugin: ``--gpu-share 0.1 --gpu-seed 7`` takes a tenth of the tests, by the number."""

import math
import zlib

import pytest

from tests.kernels.cupy.deselected import deselect


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the sample."""
    parser.addoption("--gpu-share", type=float, default=1.0, help="part of the tests, up to 1")
    parser.addoption("--gpu-seed", type=int, default=0, help="which tests that part is")


@pytest.hookimpl(trylast=True)  # of what -k and -m leave
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is not in the sample."""
    share, seed = config.getoption("--gpu-share"), config.getoption("--gpu-seed")
    in_turn = sorted(items, key=lambda x: zlib.crc32(f"{seed} {x.nodeid}".encode()))
    deselect(config, items, in_turn[math.ceil(share * len(items)) :])
