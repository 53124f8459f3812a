import os
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gluonish import util
from gluonish.core.errors import ArgumentError, ArgumentTypeError, NotSupportedError


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


def test_environment_variables_are_set_read_and_unset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ONE_OF_OURS", raising=False)
    assert util.getenv("ONE_OF_OURS") is None
    util.setenv("ONE_OF_OURS", "5")
    assert util.getenv("ONE_OF_OURS") == os.environ["ONE_OF_OURS"] == "5"
    util.setenv("ONE_OF_OURS", None)
    util.setenv("ONE_OF_OURS", None)
    assert "ONE_OF_OURS" not in os.environ


def test_environment_variables_are_text() -> None:
    with pytest.raises(ArgumentTypeError, match=r"^getenv: expected the name as text, got 5"):
        util.getenv(5)  # type: ignore[arg-type]  # refused
    with pytest.raises(ArgumentTypeError, match=r"^setenv: expected .*5"):
        util.setenv("ONE_OF_OURS", 5)  # type: ignore[arg-type]  # refused


@pytest.mark.parametrize(
    ("key", "legal", "illegal"),
    [
        ("where", [True, False, None], []),
        ("casting", ["no", "equiv", "safe", "same_kind", "unsafe"], ["other", None]),
        ("order", ["C", "F", "A", "K"], ["Z", None]),
        ("dtype", [np.float32, "float16", "int8"], [None, bool, "other"]),
        ("subok", [True, False], [1, None]),
        ("signature", [], [None]),
    ],
)
def test_legal_options_of_universal_functions(
    key: str, legal: list[object], illegal: list[object]
) -> None:
    assert all(util.np_ufunc_legal_option(key, value) for value in legal)
    assert not any(util.np_ufunc_legal_option(key, value) for value in illegal)


def call(*args: object, out: object = None) -> tuple[object, ...]:
    return (*args, out)


@pytest.mark.parametrize("wrap", [util.wrap_np_unary_func, util.wrap_np_binary_func])
def test_wrapped_functions_take_numpys_defaults(wrap: Callable[..., Any]) -> None:
    wrapped = wrap(call)
    assert wrapped.__name__ == "call"
    assert wrapped(1) == (1, None)
    defaults = {"where": True, "casting": "same_kind", "order": "K", "dtype": None, "subok": True}
    assert wrapped(1, 2, out=3, **defaults) == (1, 2, 3)
    others = {"where": False, "casting": "no", "order": "C", "dtype": "float32", "subok": False}
    for key, value in others.items():
        with pytest.raises(NotSupportedError, match=rf"^call: expected {key}="):
            wrapped(1, **{key: value})
    wrong = {"casting": "other", "order": "Z", "signature": None, "other": 1}
    for name, given in wrong.items():
        with pytest.raises(ArgumentTypeError, match=r"^call: expected"):
            wrapped(1, **{name: given})
