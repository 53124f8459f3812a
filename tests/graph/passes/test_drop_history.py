from gluonish import sym
from gluonish.core.dtype import FLOAT32
from gluonish.core.spec import Spec
from gluonish.graph.inference import specialize
from gluonish.graph.ir import Graph, Value
from gluonish.graph.passes import drop_history


def _loop() -> Graph:
    out, state = sym.contrib.foreach(lambda d, s: (d * s, s + d), sym.var("x"), sym.var("h"))
    both = sym.Group([out, state])
    specs = [Spec((3, 2), FLOAT32), Spec((2,), FLOAT32)]
    return specialize(both._variables(), both._values, specs, train=False)


def test_a_loop_keeps_no_states_that_nobody_reads() -> None:
    graph = _loop()
    assert len(graph.nodes[-1].specs) == 3
    dropped = drop_history(graph)
    assert dropped.nodes[-1].specs == graph.nodes[-1].specs[:2]
    assert [x.spec for x in dropped.outputs] == [x.spec for x in graph.outputs]


def test_what_is_read_stays() -> None:
    graph = _loop()
    history = Value(graph.nodes[-1], 2)
    kept = drop_history(Graph(graph.inputs, [*graph.outputs, history], graph.nodes))
    assert len(kept.nodes[-1].specs) == 3
