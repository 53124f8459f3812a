"""All kinds of training in mixed precision, each with a step that overflows."""

import pytest

from tests.attack.overflow_runs import CASES, faults

pytestmark = pytest.mark.slow


@pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")
@pytest.mark.filterwarnings("ignore:.*updating 16-bit weights:UserWarning")
@pytest.mark.parametrize("seed", range(3))
def test_a_step_that_overflows_changes_nothing(seed: int) -> None:
    found = {i: faults(i, seed * len(CASES) + i) for i in range(len(CASES))}
    assert not {str(CASES[i]): words for i, words in found.items() if words}
