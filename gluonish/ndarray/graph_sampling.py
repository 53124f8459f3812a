"""Graphs as CSR matrices: subgraphs and neighbour sampling, as DGL used them with MXNet.

Row v of a graph holds the edges of vertex v: the columns are its neighbours, the values the edge
ids. Everything is computed on the host.
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
    """The arrays of a CSR matrix, copied to the host."""

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
    """Build an int64 CSR matrix from the (columns, values) of each row."""
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
    """Return the subgraphs induced by arrays of vertices.

    Args:
        graph: (n, n), a graph.
        *data: Arrays of vertices, each sorted.
        return_mapping: Whether to return matrices with the edge ids in ``graph``, too.
        num_args: Accepted; the number of arrays.

    Returns:
        A matrix (k, k) for each array of k vertices, with edges numbered from 0 by row; then the
        same with the edge ids of ``graph``. A single matrix is returned without a list.

    Raises:
        OperatorError: ``graph`` is not a CSR matrix, or vertices are not sorted or not in it.
    """
    parent = _graph("dgl_subgraph", graph)
    new, old = [], []
    for array_ in data:
        vertices = _vertices("dgl_subgraph", array_, graph.shape[0])
        if (np.diff(vertices) < 0).any():
            raise OperatorError(
                f"dgl_subgraph: The input vertex list has to be sorted, got {vertices.tolist()}"
            )
        columns = {int(vertex): i for i, vertex in enumerate(vertices)}
        rows = [_edges_among(parent, int(vertex), columns) for vertex in vertices]
        old.append(_matrix(rows, len(vertices)))
        new.append(_renumbered(rows, len(vertices)))
    return _alone([*new, *old] if return_mapping else new)


def _edges_among(graph: _Graph, row: int, columns: dict[int, int]) -> tuple[Any, Any]:
    """Return the edges of a row to the vertices of ``columns``: new columns and values."""
    span = graph.row(row)
    pairs = [
        (columns[int(vertex)], value)
        for vertex, value in zip(graph.columns[span], graph.values[span], strict=True)
        if int(vertex) in columns
    ]
    pairs.sort()
    return (
        np.array([column for column, _ in pairs], np.int64),
        np.array([value for _, value in pairs], np.int64),
    )


def _renumbered(rows: Sequence[tuple[Any, Any]], columns: int) -> CSRNDArray:
    """Return a matrix with edges numbered from 0 by row."""
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
    """Sample subgraphs around seed vertices, choosing neighbours with equal probability.

    Args:
        csr_matrix: (n, n), a graph.
        *seed_arrays: Arrays of seed vertices, one per sample.
        num_args: Accepted; the number of arrays.
        num_hops: Maximum number of edges from a seed to a vertex.
        num_neighbor: Maximum number of sampled edges per vertex.
        max_num_vertices: Maximum number of vertices in a sample, at least the number of seeds.

    Returns:
        For each sample the sorted vertices, int64 (max_num_vertices + 1,), padded with 0, with
        their number as last element; then for each the edges, (max_num_vertices, n), one row per
        vertex; then for each the number of hops to each vertex.

    Raises:
        OperatorError: The graph is not a CSR matrix, a seed is not in it, or there are too many.
    """
    what = "dgl_csr_neighbor_uniform_sample"
    samples = [
        _sample(what, csr_matrix, seeds, None, num_hops, num_neighbor, max_num_vertices)
        for seeds in seed_arrays
    ]
    return [sample[kind] for kind in (0, 1, 3) for sample in samples]


def dgl_csr_neighbor_non_uniform_sample(
    csr_matrix: CSRNDArray,
    probability: NDArray,
    *seed_arrays: NDArray,
    num_args: int | None = None,
    num_hops: int = 1,
    num_neighbor: int = 2,
    max_num_vertices: int = 100,
) -> list[NDArray]:
    """Sample subgraphs around seed vertices, choosing neighbours by weight.

    Args:
        csr_matrix: (n, n), a graph.
        probability: (n,), the vertices' weights.
        *seed_arrays: Arrays of seed vertices, one per sample.
        num_args: Accepted; the number of arrays.
        num_hops: Maximum number of edges from a seed to a vertex.
        num_neighbor: Maximum number of sampled edges per vertex.
        max_num_vertices: Maximum number of vertices in a sample, at least the number of seeds.

    Returns:
        As `dgl_csr_neighbor_uniform_sample`, with the vertices' weights before the hops.

    Raises:
        OperatorError: The graph is not a CSR matrix, a seed is not in it, or there are too many.
    """
    what = "dgl_csr_neighbor_non_uniform_sample"
    weights = probability.asnumpy()
    samples = [
        _sample(what, csr_matrix, seeds, weights, num_hops, num_neighbor, max_num_vertices)
        for seeds in seed_arrays
    ]
    return [sample[kind] for kind in range(4) for sample in samples]


def _sample(
    what: str,
    matrix: CSRNDArray,
    seeds: NDArray,
    weights: Any,
    hops: int,
    most_edges: int,
    most_vertices: int,
) -> tuple[NDArray, CSRNDArray, NDArray, NDArray]:
    """Return vertices, edges, weights and hops of one sample."""
    graph = _graph(what, matrix)
    starts = list(dict.fromkeys(_vertices(what, seeds, matrix.shape[0]).tolist()))
    if len(starts) > most_vertices:
        raise OperatorError(
            f"{what}: expected at most {most_vertices} vertices to start at, got {len(starts)}; "
            "raise max_num_vertices"
        )
    choose = _chooser(seeds, weights, most_edges)
    found, edges = _walk(graph, starts, hops, most_vertices, choose)
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
    """Return a function that samples at most ``most`` indices of neighbours, sorted."""
    rng = np.random.default_rng(next_key(seeds.context))

    def choose(neighbours: Any) -> Any:
        if len(neighbours) <= most:
            return np.arange(len(neighbours))
        if weights is None:
            return np.sort(rng.choice(len(neighbours), most, replace=False))
        p = weights[neighbours].astype(np.float64)
        count = min(most, int(np.count_nonzero(p)))
        return np.sort(rng.choice(len(neighbours), count, replace=False, p=p / p.sum()))

    return choose


def _walk(
    graph: _Graph, starts: Sequence[int], hops: int, most: int, choose: Callable[[Any], Any]
) -> tuple[dict[int, int], dict[int, tuple[Any, Any]]]:
    """Return the hops to each vertex, and the sampled edges of each expanded vertex."""
    found = dict.fromkeys(starts, 0)
    edges = {}
    queue = deque(starts)
    while queue:
        vertex = queue.popleft()
        if found[vertex] == hops:
            continue
        span = graph.row(vertex)
        sampled = []
        for index in choose(graph.columns[span]):
            neighbour = int(graph.columns[span][index])
            if neighbour not in found:
                if len(found) == most:
                    continue
                found[neighbour] = found[vertex] + 1
                queue.append(neighbour)
            sampled.append(index)
        edges[vertex] = (
            graph.columns[span][sampled].astype(np.int64),
            graph.values[span][sampled].astype(np.int64),
        )
    return found, edges


def dgl_graph_compact(
    *graph_data: NDArray,
    return_mapping: bool,
    graph_sizes: int | Sequence[int],
    num_args: int | None = None,
) -> Any:
    """Return sampled subgraphs as graphs with vertices numbered from 0.

    Args:
        *graph_data: The edges of each sample, then the vertices of each.
        return_mapping: Whether to return matrices with the original edge ids, too.
        graph_sizes: Number of vertices of each sample.
        num_args: Accepted; the number of arrays.

    Returns:
        A matrix (size, size) for each sample, with edges numbered from 0 by row; then the same with
        the original edge ids. A single matrix is returned without a list.

    Raises:
        OperatorError: A size differs from the number of vertices, or the counts do not match.
    """
    count = len(graph_data) // 2
    sizes = [int(size) for size in np.atleast_1d(np.asarray(graph_sizes))]
    if len(graph_data) != 2 * count or len(sizes) != count:
        raise OperatorError(
            "dgl_graph_compact: expected edges and vertices and a size for each graph, got "
            f"{len(graph_data)} arrays and {len(sizes)} sizes"
        )
    new, old = [], []
    for matrix, array_, size in zip(graph_data[:count], graph_data[count:], sizes, strict=True):
        graph = _graph("dgl_graph_compact", matrix)
        vertices = array_.asnumpy().astype(np.int64)
        if vertices[-1] != size:
            raise OperatorError(
                f"dgl_graph_compact: expected a size of {vertices[-1]}, by its vertices, got {size}"
            )
        columns = {int(vertex): i for i, vertex in enumerate(vertices[:size])}
        rows = [_edges_among(graph, row, columns) for row in range(size)]
        old.append(_matrix(rows, size))
        new.append(_renumbered(rows, size))
    return _alone([*new, *old] if return_mapping else new)
