"""What an operator says of itself besides what it computes, in three records.

Passes, planners and the eager path decide by these facts alone, so that a new operator is treated
like those that are there.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from gluonish.core.spec import PartialSpec, Shape
from gluonish.ops.kernel import Attrs
from gluonish.ops.support.work import Heavy

# Makes partly known shapes of inputs and of outputs more exact.
ShapeRule = Callable[[list[Shape | None], list[Shape | None], Attrs], None]

GradientRule = Callable[..., Sequence[Any]]


class ShapeFacts(NamedTuple):
    """What follows for shapes beyond the operator's ``infer``, which goes from inputs to outputs.

    Attributes:
        complete: ``complete(inputs, outputs, attrs)`` fills in lists of `PartialSpec` from what is
            known of the others; for parameters whose shape follows from the data.
        rule: ``rule(inputs, outputs, attrs)`` makes lists of partly known shapes more exact,
            each from the others; see `gluonish.ops.support.shape_rules`, also for what holds
            without it.
        opens: ``opens(attrs)`` gives what is known of an array made from nothing whose shape, or
            some extents of it, follow from its readers; None where the attributes hold all.
        settle: ``settle(attrs, shape)`` gives the attributes that make such an array in the shape
            that was found; by default they get it as ``shape``. Where none was found they stay.
        measure: ``measure(xp, *inputs, **attrs)`` gives the outputs' shapes from the arrays'
            values, where ``infer`` alone cannot know them and leaves extents `UNKNOWN`. Such an
            operator waits for its inputs, and does not become part of a planned graph.
        expand: ``expand(inputs, attrs)`` gives the outputs by other operators, which take the
            operator's place once the shapes of its inputs are known; it has no kernel.
    """

    complete: Callable[[list[PartialSpec], list[PartialSpec], Attrs], None] | None = None
    rule: ShapeRule | None = None
    opens: Callable[[Attrs], PartialSpec | None] | None = None
    settle: Callable[[Attrs, Shape], Attrs] | None = None
    measure: Callable[..., tuple[Shape, ...]] | None = None
    expand: Callable[[Sequence[Any], Attrs], list[Any]] | None = None


class Gradient(NamedTuple):
    """A gradient rule that needs more than the gradient of the output and the inputs.

    Attributes:
        rule: See `gluonish.ops.registry.Operator`.
        uses_output: The rule wants the outputs.
        own: The inputs have a gradient whatever that of the outputs is, even where these have none,
            as behind BlockGrad: the rule then gets None for ``g``. So are losses that are their own
            heads.
    """

    rule: GradientRule | None
    uses_output: bool = False
    own: bool = False


class Execution(NamedTuple):
    """How the kernel runs.

    Attributes:
        mutates: Positions of inputs that the kernel overwrites (moving statistics, optimizer
            states), or a function of the attributes.
        train_dependent: The kernel behaves differently in training; it gets ``train: bool`` among
            its attributes.
        random: The kernel draws numbers, or a function of the attributes that says whether; it then
            gets ``key``, a pair of ints, among its attributes.
        elementwise: Output i,j,.. depends on input elements i,j,.. only, and out may be the memory
            of an input of its size.
        at_once: The kernel writes to out by one call only, as its last.
        overwrites: ``overwrites(attrs)`` gives the position of an input whose memory out may be,
            though that of other inputs may not; None for no such. No other input is the same array.
        identity: The output holds the same elements in the same order as input 0, so that a plan
            may share the memory.
        moves: The kernel assigns views of its inputs, or a number, and does nothing else that takes
            long.
        several_passes: The kernel goes over memory several times, where one would do.
        heavy: Costs much more per element than reading it; worth a worker thread. A function
            ``heavy(inputs, outputs, attrs)`` of specs says how many multiplications it does.
        workspaces: Positions of hidden outputs that a fast kernel fills in a way of its own, or not
            at all, for a gradient that reads them so.
        across_devices: ``across_devices(attrs)`` says whether in training the call works with calls
            on other devices; it then is no part of a planned graph either.
        live: The kernel has to run at each call, as it does more than to launch work that follows
            from its arrays: it calls functions of the program, runs graphs, or keeps memory between
            calls. No CUDA graph holds it.
    """

    mutates: tuple[int, ...] | Callable[[Attrs], tuple[int, ...]] = ()
    train_dependent: bool = False
    random: bool | Callable[[Attrs], bool] = False
    elementwise: bool = False
    at_once: bool = False
    overwrites: Callable[[Attrs], int | None] | None = None
    identity: bool = False
    moves: bool = False
    several_passes: bool = False
    heavy: Heavy = False
    workspaces: tuple[int, ...] = ()
    across_devices: Callable[[Attrs], bool] | None = None
    live: bool = False
