"""Check that a block computes the same hybridized and not."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import gluonish.autograd as autograd
from gluonish.core.numpy_mode import NumpyScope
from gluonish.numpy.array import ndarray
from gluonish.test_utils.comparison import assert_almost_equal, on_host
from gluonish.test_utils.surroundings import default_context

_BUILDER_ARGUMENTS = {"prefix": "checked_", "params": None}


def check_gluon_hybridize_consistency(
    net_builder: Callable[..., Any],
    data_l: Sequence[Any],
    numpy_func: Callable[..., Any] | None = None,
    test_grad: bool = True,
    rtol: float = 1e-4,
    atol: float = 1e-4,
) -> None:
    """Check that a block computes the same outputs and gradients hybridized and not.

    Args:
        net_builder: Class or function that creates the block, called with ``prefix`` and ``params``
            if it requires them.
        data_l: Inputs: ``mx.np`` arrays, or NDArrays for a block of ``nd`` operators.
        numpy_func: Function of NumPy arrays with the expected output; None to skip this check.
        test_grad: Whether to compare the gradients of inputs and parameters.
        rtol: Relative tolerance.
        atol: Absolute tolerance.

    Raises:
        AssertionError: The check fails.
    """
    numpy_arrays = all(isinstance(x, ndarray) for x in data_l)
    with NumpyScope(shape=numpy_arrays, array=numpy_arrays):
        eager, parameters = _run_block(net_builder, data_l, None, test_grad, hybridize=False)
        hybrid, _ = _run_block(net_builder, data_l, parameters, test_grad, hybridize=True)
    assert_almost_equal(eager[0], hybrid[0], rtol, atol, ("imperative", "hybridized"))
    for key in eager[1]:
        names = (f"imperative gradient of {key}", f"hybridized gradient of {key}")
        assert_almost_equal(eager[1][key], hybrid[1][key], rtol, atol, names)
    if numpy_func is not None:
        expected = numpy_func(*[on_host(x) for x in data_l])
        assert_almost_equal(eager[0], expected, rtol, atol, ("block", "numpy_func"))


def _run_block(
    net_builder: Callable[..., Any],
    data_l: Sequence[Any],
    parameters: Mapping[str, Any] | None,
    test_grad: bool,
    hybridize: bool,
) -> tuple[tuple[Any, dict[str, Any]], dict[str, Any]]:
    """Run a new block; return (output, gradients by name), and its initial parameters."""
    net = net_builder(**_required(net_builder))
    net.initialize(ctx=default_context())
    if hybridize:
        net.hybridize()
    inputs = [x.detach().copy() for x in data_l]
    if parameters is None or any(p._arrays is None for p in net.collect_params().values()):
        net(*inputs)  # infers deferred shapes
    params = net._collect_params_with_prefix()
    initial = {key: p.data().copy() for key, p in params.items()}
    for key, value in (parameters or {}).items():
        params[key].set_data(value)
    if not test_grad:
        return (net(*inputs), {}), initial
    for x in inputs:
        x.attach_grad()
    with autograd.record():
        output = net(*inputs)
    output.backward(output.detach())
    gradients = {f"input {i}": x.grad for i, x in enumerate(inputs)}
    gradients |= {key: p.grad() for key, p in params.items() if p.grad_req != "null"}
    return (output, gradients), initial


def _required(net_builder: Callable[..., Any]) -> dict[str, Any]:
    """Return the arguments among prefix and params that a function requires."""
    needed = {
        key
        for key, p in inspect.signature(net_builder).parameters.items()
        if p.default is p.empty and p.kind is not p.VAR_KEYWORD
    }
    return {key: value for key, value in _BUILDER_ARGUMENTS.items() if key in needed}
