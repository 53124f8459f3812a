from typing import Any

import numpy as np
import pytest

from gluonish.core.errors import ArgumentError
from gluonish.gluon.contrib.nn import PixelShuffle1D, PixelShuffle2D, PixelShuffle3D
from gluonish.ndarray import array, ones

LAYERS = (PixelShuffle1D, PixelShuffle2D, PixelShuffle3D)


@pytest.mark.parametrize("factors", [(3,), (2, 3), (2, 1, 3)])
def test_channels_become_blocks(factors: tuple[int, ...]) -> None:
    rank = len(factors)
    extents = (2, 3, 4)[:rank]
    x = np.arange(2 * 2 * np.prod(factors) * np.prod(extents)).reshape(2, -1, *extents)
    layer: Any = LAYERS[rank - 1](factors[0] if rank == 1 else factors)  # type: ignore[arg-type]  # the rank decides
    found = layer(array(x)).asnumpy()
    assert found.shape == (2, 2, *(n * f for n, f in zip(extents, factors, strict=True)))
    for place in np.ndindex(found.shape):
        n, c, *at = place
        inner = np.ravel_multi_index([a % f for a, f in zip(at, factors, strict=True)], factors)
        outer = tuple(a // f for a, f in zip(at, factors, strict=True))
        assert found[place] == x[(n, c * int(np.prod(factors)) + inner, *outer)]


@pytest.mark.parametrize("factor", [0, (1, 2, 3, 4), "a", (2, -1, 1)])
@pytest.mark.parametrize("layer", LAYERS)
def test_other_factors_are_refused(layer: Any, factor: Any) -> None:
    with pytest.raises(ArgumentError, match=rf"{layer.__name__}: expected factor to be a number"):
        layer(factor)(ones((1, 8, 2, 2)))


def test_channels_that_the_factor_does_not_divide_are_refused() -> None:
    with pytest.raises(ValueError, match="expected"):
        PixelShuffle1D(3)(array(np.ones((1, 4, 2))))


def test_representation_shows_the_factors() -> None:
    layers = [PixelShuffle1D(2), PixelShuffle2D(2), PixelShuffle3D((1, 2, 3))]
    assert list(map(repr, layers)) == [
        "PixelShuffle1D(2)",
        "PixelShuffle2D((2, 2))",
        "PixelShuffle3D((1, 2, 3))",
    ]
