"""Properties of operators: shape inference, gradient and execution.

Passes, planners and the eager path rely on these alone, so that new operators need no special case.

`zero_gradient` is the gradient rule of functions that are constant almost everywhere.
"""

from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple

from gluonish.core.spec import PartialSpec, Shape
from gluonish.ops.kernel import Attrs
from gluonish.ops.support.work import Heavy

# Refines partially known shapes of inputs and outputs.
ShapeRule = Callable[[list[Shape | None], list[Shape | None], Attrs], None]

GradientRule = Callable[..., Sequence[Any]]


class ShapeFacts(NamedTuple):
    """Shape inference beyond the operator's ``infer``, which goes from inputs to outputs.

    Attributes:
        complete: ``complete(inputs, outputs, attrs)`` fills in unknown entries of lists of
            `PartialSpec`; for parameters whose shape depends on the data.
        rule: ``rule(inputs, outputs, attrs)`` refines lists of partially known shapes in both
            directions; see `gluonish.ops.support.shape_rules`, also for the default.
        opens: ``opens(attrs)`` returns the partial spec of a created array whose shape is inferred
            from its consumers; None where the attributes determine it.
        with_shape: ``with_shape(attrs, shape)`` returns the attributes that create such an array
            in the inferred shape; by default it is stored as ``shape``.
        measure: ``measure(xp, *inputs, **attrs)`` returns the output shapes from the values of the
            arrays, where ``infer`` leaves extents `UNKNOWN`. Such an operator waits for its inputs,
            and is never part of a planned graph.
        expand: ``expand(inputs, attrs)`` returns the outputs computed by other operators, which
            replace this one once its input shapes are known; it has no kernel.
    """

    complete: Callable[[list[PartialSpec], list[PartialSpec], Attrs], None] | None = None
    rule: ShapeRule | None = None
    opens: Callable[[Attrs], PartialSpec | None] | None = None
    with_shape: Callable[[Attrs, Shape], Attrs] | None = None
    measure: Callable[..., tuple[Shape, ...]] | None = None
    expand: Callable[[Sequence[Any], Attrs], list[Any]] | None = None


class Gradient(NamedTuple):
    """A gradient rule that needs more than the gradient of the output and the inputs.

    Attributes:
        rule: See `gluonish.ops.registry.Operator`.
        uses_output: The rule needs the outputs.
        ignores_head_gradient: The inputs have a gradient regardless of the head gradient, as in
            losses that are heads. ``g`` is None where the outputs have no gradient, as before
            BlockGrad.
    """

    rule: GradientRule | None
    uses_output: bool = False
    ignores_head_gradient: bool = False


class Execution(NamedTuple):
    """How an operator's kernel executes.

    Attributes:
        mutates: Indices of inputs that the kernel overwrites (moving statistics, optimizer
            states), or a function of the attributes.
        train_dependent: The kernel behaves differently in training, and gets the attribute
            ``train: bool``.
        random: Whether the kernel draws random numbers, or a function of the attributes; it then
            gets the attribute ``key``, a pair of ints.
        elementwise: Output i,j,.. depends only on input elements i,j,.., and ``out`` may alias an
            input of its size.
        at_once: The kernel writes to ``out`` in its last call only.
        overwrites: ``overwrites(attrs)`` returns the index of the only input that ``out`` may
            alias, or None. No other input may be the same array.
        identity: The output holds the elements of input 0 in the same order, so that a plan may
            share the memory.
        copies_only: The kernel only copies views of its inputs or fills with a number.
        several_passes: The kernel passes over memory several times, where one pass would do.
        heavy: Elements cost much more to compute than to read; worth a worker thread. A function
            ``heavy(inputs, outputs, attrs)`` of specs returns the number of multiplications.
        workspaces: Indices of hidden outputs that a fast kernel fills in a private format, or not
            at all, for its own gradient.
        across_devices: ``across_devices(attrs)`` returns whether the call communicates with other
            devices in training; it is then never part of a planned graph.
        live: The kernel must run in Python at each call: it calls user functions, runs graphs, or
            caches memory between calls. CUDA graphs cannot capture it.
        signature: ``signature(attrs)`` returns what specs and the choice of a kernel depend on, if
            the first input is float32 or float64; by default all attributes. For attributes that
            differ from call to call, such as the number in ``x * 0.5``.
    """

    mutates: tuple[int, ...] | Callable[[Attrs], tuple[int, ...]] = ()
    train_dependent: bool = False
    random: bool | Callable[[Attrs], bool] = False
    elementwise: bool = False
    at_once: bool = False
    overwrites: Callable[[Attrs], int | None] | None = None
    identity: bool = False
    copies_only: bool = False
    several_passes: bool = False
    heavy: Heavy = False
    workspaces: tuple[int, ...] = ()
    across_devices: Callable[[Attrs], bool] | None = None
    live: bool = False
    signature: Callable[[Attrs], Hashable] | None = None


def zero_gradient(_g: Any, *inputs: Any, **_attrs: Any) -> tuple[None, ...]:
    """Return None for every input.

    An operator with this rule can be recorded, but propagates nothing; without a rule, an operator
    between an array and a loss is an error.
    """
    return (None,) * len(inputs)
