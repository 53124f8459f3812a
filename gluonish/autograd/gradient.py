"""backward, grad and mark_variables."""

from collections.abc import Sequence

from gluonish.autograd.scopes import GradientMode
from gluonish.autograd.tape import gradients_of, run_backward
from gluonish.core.errors import ArgumentError, ArgumentTypeError, KeyLookupError
from gluonish.ndarray.ndarray import NDArray
from gluonish.ndarray.recording import Leaf, marked
from gluonish.numpy.array import as_nd_ndarray, as_np_ndarray, ndarray

Arrays = NDArray | Sequence[NDArray]
HeadGrads = NDArray | Sequence[NDArray | None] | None


def _as_list(arrays: Arrays, what: str) -> list[NDArray]:
    listed = [arrays] if isinstance(arrays, NDArray) else list(arrays)
    for array in listed:
        if not isinstance(array, NDArray):
            raise ArgumentTypeError(f"{what}: expected NDArrays, got {type(array).__name__}")
    return listed


def _head_grads(heads: Sequence[NDArray], head_grads: HeadGrads, what: str) -> list[NDArray | None]:
    if head_grads is None:
        return [None] * len(heads)
    listed: list[NDArray | None] = (
        [head_grads] if isinstance(head_grads, NDArray) else [*head_grads]
    )
    if len(listed) != len(heads):
        raise ArgumentError(f"{what}: expected {len(heads)} head gradients, got {len(listed)}")
    for head, head_grad in zip(heads, listed, strict=True):
        if head_grad is not None and head_grad._spec != head._spec:
            raise ArgumentError(
                f"{what}: expected a head gradient like its head, {head._spec}, "
                f"got {head_grad._spec}"
            )
    return [None if g is None else as_nd_ndarray(g) for g in listed]


def mark_variables(
    variables: Arrays, gradients: Arrays, grad_reqs: str | Sequence[str] = "write"
) -> None:
    """Attach gradient buffers to arrays, so that `backward` writes their gradients there.

    Args:
        variables: The arrays, which become leaves, detached from their recorded computation.
        gradients: For each variable an array of its shape that receives the gradient.
        grad_reqs: How backward stores gradients, one value for all variables or one for each:
            ``"write"`` overwrites the buffer, ``"add"`` adds to it, ``"null"`` computes none.

    Raises:
        ArgumentError: The lists differ in length, or a buffer has another shape than its variable.
        KeyLookupError: A ``grad_req`` is unknown.
    """
    arrays = _as_list(variables, "mark_variables")
    buffers = _as_list(gradients, "mark_variables")
    reqs = [grad_reqs] * len(arrays) if isinstance(grad_reqs, str) else list(grad_reqs)
    if not len(arrays) == len(buffers) == len(reqs):
        raise ArgumentError(
            f"mark_variables: expected lists of equal length, got {len(arrays)} variables, "
            f"{len(buffers)} gradients and {len(reqs)} grad_reqs"
        )
    for array, buffer, req in zip(arrays, buffers, reqs, strict=True):
        if req not in ("write", "add", "null"):
            raise KeyLookupError(
                f"mark_variables: expected grad_req 'write', 'add' or 'null', got {req!r}"
            )
        if buffer.shape != array.shape:
            raise ArgumentError(
                f"mark_variables: expected a gradient of shape {array.shape}, got {buffer.shape}"
            )
        array._edge = marked(array, Leaf(buffer, req))


def backward(
    heads: Arrays,
    head_grads: HeadGrads = None,
    retain_graph: bool = False,
    train_mode: bool = True,
) -> None:
    """Compute gradients of recorded arrays, and store them in ``grad`` of all marked arrays.

    Args:
        heads: Recorded array or arrays to differentiate, such as losses.
        head_grads: Gradient to start from for each head, of its shape and dtype; ones by default.
        retain_graph: Whether to keep the recorded graph for another backward pass.
        train_mode: Whether operators compute their gradients in training mode.

    Raises:
        AutogradError: A head was not recorded, or an earlier backward pass freed its graph.
        ArgumentError: A head gradient has another shape or dtype than its head.

    Example:
        >>> import gluonish as mx
        >>> x = mx.nd.array([1, 2, 3])
        >>> x.attach_grad()
        >>> with mx.autograd.record():
        ...     y = (x * x).sum()
        >>> y.backward()
        >>> x.grad.tolist()
        [2.0, 4.0, 6.0]
    """
    arrays = [heads] if isinstance(heads, NDArray) else _as_list(heads, "backward")
    grads = _head_grads(arrays, head_grads, "backward")
    with GradientMode(create_graph=False, train_mode=train_mode):
        run_backward(arrays, grads, retain_graph=retain_graph)


def grad(
    heads: Arrays,
    variables: Arrays,
    head_grads: HeadGrads = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    train_mode: bool = True,
) -> list[NDArray]:
    """Return gradients of the heads with respect to the variables, as new arrays.

    Args:
        heads: Recorded array or arrays to differentiate, such as losses.
        variables: Array or arrays marked by `attach_grad`; the result is a list in either case.
        head_grads: Gradient to start from for each head, of its shape and dtype; ones by default.
        retain_graph: Whether to keep the recorded graph; None keeps it only with ``create_graph``.
        create_graph: Whether to record the gradients' computation, for higher derivatives.
        train_mode: Whether operators compute their gradients in training mode.

    Raises:
        AutogradError: A head was not recorded, or does not depend on a variable.
        ArgumentError: A head gradient has another shape or dtype than its head.

    Example:
        >>> import gluonish as mx
        >>> x = mx.nd.array([2])
        >>> x.attach_grad()
        >>> with mx.autograd.record():
        ...     (slope,) = mx.autograd.grad(x**3, [x], create_graph=True)
        >>> slope.backward()  # the second derivative
        >>> slope.asscalar().item(), x.grad.asscalar().item()
        (12.0, 12.0)
    """
    arrays = _as_list(heads, "grad")
    needed = _as_list(variables, "grad")
    if not needed:
        raise ArgumentError("grad: expected at least one variable, got none")
    grads = _head_grads(arrays, head_grads, "grad")
    retain = create_graph if retain_graph is None else retain_graph
    with GradientMode(create_graph=create_graph, train_mode=train_mode):
        found = gradients_of(arrays, needed, grads, retain_graph=retain)
    return [
        as_np_ndarray(gradient) if isinstance(x, ndarray) else gradient
        for x, gradient in zip(needed, found, strict=True)
    ]


def _backward(
    self: NDArray,
    out_grad: NDArray | None = None,
    retain_graph: bool = False,
    train_mode: bool = True,
) -> None:
    """Compute the gradients of this array and store them in ``grad`` of all marked arrays.

    Args:
        self: The recorded array.
        out_grad: Gradient to start from, of the array's shape and dtype; ones by default.
        retain_graph: Whether to keep the recorded graph, for another backward pass.
        train_mode: Whether to compute the gradients in training mode.

    Raises:
        AutogradError: The array was not recorded, or an earlier backward freed its graph.
        ArgumentError: The gradient has another shape or dtype than the array.
    """
    backward(self, out_grad, retain_graph, train_mode)


_backward.__name__ = "backward"
# `ndarray` cannot import this package.
NDArray.backward = _backward  # type: ignore[assignment, method-assign]
