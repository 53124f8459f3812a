"""`vmap`: functions of one sample applied to a batch."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from gluonish.autograd.batching import (
    Call,
    Operand,
    apply_batched,
    batched,
    in_class,
    is_numpy,
    reshaped,
    sample,
)
from gluonish.autograd.scopes import is_training, pause
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.core.order import post_order
from gluonish.graph.ir import Node, Value
from gluonish.graph.pytree import Constant, Structure, flatten, regroup
from gluonish.graph.trace import Trace, trace_forward
from gluonish.ndarray import stack
from gluonish.ndarray.ndarray import NDArray
from gluonish.numpy.array import as_np_ndarray

__all__ = ["vmap"]

Axes = int | None | Sequence[int | None]


def vmap(
    func: Callable[..., Any], in_axes: Axes = 0, out_axes: int | Sequence[int] = 0
) -> Callable[..., Any]:
    """Return a function that applies ``func``, a function of one sample, to a batch of samples.

    If the operators of ``func`` do not depend on values, it runs once on arrays without values, and
    each operator is then called once for the whole batch: elementwise operators, reductions,
    products of matrices, softmax, reshaping, slicing, joining, dense layers, convolutions, pooling
    and embeddings. Other operators are called once for each sample, and their results stacked.

    Otherwise ``func`` itself is called once for each sample: if it reads values, draws random
    numbers, changes arrays such as running statistics, has control flow over arrays, or computes
    derivatives. Results are the same; only the time differs.

    The result is recorded inside `record`, and can be passed to `vjp`, `jvp`, `jacobian`, `hessian`
    and `vmap`.

    Args:
        func: Function of arrays of one sample; returns an array, or a tuple, list or dict of
            arrays. Samples of an array of `mx.nd` have one axis at least: those of a vector have
            the shape (1,).
        in_axes: Axis of the samples in each argument: one int for all, or one for each. None for
            an argument that all samples share, which need not be an array.
        out_axes: Axis of the samples in each output: one int for all, or one for each.

    Returns:
        A function of batches, with the arguments and the structure of results of ``func``.

    Raises:
        ArgumentTypeError: ``func`` is not callable, axes are not ints, an argument with an axis is
            not an array, an output is not one, or an argument comes by name.
        ArgumentError: Numbers of axes and of arguments or outputs differ, an array has no such
            axis, no argument has samples, their numbers differ or are 0, or outputs of samples
            differ in structure or shape.

    Example:
        >>> import gluonish as mx
        >>> dots = mx.autograd.vmap(mx.np.dot)
        >>> dots(mx.np.array([[1, 2], [3, 4]]), mx.np.array([[1, 1], [0, 1]])).tolist()
        [3.0, 4.0]
    """
    if not callable(func):
        raise ArgumentTypeError(f"vmap: expected a function, got {type(func).__name__}")
    _check_axes("in_axes", in_axes, optional=True)
    _check_axes("out_axes", out_axes, optional=False)

    def run(*args: Any, **kwargs: Any) -> Any:
        """Apply the function to a batch."""
        if kwargs:
            raise ArgumentTypeError(
                f"vmap: expected arguments by position, got {', '.join(kwargs)} by name; "
                "functools.partial(func, name=value) shares a value among samples"
            )
        batch = _batch(func, args, in_axes)
        leaves = _in_one_pass(batch)
        if leaves is None:
            leaves = _one_by_one(batch)
        outs, structure = leaves
        _check_constants(structure)
        axes = _axes_of("out_axes", out_axes, len(outs), "output")
        moved = [_moved(x, 0, axis) for x, axis in zip(outs, axes, strict=True)]
        return regroup(moved, structure)

    return run


class _Batch(NamedTuple):
    """A call on a batch.

    Attributes:
        func: The function of one sample.
        args: All arguments; those of `operands` are unused.
        operands: The arguments that have samples, by position.
        samples: Number of samples.
    """

    func: Callable[..., Any]
    args: tuple[Any, ...]
    operands: dict[int, Operand]
    samples: int

    def __call__(self, arrays: Sequence[Any]) -> Any:
        """Return the function's result on arrays in place of the operands."""
        args = list(self.args)
        for position, x in zip(self.operands, arrays, strict=True):
            args[position] = x
        return self.func(*args)


def _batch(func: Callable[..., Any], args: tuple[Any, ...], in_axes: Axes) -> _Batch:
    axes = _axes_of("in_axes", in_axes, len(args), "argument")
    operands = {}
    for position, (x, axis) in enumerate(zip(args, axes, strict=True)):
        if axis is None:
            continue
        if not isinstance(x, NDArray):
            raise ArgumentTypeError(
                f"vmap: expected an array as argument {position}, got {type(x).__name__}; None in "
                "in_axes shares an argument among samples"
            )
        data = _moved(x, axis, 0)
        shape = data.shape[1:]
        if not shape and not is_numpy(x):
            shape = (1,)
            data = reshaped(data, (data.shape[0], 1))
        operands[position] = Operand(data, True, shape)
    counts = {position: x.data.shape[0] for position, x in operands.items()}
    if not counts or len(set(counts.values())) > 1 or 0 in counts.values():
        raise ArgumentError(
            "vmap: expected arguments with one number of samples above 0, got "
            f"{list(counts.values())}"
        )
    return _Batch(func, args, operands, next(iter(counts.values())))


class _Parameters(Trace):
    """A trace that keeps the arrays of parameters."""

    __slots__ = ("arrays",)

    def __init__(self) -> None:
        super().__init__()
        self.arrays: dict[str, NDArray] = {}

    def parameter(self, name: str, array: NDArray) -> Any:
        """Return the traced array of a parameter."""
        self.arrays.setdefault(name, array)
        return super().parameter(name, array)


def _in_one_pass(batch: _Batch) -> tuple[list[NDArray], Any] | None:
    """Return the outputs with the batch on axis 0, and their structure; None if it takes a loop."""
    operands = list(batch.operands.values())
    names = [f"data{i}" for i in range(len(operands))]
    with pause(is_training()):
        examples = [sample(x, 0).detach() for x in operands]
    kept = _Parameters()
    try:
        trace = trace_forward(
            lambda *arrays: batch(arrays), names, examples, lambda base: base, kept
        )
    except Exception:  # whatever it is, the loop over samples raises it, too
        return None
    nodes = post_order(
        [value.node for value in trace.outputs],
        lambda node: [value.node for value in node.inputs],
    )
    known: dict[tuple[int, int], Operand] = {
        (id(node), 0): x for node, x in zip(trace.data, operands, strict=True)
    }
    for node in nodes:
        if not _is_plain(node):
            return None
        if node.op is None and (id(node), 0) not in known:
            given = kept.arrays.get(node.name) if node.array is None else node.array
            if given is None:  # a variable of a trace around this one
                return None
            known[id(node), 0] = Operand(given, False, given.shape)
    for node in nodes:
        if node.op is not None:
            _run(node, known, batch.samples)
    outs = [batched(_lookup(known, value), batch.samples) for value in trace.outputs]
    return outs, trace.structure


def _lookup(known: dict[tuple[int, int], Operand], value: Value) -> Operand:
    return known[id(value.node), value.index]


def _run(node: Node, known: dict[tuple[int, int], Operand], count: int) -> None:
    """Add the outputs of a node to the known operands."""
    assert node.op is not None
    inputs = [_lookup(known, value) for value in node.inputs]
    call = Call(node.op, node.attrs, inputs, node.specs[0].shape, count)
    varies = any(x.batched for x in inputs)
    if varies:
        outs = apply_batched(call)
    else:
        found = call.run(*(x.data for x in inputs))
        outs = found if isinstance(found, list) else [found]
    for index, (out, spec) in enumerate(zip(outs, node.specs, strict=False)):
        known[id(node), index] = Operand(out, varies, spec.shape)


def _is_plain(node: Node) -> bool:
    """Whether a node's result depends on its inputs only, and it changes none of them."""
    op, attrs = node.op, node.attrs
    if op is None:
        return True
    if op.live or "subgraphs" in attrs or op.draws(attrs) or op.mutated_inputs(attrs):
        return False
    return bool(node.inputs) and not (op.train_dependent and is_training())


def _one_by_one(batch: _Batch) -> tuple[list[NDArray], Any]:
    """Return the outputs of a loop over samples, stacked, and their structure."""
    rows, structures = [], []
    for i in range(batch.samples):
        result = batch([sample(x, i) for x in batch.operands.values()])
        leaves, structure = flatten(result, lambda x: isinstance(x, NDArray))
        if not leaves:
            raise ArgumentTypeError(
                f"vmap: expected func to return arrays, got {type(result).__name__}"
            )
        rows.append(leaves)
        structures.append(structure)
        _check_constants(structure)
        if structure != structures[0]:
            raise ArgumentError(
                "vmap: expected outputs of one structure, got another one of sample "
                f"{i} than of sample 0"
            )
    shapes = [[x.shape for x in row] for row in rows]
    for i, found in enumerate(shapes):
        if found != shapes[0]:
            raise ArgumentError(
                f"vmap: expected outputs of equal shapes, got {shapes[0]} of sample 0 and {found} "
                f"of sample {i}"
            )
    return [_stacked(column) for column in zip(*rows, strict=True)], structures[0]


def _check_constants(structure: Structure) -> None:
    """Refuse what is no array among outputs, such as a number of one sample only.

    Raises:
        ArgumentTypeError: There is such an output.
    """
    if isinstance(structure, Constant):
        if structure.value is not None:
            raise ArgumentTypeError(
                "vmap: expected func to return arrays, got one or more of "
                f"{type(structure.value).__name__} beside them"
            )
    elif structure is not None:
        for inner in structure[1]:
            _check_constants(inner)


def _stacked(column: Sequence[NDArray]) -> NDArray:
    found = stack(*column, axis=0)
    return in_class(as_np_ndarray(found), column[0])


def _moved(x: NDArray, source: int, target: int) -> NDArray:
    """Return an array with an axis at another place.

    Raises:
        ArgumentError: It has no such axis.
    """
    rank = len(x.shape)
    if not all(-rank <= axis < rank for axis in (source, target)):
        raise ArgumentError(
            f"vmap: expected an array with axis {source or target}, got one of shape {x.shape}"
        )
    source, target = source % rank, target % rank
    if source == target:
        return x
    axes = [axis for axis in range(rank) if axis != source]
    axes.insert(target, source)
    flexible: Any = as_np_ndarray(x)
    return in_class(flexible.transpose(axes), x)


def _each(axes: Any) -> Iterator[Any]:
    yield from axes if isinstance(axes, tuple | list) else (axes,)


def _check_axes(name: str, axes: Any, *, optional: bool) -> None:
    for axis in _each(axes):
        if not (isinstance(axis, int) and not isinstance(axis, bool)) and not (
            optional and axis is None
        ):
            raise ArgumentTypeError(
                f"vmap: expected {name} as an int or a tuple of ints"
                f"{' or None' if optional else ''}, got {axes!r}"
            )


def _axes_of(name: str, axes: Any, count: int, what: str) -> list[Any]:
    """Return one axis for each argument or output."""
    if not isinstance(axes, tuple | list):
        return [axes] * count
    if len(axes) != count:
        raise ArgumentError(
            f"vmap: expected {name} of {count} axes, one for each {what}, got {len(axes)}"
        )
    return list(axes)
