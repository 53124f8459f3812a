"""The time of a launch on a device, from its `Cost` and a table of the device's rates.

Convolutions whose pixels have channels of one access (few channels, padded) were not measured: half
the rate of wide ones is assumed, as each access has an address and a border of its own.

A kernel's time is the longest of what its bytes, its operations and its instructions take, behind
a start. The table (h200.json) has few, physical numbers from measured rows: rates of memory and of
multiplications, the efficiency of a tile of a product by its extents, instructions per second.
"""

import json
import math
from pathlib import Path
from typing import Any

from gluonish.core.errors import ArgumentError
from tests.kernels.cupy.cost_model.cupy_kernels import SORTS, SUMS
from tests.kernels.cupy.cost_model.records import (
    Attention,
    Convolution,
    Cost,
    Launch,
    Product,
    Recurrence,
)

_HERE = Path(__file__).resolve().parent
# How often a kernel of rows reads its inputs: those that fit no cache come from memory each time.
_PASSES = {"softmax": 3, "softmax_backward": 2, "layer_norm": 3, "layer_norm_data": 2}
_BLOCK = 256
_ACCESS_NBYTES = 16  # what tensor cores read of a pixel's channels at once


def devices() -> list[str]:
    """Return the names of the devices that have a table."""
    return sorted(path.stem for path in _HERE.glob("*.json") if path.stem != "instructions")


class Rates:
    """The rates of a device.

    Args:
        name: Which, such as ``h200``.

    Attributes:
        table: The numbers.

    Raises:
        ArgumentError: There is no table for it.
    """

    def __init__(self, name: str) -> None:
        path = _HERE / f"{name}.json"
        if name not in devices():
            raise ArgumentError(f"--model: expected one of {', '.join(devices())}, got {name!r}")
        self.table: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))

    def kernel_us(self, launch: Launch) -> float:
        """Return how long the device computes."""
        cost = launch.cost
        if isinstance(cost.problem, Product):
            return self._product_us(cost, cost.problem)
        if isinstance(cost.problem, Convolution):
            return self._convolution_us(cost, cost.problem)
        if isinstance(cost.problem, Recurrence):
            return self._recurrence_us(cost, cost.problem)
        if isinstance(cost.problem, Attention):
            return self._attention_us(cost, cost.problem)
        if cost.kind == "own":
            return self._own_us(launch.kernel, cost)
        if cost.kind == "cupy":
            return self._cupy_us(launch.kernel, cost)
        rate = self.table["memory"]["copy_tb_s"]
        return float(cost.nbytes / rate / 1e6)

    def ramp_us(self, launch: Launch) -> float:
        """Return how long blocks fill and drain the device; a tiny kernel fills little of it."""
        memory = self.table["memory"]
        return float(memory["ramp_us"] * min(1.0, launch.cost.nbytes / memory["ramp_bytes"]))

    def kernels(self, launch: Launch) -> int:
        """Return how many kernels run: cuDNN adds three where it lays channels last and back."""
        problem = launch.cost.problem
        if isinstance(problem, Convolution) and _is_transposed(launch.cost, problem):
            return 4
        return launch.cost.launches

    def _own_us(self, name: str, cost: Cost) -> float:
        """A kernel of gluonish: bytes, those of further passes too, or instructions."""
        memory, issue = self.table["memory"], self.table["instructions"]
        nbytes = cost.nbytes
        if cost.row:
            resident = min(cost.threads, memory["resident_threads"]) / _BLOCK
            if resident * cost.row > memory["cache_bytes"]:
                nbytes += (_PASSES.get(name, 1) - 1) * cost.read
        by_memory = nbytes / memory["kernel_tb_s"] / 1e6
        by_issue = cost.elements * cost.instructions / (issue["per_s"] * issue["issue"]) * 1e6
        return max(by_memory, by_issue)

    def _cupy_us(self, name: str, cost: Cost) -> float:
        """A kernel of CuPy's: one element a thread and load, so that elements set the pace."""
        rates, memory = self.table["cupy"], self.table["memory"]
        pace = rates["elements_per_s"]
        if name in SUMS:
            pace = rates["row_sum_elements_per_s" if cost.row else "sum_elements_per_s"]
        elif name in SORTS:
            pace = rates["sort_elements_per_s"]
        elif name.endswith(".at"):
            pace = rates["atomic_elements_per_s"]
        by_memory = cost.nbytes / memory["kernel_tb_s"] / 1e6
        return max(by_memory, cost.elements / pace * 1e6)

    def _product_us(self, cost: Cost, problem: Product) -> float:
        rates = self.table["products"]
        peak = rates["tflops"].get(cost.dtype, rates["tflops"]["float32"])
        by_memory = cost.nbytes / self.table["memory"]["library_tb_s"] / 1e6
        by_tiles = self._tiles_us(rates, peak, problem.m, problem.n, problem.k, problem.batch)
        return float(rates["start_us"]) + max(by_memory, by_tiles)

    def _recurrence_us(self, cost: Cost, problem: Recurrence) -> float:
        """Cells wait for one another: each takes a kernel's latency, whatever it computes."""
        rates = self.table["recurrence"]
        by_memory = cost.nbytes / self.table["memory"]["library_tb_s"] / 1e6
        by_work = problem.flops / rates["tflops"] / 1e6
        return max(by_memory, by_work, problem.cells * rates["cell_us"].get(problem.kind, 0.0))

    def _attention_us(self, cost: Cost, problem: Attention) -> float:
        rates = self.table["attention"]["backward" if problem.backward else "forward"]
        by_memory = cost.nbytes / self.table["memory"]["library_tb_s"] / 1e6
        return float(rates["start_us"]) + max(by_memory, problem.flops / rates["tflops"] / 1e6)

    def _tiles_us(self, rates: Any, peak: float, m: int, n: int, k: int, count: int) -> float:
        """Return the time of the best tile: waves of tiles over the multiprocessors.

        A split of the inner extent makes more tiles, and sums that have to be added.
        """
        units = self.table["multiprocessors"]
        best = math.inf
        for rows, columns, efficiency in rates["tiles"]:
            tile_us = 2 * rows * columns * k / (peak * efficiency / units) / 1e6
            tiles = -(-m // rows) * -(-n // columns) * count
            for split in rates["splits"]:
                if k < 128 * split and split > 1:
                    break
                full, rest = divmod(tiles * split, units)
                # A last wave that is not full ends as late; a block beside another runs faster.
                waves = full + (1 if rest else 0) if full < 4 else tiles * split / units
                added = 0.0
                if split > 1:
                    added = 8e-6 * m * n * count * split / self.table["memory"]["library_tb_s"]
                best = min(best, waves * tile_us / split + added)
        return best

    def _convolution_us(self, cost: Cost, problem: Convolution) -> float:
        rates = self.table["convolutions"]
        peak = rates["tflops"].get(cost.dtype, rates["tflops"]["float32"])
        by_memory = cost.nbytes / self.table["memory"]["library_tb_s"] / 1e6
        pointwise = math.prod(problem.weight[2:]) == 1
        moved = 0.0
        if problem.groups > 1:
            by_memory = cost.nbytes / rates["grouped_tb_s"][problem.kind] / 1e6
            by_work = problem.flops / rates["grouped_tflops"][problem.kind] / 1e6
            by_work = 0.0 if problem.weight[1] == 1 else by_work
        elif _channel_nbytes(cost, problem) < _ACCESS_NBYTES:
            by_work = problem.flops / rates["few_channels_tflops"][problem.kind] / 1e6
        elif cost.dtype == "float32":
            by_work = problem.flops / rates["float32_tflops"][problem.kind] / 1e6
        else:
            by_work = self._tiles_us(rates, peak, *_as_product(problem), 1)
            if _channel_nbytes(cost, problem) == _ACCESS_NBYTES:
                by_work /= rates["one_access"]
            if problem.kind == "filter" and cost.dtype == "TF32" and not pointwise:
                by_work /= rates["filter_TF32"]
            elif problem.kind == "data" and _is_strided(problem):
                by_work /= rates["strided_data"]
        if _is_transposed(cost, problem):
            moved = self._transposes_us(cost, problem)
        return float(rates["start_us"]) + max(by_memory, by_work) + moved

    def _transposes_us(self, cost: Cost, problem: Convolution) -> float:
        """Return the time of copies to channels last and back, around the tensor cores."""
        rates = self.table["convolutions"]
        size = 4 if cost.dtype == "TF32" else 2
        total = 0.0
        for shape in (problem.data, problem.weight, problem.out):
            elements = math.prod(shape)
            by_memory = 2 * size * elements / rates["transposed_tb_s"] / 1e6
            pace = elements / rates["transposed_elements_per_s"] * 1e6
            total += max(by_memory, pace)
        return total


def _channel_nbytes(cost: Cost, problem: Convolution) -> int:
    """Return the bytes of an image's channels, of the input or of the output if those are fewer."""
    itemsize = 4 if cost.dtype in ("TF32", "float32") else 2
    return min(problem.data[1], problem.out[1]) * itemsize


def _is_transposed(cost: Cost, problem: Convolution) -> bool:
    """Whether cuDNN copies arrays to channels last and back, for its tensor cores.

    The counts of kernels of the measured rows say so: 312 for 159 calls in bfloat16, where all 53
    convolutions have four; 252 in TF32, where those of 1x1 whose images are whole accesses of 16
    bytes have one; 857 of training in bfloat16, which leaves one to filters' gradients of 1x1.
    Convolutions in groups have one.
    """
    if problem.layout != "NCHW" or cost.dtype in ("float32", "float64") or problem.groups > 1:
        return False
    window, image = math.prod(problem.weight[2:]), math.prod(problem.data[2:])
    direct = cost.dtype == "TF32" or problem.kind == "filter"
    return not direct or window > 1 or _is_strided(problem) or image % 4 != 0


def _is_strided(problem: Convolution) -> bool:
    """Whether outputs are fewer than a window's shrinking explains."""
    return 2 * math.prod(problem.out[2:]) < math.prod(problem.data[2:])


def _as_product(problem: Convolution) -> tuple[int, int, int]:
    """Return m, n, k of the implicit product."""
    channels, filters = problem.data[1], problem.out[1]
    if problem.kind == "filter":
        return (
            channels * math.prod(problem.weight[2:]),
            filters,
            problem.flops // (2 * channels * math.prod(problem.weight[2:]) * filters),
        )
    shape, columns = (problem.out, filters)
    if problem.kind == "data":
        shape, columns = (problem.data, channels)
    rows = shape[0] * math.prod(shape[2:])
    return rows, columns, max(1, problem.flops // (2 * rows * columns))
