"""_fused_pointwise: a sequence of elementwise operators, fused into one pass over memory.

The operator computes a `Program`: a list of registered operators, each with its attributes and
inputs. The reference kernel runs their kernels in order. Graph passes create fused operators, which
are never saved to a file and have no gradient.
"""

from collections.abc import Sequence
from types import ModuleType
from typing import Any, NamedTuple

from gluonish.core.schema import Attribute, Schema, integer
from gluonish.core.spec import Spec
from gluonish.ops.facts import Execution
from gluonish.ops.registry import Attrs, Operator, register


class Instruction(NamedTuple):
    """One operator of a program.

    Attributes:
        op: The operator.
        inputs: Indices of the operator's input values.
        attrs: Parsed attributes, with ``train`` if the operator depends on it; never ``key``.
    """

    op: Operator
    inputs: tuple[int, ...]
    attrs: Attrs

    def infer(self, specs: Sequence[Spec]) -> tuple[Spec, ...]:
        """Infer the specs of the outputs from the specs of all previous values."""
        attrs = self.attrs
        if not self.op.stateless:
            known = self.op.schema.attributes
            attrs = {name: value for name, value in attrs.items() if name in known}
        return self.op.infer(*[specs[i] for i in self.inputs], **attrs)


class Program:
    """A sequence of elementwise operators; immutable and hashable.

    Values are numbered: the inputs, then all outputs of each instruction, including hidden ones.

    Args:
        num_inputs: Number of input arrays.
        instructions: In execution order; each reads values of smaller index. At most one is random.
        outputs: Indices of the returned values.
    """

    __slots__ = ("_known", "_text", "instructions", "num_inputs", "outputs")

    def __init__(
        self, num_inputs: int, instructions: Sequence[Instruction], outputs: Sequence[int]
    ) -> None:
        self.num_inputs = num_inputs
        self.instructions = tuple(instructions)
        self.outputs = tuple(outputs)
        self._text = self._shown()
        # Cache of the last result of `specs`, which planning calls several times.
        self._known: tuple[list[Spec] | None, Sequence[Spec]] = (None, ())

    def _shown(self) -> str:
        lines = []
        count = self.num_inputs
        for op, inputs, attrs in self.instructions:
            made = op.num_outputs(attrs)
            names = ", ".join(f"%{i}" for i in range(count, count + made))
            count += made
            shown = [f"{name}={value!r}" for name, value in sorted(attrs.items())]
            lines.append(f"{names} = {op.name}({', '.join([*(f'%{i}' for i in inputs), *shown])})")
        return "; ".join([*lines, "return " + ", ".join(f"%{i}" for i in self.outputs)])

    def specs(self, inputs: Sequence[Spec]) -> Sequence[Spec]:
        """Return the specs of all values, inferred from the specs of the inputs.

        Raises:
            OperatorError: An instruction does not support its inputs.
        """
        asked = list(inputs)
        known, answer = self._known
        if asked == known:
            return answer
        specs = list(asked)
        for instruction in self.instructions:
            specs += instruction.infer(specs)
        self._known = asked, specs
        return specs

    # Compared as text, since attributes 0.0 and -0.0 are equal, as are 1 and True.
    def __eq__(self, other: object) -> bool:
        return isinstance(other, Program) and self._text == other._text

    def __hash__(self) -> int:
        return hash(self._text)  # strings cache their hash

    def __str__(self) -> str:
        return f"[{self._text}]"

    __repr__ = __str__


def _parse_program(value: object) -> Program:
    if not isinstance(value, Program):
        raise ValueError
    return value


def _infer(*arrays: Spec, num_args: int, program: Program) -> tuple[Spec, ...]:
    specs = program.specs(arrays)
    return tuple(specs[i] for i in program.outputs)


def _fill(
    xp: ModuleType,
    outputs: Sequence[Any],
    arrays: Sequence[Any],
    program: Program,
    key: tuple[int, int],
) -> None:
    values = list(arrays)
    last = program.instructions[-1]
    for instruction in program.instructions:
        op = instruction.op
        specs = instruction.infer([Spec(x.shape, x.dtype) for x in values])
        # The last instruction may write to an input's memory: all its readers have run.
        direct = instruction is last and op.elementwise and program.outputs == (len(values),)
        made = [outputs[0] if direct else xp.empty(s.shape, s.dtype) for s in specs]
        runtime = {"key": key} if op.draws(instruction.attrs) else {}
        inputs = [values[i] for i in instruction.inputs]
        op.kernel(
            xp, made[0] if op.single else tuple(made), *inputs, **instruction.attrs, **runtime
        )
        values += made
    for out, number in zip(outputs, program.outputs, strict=True):
        if out is not values[number]:
            out[...] = values[number]


def _kernel(
    xp: ModuleType,
    outputs: Any,
    *arrays: Any,
    num_args: int,
    program: Program,
    key: tuple[int, int] = (0, 0),
) -> None:
    _fill(xp, outputs if isinstance(outputs, tuple) else (outputs,), arrays, program, key)


_SCHEMA = Schema(
    num_args=integer(low=1), program=Attribute(_parse_program, "a Program of operators")
)


def _num_outputs(attrs: Attrs) -> int:
    return len(attrs["program"].outputs)


FUSED_POINTWISE = register(
    Operator(
        "_fused_pointwise",
        _infer,
        _kernel,
        None,
        doc=(
            "The elementwise operators of program, with one output.\n\n"
            "The output may alias an input of its size: the pass that creates the node ensures\n"
            "that every input with as many bytes has the output's shape."
        ),
        inputs=("args",),
        schema=_SCHEMA,
        variadic="num_args",
        execution=Execution(elementwise=True),
    )
)

FUSED_POINTWISE_MANY = register(
    Operator(
        "_fused_pointwise_many",
        _infer,
        _kernel,
        None,
        doc=(
            "The elementwise operators of program, with any number of outputs.\n\n"
            "Outputs may alias inputs, as for _fused_pointwise."
        ),
        inputs=("args",),
        schema=_SCHEMA,
        outputs=_num_outputs,
        variadic="num_args",
        execution=Execution(elementwise=True),
    )
)

FUSED_POINTWISE_RANDOM = register(
    Operator(
        "_fused_pointwise_random",
        _infer,
        _kernel,
        None,
        doc="_fused_pointwise_many that includes one operator that draws random numbers.",
        inputs=("args",),
        schema=_SCHEMA,
        outputs=_num_outputs,
        variadic="num_args",
        execution=Execution(random=True),
    )
)
