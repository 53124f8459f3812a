"""Dense layers on one token, or a few: the rate at which weights are read.

    python -m benchmarks.cpu one_token [--rows 1] [--dtype float32] [--layers 12]

The layers are those of GPT-2 small, without attention. In turns run a loop that adds up as many
bytes in vectors (the limit), the layers by our kernel, and the layers by oneDNN's. With --dtype
int8 these are bfloat16, float32 and 8-bit integers with a scale a row, or for 64 elements; with
int4 they are float32, and integers of 8 and of 4 bits with a scale for 64 and for 32 elements. Data
are float32, or bfloat16 with --data. Printed are the medians of the CPU time of a pass, the share
of the limit's rate and, for integers, the speed relative to bfloat16, or to 8 bits; --wall takes
the time of the clock, which counts if nothing else runs. OMP_NUM_THREADS=1 measures one core.
"""

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import gluonish as mx
from gluonish.core.config import MXNET_USE_FUSION
from gluonish.kernels.compiler import compile_kernel

_UNITS, _VOCABULARY = 768, 50257
_DTYPES = ("float32", "bfloat16", "int8", "int4")
_CHUNK = 1 << 16  # elements that a step of the limit's loop adds up
_SUM = f"""
def body(begin, end, params):
    x, out = f32(params[0]), f32(params[1])
    for i in range(begin, end):
        at = i * {_CHUNK}
        total = float32(0)
        for j in range({_CHUNK}):
            total += x[at + j]
        out[i] = total
"""


class _Layers(mx.gluon.HybridBlock):
    """The linear layers of some blocks, and the output's."""

    def __init__(self, layers: int) -> None:
        super().__init__()
        dense, units = mx.gluon.nn.Dense, _UNITS
        with self.name_scope():
            self.blocks = mx.gluon.nn.HybridSequential()
            for _ in range(layers):
                for to, of in ((3, 1), (1, 1), (4, 1), (1, 4)):
                    self.blocks.add(dense(to * units, flatten=False, in_units=of * units))
            self.output = dense(_VOCABULARY, flatten=False, use_bias=False, in_units=units)

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        for qkv, inner, up, down in zip(*[iter(self.blocks)] * 4, strict=True):
            x = inner(F.slice_axis(qkv(x), axis=1, begin=0, end=_UNITS))
            x = down(F.relu(up(x)))
        return self.output(x)


def layers_on(
    rows: int,
    layers: int,
    dtype: str,
    *,
    ours: bool = True,
    group_size: int | None = -1,
    bits: int = 8,
) -> tuple[Callable[[], None], int]:
    """Return a function that runs the layers once, and the bytes of their weights.

    A group size, or None, is that of weights of 8 or 4 bits.
    """
    net = _Layers(layers)
    net.initialize(mx.init.Normal(0.02))
    net.cast(dtype)
    if group_size != -1:
        mx.contrib.quantization.quantize_weights(net, f"int{bits}", group_size)
    net.hybridize(static_alloc=True, static_shape=True)
    x = mx.nd.random.normal(shape=(rows, _UNITS)).astype(dtype)
    with MXNET_USE_FUSION.override(ours):
        net(x).wait_to_read()
        net(x).wait_to_read()
    sizes = [
        p.data().size * np.dtype(p.data().dtype).itemsize for p in net.collect_params().values()
    ]
    return lambda: net(x).wait_to_read(), sum(sizes)


def _reads(nbytes: int) -> Callable[[], None]:
    """Return a function that adds up float32 of so many bytes."""
    steps = nbytes // (4 * _CHUNK)
    data, sums = np.ones(steps * _CHUNK, np.float32), np.empty(steps, np.float32)
    kernel = compile_kernel(_SUM)

    def run() -> None:
        kernel(steps, np.array([data.ctypes.data, sums.ctypes.data], np.int64), 1)

    return run


def main() -> None:
    """Measure what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1, help="tokens at once")
    parser.add_argument("--dtype", default="float32", choices=_DTYPES)
    parser.add_argument("--data", default="float32", choices=("float32", "bfloat16"))
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--wall", action="store_true", help="measure the time of the clock")
    arguments = parser.parse_args()
    clock = time.perf_counter if arguments.wall else time.process_time
    contenders = _contenders(arguments.rows, arguments.layers, arguments.dtype, arguments.data)
    took: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(arguments.rounds):
        for name, (run, _) in contenders.items():
            begin = clock()
            run()
            took[name].append(clock() - begin)
    medians = {name: statistics.median(times) for name, times in took.items()}
    rates = {name: contenders[name][1] / seconds for name, seconds in medians.items()}
    for name, seconds in medians.items():
        speed = ""
        base = next((one for one in ("bfloat16", "int8 by 64") if one in medians), name)
        if base != name and name != "limit":
            speed = f"  {medians[base] / seconds:5.2f} of the speed of {base}"
        print(
            f"{name:12} {seconds * 1e3:8.2f} ms  {rates[name] / 1e9:6.1f} GB/s  "
            f"{rates[name] / rates['limit']:.2f} of the limit{speed}"
        )


def _contenders(
    rows: int, layers: int, dtype: str, data: str
) -> dict[str, tuple[Callable[[], None], int]]:
    """Return what is measured: functions, and the bytes that they read."""
    if dtype == "int4":
        wide = layers_on(rows, layers, "float32")
        made = {"limit": (_reads(wide[1]), wide[1]), "float32": wide}
        for bits, size in ((8, 64), (4, 64), (8, 32), (4, 32)):
            name = f"int{bits} by {size}"
            made[name] = layers_on(rows, layers, data, group_size=size, bits=bits)
        return made
    if dtype != "int8":
        ours = layers_on(rows, layers, dtype)
        library = layers_on(rows, layers, dtype, ours=False)
        return {"limit": (_reads(ours[1]), ours[1]), "our kernel": ours, "oneDNN": library}
    small = layers_on(rows, layers, data, group_size=None)
    return {
        "limit": (_reads(small[1]), small[1]),
        "float32": layers_on(rows, layers, "float32"),
        "bfloat16": layers_on(rows, layers, "bfloat16"),
        "int8": small,
        "int8 by 64": layers_on(rows, layers, data, group_size=64),
    }


if __name__ == "__main__":
    main()
