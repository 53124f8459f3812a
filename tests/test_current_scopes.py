"""What is current in a thread, as properties of classes that programs assign."""

import threading
from collections.abc import Iterator
from typing import Any

import pytest

import gluonish as mx
from gluonish.gluon.block import _BlockScope  # type: ignore[attr-defined]


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    before = mx.Context.default_ctx, mx.AttrScope.current, mx.name.NameManager.current
    yield
    mx.Context.default_ctx, mx.AttrScope.current, mx.name.NameManager.current = before  # type: ignore[assignment, misc]  # properties of the classes


def in_another_thread(function: Any) -> Any:
    found = []
    thread = threading.Thread(target=lambda: found.append(function()))
    thread.start()
    thread.join(30)
    return found[0]


def test_default_context_is_assigned_for_the_thread() -> None:
    mx.Context.default_ctx = mx.cpu(2)  # type: ignore[assignment]
    assert mx.nd.ones(1).context == mx.cpu(2)
    assert mx.current_context() == mx.Context._default_ctx.value == mx.cpu(2)
    assert in_another_thread(lambda: mx.Context.default_ctx) == mx.cpu(0)


def test_default_context_is_that_of_the_scope() -> None:
    with mx.cpu(1):
        assert mx.Context.default_ctx == mx.cpu(1)
        mx.Context._default_ctx.value = mx.cpu(3)
        assert mx.current_context() == mx.cpu(3)
    assert mx.Context.default_ctx == mx.cpu(0)


def test_name_manager_is_assigned_for_the_thread() -> None:
    mx.name.NameManager.current = mx.name.Prefix("p_")  # type: ignore[assignment]
    assert mx.sym.exp(mx.sym.Variable("x")).name == "p_exp0"
    assert mx.gluon.nn.Dense(2).prefix == "p_dense0_"
    name = in_another_thread(lambda: mx.sym.exp(mx.sym.Variable("x")).name)
    assert name == "exp0"


def test_scope_of_names_is_the_current_one() -> None:
    with mx.name.NameManager() as manager:
        assert mx.name.NameManager.current is manager


def test_attribute_scope_is_assigned() -> None:
    mx.AttrScope.current = mx.AttrScope(__color__="red")  # type: ignore[assignment]
    assert mx.sym.Variable("x").attr("__color__") == "red"
    assert in_another_thread(lambda: mx.sym.Variable("x").attr("__color__")) is None


def test_inner_attribute_scope_has_the_outer_ones_attributes_while_it_lasts() -> None:
    inner = mx.AttrScope(__b__="2")
    with mx.AttrScope(__a__="1"), inner:
        assert mx.AttrScope.current is inner
        assert set(mx.sym.Variable("x").list_attr()) >= {"__a__", "__b__"}
    with inner:
        assert mx.sym.Variable("x").attr("__a__") is None


def test_what_is_current_is_deleted_for_the_thread() -> None:
    def deleted() -> list[object]:
        mx.Context._default_ctx.value = mx.cpu(2)
        del mx.Context._default_ctx.value
        with mx.name.Prefix("p_"), mx.AttrScope(__a__="1"):
            del mx.name.NameManager._current.value
            del mx.AttrScope._current.value
            x = mx.sym.exp(mx.sym.Variable("x"))
        return [mx.current_context(), x.name, x.attr("__a__")]

    assert in_another_thread(deleted) == [mx.cpu(0), "exp0", None]


def test_scopes_are_reached_by_the_names_of_mxnets_programs() -> None:
    with mx.name.Prefix("p_") as names, mx.AttrScope(__a__="1") as scope:
        assert mx.name.NameManager._current.value is names
        assert mx.AttrScope._current.value is scope
    mx.name.NameManager._current.value = mx.name.Prefix("q_")
    mx.AttrScope._current.value = mx.AttrScope(__b__="2")
    assert mx.name.NameManager._current.value.get(None, "exp") == "q_exp0"
    assert mx.sym.Variable("x").attr("__b__") == "2"


def test_scope_of_names_takes_whatever_has_a_prefix() -> None:
    def names() -> list[str]:
        class Named:
            prefix = "spawned_"

        class Unnamed(Named):
            _empty_prefix = True

        with _BlockScope(Named()):  # type: ignore[arg-type]  # as MXNet's programs do
            first = mx.name.NameManager._current.value.get(None, "hello")
        with _BlockScope(Unnamed()):  # type: ignore[arg-type]
            return [first, mx.name.NameManager._current.value.get(None, "hello")]

    assert in_another_thread(names) == ["spawned_hello0", "hello0"]
