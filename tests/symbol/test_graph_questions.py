"""Questions that MXNet 2.0 lets one ask a Symbol."""

import gluonish as mx
from gluonish.symbol.cached_op import CachedOp


def test_inputs_of_a_graph_are_its_variables() -> None:
    a, b = mx.sym.var("a"), mx.sym.var("b")
    found = (b * 2 + a).get_inputs()
    assert found.list_outputs() == ["b", "a"]
    assert [x.name for x in found] == ["b", "a"]


def test_a_mask_makes_the_shape_depend_on_values() -> None:
    a, b = mx.sym.var("a"), mx.sym.var("b")
    assert not (a + b).has_dynamic_shape_op()
    assert mx.sym.contrib.boolean_mask(a, b).has_dynamic_shape_op()


def test_text_of_a_graph_is_loaded() -> None:
    loaded = mx.sym.fromjson((mx.sym.var("a") + 1).tojson())
    assert loaded.list_arguments() == ["a"]


def test_cached_op_knows_its_graph() -> None:
    a = mx.sym.var("a")
    op = CachedOp(a + 1, (), True)
    assert op.get_optimized_symbol().list_arguments() == ["a"]
    assert op(mx.nd.ones((2,))).asnumpy().tolist() == [2, 2]


def test_categorical_draws_as_multinomial() -> None:
    y = mx.sym.random.categorical(mx.sym.var("p"), shape=3, get_prob=False)
    drawn = y.eval(p=mx.nd.array([[0.0, 1.0], [1.0, 0.0]]))[0]
    assert drawn.asnumpy().tolist() == [[1, 1, 1], [0, 0, 0]]
