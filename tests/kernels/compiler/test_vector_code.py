import ctypes
import math
from collections.abc import Callable

import numpy as np
import pytest

from gluonish.kernels.compiler import KernelError, available, compile_assembly
from gluonish.kernels.compiler.vector_code import Assembler, lanes
from gluonish.ops.kernel import address

pytestmark = pytest.mark.skipif(not available(), reason="llvmlite is not there")


def run(name: str, names: str, write: Callable[[Assembler], None], *words: int) -> list[int]:
    """Compile and run one step; return the words afterwards."""

    def text() -> str:
        code = Assembler(names)
        write(code)
        return code.finish()

    given = np.array(words, np.int64)
    compile_assembly(f"test {name}", text)(1, given)
    return given.tolist()


@pytest.mark.parametrize(
    ("name", "write", "expected"),
    [
        ("sum", lambda c: c.sum(c.params["x"], c.params["y"], 5), 12),
        ("difference", lambda c: c.difference(c.params["y"], c.params["x"]), -7),
        ("product", lambda c: c.product(c.params["x"], 3, -1), -21),
        ("quotient", lambda c: c.divide(c.params["x"], c.number(2))[0], 3),
        ("remainder", lambda c: c.divide(c.params["x"], c.number(4))[1], 3),
        ("least", lambda c: c.least(c.params["x"], c.number(-2)), -2),
        ("within", lambda c: c.select(c.within(c.number(-1), c.params["x"]), 1, 2), 2),
        (
            "both",
            lambda c: c.select(c.both(c.less(0, c.params["x"]), c.less(1, c.params["y"])), 1, 2),
            2,
        ),
    ],
)
def test_numbers(name: str, write: Callable[[Assembler], object], expected: int) -> None:
    words = run(name, "status x y", lambda code: code.note("status", write(code)), 0, 7, 0)
    assert words[0] == expected


def test_loops_count_and_nest() -> None:
    # Bit 3 i + j of the status for each i below 2 and each j in 0, 2, 4.
    def write(code: Assembler) -> None:
        with code.loop(0, code.params["outer"]) as i, code.loop(0, 5, 2) as j:
            place = code.sum(code.product(i, 8), j)
            code.note(
                "status", code.load_int64(code.sum(code.params["bits"], code.product(place, 8)))
            )

    bits = np.array([1 << i for i in range(16)], np.int64)
    words = run("loops", "status outer bits", write, 0, 2, address(bits))
    assert words[0] == sum(1 << (8 * i + j) for i in range(2) for j in (0, 2, 4))


def test_a_loop_may_have_no_turn() -> None:
    def write(code: Assembler) -> None:
        with code.loop(3, code.params["end"]) as i:
            code.note("status", i)

    assert run("no turn", "status end", write, 0, 3)[0] == 0


def test_vectors_are_combined() -> None:
    def write(code: Assembler) -> None:
        words = code.params
        x, y = code.load(words["x"]), code.load(words["y"])
        code.store(code.combine((0.5, -1), (x, y)), words["out"])

    x, y, out = (np.arange(i, i + lanes(), dtype=np.float32) for i in (0, 3, 0))
    run("combine", "x y out", write, *map(address, (x, y, out)))
    np.testing.assert_array_equal(out, x / 2 - y)


def test_relu_keeps_not_a_number() -> None:
    x = np.zeros(lanes(), np.float32)
    x[:4] = -1, 2, math.nan, -math.inf
    at = address(x)
    run(
        "relu",
        "x",
        lambda code: code.store(code.relu(code.load(code.params["x"])), code.params["x"]),
        at,
    )
    np.testing.assert_array_equal(x[:4], [0, 2, math.nan, 0])


def test_a_function_is_called() -> None:
    labs = ctypes.cast(ctypes.CDLL(None).abs, ctypes.c_void_p).value or 0

    def write(code: Assembler) -> None:
        code.note("status", code.invoke(code.params["function"], code.number(-5)))

    assert run("call", "status function", write, 0, labs)[0] == 5


def test_what_llvm_does_not_read_is_an_error() -> None:
    with pytest.raises(KernelError, match="LLVM"):
        compile_assembly("test nonsense", lambda: "define nonsense")
