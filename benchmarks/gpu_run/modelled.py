"""The cost model against the measured rows: measured, modelled, ratio.

``python -m benchmarks.gpu_run.modelled [--only PATTERN] [--out FILE] [--here]``

The model is tests/kernels/cupy/cost_model, the rows are those of benchmarks/results/gpu-h200.md.
Steps and operators are modelled as the measured code was: an archive of that commit, with
the double of this checkout (``--here``: as the code is now). Times of steps are those by events;
rows with CUDA graphs are set by the device, those without by the host. Rows whose ratio is outside
0.8 to 1.25 miss, and are marked so.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.gpu_run.measured import MEASURED

_ROOT = Path(__file__).resolve().parents[2]
_RESULTS = _ROOT / "benchmarks" / "results" / "gpu-h200.md"
_NEAR = (0.8, 1.25)
_ROW = re.compile(r"^\| ([^|]+) \| (?:ok|failed) \| (.*) \|$")
_VALUE = re.compile(r"(?:^|; )([^;]*?) (-?[\d,.]+(?:e[+-]\d+)?)(?: ([A-Za-z/]+))?(?= \(|;|$)")
_UNITS = {"us": 1.0, "ms": 1e3, "MB": 1.0}
_KINDS = ("forward", "data", "filter")
_POOLING = "max pooling, and gradient"


class Compared(NamedTuple):
    """One figure.

    Attributes:
        name: The row's, and the figure's.
        measured: In microseconds, megabytes or launches.
        modelled: Likewise.
        unit: ``us``, ``MB`` or ``kernels``.
    """

    name: str
    measured: float
    modelled: float
    unit: str

    @property
    def ratio(self) -> float:
        """The modelled figure through the measured one."""
        return self.modelled / self.measured

    @property
    def misses(self) -> bool:
        """Whether the model is off by more than a fifth."""
        return not _NEAR[0] <= self.ratio <= _NEAR[1]


def measured_rows(path: Path = _RESULTS) -> dict[str, dict[str, tuple[float, str]]]:
    """Return the figures of the results page, with their units, by row."""
    rows: dict[str, dict[str, tuple[float, str]]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        found = _ROW.match(line)
        if found is not None:
            values = _VALUE.findall(found[2])
            rows[found[1]] = {
                what.strip(): (float(value.replace(",", "")), unit) for what, value, unit in values
            }
    return rows


def facts(rows: dict[str, Any]) -> Iterator[Compared]:
    """Compare convolutions and products, which need no program: their problems are known."""
    from benchmarks.gpu_run.cudnn_rows import _SHAPES
    from tests.kernels.cupy.cost_model.rates import Rates
    from tests.kernels.cupy.cost_model.records import Convolution, Cost, Launch, Product

    rates = Rates("h200")
    for name, values in rows.items():
        head, _, rest = name.partition("cuDNN convolution ")
        if head or not rest:
            continue
        shape, precision, layout = rest.rsplit(", ", 2)
        size = 4 if precision in ("TF32", "float32") else 2
        for kind in _KINDS:
            c = _SHAPES[shape][0]
            problem = Convolution(kind, layout, c.data, c.weight, c.output)
            extents = [c.data, c.weight, c.output]
            nbytes = [size * _product(extent) for extent in extents]
            written = nbytes[{"forward": 2, "data": 0, "filter": 1}[kind]]
            cost = Cost("convolution", sum(nbytes) - written, written, 0, precision, problem)
            us = rates.kernel_us(Launch("convolution", "", cost)) + 1
            yield Compared(f"{name}: {kind}", values[kind][0], us, "us")
    side = 8192
    for precision in ("float32", "bfloat16", "float16", "float64"):
        size = {"float32": 4, "float64": 8}.get(precision, 2)
        moved = size * side * side
        product = Product(side, side, side, 1)
        cost = Cost("product", 2 * moved, moved, 0, precision, product)
        us = rates.kernel_us(Launch("product", "", cost))
        measured = product.flops / rows["products"][precision][0] / 1e6
        yield Compared(f"products: {precision}", measured, us, "us")


def _product(extents: Any) -> int:
    count = 1
    for extent in extents:
        count *= int(extent)
    return count


def programs(rows: dict[str, Any], root: Path, only: str) -> Iterator[Compared]:
    """Compare steps and operators: each modelled in a process of its own."""
    for name, values in rows.items():
        if "ours" not in values or not re.search(only, name):
            continue
        plain, graphs = name.removesuffix(", CUDA graphs"), name.endswith(", CUDA graphs")
        found = _modelled(plain, graphs, root)
        if found is None:
            continue
        value, unit = values["ours"]
        yield Compared(name, value * _UNITS[unit], 1e3 * found["step_ms"], "us")
        if graphs and "ResNet-50 training" in name:
            # That run's gradient of max pooling took its row's time, and was mended since: the
            # model, which knows bytes and instructions, does not have what was wrong with it.
            mended = value * _UNITS[unit] - rows[_POOLING]["ours"][0]
            mended += sum(1e3 * row["device_ms"] for row in _pooling(found))
            yield Compared(f"{name}, pooling as modelled", mended, 1e3 * found["step_ms"], "us")
        if "our peak" in values:
            yield Compared(
                f"{name}: peak", values["our peak"][0], found["memory"]["peak"] / 1e6, "MB"
            )
            yield Compared(
                f"{name}: kernels", values["our launches"][0], found["kernels"], "kernels"
            )


def _pooling(found: dict[str, Any]) -> list[dict[str, Any]]:
    return [row for row in found["kernels_by"] if row["name"].startswith("pool")]


def _modelled(name: str, graphs: bool, root: Path) -> dict[str, Any] | None:
    command = [sys.executable, "-m", "tests.kernels.cupy.cost_model.rows", name]
    command += ["--graphs"] if graphs else []
    paths = (root, root / "engine", root / "benchmarks")  # the last for what was a path of its own
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))}
    done = subprocess.run(
        command, cwd=root, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        print(f"{name}: not modelled: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
        return None
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def older(folder: Path, commit: str) -> Path:
    """Return a checkout of a commit, with this checkout's double of CuPy, in a folder."""
    archive = subprocess.run(
        ["git", "archive", commit], cwd=_ROOT, capture_output=True, check=True
    ).stdout
    subprocess.run(["tar", "-x", "-C", str(folder)], input=archive, check=True)
    double = folder / "tests" / "kernels" / "cupy"
    double.rename(folder / "old double")
    double.symlink_to(_ROOT / "tests" / "kernels" / "cupy")
    return folder


def table(found: list[Compared]) -> str:
    """Return a table of Markdown."""
    lines = ["| row | measured | modelled | ratio | |", "|---|---:|---:|---:|---|"]
    for row in found:
        lines.append(
            f"| {row.name} | {row.measured:,.4g} {row.unit} | {row.modelled:,.4g} {row.unit} "
            f"| {row.ratio:.2f} | {'misses' if row.misses else ''} |"
        )
    misses = sum(row.misses for row in found)
    return "\n".join([*lines, "", f"{len(found) - misses} of {len(found)} figures within a fifth."])


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="rows whose name has a match of this")
    parser.add_argument("--here", action="store_true", help="the code as it is now")
    parser.add_argument("--out", type=Path, help="write the table to this file, too")
    given = parser.parse_args()
    rows = measured_rows()
    found = [row for row in facts(rows) if re.search(given.only, row.name)]
    with tempfile.TemporaryDirectory() as folder:
        root = _ROOT if given.here else older(Path(folder), MEASURED)
        for row in programs(rows, root, given.only):
            print(f"{row.name}: {row.ratio:.2f}", file=sys.stderr, flush=True)
            found.append(row)
    print(table(found))
    if given.out is not None:
        given.out.write_text(table(found) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
