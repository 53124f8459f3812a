"""Statements and expressions of kernels' sources do what Python does with them."""

import os
import platform
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from gluonish.kernels.compiler import CompiledKernel, KernelError
from gluonish.kernels.compiler.lowering import lower
from gluonish.kernels.compiler.machine_code import generate, load
from gluonish.kernels.generated.optimizer import PRECISIONS, update_source
from gluonish.kernels.generated.sums import _COLUMNS as COLUMN_SUMS
from gluonish.kernels.generated.sums import _RUNS as LONG_SUMS
from gluonish.kernels.optimizer_formulas import FORMULAS

SIZE = 200


def kernel(source: str, flags: Sequence[str] = ()) -> CompiledKernel:
    """Compile without the caches."""
    return CompiledKernel(source, load(generate(lower(source, flags))))


def addresses(*values: Any) -> Any:
    """The words of arrays and whole numbers."""
    return np.array([v.ctypes.data if isinstance(v, np.ndarray) else v for v in values], np.int64)


def awkward(dtype: Any) -> np.ndarray[Any, Any]:
    rng = np.random.default_rng(3)
    x = rng.normal(size=SIZE) * np.exp(3 * rng.normal(size=SIZE))
    x[:6] = [np.nan, -np.nan, np.inf, -np.inf, -0.0, 0.0]
    return x.astype(dtype)


FUNCTIONS = """
def halved(x):
    if x % 2 == 0:
        return x // 2
    return 3 * x + 1

def length(x, most):
    steps = 0
    while x != 1 and steps < most:
        x = halved(x)
        steps += 1
    return steps, x

def swapped(x, y):
    x, y = y, x
    return x, y

def noted(y, at, answer):
    y[at] += 1
    return answer

def limited(x, low, high):
    if x < low:
        x = low
    elif x > high:
        x = high
    else:
        return x
    return x

def halves(y, first, count):
    if count == 0:
        return
    for k in range(count):
        y[first + k] = k // 2
"""
STATEMENTS = {
    "a function in a function": "y[i], y[n + i] = length(x[i] * x[i] + 1, 40)",
    "parameters are variables of their own": "a, b = swapped(x[i], i)\ny[i] = 10 * a + b + x[i]",
    "a result from several places": "y[i] = limited(x[i], -2, i % 5)",
    "a function without results": "halves(y, i, 3)",
    "a function that returns at once": "y[i] = 7\nhalves(y, i, 0)",
    "break": "for k in range(i):\n    if k * k > 50:\n        break\n    y[i] = k",
    "continue": "for k in range(i):\n    if k % 3 == x[i] % 3:\n        continue\n    y[i] += k",
    "break and continue of the inner loop": (
        "for j in range(5):\n    for k in range(9):\n        if k == j:\n            continue\n"
        "        if k > i % 7:\n            break\n        y[i] += k + 10 * j"
    ),
    "while with break": "k = 0\nwhile True:\n    k += 1\n    if k > x[i]:\n        break\ny[i] = k",
    "while with continue": (
        "k = 0\nwhile k < 9:\n    k += 1\n    if k == x[i]:\n        continue\n    y[i] += k"
    ),
    "a return between loops": "y[i] = 1\nif i == n - 4:\n    return\ny[i] = 2",
    "and": "y[i] = 1 if x[i] > 0 and noted(y, n + i, x[i] < 3) and i > 9 else 2",
    "or": "y[i] = 1 if x[i] > 0 or noted(y, n + i, x[i] < -3) or i > 9 else 2",
    "and within or": "if (x[i] > 0 and i > 9) or not (x[i] == -1 or i < 3):\n    y[i] = 1",
    "one side of a choice": "y[i] = noted(y, n + i, 1) if x[i] > 0 else noted(y, 2 * n + i, 2)",
    "choices in a choice": "y[i] = 1 if x[i] < 0 else (2 if x[i] == 0 else i)",
    "several targets": "y[i] = a = y[n + i] = x[i]\ny[2 * n + i] = a",
    "elements that are updated": "y[i] += x[i]\ny[i] *= 3\ny[i] -= i\ny[n + i] |= 5\ny[i] //= 2",
    "variables that are updated": "k = x[i]\nk += i\nk *= -3\nk %= 7\nk <<= 2\ny[i] = k ^ 1",
    "steps of a loop": "for k in range(i, 3 * n, 1 + x[i] * x[i]):\n    y[i] += k",
    "steps that are known": "for k in range(2, i, 3):\n    y[i] += k",
    "the counter is set in the loop": "for k in range(i):\n    y[i] += k\n    k = 0",
    "truth of numbers": "if x[i]:\n    y[i] = 1\ny[n + i] = int64(not x[i])",
    "conditions in variables": "a = False\nif i > 9:\n    a = x[i] > 0\ny[i] = int64(a == (i < 5))",
    "division and rest": "y[i] = (i - 99) // 7\ny[n + i] = (i - 99) % -7",
    "least and greatest": "y[i] = min(max(x[i], -2), i)",
}


@pytest.mark.parametrize("name", STATEMENTS)
def test_statements_do_what_python_does(name: str) -> None:
    body = "def body(begin, end, words):\n    y, x, n = i64(words[0]), i64(words[1]), words[2]\n"
    lines = "".join(f"        {line}\n" for line in STATEMENTS[name].splitlines())
    source = f"{FUNCTIONS}\n{body}    for i in range(begin, end):\n{lines}"
    x = np.arange(SIZE) * 7 % 11 - 5
    y, expected = np.zeros((2, 3 * SIZE), np.int64)
    kernel(source)(SIZE, addresses(y, x, SIZE))
    scope: dict[str, Any] = {"i64": lambda array: array, "int64": int}
    exec(source, scope)
    scope["body"](0, SIZE, (expected, x, SIZE))
    assert expected.any()
    np.testing.assert_array_equal(y, expected)


def test_a_function_may_hold_independent_loops() -> None:
    source = """
def fill(x, first, n):
    for i in range(first, n):
        independent()
        x[i] = np.inf

def body(begin, end, words):
    fill(f64(words[0]), begin, end)
"""
    x = np.zeros(9)
    kernel(source)(9, addresses(x))
    assert np.isinf(x).all()


def test_loops_have_marks_of_their_own() -> None:
    loop = "    for i in range(begin, end):\n        independent()\n        x[i] = 1\n"
    text = lower(f"def body(begin, end, words):\n    x = f32(words[0])\n{loop}{loop}", ())
    marks = [line.split("!llvm.loop ")[1] for line in text.splitlines() if "!llvm.loop " in line]
    assert len(marks) == len(set(marks)) == 2
    for mark in marks:
        assert f"{mark} = distinct !{{{mark}, " in text


REFUSED = {
    "x = unknown(1)": r"expected a function that kernels support, got unknown\(\) in line 6: x = ",
    "x = other(1, 2)": r"expected other\(\) to take 2 arguments",
    "x = other(y=1)": "arguments without names",
    "other(1)[0] = 1": "expected a view of memory, got int64",
    "x = again(1)": "expected a function that does not call itself, got again in line 4",
    "a, b = other(1)": "expected 2 values, got 1",
    "a = words[0]\na = 1.0": "expected a value of int64, got float64 in line 7",
    "a = words[a]": "expected a variable with a value, got a",
    "a = words[1.0]": "expected an integer, got float",
    "a = uint64(1) + end": "expected integers of one signedness, got uint64 and int64",
    "a = -uint8(1)": "expected a number with a sign",
    "a = 1.0 % 2.0": "expected an operator of float64, got %",
    "a = 2**end": "expected an operator of int64",
    "a = ~end": "expected - or not",
    "a = 'text'": "expected a number",
    "a = [1]": "expected an expression",
    "a = begin < end < 3": "expected a comparison of two numbers",
    "a = np.pi": "expected an expression",
    "a = select(end)": r"expected 3 arguments of select\(\), got 1",
    "del words": "expected a statement that kernels support, got Delete",
    "for i in words:\n    pass": r"expected a loop over range\(\)",
    "for i in range(9, 0, -1):\n    i = 1": "expected a step of 1 or more, got -1",
    "while end:\n    end = 0\nelse:\n    end = 1": "expected a loop without else",
    "break": "expected break in a loop",
    "continue": "expected continue in a loop",
    "independent()": r"expected independent\(\) in a loop",
    "philox_fill(words)": r"expected 5 arguments of philox_fill\(\), got 1",
    "end": "expected a call",
}


@pytest.mark.parametrize("lines", REFUSED)
def test_what_is_not_in_the_language_is_refused_with_its_line(lines: str) -> None:
    head = "def other(y):\n    return y\ndef again(y):\n    return again(y)\n"
    body = "".join(f"    {line}\n" for line in lines.splitlines())
    with pytest.raises(KernelError, match=REFUSED[lines]):
        lower(f"{head}def body(begin, end, words):\n{body}", ())


@pytest.mark.parametrize("source", ["import math", "", "def body(begin):\n    x = 1"])
def test_sources_define_functions_and_a_body(source: str) -> None:
    with pytest.raises(KernelError, match=r"expected (functions only|body\(\) to take 3)"):
        lower(source, ())


def test_sums_of_columns_are_exact_whatever_llvm_may_do() -> None:
    """They were compiled with leave to reorder sums, which LLVM had no use for."""
    x = awkward(np.float32)[6:].reshape(97, 2)
    source = COLUMN_SUMS.replace("{share}", "")
    sizes = [0, 1, x.size, 0, 1, x.size, 97, 2, 0, 2, 1, 2, 2, 2, 1]
    found = []
    for flags in ((), ("contract", "reassoc")):
        y = np.zeros(2, np.float32)
        kernel(source, flags)(2, addresses(y, x, *sizes))
        found.append(y.tobytes())
    assert found[0] == found[1]
    np.testing.assert_allclose(y, x.astype(np.float64).sum(0), rtol=1e-6)


def test_the_updates_of_all_optimizers_are_lowered() -> None:
    for rule in FORMULAS:
        for precision in PRECISIONS:
            assert lower(update_source(rule, precision), ())


def test_operators_on_floats_say_what_llvm_may_do() -> None:
    text = lower(LONG_SUMS.replace("{share}", ""), ("contract", "reassoc"))
    assert "fadd reassoc contract" in text or "fadd contract reassoc" in text
    assert "fadd double" in lower(LONG_SUMS.replace("{share}", ""), ())


def test_kernels_of_a_small_network_are_compiled(tmp_path: Any) -> None:
    program = """
import sys
import gluonish as mx
class Net(mx.gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        return F.sigmoid(x * 2) * F.tanh(x) + x
net = Net()
net.hybridize()
x = mx.nd.ones((64, 128))
x.attach_grad()
with mx.autograd.record():
    y = net(x)
y.backward()
long = mx.nd.ones((300, 1000))
assert float(mx.nd.sum(long, axis=1)[7].asscalar()) == 1000
assert mx.nd.transpose(long).shape == (1000, 300)
mx.nd.transpose(mx.nd.ones((8, 9, 700)), axes=(2, 0, 1)).wait_to_read()
mx.nd.waitall()
from gluonish.kernels.compiler import compile as compiler
assert compiler._kernels
assert not any(isinstance(kernel, Exception) for kernel in compiler._kernels.values())
"""
    command = [sys.executable, "-c", program]
    environment = {**os.environ, "MXNET_HOME": str(tmp_path)}
    subprocess.run(command, check=True, env=environment, timeout=60)


def test_functions_are_exact_unless_the_flags_hold_for_them() -> None:
    source = (
        "def body(begin, end, words):\n    x = f32(words[0])\n    x[0] = log(x[0]) + exp(x[1])\n"
    )
    flags = ("contract", "reassoc")
    exact, free = lower(source, flags), lower(source, (*flags, "functions"))
    assert exact.count(" reassoc ") == 1
    assert free.count(" reassoc ") > 20
    assert " fmul float" not in free
    x = np.array([3.0, 0.5], np.float32)
    kernel(source, (*flags, "functions"))(1, addresses(x))
    np.testing.assert_allclose(x[0], np.log(3) + np.exp(0.5), rtol=1e-6)


@pytest.mark.skipif(platform.machine() != "x86_64", reason="other CPUs compute these fast")
def test_subnormal_numbers_are_flushed_in_one_kernel_only() -> None:
    source = """
def body(begin, end, words):
    flush_subnormals()
    x = f32(words[0])
    for i in range(begin, end):
        independent()
        x[i] = x[i] * float32(0.5)
"""
    x = np.array([1e-40, 2e-38, -1e-40, 1.0] * 16, np.float32)
    for text, zero in ((source, True), (source.replace("    flush_subnormals()\n", ""), False)):
        y = x.copy()
        kernel(text)(len(y), addresses(y))
        np.testing.assert_array_equal(y, np.where(np.abs(x) < 1, 0, x / 2) if zero else x / 2)


def test_subnormal_numbers_are_flushed_outside_of_loops_only() -> None:
    inside = """
def body(begin, end, words):
    for i in range(begin, end):
        flush_subnormals()
"""
    with pytest.raises(KernelError, match="a call of the source's functions"):
        lower(inside, ())
