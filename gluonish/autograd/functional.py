"""Derivatives of functions of arrays: `vjp`, `jvp`, `jacobian` and `hessian`.

Each input gets a variable on the tape, connected to what the input was computed from, so that
results are differentiated again where the caller records. `jvp` differentiates the
vector-Jacobian product, which is linear in its vector, with respect to that vector: there are no
forward rules.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from gluonish.autograd.scopes import GradientMode, is_recording, is_training, record
from gluonish.autograd.tape import filled_like, gradients_of
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.ndarray import array, stack
from gluonish.ndarray.ndarray import NDArray
from gluonish.ndarray.recording import Leaf, MarkedNode
from gluonish.numpy.array import as_nd_ndarray, as_np_ndarray, ndarray

__all__ = ["hessian", "jacobian", "jvp", "vjp"]

Inputs = NDArray | Sequence[NDArray]
# The result has the structure of the inputs, or of the outputs and the inputs.
Derivative = Any


def vjp(func: Callable[..., Any], inputs: Inputs, v: Inputs | None = None) -> tuple[Any, Any]:
    """Return ``func(*inputs)`` and the vector-Jacobian product v^T J, in one backward pass.

    Inside `record` the results are recorded, so that they can be differentiated; outside, the
    function runs in prediction mode. The inputs need no `attach_grad`, and their ``grad`` is
    unchanged.

    Args:
        func: Function of as many arrays as ``inputs`` has; returns an array or a tuple of them.
        inputs: Array of floats, or a tuple or list of them.
        v: Array like the output, or a tuple of arrays like the outputs; None for ones, if each
            output has one element.

    Returns:
        The output or outputs, and the product: an array like the input, or a tuple of arrays like
        the inputs. It is zero for inputs that the outputs do not depend on.

    Raises:
        ArgumentError: There are no inputs, or ``v`` does not fit the outputs in number, shape or
            dtype.
        ArgumentTypeError: An input or output is not an array of floats, or ``func`` is not
            callable.

    Example:
        >>> import gluonish as mx
        >>> y, product = mx.autograd.vjp(lambda x: x**2, mx.nd.array([1, 2]), mx.nd.array([1, 10]))
        >>> y.tolist(), product.tolist()
        ([1.0, 4.0], [2.0, 40.0])
    """
    call = _Call("vjp", func, inputs)
    vectors = _vectors("vjp", v, call.outputs, "output")
    return call.shown_outputs(), call.like_inputs(call.gradients(call.outputs, vectors))


def jvp(func: Callable[..., Any], inputs: Inputs, v: Inputs | None = None) -> tuple[Any, Any]:
    """Return ``func(*inputs)`` and the Jacobian-vector product J v, by two backward passes.

    The vector-Jacobian product u^T J is linear in u; its derivative with respect to u, along v, is
    J v (Townsend, "A new trick for calculating Jacobian vector products", 2017). The gradient rules
    of the operators must have gradients themselves.

    Args:
        func: Function of as many arrays as ``inputs`` has; returns an array or a tuple of them.
        inputs: Array of floats, or a tuple or list of them.
        v: Array like the input, or a tuple of arrays like the inputs; None for ones, if each input
            has one element.

    Returns:
        The output or outputs, and the product: an array like the output, or a tuple of arrays like
        the outputs. Recording is as for `vjp`.

    Raises:
        ArgumentError: There are no inputs, or ``v`` does not fit them in number, shape or dtype.
        ArgumentTypeError: As for `vjp`.

    Example:
        >>> import gluonish as mx
        >>> y, product = mx.autograd.jvp(lambda x: x[0] * x[1], mx.nd.array([3, 5]), mx.nd.ones(2))
        >>> y.tolist(), product.tolist()
        ([15.0], [8.0])
    """
    call = _Call("jvp", func, inputs)
    vectors = _vectors("jvp", v, call.variables, "input")
    dummies = [filled_like(out, 0) for out in call.outputs]
    for dummy in dummies:
        dummy._edge = Leaf(filled_like(dummy, 0), "write"), 0
    products = call.gradients(call.outputs, dummies, create_graph=True)
    found = call.gradients(products, vectors, dummies)
    return call.shown_outputs(), call.like_outputs(found)


def jacobian(func: Callable[..., Any], inputs: Inputs) -> Derivative:
    """Return the derivatives of each element of the outputs by each element of the inputs.

    There is a backward pass for each element of the outputs, and one run of the function.

    Args:
        func: Function of as many arrays as ``inputs`` has; returns an array or a tuple of them.
        inputs: Array of floats, or a tuple or list of them.

    Returns:
        For one input and one output an array of shape ``(*output.shape, *input.shape)``; for
        several inputs a tuple of them, for several outputs a tuple of what one output has.
        Recording is as for `vjp`.

    Raises:
        ArgumentError: There are no inputs.
        ArgumentTypeError: As for `vjp`.

    Example:
        >>> import gluonish as mx
        >>> mx.autograd.jacobian(lambda x: x**2, mx.nd.array([1, 2])).tolist()
        [[2.0, 0.0], [0.0, 4.0]]
    """
    call = _Call("jacobian", func, inputs)
    return call.like_outputs([call.like_inputs(_rows(call, out)) for out in call.outputs])


def hessian(func: Callable[..., Any], inputs: Inputs) -> Derivative:
    """Return the second derivatives of a function with one output of one element.

    It is the `jacobian` of the gradient: a backward pass for each element of the inputs.

    Args:
        func: Function of as many arrays as ``inputs`` has; returns an array of one element.
        inputs: Array of floats, or a tuple or list of them.

    Returns:
        For one input an array of shape ``(*input.shape, *input.shape)``; for several inputs a tuple
        of tuples, whose item [i][j] has the shape ``(*inputs[i].shape, *inputs[j].shape)``.
        Recording is as for `vjp`.

    Raises:
        ArgumentError: There are no inputs, or the output has not one element.
        ArgumentTypeError: As for `vjp`.

    Example:
        >>> import gluonish as mx
        >>> mx.autograd.hessian(lambda x: x[0] ** 2 * x[1], mx.nd.array([3, 5])).tolist()
        [[10.0, 6.0], [6.0, 0.0]]
    """

    def gradient(*arrays: NDArray) -> Any:
        inner = _Call("hessian", func, arrays[0] if isinstance(inputs, NDArray) else arrays)
        sizes = [out.size for out in inner.outputs]
        if sizes != [1]:
            raise ArgumentError(
                f"hessian: expected func to return one array of one element, got {sizes} elements"
            )
        return inner.like_inputs(inner.gradients(inner.outputs, _ones(inner.outputs)))

    return jacobian(gradient, inputs)


class _Call:
    """One recorded run of a function.

    Args:
        what: Name of the public function, for messages.
        func: The function.
        inputs: Its inputs.

    Attributes:
        variables: For each input an array with a leaf on the tape.
        outputs: The outputs.
    """

    __slots__ = ("_many_inputs", "_many_outputs", "_nodes", "_records", "outputs", "variables")

    def __init__(self, what: str, func: Callable[..., Any], inputs: Inputs) -> None:
        if not callable(func):
            raise ArgumentTypeError(f"{what}: expected a function, got {type(func).__name__}")
        self._many_inputs = not isinstance(inputs, NDArray)
        given = _floats(what, "input", inputs)
        if not given:
            raise ArgumentError(f"{what}: expected at least one input, got none")
        self._records = is_recording()
        self._nodes: list[MarkedNode] = []
        self.variables = [self._variable(x) for x in given]
        with record(is_training()):
            result = func(*self.variables)
        self._many_outputs = not isinstance(result, NDArray)
        self.outputs = _floats(what, "output", result)

    def _variable(self, x: NDArray) -> NDArray:
        """Return an array with a leaf, connected with the input where the caller records."""
        variable = x.detach()
        leaf = Leaf(filled_like(x, 0), "write")
        variable._edge = leaf, 0
        source = x._edge
        if self._records and source is not None and source[0].freed == np.inf:
            node = MarkedNode(source, leaf)
            self._nodes.append(node)
            edge: Any = (node, 0)
            variable._edge = edge
        return variable

    def gradients(
        self,
        heads: Sequence[NDArray],
        vectors: Sequence[NDArray],
        variables: Sequence[NDArray] | None = None,
        *,
        create_graph: bool = False,
    ) -> list[NDArray]:
        """Return the gradients of heads along vectors; zeros for variables that they lack.

        Args:
            heads: The heads; those that were not recorded are constants.
            vectors: Their gradients.
            variables: The variables; None for those of the inputs.
            create_graph: Whether to record also if the caller does not.
        """
        pairs = [(head, v) for head, v in zip(heads, vectors, strict=True) if head._edge]
        variables = self.variables if variables is None else variables
        create_graph = create_graph or self._records
        with self._cut(), GradientMode(create_graph=create_graph, train_mode=is_training()):
            return gradients_of(
                [head for head, _ in pairs],
                variables,
                [as_nd_ndarray(v) for _, v in pairs],
                retain_graph=True,
                unused_are_zero=True,
            )

    @contextmanager
    def _cut(self) -> Iterator[None]:
        """Keep backward passes from what the inputs were computed from."""
        sources = [node.parents for node in self._nodes]
        for node in self._nodes:
            node.parents = (None, node.parents[1])
        try:
            yield
        finally:
            for node, parents in zip(self._nodes, sources, strict=True):
                node.parents = parents

    def like_inputs(self, arrays: Sequence[NDArray]) -> Any:
        """Return arrays in the structure and class of the inputs."""
        found = _of_class(arrays, self.variables)
        return tuple(found) if self._many_inputs else found[0]

    def like_outputs(self, items: Sequence[Any]) -> Any:
        """Return arrays, or tuples of them, in the structure of the outputs."""
        found = _of_class(items, self.outputs)
        return tuple(found) if self._many_outputs else found[0]

    def shown_outputs(self) -> Any:
        """Return the outputs, which are recorded only where the caller records."""
        found = self.outputs if self._records else [out.detach() for out in self.outputs]
        return tuple(found) if self._many_outputs else found[0]


def _of_class(items: Sequence[Any], models: Sequence[NDArray]) -> list[Any]:
    """Return items, those that are arrays in the class of their models."""
    return [
        as_np_ndarray(item) if isinstance(item, NDArray) and isinstance(model, ndarray) else item
        for item, model in zip(items, models, strict=True)
    ]


def _floats(what: str, name: str, arrays: Any) -> list[NDArray]:
    """Return an array, or a tuple or list of arrays, as a list.

    Raises:
        ArgumentTypeError: Something else is among them, or an array of integers.
    """
    if isinstance(arrays, NDArray):
        listed = [arrays]
    elif isinstance(arrays, tuple | list):
        listed = list(arrays)
    else:
        raise ArgumentTypeError(
            f"{what}: expected {name}s as an array or a tuple of arrays, got "
            f"{type(arrays).__name__}"
        )
    for number, x in enumerate(listed):
        if not isinstance(x, NDArray):
            raise ArgumentTypeError(
                f"{what}: expected arrays, got {type(x).__name__} as {name} {number}"
            )
        if np.dtype(x.dtype).kind in "biu":
            raise ArgumentTypeError(
                f"{what}: expected floats, got {np.dtype(x.dtype)} as {name} {number}; only "
                "functions of floats have derivatives"
            )
    return listed


def _vectors(what: str, v: Inputs | None, models: Sequence[NDArray], name: str) -> list[NDArray]:
    """Return the vectors of a product, one like each model.

    Raises:
        ArgumentError: They do not fit.
    """
    if v is None:
        sizes = [x.size for x in models]
        if any(size != 1 for size in sizes):
            raise ArgumentError(
                f"{what}: expected v, like the {name}s of {sizes} elements, got None"
            )
        return _ones(models)
    listed = _floats(what, "v", v)
    if len(listed) != len(models):
        raise ArgumentError(
            f"{what}: expected v to have {len(models)} arrays, one for each {name}, got "
            f"{len(listed)}"
        )
    for number, (x, model) in enumerate(zip(listed, models, strict=True)):
        if x._spec != model._spec:
            raise ArgumentError(
                f"{what}: expected v like {name} {number}, {model._spec}, got {x._spec}"
            )
    return listed


def _ones(models: Sequence[NDArray]) -> list[NDArray]:
    return [filled_like(x, 1) for x in models]


def _rows(call: _Call, out: NDArray) -> list[NDArray]:
    """Return the Jacobians of an output by each input."""
    rows = []
    for i in range(out.size):
        one_hot = np.zeros(out.shape, out.dtype)
        one_hot.flat[i] = 1
        rows.append(call.gradients([out], [array(one_hot, ctx=out.context, dtype=out.dtype)]))
    found = []
    for number, x in enumerate(call.variables):
        shape = (*out.shape, *x.shape)
        column = [row[number] for row in rows]
        if not out.size or not x.size:
            found.append(array(np.zeros(shape, x.dtype), ctx=x.context, dtype=x.dtype))
            continue
        rows_of_x: Any = as_np_ndarray(stack(*column))
        found.append(rows_of_x.reshape(shape))
    return [as_nd_ndarray(x) for x in found]
