"""``gluonish profile --model DEVICE``: what a program would take on a GPU that is not there.

The program runs on the tests' double of CuPy, whose kernels compute nothing and whose arrays take
no memory, so that networks of real size take seconds. The double counts each launch's bytes and
operations, and a table of a device's measured rates makes times of them. The double is part of the
repository and not of the installed package.
"""

import json
import sys
from pathlib import Path
from typing import Any

from gluonish.core.errors import NotSupportedError
from gluonish.core.files import atomic_write
from gluonish.core.loading import load
from gluonish.mxnet_names.script import run_script
from gluonish.tools.profile.advice import advice
from gluonish.tools.profile.page import bytes_text, page, share_text, time_text
from gluonish.tools.profile.summary import summarize
from gluonish.tools.profile.trace import read_trace
from gluonish.tools.table import table, terminal_width

_ROOT = Path(__file__).resolve().parents[3]
_MODEL = "tests.kernels.cupy.cost_model"
_SHOWN = 15


def _part(name: str) -> Any:
    """Return a module of the cost model.

    Raises:
        NotSupportedError: This is no checkout.
    """
    folder = _ROOT.joinpath(*_MODEL.split("."))
    if not (folder / f"{name}.py").is_file():
        raise NotSupportedError(
            f"--model: expected a checkout of gluonish, whose tests hold the model of devices, got "
            f"an installed package in {str(_ROOT)!r}; clone the repository, install it with "
            "`pip install -e .`, and profile with that"
        )
    if str(_ROOT) not in sys.path:
        sys.path.append(str(_ROOT))
    return load(f"{_MODEL}.{name}")


def run_modelled(
    device: str, script: str, arguments: list[str], output: Path
) -> tuple[int, dict[str, Any]]:
    """Run the script on a modelled device, and write the report.

    Args:
        device: The device's name, such as ``h200``.
        script: Path of the script.
        arguments: The script's own.
        output: Where to write, without an ending.

    Returns:
        The script's exit status, and the report.

    Raises:
        ArgumentError: There is no table for the device.
        NotSupportedError: This is no checkout.
    """
    session = _part("session").Session(device)
    with session.devices():
        status = run_script(script, arguments)
        found = _part("report").report(session)
        trace = _part("report").trace(session)
    report_path, trace_path, page_path = (
        output.with_name(output.name + end) for end in (".model.json", ".json", ".html")
    )
    for path, content in ((report_path, found), (trace_path, trace)):
        with atomic_write(path) as file:
            file.write((json.dumps(content, indent=1) + "\n").encode())
    read = read_trace(trace_path)
    summary = summarize(read)
    with atomic_write(page_path) as file:
        title = f"{Path(script).name}, modelled on {found['device']}"
        file.write(page(title, read, summary, advice(read, summary)).encode())
    sys.stdout.flush()
    print("\n".join(_lines(found, terminal_width(sys.stderr))), file=sys.stderr)
    print(f"\nfigures: {report_path}\ntrace:   {trace_path}\npage:    {page_path}", file=sys.stderr)
    return status, found


def _lines(found: dict[str, Any], width: int | None) -> list[str]:
    """Return the text for the terminal."""
    memory = found["memory"]
    lines = ["", f"modelled on {found['device']} by {found['source']}", ""]
    if found["step"] is None:
        return [*lines, "nothing was launched on gpu(0)"]
    steps = found["steps"]
    rows = [
        (str(number), *_step(step), step["name"] or "the end") for number, step in enumerate(steps)
    ]
    right = range(len(_HEADS) + 1)
    lines.append(table([("step", *_HEADS, "ended by"), *rows[:3], *rows[3:][-3:]], width, right))
    if len(steps) > 6:
        lines.append(f"({len(steps) - 6} steps between them are left out)")
    lines += ["", f"of the last step, {time_text(1e3 * found['step']['device_ms'])} on the device:"]
    for kind in ("operators", "kernels"):
        cells = [("share", "time", "launches", "bytes", kind), *map(_row, found[kind][:_SHOWN])]
        lines += ["", table(cells, width, range(4))]
    lines += [
        "",
        f"memory at most {bytes_text(memory['peak'])}: arrays {bytes_text(memory['pool'])}, "
        f"captured graphs {bytes_text(memory['captures'])}",
    ]
    return lines


_TIMES = ("device", "host", "waited", "step time")
_HEADS = ("launches", "kernels", "graphs", "submitted", "bytes", "TFLOP", *_TIMES)


def _step(step: dict[str, Any]) -> tuple[str, ...]:
    return (
        f"{step['launches']:,}",
        f"{step['kernels']:,}",
        str(step["graphs"]),
        str(step["submissions"]),
        bytes_text(step["bytes"]),
        f"{step['flops'] / 1e12:.3f}",
        *(time_text(1e3 * step[f"{name.split()[0]}_ms"]) for name in _TIMES),
    )


def _row(row: dict[str, Any]) -> tuple[str, ...]:
    share, time = share_text(row["share"]), time_text(1e3 * row["device_ms"])
    return share, time, f"{row['launches']:,}", bytes_text(row["bytes"]), row["name"]
