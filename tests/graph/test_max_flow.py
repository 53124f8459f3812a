from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from gluonish.graph.saved_values import UNLIMITED, FlowNetwork

Edges = list[tuple[int, int, int]]


def _sink_side(count: int, edges: Edges) -> set[int]:
    network = FlowNetwork()
    for _ in range(count):
        network.add_node()
    for start, end, capacity in edges:
        network.add_edge(start, end, capacity)
    return network.sink_side(0, count - 1)


def _cost(edges: Edges, side: set[int]) -> int:
    return sum(capacity for start, end, capacity in edges if start not in side and end in side)


def test_the_narrowest_edge_of_a_chain_is_cut() -> None:
    assert _sink_side(4, [(0, 1, 5), (1, 2, 2), (2, 3, 4)]) == {2, 3}


def test_of_equal_cuts_the_one_nearest_to_the_sink_is_taken() -> None:
    assert _sink_side(4, [(0, 1, 2), (1, 2, 2), (2, 3, 2)]) == {3}


def test_an_unlimited_edge_is_not_cut() -> None:
    assert _sink_side(4, [(0, 1, UNLIMITED), (1, 2, 9), (2, 3, UNLIMITED)]) == {2, 3}


def test_flow_that_was_sent_the_wrong_way_is_taken_back() -> None:
    edges = [(0, 1, 1), (0, 2, 1), (1, 2, 1), (1, 3, 1), (2, 3, 1)]
    assert _cost(edges, _sink_side(4, edges)) == 2


@given(
    st.lists(
        st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(0, 5)), min_size=1, max_size=12
    )
)
def test_no_other_cut_is_cheaper(edges: Edges) -> None:
    side = _sink_side(5, edges)
    assert 4 in side
    assert 0 not in side
    cuts = [
        _cost(edges, {4, *(i for i, taken in zip((1, 2, 3), choice, strict=True) if taken)})
        for choice in product((False, True), repeat=3)
    ]
    assert _cost(edges, side) == min(cuts)
