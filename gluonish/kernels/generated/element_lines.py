"""Source lines that compute the values of one element, from the templates of `expressions`.

The lines are valid in Python and in C++: assignments of calls, operators and conversions. A kernel
provides the functions, and the type of each value.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from gluonish.core.dtype import BFLOAT16, BOOL, FLOAT16, FLOAT32, FLOAT64
from gluonish.core.spec import Spec
from gluonish.kernels.generated.expressions import DRAW, RULES, SECOND, Writer, constant
from gluonish.ops.fused.pointwise import Instruction, Program

# Conversions of a value of each dtype after a load and before a store.
LOADS = {BFLOAT16: "load_bf16({})", FLOAT16: "load_f16({})", FLOAT32: "{}", FLOAT64: "{}"}
STORES = {
    FLOAT32: "{}",
    FLOAT64: "{}",
    BFLOAT16: "store_bf16({})",
    FLOAT16: "store_f16({})",
    BOOL: "uint8({})",
    np.dtype(np.uint8): "uint8({})",
    np.dtype(np.int8): "int8({})",
    np.dtype(np.int32): "int32({})",
    np.dtype(np.int64): "{}",
}
_CONVERSION = re.compile(r"\bW\(")
_FLAG = re.compile(r"\bflag\(")


def computed_type(dtype: np.dtype[Any]) -> str:
    """Return the type that values of a dtype are computed in."""
    if dtype == FLOAT64:
        return "float64"
    return "float32" if dtype in (FLOAT32, BFLOAT16, FLOAT16) else "int64"


# ``number(type, value)`` returns the name of a constant.
Number = Callable[[str, float], str]


def computed(program: Program, specs: Sequence[Spec], number: Number) -> Iterator[tuple[int, str]]:
    """Yield the index and the expression of each value of a program, in order of computation.

    In expressions value ``i`` is ``t{i}``, and the random number of an element is ``draw``.
    """
    count = program.num_inputs
    for instruction in program.instructions:
        made = _written(instruction, specs, number, count)
        # The second output first: the first one reads it.
        yield from reversed([(count + i, text) for i, text in enumerate(made)])
        count += len(made)


def _written(
    instruction: Instruction, specs: Sequence[Spec], number: Number, count: int
) -> list[str]:
    op, inputs, attrs = instruction
    rule = RULES[op.name]
    target = specs[count].dtype
    names = [f"t{i}" for i in inputs]
    if op.name == "Cast":
        source = specs[inputs[0]].dtype
        return [_rounded(_cast(names[0], source, target), target)]
    data = target if rule.by_output else specs[inputs[0]].dtype
    kind = computed_type(data)
    writer = Writer(
        lambda value: number(kind, value),
        lambda value: number(kind, constant(data, value)),
        lambda value: number("float32", value),
        names,
        attrs,
    )
    texts = []
    for text in rule.write(writer):
        text = text.replace(SECOND, f"t{count + 1}").replace(DRAW, "draw")
        text = _FLAG.sub(f"flag_{kind}(", _CONVERSION.sub(f"{kind}(", text))
        texts.append(text if rule.exact else _rounded(text, target))
    return texts


def _cast(name: str, source: np.dtype[Any], target: np.dtype[Any]) -> str:
    if target == BOOL:
        return f"flag_int64({name} != {computed_type(source)}(0))"
    return f"{computed_type(target)}({name})"


def _rounded(text: str, dtype: np.dtype[Any]) -> str:
    """Return the expression, rounded to a dtype."""
    if dtype in (FLOAT32, FLOAT64, BOOL, np.dtype(np.int64)):
        return text
    stored = STORES[dtype].format(text)
    return LOADS.get(dtype, "int64({})").format(stored)
