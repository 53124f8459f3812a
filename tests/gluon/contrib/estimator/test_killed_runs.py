"""A killed run of Estimator.fit goes on to the same bits."""

import os
import sys
from pathlib import Path

import pytest

from tests.gluon.contrib.estimator.killed_runs import finish, killed
from tests.gluon.contrib.estimator.resumable_run import CONFIGURATIONS

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")

# Other points of time for each run of the tests by CI.
SEED = int(os.environ.get("FAST_SEED", "0") or 0)


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_a_killed_run_has_the_result_of_one_that_was_not(tmp_path: Path, name: str) -> None:
    whole = finish(tmp_path / "whole", 1, name)
    assert killed(tmp_path / "killed", 1, 2, SEED, name) == whole


@pytest.mark.dist
@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_two_killed_ranks_have_the_result_of_two_that_were_not(tmp_path: Path, name: str) -> None:
    whole = finish(tmp_path / "whole", 2, name)
    assert killed(tmp_path / "killed", 2, 2, SEED, name) == whole
