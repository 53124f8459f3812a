"""Sources that are lowered without Numba: to the bits of what Numba lowers, or not at all."""

import os
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from gluonish.kernels.compiler import CompiledKernel, frontend
from gluonish.kernels.compiler.machine_code import generate, load
from gluonish.kernels.compiler.plain_source import lower_plain
from gluonish.kernels.generated.optimizer_source import PRECISIONS, update_source
from gluonish.kernels.generated.random_numbers import _NORMAL, _UNIFORM
from gluonish.kernels.generated.sums import _COLUMNS as COLUMN_SUMS
from gluonish.kernels.generated.sums import _RUNS as LONG_SUMS
from gluonish.kernels.optimizer_formulas import FORMULAS

SIZE = 200
HEAD = """
def body(begin, end, words):
    y, x, n = {view}(words[0]), {view}(words[1]), words[2]
    c = {real}(as_float(words[3]))
    for i in range(begin, end):
        independent()
"""
FLOATS = [
    "y[i] = -x[i] * x[i] + c / x[i] - (x[i] - c)",
    "y[i] = exp(x[i]) + tanh(x[i]) * sigmoid(x[i])",
    "y[i] = select(x[i] <= {real}(0), c, maximum(x[i], {real}(-2.5)))",
    "y[i] = flag_{real}((x[i] != {real}(0)) & (x[i] > c)) + flag_{real}(x[i] == 0)",
    "y[i] = floor(x[i]) + {real}(2.0**-24) * {real}(i % 7 - i // 3)",
    "y[i] = {real}(int64(x[i]) >> 1) + {real}((i - 100) // 7) + {real}((i - 100) % 7)",
]


def kernels(source: str, flags: Sequence[str] = ()) -> list[CompiledKernel]:
    """The kernel of a source, lowered plainly and by Numba."""
    made = []
    plain = lower_plain
    for lower in (plain, lambda source, flags: None):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(frontend, "lower_plain", lower)
            made.append(CompiledKernel(source, load(generate(frontend.lower(source, flags)))))
    return made


def awkward(dtype: Any) -> np.ndarray[Any, Any]:
    rng = np.random.default_rng(3)
    x = rng.normal(size=SIZE) * np.exp(3 * rng.normal(size=SIZE))
    x[:6] = [np.nan, -np.nan, np.inf, -np.inf, -0.0, 0.0]
    return x.astype(dtype)


@pytest.mark.parametrize("real", ["float32", "float64"])
def test_numbers_are_the_same_bits(real: str) -> None:
    view = {"float32": "f32", "float64": "f64"}[real]
    lines = "\n".join(
        f"        {line.replace('y[i]', f'y[n * {k} + i]')}" for k, line in enumerate(FLOATS)
    )
    source = (HEAD + lines).format(view=view, real=real)
    x = awkward(real)
    x[: 6 if "int64" in source else 0] = 1.5  # what becomes of NaN as a whole number is not said
    found = []
    for kernel in kernels(source):
        y = np.zeros((len(FLOATS), SIZE), real)
        number = int(np.float64(0.3).view(np.int64))
        kernel(SIZE, np.array([y.ctypes.data, x.ctypes.data, SIZE, number], np.int64))
        found.append(y)
    assert found[0].any(axis=1).all()
    assert found[0].tobytes() == found[1].tobytes()


@pytest.mark.parametrize("line", FLOATS[:4])
def test_nan_and_infinity_are_the_same_bits(line: str) -> None:
    source = (HEAD + f"        {line}").format(view="f32", real="float32")
    x = awkward(np.float32)
    found = []
    for kernel in kernels(source):
        y = np.zeros(SIZE, np.float32)
        kernel(SIZE, np.array([y.ctypes.data, x.ctypes.data, SIZE, 0], np.int64))
        found.append(y.tobytes())
    assert found[0] == found[1]


def test_half_floats_and_small_integers_are_the_same_bits() -> None:
    source = """
def body(begin, end, words):
    y, x, small = u16(words[0]), u16(words[1]), i8(words[2])
    for i in range(begin, end):
        independent()
        z = load_bf16(x[i])
        small[i] = int8(int64(small[i]) * -3)
        y[i] = store_bf16(z * float32(int64(small[i])))
"""
    x = (awkward(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    found = []
    for kernel in kernels(source):
        y, small = np.zeros(SIZE, np.uint16), np.arange(SIZE).astype(np.int8)
        words = [array.ctypes.data for array in (y, x, small)]
        kernel(SIZE, np.array(words, np.int64))
        found.append(y.tobytes() + small.tobytes())
    assert found[0] == found[1]


@pytest.mark.parametrize("source", [_UNIFORM, _NORMAL])
def test_random_numbers_are_the_same_bits(source: str) -> None:
    found = []
    for kernel in kernels(source):
        y = np.zeros(3000, np.float32)
        numbers = np.array([1.5, -0.5, 1.0]).view(np.int64).tolist()
        kernel(3, np.array([y.ctypes.data, y.size, 11, 12, *numbers], np.int64))
        found.append(y)
    assert found[0].std() > 0.1
    assert found[0].tobytes() == found[1].tobytes()


def test_sums_of_columns_are_exact_whatever_llvm_may_do() -> None:
    """They were compiled with leave to reorder sums, which LLVM had no use for."""
    x = awkward(np.float32)[6:].reshape(97, 2)
    source = COLUMN_SUMS.replace("{share}", "")
    found = []
    for kernel in (kernels(source)[0], kernels(source, ("contract", "reassoc"))[1]):
        y = np.zeros(2, np.float32)
        words = [
            y.ctypes.data,
            x.ctypes.data,
            0,
            1,
            x.size,
            0,
            1,
            x.size,
            97,
            2,
            0,
            2,
            1,
            2,
            2,
            2,
            1,
        ]
        kernel(2, np.array(words, np.int64))
        found.append(y.tobytes())
    assert found[0] == found[1]
    np.testing.assert_allclose(y, x.astype(np.float64).sum(0), rtol=1e-6)


def test_the_updates_of_all_optimizers_are_plain() -> None:
    sources = [update_source(rule, precision) for rule in FORMULAS for precision in PRECISIONS]
    assert [source for source in sources if lower_plain(source, ()) is None] == []


@pytest.mark.parametrize(
    "line",
    [
        "y[i] = x[i] + 1",  # float32 and an integer: float64 in Numba
        "y[i] = x[i] * 2.0",
        "y[i] = float32(x[i] if i else c)",
        "y[i] = abs(x[i])",
        "y[i] = helper(x[i])",
        "y[i] = float32(2**i)",
        "i = x[i]",  # a second type
        "y[i] = float32(True)",
    ],
)
def test_what_numba_would_convert_is_left_to_it(line: str) -> None:
    plain = (HEAD + "        y[i] = x[i]").format(view="f32", real="float32")
    assert lower_plain(plain, ()) is not None
    assert lower_plain((HEAD + f"        {line}").format(view="f32", real="float32"), ()) is None


def test_a_source_of_two_functions_is_left_to_numba() -> None:
    source = "def other(x):\n    return x\ndef body(begin, end, words):\n    x = 1"
    assert lower_plain(source, ()) is None


def test_long_sums_are_plain_with_what_they_allow() -> None:
    text = lower_plain(LONG_SUMS.replace("{share}", ""), ("contract", "reassoc"))
    assert text is not None
    assert "fadd reassoc contract" in text or "fadd contract reassoc" in text


def test_kernels_of_a_small_network_are_compiled_without_numba(tmp_path: Any) -> None:
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
assert "numba" not in sys.modules
"""
    command = [sys.executable, "-c", program]
    environment = {**os.environ, "MXNET_HOME": str(tmp_path)}
    subprocess.run(command, check=True, env=environment, timeout=60)
