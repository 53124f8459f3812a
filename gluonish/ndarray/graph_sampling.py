"""Graphs as CSR matrices: subgraphs, and samples of neighbours, as DGL used them with MXNet.

Row v of a graph holds the edges of vertex v: their columns are the neighbours, their values the
edges' numbers. Everything is computed on the host.
"""

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from gluonish.core.errors import OperatorError
from gluonish.core.random_state import next_key
from gluonish.ndarray.creation import array
from gluonish.ndarray.ndarray import NDArray
from gluonish.ndarray.sparse.array import CSRNDArray
from gluonish.ndarray.sparse.creation import csr_matrix


class _Graph(NamedTuple):
    """The parts of a CSR matrix on the host."""

    values: Any
    columns: Any
    starts: Any

    def row(self, vertex: int) -> slice:
        return slice(int(self.starts[vertex]), int(self.starts[vertex + 1]))


def _graph(what: str, graph: Any) -> _Graph:
    if not isinstance(graph, CSRNDArray):
        raise OperatorError(f"{what}: expected a graph as a CSRNDArray, got {type(graph).__name__}")
    return _Graph(graph.data.asnumpy(), graph.indices.asnumpy(), graph.indptr.asnumpy())


def _vertices(what: str, vertices: NDArray, count: int) -> Any:
    found = vertices.asnumpy().astype(np.int64)
    if found.size and (found.min() < 0 or found.max() >= count):
        raise OperatorError(f"{what}: expected vertices below {count}, got {found.max()}")
    return found


def _matrix(rows: Sequence[tuple[Any, Any]], columns: int) -> CSRNDArray:
    """A CSR matrix of int64 of (columns, values) by row."""
    starts = np.cumsum([0, *(len(names) for names, _ in rows)])
    empty = np.zeros(0, np.int64)
    names = np.concatenate([empty, *(names for names, _ in rows)])
    values = np.concatenate([empty, *(values for _, values in rows)])
    return csr_matrix((values, names, starts), (len(rows), columns), dtype=np.int64)


def dgl_adjacency(data: CSRNDArray) -> CSRNDArray:
    """Return a graph with 1 for each edge.

    Args:
        data: (n, n), a graph.

    Returns:
        (n, n), float32, with the structure of ``data``.

    Raises:
        OperatorError: ``data`` is not a CSR matrix.
    """
    values, columns, starts = _graph("dgl_adjacency", data)
    ones = np.ones(len(values), np.float32)
    return csr_matrix((ones, columns, starts), data.shape, dtype=np.float32)


def dgl_subgraph(
    graph: CSRNDArray, *data: NDArray, return_mapping: bool, num_args: int | None = None
) -> Any:
    """Return the graphs of some vertices, with the edges among them.

    Args:
        graph: (n, n), a graph.
        *data: Arrays of vertices, each sorted.
        return_mapping: Whether matrices with the edges' numbers in ``graph`` follow.
        num_args: Accepted: how many arrays there are.

    Returns:
        A matrix (k, k) for each array of k vertices, whose edges are numbered from 0 by row; then
        the same with the numbers of ``graph``. One alone is no list.

    Raises:
        OperatorError: ``graph`` is not a CSR matrix, or vertices are not sorted or not in it.
    """
    own = _graph("dgl_subgraph", graph)
    new, old = [], []
    for given in data:
        vertices = _vertices("dgl_subgraph", given, graph.shape[0])
        if (np.diff(vertices) < 0).any():
            raise OperatorError(
                f"dgl_subgraph: The input vertex list has to be sorted, got {vertices.tolist()}"
            )
        places = {int(vertex): i for i, vertex in enumerate(vertices)}
        rows = [_among(own, int(vertex), places) for vertex in vertices]
        old.append(_matrix(rows, len(vertices)))
        new.append(_renumbered(rows, len(vertices)))
    return _alone([*new, *old] if return_mapping else new)


def _among(graph: _Graph, row: int, places: dict[int, int]) -> tuple[Any, Any]:
    """The edges of a row to some vertices: their places, and the edges' values."""
    part = graph.row(row)
    pairs = [
        (places[int(vertex)], value)
        for vertex, value in zip(graph.columns[part], graph.values[part], strict=True)
        if int(vertex) in places
    ]
    pairs.sort()
    return (
        np.array([place for place, _ in pairs], np.int64),
        np.array([value for _, value in pairs], np.int64),
    )


def _renumbered(rows: Sequence[tuple[Any, Any]], columns: int) -> CSRNDArray:
    """A matrix whose edges are numbered from 0 by row."""
    begin, numbered = 0, []
    for names, _ in rows:
        numbered.append((names, np.arange(begin, begin + len(names))))
        begin += len(names)
    return _matrix(numbered, columns)


def _alone(outputs: list[Any]) -> Any:
    return outputs[0] if len(outputs) == 1 else outputs


def dgl_csr_neighbor_uniform_sample(
    csr_matrix: CSRNDArray,
    *seed_arrays: NDArray,
    num_args: int | None = None,
    num_hops: int = 1,
    num_neighbor: int = 2,
    max_num_vertices: int = 100,
) -> list[NDArray]:
    """Sample neighbours of vertices, and theirs: each vertex's edges with equal probability.

    Args:
        csr_matrix: (n, n), a graph.
        *seed_arrays: Arrays of vertices to start at; each gives a sample.
        num_args: Accepted: how many arrays there are.
        num_hops: How many edges there are from a start to the farthest vertex.
        num_neighbor: Most edges that a vertex has in the sample.
        max_num_vertices: Most vertices of a sample, at least as many as starts.

    Returns:
        For each sample the sorted vertices, int64 (max_num_vertices + 1,), whose last element is
        their number and what is between is 0; then for each the edges, (max_num_vertices, n), a row
        for each vertex; then for each the number of hops to each vertex.

    Raises:
        OperatorError: The graph is no CSR matrix, or a start is not in it or too many.
    """
    what = "dgl_csr_neighbor_uniform_sample"
    samples = [
        _sample(what, csr_matrix, seeds, None, num_hops, num_neighbor, max_num_vertices)
        for seeds in seed_arrays
    ]
    return [part for kind in (0, 1, 3) for sample in samples for part in [sample[kind]]]


def dgl_csr_neighbor_non_uniform_sample(
    csr_matrix: CSRNDArray,
    probability: NDArray,
    *seed_arrays: NDArray,
    num_args: int | None = None,
    num_hops: int = 1,
    num_neighbor: int = 2,
    max_num_vertices: int = 100,
) -> list[NDArray]:
    """Sample neighbours of vertices, and theirs, each neighbour by a weight of its own.

    Args:
        csr_matrix: (n, n), a graph.
        probability: (n,), the vertices' weights.
        *seed_arrays: Arrays of vertices to start at; each gives a sample.
        num_args: Accepted: how many arrays there are.
        num_hops: How many edges there are from a start to the farthest vertex.
        num_neighbor: Most edges that a vertex has in the sample.
        max_num_vertices: Most vertices of a sample, at least as many as starts.

    Returns:
        As `dgl_csr_neighbor_uniform_sample`, with the vertices' weights before the hops.

    Raises:
        OperatorError: The graph is no CSR matrix, or a start is not in it or too many.
    """
    what = "dgl_csr_neighbor_non_uniform_sample"
    weights = probability.asnumpy()
    samples = [
        _sample(what, csr_matrix, seeds, weights, num_hops, num_neighbor, max_num_vertices)
        for seeds in seed_arrays
    ]
    return [part for kind in range(4) for sample in samples for part in [sample[kind]]]


def _sample(
    what: str,
    matrix: CSRNDArray,
    seeds: NDArray,
    weights: Any,
    hops: int,
    most_edges: int,
    most_vertices: int,
) -> tuple[NDArray, CSRNDArray, NDArray, NDArray]:
    """One sample: vertices, edges, weights, hops."""
    graph = _graph(what, matrix)
    starts = list(dict.fromkeys(_vertices(what, seeds, matrix.shape[0]).tolist()))
    if len(starts) > most_vertices:
        raise OperatorError(
            f"{what}: expected at most {most_vertices} vertices to start at, got {len(starts)}; "
            "raise max_num_vertices"
        )
    choose = _chooser(seeds, weights, most_edges)
    found, edges = _walked(graph, starts, hops, most_vertices, choose)
    order = sorted(found)
    vertices = np.zeros(most_vertices + 1, np.int64)
    vertices[: len(order)] = order
    vertices[-1] = len(order)
    layers = np.zeros(most_vertices, np.int64)
    layers[: len(order)] = [found[vertex] for vertex in order]
    shares = np.zeros(most_vertices, np.float32)
    if weights is not None:
        shares[: len(order)] = weights[order]
    none = (np.zeros(0, np.int64), np.zeros(0, np.int64))
    rows = [edges.get(vertex, none) for vertex in order]
    rows += [none] * (most_vertices - len(order))
    return (
        array(vertices, dtype=np.int64),
        _matrix(rows, matrix.shape[1]),
        array(shares, dtype=np.float32),
        array(layers, dtype=np.int64),
    )


def _chooser(seeds: NDArray, weights: Any, most: int) -> Callable[[Any], Any]:
    """A function that draws ``most`` of the places of neighbours, in order."""
    draw = np.random.default_rng(next_key(seeds.context))

    def choose(neighbours: Any) -> Any:
        if len(neighbours) <= most:
            return np.arange(len(neighbours))
        if weights is None:
            return np.sort(draw.choice(len(neighbours), most, replace=False))
        own = weights[neighbours].astype(np.float64)
        likely = int(np.count_nonzero(own))
        chosen = draw.choice(len(neighbours), min(most, likely), replace=False, p=own / own.sum())
        return np.sort(chosen)

    return choose


def _walked(
    graph: _Graph, starts: Sequence[int], hops: int, most: int, choose: Callable[[Any], Any]
) -> tuple[dict[int, int], dict[int, tuple[Any, Any]]]:
    """The hops to each vertex, and the edges of those that were gone on from."""
    found = dict.fromkeys(starts, 0)
    edges = {}
    waiting = deque(starts)
    while waiting:
        vertex = waiting.popleft()
        if found[vertex] == hops:
            continue
        part = graph.row(vertex)
        chosen = choose(graph.columns[part])
        kept = []
        for place in chosen:
            neighbour = int(graph.columns[part][place])
            if neighbour not in found:
                if len(found) == most:
                    continue
                found[neighbour] = found[vertex] + 1
                waiting.append(neighbour)
            kept.append(place)
        edges[vertex] = (
            graph.columns[part][kept].astype(np.int64),
            graph.values[part][kept].astype(np.int64),
        )
    return found, edges


def dgl_graph_compact(
    *graph_data: NDArray,
    return_mapping: bool,
    graph_sizes: int | Sequence[int],
    num_args: int | None = None,
) -> Any:
    """Return samples as graphs of their own, whose vertices are numbered from 0.

    Args:
        *graph_data: The edges of each sample, then the vertices of each.
        return_mapping: Whether matrices with the original numbers of the edges follow.
        graph_sizes: How many vertices each sample has.
        num_args: Accepted: how many arrays there are.

    Returns:
        A matrix (size, size) for each sample, whose edges are numbered from 0 by row; then the same
        with the original numbers. One alone is no list.

    Raises:
        OperatorError: There are not as many vertices as a size says, or not a size for each.
    """
    count = len(graph_data) // 2
    sizes = [int(size) for size in np.atleast_1d(np.asarray(graph_sizes))]
    if len(graph_data) != 2 * count or len(sizes) != count:
        raise OperatorError(
            "dgl_graph_compact: expected edges and vertices and a size for each graph, got "
            f"{len(graph_data)} arrays and {len(sizes)} sizes"
        )
    new, old = [], []
    for matrix, given, size in zip(graph_data[:count], graph_data[count:], sizes, strict=True):
        graph = _graph("dgl_graph_compact", matrix)
        known = given.asnumpy().astype(np.int64)
        if known[-1] != size:
            raise OperatorError(
                f"dgl_graph_compact: expected a size of {known[-1]}, by its vertices, got {size}"
            )
        places = {int(vertex): i for i, vertex in enumerate(known[:size])}
        rows = [_among(graph, row, places) for row in range(size)]
        old.append(_matrix(rows, size))
        new.append(_renumbered(rows, size))
    return _alone([*new, *old] if return_mapping else new)
