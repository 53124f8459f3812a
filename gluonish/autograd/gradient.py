"""backward, grad and mark_variables: gradients of what was recorded."""

from collections.abc import Sequence

from gluonish.autograd.tape import GradientMode, gradients_of, run_backward
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.ndarray.ndarray import NDArray
from gluonish.ndarray.recording import Leaf

__all__ = ["backward", "grad", "mark_variables"]

Arrays = NDArray | Sequence[NDArray]


def _as_list(arrays: Arrays, what: str) -> list[NDArray]:
    listed = [arrays] if isinstance(arrays, NDArray) else list(arrays)
    for array in listed:
        if not isinstance(array, NDArray):
            raise ArgumentTypeError(f"{what}: expected NDArrays, got {type(array).__name__}")
    return listed


def _head_grads(
    heads: Sequence[NDArray], given: NDArray | Sequence[NDArray | None] | None, what: str
) -> list[NDArray | None]:
    if given is None:
        return [None] * len(heads)
    listed = [given] if isinstance(given, NDArray) else list(given)
    if len(listed) != len(heads):
        raise ArgumentError(f"{what}: expected {len(heads)} head gradients, got {len(listed)}")
    return listed


def mark_variables(
    variables: Arrays, gradients: Arrays, grad_reqs: str | Sequence[str] = "write"
) -> None:
    """Ask for the gradients of arrays, in buffers of the caller's.

    Args:
        variables: Arrays; each becomes a leaf.
        gradients: A buffer for each, of its shape.
        grad_reqs: ``"write"``, ``"add"`` or ``"null"``, for all or for each.

    Raises:
        ArgumentError: if the lists differ in length, a buffer in shape, or a ``grad_req`` is
            unknown.
    """
    arrays = _as_list(variables, "mark_variables")
    buffers = _as_list(gradients, "mark_variables")
    reqs = [grad_reqs] * len(arrays) if isinstance(grad_reqs, str) else list(grad_reqs)
    if not len(arrays) == len(buffers) == len(reqs):
        raise ArgumentError(
            f"mark_variables: expected lists of one length, got {len(arrays)} variables, {len(buffers)} gradients "
            f"and {len(reqs)} grad_reqs"
        )
    for array, buffer, req in zip(arrays, buffers, reqs, strict=True):
        if req not in ("write", "add", "null"):
            raise ArgumentError(
                f"mark_variables: expected grad_req write, add or null, got {req!r}"
            )
        if buffer.shape != array.shape:
            raise ArgumentError(
                f"mark_variables: expected a gradient of shape {array.shape}, got {buffer.shape}"
            )
        array._link = (Leaf(None if req == "null" else buffer, req), 0)


def backward(
    heads: Arrays,
    head_grads: NDArray | Sequence[NDArray | None] | None = None,
    retain_graph: bool = False,
    train_mode: bool = True,
) -> None:
    """Compute gradients of the heads and leave them in the ``grad`` of every array that asked for one.

    Args:
        heads: Recorded arrays.
        head_grads: Gradients of the heads; ones by default.
        retain_graph: Keep the recorded graph for another backward pass.
        train_mode: Whether the gradients' operators behave as in training.

    Raises:
        AutogradError: if a head was not recorded or its graph is gone.
    """
    arrays = _as_list(heads, "backward")
    grads = _head_grads(arrays, head_grads, "backward")
    with GradientMode(create_graph=False, train_mode=train_mode):
        run_backward(arrays, grads, retain_graph=retain_graph)


def grad(
    heads: Arrays,
    variables: Arrays,
    head_grads: NDArray | Sequence[NDArray | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    train_mode: bool = True,
) -> NDArray | list[NDArray]:
    """Return gradients of the heads with respect to the variables, as new arrays.

    Args:
        heads: Recorded arrays.
        variables: Arrays with `attach_grad`; one gives one gradient, a list gives a list.
        head_grads: Gradients of the heads; ones by default.
        retain_graph: Keep the recorded graph; by default only with ``create_graph``.
        create_graph: Record the computation of the gradients, so that they can be differentiated
            again.
        train_mode: Whether the gradients' operators behave as in training.

    Raises:
        AutogradError: if a head was not recorded, or does not depend on a variable.
    """
    arrays = _as_list(heads, "grad")
    wanted = _as_list(variables, "grad")
    if not wanted:
        raise ArgumentError("grad: expected at least one variable, got none")
    grads = _head_grads(arrays, head_grads, "grad")
    retain = create_graph if retain_graph is None else retain_graph
    with GradientMode(create_graph=create_graph, train_mode=train_mode):
        found = gradients_of(arrays, wanted, grads, retain_graph=retain)
    return found[0] if isinstance(variables, NDArray) else found
