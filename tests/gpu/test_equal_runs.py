"""Equal runs of training programs on a GPU give equal bits, without asking for determinism."""

import pytest

from tests.kernels.cupy.equal_runs import KINDS, trained

pytestmark = [pytest.mark.gpu, pytest.mark.timeout(300)]


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("kind", KINDS)
def test_equal_runs_of_training_give_equal_bits(kind: str, dtype: str) -> None:
    assert trained(kind, dtype) == trained(kind, dtype)
