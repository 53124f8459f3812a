import numpy as np
import pytest

import gluonish.ndarray as nd
from gluonish.core.errors import ArgumentError
from gluonish.core.random_state import seed
from gluonish.initializer import InitDesc, Initializer, MSRAPrelu, Xavier


def drawn(init: Initializer, shape: tuple[int, ...]) -> np.ndarray:
    seed(3)
    arr = nd.full(shape, 7.0)
    init(InitDesc("x_weight"), arr)
    return arr.asnumpy()


SHAPES = [(100, 150), (20, 30, 5, 5), (30, 20, 9)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("factor_type", ["avg", "in", "out"])
def test_scale_follows_the_fan(shape: tuple[int, ...], factor_type: str) -> None:
    fan_in, fan_out = np.prod(shape[1:]), shape[0] * np.prod(shape[2:])
    fan = {"avg": (fan_in + fan_out) / 2, "in": fan_in, "out": fan_out}[factor_type]
    scale = np.sqrt(2 / fan)
    uniform = drawn(Xavier("uniform", factor_type, 2), shape)
    assert 0.99 * scale < np.abs(uniform).max() <= scale * (1 + 1e-6)
    assert uniform.std() == pytest.approx(scale / np.sqrt(3), rel=0.05)
    gaussian = drawn(Xavier("gaussian", factor_type, 2), shape)
    assert gaussian.std() == pytest.approx(scale, rel=0.05)
    assert np.abs(gaussian).max() > 2.5 * scale


@pytest.mark.parametrize("slope", [0.0, 0.25, 1.0])
def test_msra_is_normal_with_variance_of_the_slope(slope: float) -> None:
    values = drawn(MSRAPrelu("in", slope), (200, 100))
    assert values.std() == pytest.approx(np.sqrt(2 / (1 + slope**2) / 100), rel=0.03)
    assert values.mean() == pytest.approx(0, abs=0.005)


def test_vector_is_refused() -> None:
    with pytest.raises(ArgumentError, match=r"'x_weight' with two axes or more, got shape \(4,\)"):
        drawn(Xavier(), (4,))


@pytest.mark.parametrize("arguments", [{"rnd_type": "q"}, {"factor_type": "q"}])
def test_unknown_kind_is_refused(arguments: dict[str, str]) -> None:
    with pytest.raises(ArgumentError, match="got 'q'"):
        drawn(Xavier(**arguments), (2, 3))
