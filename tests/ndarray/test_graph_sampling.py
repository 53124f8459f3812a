"""Graphs as CSR matrices. Expectations are MXNet 1.9.1's; samples are checked by what holds."""

from typing import Any

import numpy as np
import pytest

import gluonish as mx

CONTRIB = mx.nd.contrib
COLUMNS = [1, 2, 3, 4, 0, 2, 3, 4, 0, 1, 3, 4, 0, 1, 2, 4, 0, 1, 2, 3]


def full_graph() -> Any:
    """Five vertices, each with an edge to each other; the edges are numbered from 1."""
    parts = (np.arange(1, 21), np.array(COLUMNS), np.arange(0, 21, 4))
    return mx.nd.sparse.csr_matrix(parts, shape=(5, 5), dtype=np.int64)


def vertices(*numbers: int) -> Any:
    return mx.nd.array(numbers, dtype=np.int64)


def test_adjacency_has_1_for_each_edge() -> None:
    found = CONTRIB.dgl_adjacency(full_graph())
    assert found.stype == "csr"
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found.asnumpy(), 1 - np.eye(5))


def test_subgraph_has_the_edges_among_its_vertices() -> None:
    new, other, old, mapping = CONTRIB.dgl_subgraph(
        full_graph(), vertices(0, 1, 3), vertices(2, 4), return_mapping=True
    )
    np.testing.assert_array_equal(new.asnumpy(), [[0, 0, 1], [2, 0, 3], [4, 5, 0]])
    np.testing.assert_array_equal(new.data.asnumpy(), np.arange(6))
    np.testing.assert_array_equal(old.asnumpy(), [[0, 1, 3], [5, 0, 7], [13, 14, 0]])
    np.testing.assert_array_equal(other.asnumpy(), [[0, 0], [1, 0]])
    np.testing.assert_array_equal(mapping.asnumpy(), [[0, 12], [19, 0]])
    alone = CONTRIB.dgl_subgraph(full_graph(), vertices(0, 1), return_mapping=False)
    assert alone.shape == (2, 2)


@pytest.mark.parametrize("numbers", [(3, 0), (0, 9)])
def test_vertices_of_a_subgraph_are_sorted_and_there(numbers: Any) -> None:
    with pytest.raises(mx.MXNetError, match=r"sorted|below 5"):
        CONTRIB.dgl_subgraph(full_graph(), vertices(*numbers), return_mapping=True)


def test_sample_of_all_neighbours_is_the_graph() -> None:
    known, edges, hops = CONTRIB.dgl_csr_neighbor_uniform_sample(
        full_graph(), vertices(0, 2), num_args=2, num_hops=1, num_neighbor=4, max_num_vertices=8
    )
    np.testing.assert_array_equal(known.asnumpy(), [0, 1, 2, 3, 4, 0, 0, 0, 5])
    np.testing.assert_array_equal(edges.indptr.asnumpy(), [0, 4, 4, 8, 8, 8, 8, 8, 8])  # type: ignore[attr-defined]
    np.testing.assert_array_equal(edges.indices.asnumpy(), [1, 2, 3, 4, 0, 1, 3, 4])  # type: ignore[attr-defined]
    np.testing.assert_array_equal(edges.data.asnumpy(), [1, 2, 3, 4, 9, 10, 11, 12])  # type: ignore[attr-defined]
    np.testing.assert_array_equal(hops.asnumpy(), [0, 1, 0, 1, 1, 0, 0, 0])


def check_sample(known: Any, edges: Any, hops: Any, most: int) -> None:
    whole = full_graph().asnumpy()
    count = int(known[-1])
    assert list(known[:count]) == sorted(set(known[:count]))
    for row, vertex in enumerate(known[:count]):
        (neighbours,) = edges[row].nonzero()
        assert len(neighbours) <= most
        assert set(neighbours) <= set(known[:count])
        np.testing.assert_array_equal(edges[row][neighbours], whole[vertex][neighbours])
        assert len(neighbours) == 0 or all(
            hops[list(known).index(n)] <= hops[row] + 1 for n in neighbours
        )


def test_samples_keep_edges_and_hops_and_repeat_with_the_seed() -> None:
    def sample() -> Any:
        mx.random.seed(11)
        made = CONTRIB.dgl_csr_neighbor_uniform_sample(
            full_graph(),
            vertices(0),
            vertices(1, 3),
            num_hops=2,
            num_neighbor=2,
            max_num_vertices=4,
        )
        return [x.asnumpy() for x in made]

    first = sample()
    assert [x.shape for x in first] == [(5,), (5,), (4, 5), (4, 5), (4,), (4,)]
    for i in range(2):
        check_sample(first[i], first[2 + i], first[4 + i], 2)
    for one, other in zip(first, sample(), strict=True):
        np.testing.assert_array_equal(one, other)


def test_neighbours_without_weight_are_never_drawn() -> None:
    weights = mx.nd.array([0.9, 0.8, 0, 0.4, 0])
    known, edges, shares, hops = CONTRIB.dgl_csr_neighbor_non_uniform_sample(
        full_graph(), weights, vertices(0), num_hops=1, num_neighbor=2, max_num_vertices=5
    )
    np.testing.assert_array_equal(known.asnumpy(), [0, 1, 3, 0, 0, 3])
    np.testing.assert_array_equal(edges.asnumpy()[0], [0, 1, 0, 3, 0])
    np.testing.assert_allclose(shares.asnumpy(), [0.9, 0.8, 0.4, 0, 0], rtol=1e-6)
    np.testing.assert_array_equal(hops.asnumpy(), [0, 1, 1, 0, 0])


def test_compact_graph_numbers_vertices_and_edges_from_0() -> None:
    known, edges, _ = CONTRIB.dgl_csr_neighbor_uniform_sample(
        full_graph(), vertices(1), num_hops=1, num_neighbor=4, max_num_vertices=6
    )
    new, old = CONTRIB.dgl_graph_compact(edges, known, graph_sizes=(5,), return_mapping=True)
    assert new.shape == old.shape == (5, 5)
    np.testing.assert_array_equal(new.data.asnumpy(), [0, 1, 2, 3])
    np.testing.assert_array_equal(old.asnumpy()[1], [5, 0, 6, 7, 8])
    assert old.asnumpy().sum() == 26
    with pytest.raises(mx.MXNetError, match="expected a size of 5"):
        CONTRIB.dgl_graph_compact(edges, known, graph_sizes=4, return_mapping=False)
