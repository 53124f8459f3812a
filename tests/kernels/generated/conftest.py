"""Every kernel of these tests is compiled anew, into a folder that goes afterwards, and may use a
team of threads, whatever ran before."""

from collections.abc import Iterator

import pytest

from gluonish.core.config import MXNET_HOME
from gluonish.kernels import openmp


@pytest.fixture(scope="session", autouse=True)
def _home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with MXNET_HOME.override(str(tmp_path_factory.mktemp("home"))):
        yield


@pytest.fixture(autouse=True)
def _team() -> None:
    openmp.enable_teams()
