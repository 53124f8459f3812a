"""Check that two optimizers compute the same updates."""

from collections.abc import Sequence
from typing import Any

from gluonish.core.errors import ArgumentError
from gluonish.ndarray.ndarray import NDArray
from gluonish.optimizer import Optimizer
from gluonish.test_utils.comparison import compare_ndarray_tuple
from gluonish.test_utils.sparse_arrays import rand_ndarray

_STYPES = ("default", "row_sparse", "csr")


def compare_optimizer(
    opt1: Optimizer,
    opt2: Optimizer,
    shape: Any = None,
    dtype: Any = None,
    w_stype: str = "default",
    g_stype: str = "default",
    rtol: float = 1e-4,
    atol: float = 1e-5,
    compare_states: bool = True,
    ntensors: int = 1,
    *,
    shapes: Any = None,
) -> None:
    """Check that two optimizers compute the same updates of random weights.

    Args:
        opt1: First optimizer, which updates dense copies.
        opt2: Second optimizer, which updates weights of ``w_stype`` with gradients of ``g_stype``.
        shape: Shape of the weight; a list of shapes for several weights.
        dtype: Element type, float32 by default.
        w_stype: Storage type of the weights.
        g_stype: Storage type of the gradients.
        rtol: Relative tolerance.
        atol: Absolute tolerance.
        compare_states: Whether to compare the optimizers' states, too.
        ntensors: Number of weights updated in one call.
        shapes: List of the shapes of all weights, as in MXNet 2.0; then ``ntensors`` is ignored.

    Raises:
        AssertionError: The results differ.
        ArgumentError: A storage type is unknown, or the number of shapes is wrong.
    """
    for stype in (w_stype, g_stype):
        if stype not in _STYPES:
            raise ArgumentError(
                f"compare_optimizer: expected a storage type among {_STYPES}, got {stype!r}"
            )
    if shapes is not None:
        shape, ntensors = list(shapes), len(shapes)
    shapes = list(shape) if isinstance(shape, list) else [shape]
    if len(shapes) != ntensors:
        raise ArgumentError(f"compare_optimizer: expected a list of {ntensors} shapes, got {shape}")
    weights = [rand_ndarray(s, w_stype, 1.0, dtype) for s in shapes]
    gradients = [rand_ndarray(s, g_stype, dtype=dtype) for s in shapes]
    dense = [[x.tostype("default") for x in arrays] for arrays in (weights, gradients)]
    first, second = _updated(opt1, *dense), _updated(opt2, weights, gradients)
    if compare_states:
        compare_ndarray_tuple(first[1], second[1], rtol, atol)
    compare_ndarray_tuple(first[0], second[0], rtol, atol)


def _updated(
    optimizer: Optimizer, weights: Sequence[NDArray], gradients: Sequence[NDArray]
) -> tuple[list[NDArray], list[Any]]:
    """Update copies of the weights once; return these copies, and the optimizer's states."""
    weights = [w.copy() for w in weights]
    gradients = [g.copy() for g in gradients]
    states = [optimizer.create_state_multi_precision(i, w) for i, w in enumerate(weights)]
    if len(weights) == 1:
        optimizer.update_multi_precision(0, weights[0], gradients[0], states[0])
    else:
        optimizer.update_multi_precision(list(range(len(weights))), weights, gradients, states)
    return weights, states
