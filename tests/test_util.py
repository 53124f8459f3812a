import threading

import pytest

from gluonish import util
from gluonish.core.errors import ArgumentError, ArgumentTypeError


def modes() -> tuple[bool, bool]:
    return util.is_np_shape(), util.is_np_array()


def test_numpy_semantics_are_out_of_force_at_first() -> None:
    assert modes() == (False, False)


def test_set_np_holds_in_every_thread_until_reset() -> None:
    util.set_np()
    try:
        seen: list[tuple[bool, bool]] = []
        thread = threading.Thread(target=lambda: seen.append(modes()))
        thread.start()
        thread.join(10)
        assert seen == [(True, True)] == [modes()]
    finally:
        util.reset_np()
    assert modes() == (False, False)


def test_scopes_end_and_nest() -> None:
    with util.np_shape(), util.np_array():
        assert modes() == (True, True)
        with util.np_array(False):
            assert modes() == (True, False)
        assert modes() == (True, True)
    assert modes() == (False, False)


def test_setting_inside_a_scope_ends_with_it() -> None:
    with util.np_shape(False):
        assert util.set_np_shape(True) is False
        assert util.is_np_shape()
    assert not util.is_np_shape()


def test_arrays_need_shapes() -> None:
    with pytest.raises(ArgumentError, match=r"^set_np: expected shape=True"):
        util.set_np(shape=False, array=True)


def test_decorated_function_runs_in_force() -> None:
    assert util.use_np(modes)() == (True, True)
    assert util.use_np_shape(modes)() == (True, False)
    assert util.use_np_array(modes)() == (False, True)


def test_methods_of_a_decorated_class_run_in_force() -> None:
    @util.use_np
    class Net:
        def __init__(self) -> None:
            self.made = modes()

        def forward(self) -> tuple[bool, bool]:
            return modes()

    assert Net().made == Net().forward() == (True, True)
    assert modes() == (False, False)


def test_what_is_no_function_is_not_decorated() -> None:
    with pytest.raises(
        ArgumentTypeError, match=r"^use_np: expected a function or a class, got int"
    ):
        util.use_np(3)  # type: ignore[type-var]  # that is the mistake


def test_module_of_a_function_is_set() -> None:
    assert util.set_module("mxnet.test")(modes).__module__ == "mxnet.test"
    util.set_module(__name__)(modes)


def test_gpus_are_counted() -> None:
    assert util.get_gpu_count() >= 0


def test_capability_of_a_cpu_is_refused() -> None:
    with pytest.raises(ArgumentError, match=r"^get_cuda_compute_capability: expected a GPU"):
        util.get_cuda_compute_capability("cpu")  # type: ignore[arg-type]  # that is the mistake
