"""Clusters never close a circle, whatever a back end selects."""

from collections.abc import Callable, Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gluonish.graph.cached_graph import CachedGraph
from gluonish.graph.clusters import Cluster, find_clusters, replace_clusters
from gluonish.graph.inference import specialize
from gluonish.graph.ir import Node, Value, lint, topological_order
from gluonish.graph.rewrite import detached
from tests.graph.builders import call, inputs
from tests.graph.random_graphs import RandomGraph, random_graphs


def _grown(outputs: Sequence[Value], select: Callable[[Node], bool]) -> list[Cluster]:
    return find_clusters(
        topological_order(outputs), select, lambda a, b: select(b), lambda a, b: select(b)
    )


def _words(clusters: Sequence[Cluster]) -> list[str]:
    return [
        " ".join(node.op.name for node in cluster.nodes if node.op is not None)
        for cluster in clusters
    ]


def _only(*names: str) -> Callable[[Node], bool]:
    return lambda node: node.op is not None and node.op.name in names


def test_a_chain_is_one_cluster() -> None:
    (a,) = inputs((2,))
    y = call("relu", call("sin", call("relu", a)))
    assert _words(_grown([y], _only("relu", "sin"))) == ["relu sin relu"]


def test_what_is_not_selected_parts_clusters() -> None:
    (a,) = inputs((2,))
    y = call("relu", call("tanh", call("sin", a)))
    assert _words(_grown([y], _only("relu", "sin"))) == ["sin", "relu"]


def test_a_path_around_over_an_outsider_parts_clusters() -> None:
    (a,) = inputs((2,))
    first = call("sin", a)
    y = call("broadcast_add", first, call("tanh", first))
    assert _words(_grown([y], _only("sin", "broadcast_add"))) == ["sin", "broadcast_add"]
    assert _words(_grown([y], _only("sin", "broadcast_add", "tanh"))) == ["sin tanh broadcast_add"]


def test_two_clusters_that_read_each_other_are_parted() -> None:
    # Each would be free of paths around, but together they would wait for each other.
    a, b = inputs((2,), (2,))
    one, two = call("relu", a), call("relu", b)
    left = call("broadcast_add", call("sin", one), call("sin", two))
    y = call("broadcast_add", call("cos", call("tanh", one)), call("cos", call("tanh", left)))
    for names in (("relu", "sin", "broadcast_add"), ("tanh", "cos", "broadcast_add")):
        found = _grown([y, left], _only(*names))
        _check_order([y, left], found)


def test_a_cluster_may_begin_where_another_rule_goes_on() -> None:
    (a,) = inputs((2,))
    y = call("relu", call("tanh", call("sin", a)))
    found = find_clusters(
        topological_order([y]), _only("tanh"), lambda n, x: True, lambda n, x: False
    )
    assert _words(found) == ["sin tanh"]


def _check_order(outputs: Sequence[Value], clusters: Sequence[Cluster]) -> None:
    """Order the graph with each cluster as one node, taking away what nothing waits for."""
    of = {id(node): id(cluster) for cluster in clusters for node in cluster.nodes}
    assert len(of) == sum(len(cluster.nodes) for cluster in clusters), "an operator in two clusters"
    waits: dict[int, set[int]] = {}
    for node in topological_order(outputs):
        own = of.get(id(node), id(node))
        before = {of.get(id(x.node), id(x.node)) for x in node.inputs}
        waits.setdefault(own, set()).update(before - {own})
    while waits:
        free = {unit for unit, before in waits.items() if not before & waits.keys()}
        assert free, "clusters that wait for each other"
        for unit in free:
            del waits[unit]


def _inlined(cluster: Cluster, reads: Sequence[Value], gives: Sequence[Value]) -> object:
    """Return what builds a copy of a cluster."""
    part = detached(cluster.nodes, reads, gives)

    def build(given: Sequence[Value]) -> list[Value]:
        made = {(id(node), 0): value for node, value in zip(part.inputs, given, strict=True)}
        for node in part.nodes:
            if node.op is None:
                made.setdefault((id(node), 0), Value(node))
                continue
            values = [made[x.key] for x in node.inputs]
            copy = Node(node.op, node.name, values, node.attrs)
            made |= {(id(node), i): Value(copy, i) for i in range(node.num_outputs)}
        return [made[x.key] for x in part.outputs]

    return build


@given(random_graphs(), st.randoms(use_true_random=False))
def test_random_clusters_close_no_circle_and_keep_the_results(
    made: RandomGraph, random: object
) -> None:
    nodes = topological_order(made.outputs)
    chosen = {id(n) for n in nodes if n.op is not None and random.random() < 0.7}  # type: ignore[attr-defined]
    clusters = _grown(made.outputs, lambda node: id(node) in chosen)
    assert {id(node) for cluster in clusters for node in cluster.nodes} == chosen
    _check_order(made.outputs, clusters)
    seen: list[Cluster] = []

    def replace(cluster: Cluster, reads: Sequence[Value], gives: Sequence[Value]) -> object:
        seen.append(cluster)
        return _inlined(cluster, reads, gives) if len(seen) % 3 else None

    outputs = replace_clusters(made.outputs, clusters, replace)  # type: ignore[arg-type]
    assert sorted(map(id, seen)) == sorted(map(id, clusters))
    variables = [value.node for value in made.variables]
    lint(specialize(variables, outputs, [x.spec for x in made.variables], train=False))
    results = [
        [y.asnumpy() for y in CachedGraph(variables, values)(made.arrays())]
        for values in (made.outputs, outputs)
    ]
    if not any(n.op is not None and n.op.draws(n.attrs) for n in nodes):
        for got, expected in zip(results[1], results[0], strict=True):
            np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6)
