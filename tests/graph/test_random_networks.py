"""Random networks: whichever passes and kernels are on, values and gradients are the same."""

from contextlib import ExitStack

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gluonish import autograd
from gluonish.core.config import (
    MXNET_BACKWARD_DO_MIRROR,
    MXNET_DISABLED_GRAPH_PASSES,
    MXNET_ELIMINATE_COMMON_EXPR,
    MXNET_EXEC_ENABLE_INPLACE,
    MXNET_MEMORY_OPT,
    MXNET_MKLDNN_ENABLED,
    MXNET_SUBGRAPH_BACKEND,
    MXNET_USE_FUSION,
    NNVM_EXEC_MATCH_RANGE,
)
from gluonish.core.random_state import seed
from gluonish.graph import passes
from gluonish.graph.cached_graph import CachedGraph
from gluonish.ndarray import NDArray, array
from tests.graph.random_graphs import RandomGraph
from tests.graph.random_networks import random_networks

PASSES = ("channels_last", *passes.__all__)
STAGES = (
    MXNET_ELIMINATE_COMMON_EXPR.override(False),
    MXNET_SUBGRAPH_BACKEND.override("NONE"),
    MXNET_USE_FUSION.override(False),
    MXNET_EXEC_ENABLE_INPLACE.override(False),
    NNVM_EXEC_MATCH_RANGE.override(0),
    MXNET_BACKWARD_DO_MIRROR.override(True),
    MXNET_MEMORY_OPT.override(True),
)
Results = list[np.ndarray]


def _arrays(made: RandomGraph) -> list[NDArray]:
    return [array(x, dtype=x.dtype) for x in made.values]


def _cached(made: RandomGraph) -> CachedGraph:
    nodes = [value.node for value in made.variables]
    return CachedGraph(nodes, made.outputs, static_alloc=True, data_count=1, name="net")


def _predicted(made: RandomGraph) -> Results:
    cached, arrays = _cached(made), _arrays(made)
    cached(arrays)
    return [y.asnumpy() for y in cached(arrays)]


def _trained(made: RandomGraph) -> Results:
    """Return outputs, gradients and moved statistics of the second of two calls."""
    cached = _cached(made)
    for _ in range(2):
        arrays = _arrays(made)
        for x in arrays:
            x.attach_grad()
        seed(3)
        with autograd.record():
            outputs = cached(arrays)
        heads = [array(np.cos(np.arange(y.size)).reshape(y.shape), dtype=y.dtype) for y in outputs]
        autograd.backward(outputs, heads)
    return [x.asnumpy() for x in (*outputs, *(x.grad for x in arrays), *arrays)]


def _check(found: Results, expected: Results, bound: float) -> None:
    """Compare within a part of the largest number of each array, 1 at least."""
    for got, want in zip(found, expected, strict=True):
        assert got.dtype == want.dtype
        np.testing.assert_allclose(got, want, rtol=0, atol=bound * max(1.0, np.abs(want).max()))


def _distance(found: Results, expected: Results) -> float:
    """Return how far arrays are apart, in the Euclidean norm, as a part of the expected ones."""
    wide = [np.concatenate([x.astype(np.float64).ravel() for x in a]) for a in (found, expected)]
    return float(np.linalg.norm(wide[0] - wide[1]) / np.linalg.norm(wide[1]))


def _reference(made: RandomGraph) -> tuple[Results, Results]:
    """Return what the reference kernels give, operator by operator."""
    with MXNET_MKLDNN_ENABLED.override(False), ExitStack() as scopes:
        for stage in STAGES[:5]:
            scopes.enter_context(stage)
        scopes.enter_context(MXNET_DISABLED_GRAPH_PASSES.override(PASSES))
        return _predicted(made), _trained(made)


@given(random_networks())
def test_planned_networks_give_what_the_reference_kernels_give(made: RandomGraph) -> None:
    predicted, trained = _reference(made)
    _check(_predicted(made), predicted, 1e-4)
    _check(_trained(made), trained, 2e-4)


@given(random_networks("bfloat16"))
def test_planned_networks_in_bfloat16(made: RandomGraph) -> None:
    predicted, trained = _reference(made)
    assert _distance(_predicted(made), predicted) < 0.02
    assert _distance(_trained(made), trained) < 0.02


@pytest.mark.parametrize("name", PASSES)
@given(made=random_networks())
def test_without_one_pass_the_results_stay(name: str, made: RandomGraph) -> None:
    predicted, trained = _predicted(made), _trained(made)
    with MXNET_DISABLED_GRAPH_PASSES.override((name,)):
        _check(_predicted(made), predicted, 1e-4)
        _check(_trained(made), trained, 2e-4)


@given(
    random_networks(),
    st.sets(st.sampled_from(PASSES)),
    st.sets(st.sampled_from(range(len(STAGES)))),
)
def test_without_some_passes_and_stages_the_results_stay(
    made: RandomGraph, passes: set[str], stages: set[int]
) -> None:
    predicted, trained = _predicted(made), _trained(made)
    with MXNET_DISABLED_GRAPH_PASSES.override(tuple(passes)), ExitStack() as scopes:
        for i in stages:
            scopes.enter_context(STAGES[i])
        _check(_predicted(made), predicted, 1e-4)
        _check(_trained(made), trained, 2e-4)
