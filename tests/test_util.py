from collections.abc import Callable

import pytest

from gluonish import util
from gluonish.core.errors import NotSupportedError


def test_numpy_semantics_are_never_in_force() -> None:
    assert (util.is_np_shape(), util.is_np_array()) == (False, False)


def test_leaving_numpy_semantics_does_nothing() -> None:
    assert util.set_np_shape(False) is False
    util.set_np(shape=False, array=False)
    util.reset_np()
    with util.np_shape(False), util.np_array(active=False):
        assert not util.is_np_shape()


class _Net:
    pass


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (util.set_np, "set_np"),
        (lambda: util.set_np(array=False), "set_np"),
        (lambda: util.set_np_shape(True), "set_np_shape"),
        (util.np_shape, "np_shape"),
        (util.np_array, "np_array"),
        (lambda: util.use_np(_Net), "use_np of _Net"),
        (lambda: util.use_np_shape(_Net), "use_np_shape of _Net"),
        (lambda: util.use_np_array(_Net), "use_np_array of _Net"),
    ],
)
def test_entering_numpy_semantics_is_refused_with_the_alternative(
    call: Callable[[], object], name: str
) -> None:
    with pytest.raises(NotSupportedError, match=rf"^{name}: .*use mx\.nd"):
        call()


def test_gpus_are_counted() -> None:
    assert util.get_gpu_count() >= 0
