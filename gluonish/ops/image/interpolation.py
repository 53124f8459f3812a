"""chosen_method: the way to resample that a number stands for."""

import random

from gluonish.core.errors import ArgumentError

__all__ = ["BY_SIZES", "LINEAR", "chosen_method"]

LINEAR, _CUBIC, _AREA, _METHODS = 1, 2, 3, 5
BY_SIZES, _RANDOM = 9, 10


def chosen_method(
    interp: int, old: tuple[int, ...], new: tuple[int, ...], rng: random.Random | None = None
) -> int:
    """Return the number of a way to resample, as OpenCV numbers them.

    Args:
        interp: 0 the nearest pixel, 1 linear, 2 cubic, 3 the mean of the area, 4 Lanczos; 9 cubic
            to grow, area to shrink, else linear; 10 any of the first five.
        old: Height and width before, in pixels; what follows does not count.
        new: And afterwards.
        rng: What draws for 10; None for the global generator of `random`.

    Raises:
        ArgumentError: It is another number.
    """
    if interp == _RANDOM:
        draw = random.randrange if rng is None else rng.randrange
        return draw(_METHODS)
    if interp == BY_SIZES:
        if new[0] > old[0] and new[1] > old[1]:
            return _CUBIC
        return _AREA if new[0] < old[0] and new[1] < old[1] else LINEAR
    if not 0 <= interp < _METHODS:
        raise ArgumentError(
            f"imresize: expected interp from 0 to {_METHODS - 1}, {BY_SIZES} or {_RANDOM}, "
            f"got {interp}"
        )
    return interp
