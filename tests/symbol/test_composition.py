import numpy as np
import pytest

import gluonish.symbol as sym
from gluonish import autograd
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.ndarray import array, ones


def test_a_group_has_the_outputs_of_all() -> None:
    a, y = sym.var("a"), sym.split(sym.var("b"), num_outputs=2, name="s")
    group = sym.Group([a, y])
    assert group.list_outputs() == ["a", "s_output0", "s_output1"]
    assert group.name is None
    assert group[2].list_outputs() == ["s_output1"]


def test_an_empty_group_is_refused() -> None:
    with pytest.raises(ArgumentTypeError, match="expected at least one Symbol"):
        sym.Group([])
    with pytest.raises(ArgumentTypeError, match="expected Symbols, got int"):
        sym.Group([3])  # type: ignore[list-item]


def test_composition_puts_graphs_in_place_of_variables() -> None:
    a, b = sym.var("a"), sym.var("b")
    y = sym.elemwise_add(a, b, name="sum")
    z = y(a=sym.exp(sym.var("q")))
    assert z.list_arguments() == ["q", "b"]
    assert y.list_arguments() == ["a", "b"]


def test_composition_by_position_follows_the_arguments() -> None:
    y = sym.elemwise_sub(sym.var("a"), sym.var("b"))
    z = y(sym.var("b"), sym.var("a"))
    (got,) = z.eval(a=array([1.0]), b=array([5.0]))
    assert got.asnumpy().tolist() == [4]


def test_composition_may_name_the_result() -> None:
    y = sym.exp(sym.var("a"))
    assert y(a=sym.var("b"), name="whole").list_outputs() == ["whole_output"]


def test_composition_keeps_attributes_and_their_spelling() -> None:
    y = sym.FullyConnected(sym.var("x"), num_hidden=3, name="fc", attr={"__mood__": "calm"})
    assert y(x=sym.var("z")).attr_dict() == y.attr_dict()


def test_unknown_and_surplus_replacements_are_refused() -> None:
    y = sym.exp(sym.var("a"))
    with pytest.raises(ArgumentError, match=r"expected inputs among \['a'\], got \['b'\]"):
        y(b=sym.var("c"))
    with pytest.raises(ArgumentError, match="expected at most 1 inputs, got 2"):
        y(sym.var("b"), sym.var("c"))


def test_eval_computes_every_output() -> None:
    a, b = sym.var("a"), sym.var("b")
    total, product = sym.Group([a + b, a * b]).eval(a=array([2, 3]), b=array([4, 5]))
    assert total.asnumpy().tolist() == [6, 8]
    assert product.asnumpy().tolist() == [8, 15]


def test_eval_wants_an_array_for_every_variable() -> None:
    with pytest.raises(ArgumentError, match=r"got none for \['b'\]"):
        (sym.var("a") + sym.var("b")).eval(a=ones((2,)))


def test_eval_runs_in_the_mode_of_the_thread() -> None:
    y = sym.Dropout(sym.var("x"), p=0.5)
    assert (y.eval(x=ones((100,)))[0].asnumpy() == 1).all()
    with autograd.train_mode():
        assert (y.eval(x=ones((100,)))[0].asnumpy() == 0).any()


def test_eval_is_recorded() -> None:
    x = array([1.0, 2.0])
    x.attach_grad()
    with autograd.record():
        (y,) = sym.square(sym.var("x")).eval(x=x)
    autograd.backward(y)
    np.testing.assert_array_equal(x.grad.asnumpy(), [2, 4])
