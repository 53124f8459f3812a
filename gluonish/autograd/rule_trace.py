"""What a gradient rule computes, as a list of operators: the rule runs once, on values that have
shapes but no numbers."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from gluonish.core.errors import AutogradError, GluonishError
from gluonish.core.spec import UNKNOWN, Shape, Spec
from gluonish.ops.arithmetic import Arithmetic
from gluonish.ops.composite import input_gradients
from gluonish.ops.registry import Attrs, Operator

__all__ = ["Rule", "Step", "trace_rule"]


class Step(NamedTuple):
    """The call of an operator.

    Attributes:
        op: The operator.
        attrs: Its parsed attributes.
        inputs: Numbers of the values that it reads.
        first: Number of its first output; the others follow.
        specs: Of its outputs, hidden ones too.
    """

    op: Operator
    attrs: Attrs
    inputs: tuple[int, ...]
    first: int
    specs: tuple[Spec, ...]


class Rule(NamedTuple):
    """A gradient rule for one signature of a call.

    Values are numbered: first those that the rule was given, then the outputs of each step.

    Attributes:
        steps: In order.
        specs: Of all values.
        results: For each input of the operator the number of its gradient; None for no gradient.
    """

    steps: tuple[Step, ...]
    specs: tuple[Spec, ...]
    results: tuple[int | None, ...]


class _UnlistedError(AutogradError):
    """A rule does more than call plain operators on the values that it is given."""


class _Trace:
    """The steps so far."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.specs: list[Spec] = []

    def given(self, spec: Spec) -> "_Value":
        """Return a value that the rule is given."""
        self.specs.append(spec)
        return _Value(self, len(self.specs) - 1, spec)

    def append(self, op: Operator, inputs: Sequence[Any], attrs: Attrs) -> Any:
        """Note a call, and return its visible outputs."""
        unknown = op.train_dependent or op.random or op.measure is not None
        if unknown or op.mutated_inputs(attrs):
            raise _UnlistedError(f"{op.name}: expected a plain operator, got another")
        if any(type(x) is not _Value for x in inputs):
            raise _UnlistedError(f"{op.name}: expected values of the rule, got others")
        specs = op.infer(*[x.spec for x in inputs], **attrs)
        if any(UNKNOWN in spec.shape for spec in specs):
            raise _UnlistedError(f"{op.name}: expected known shapes, got {specs}")
        first = len(self.specs)
        self.steps.append(Step(op, attrs, tuple(x.number for x in inputs), first, specs))
        self.specs += specs
        made = [_Value(self, first + i, spec) for i, spec in enumerate(specs)]
        shown = made[: op.num_visible(attrs)]
        return shown[0] if len(shown) == 1 else shown


class _Value(Arithmetic):
    """A value of a trace: a number, and a spec."""

    __slots__ = ("number", "spec", "trace")

    def __init__(self, trace: _Trace, number: int, spec: Spec) -> None:
        self.trace = trace
        self.number = number
        self.spec = spec

    @property
    def shape(self) -> Shape:
        """Extents."""
        return self.spec.shape

    @property
    def dtype(self) -> Any:
        """Element type, as an array's."""
        return self.spec.dtype.type

    @staticmethod
    def __apply__(op: Operator, inputs: Sequence[Any], attrs: Attrs) -> Any:
        trace: _Trace = next(x.trace for x in inputs if type(x) is _Value)
        return trace.append(op, inputs, attrs)


def trace_rule(
    op: Operator,
    attrs: Attrs,
    grads: Sequence[Spec | None],
    inputs: Sequence[Spec],
    outputs: Sequence[Spec],
    wanted: Sequence[bool],
) -> Rule | None:
    """Return what an operator's gradient rule computes.

    The values that it is given are the gradients that are there, the inputs, and the outputs.

    Args:
        op: The operator.
        attrs: Its parsed attributes.
        grads: For each output the spec of its gradient, or None.
        inputs: Specs of the inputs.
        outputs: Specs of the outputs; none unless the rule reads them.
        wanted: For each input whether its gradient is asked for.

    Returns:
        None where the rule does more than call plain operators on these values.
    """
    trace = _Trace()
    heads = [None if spec is None else trace.given(spec) for spec in grads]
    read = [trace.given(spec) for spec in inputs]
    made = [trace.given(spec) for spec in outputs]
    try:
        found = input_gradients(op, heads, read, made, attrs, wanted)
    except (GluonishError, AttributeError, TypeError):
        return None  # what is wrong with it, if anything, shows on arrays
    if any(x is not None and type(x) is not _Value for x in found):
        return None
    results = tuple(None if x is None else x.number for x in found)
    return Rule(tuple(trace.steps), tuple(trace.specs), results)
