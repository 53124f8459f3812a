"""Run exported files in ONNX Runtime and compare; called by by_onnxruntime with its interpreter.

    python run_onnxruntime.py FOLDER

For each ``NAME.onnx`` there is a ``NAME.npz`` with its inputs (``in0``, ..) and what it should give
(``out0``, ..). Prints a line of JSON for each: the name, the largest difference (relative to the
larger of 1 and the largest value), and the error where it does not run.
"""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np


def _difference(got: Any, want: Any) -> float:
    if got.shape != want.shape:
        return float("inf")
    a, b = (np.asarray(x, np.float64) for x in (got, want))
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    size = max(1.0, float(np.max(np.abs(b[np.isfinite(b)]), initial=0.0)))
    return float(np.max(np.where(same, 0.0, np.abs(a - b)), initial=0.0)) / size


def main(folder: str) -> None:
    """Compare all files of a folder."""
    import onnxruntime

    onnxruntime.set_default_logger_severity(4)
    for path in sorted(Path(folder).glob("*.onnx")):
        line: dict[str, Any] = {"name": path.stem}
        try:
            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = 2
            session = onnxruntime.InferenceSession(
                str(path), options, providers=["CPUExecutionProvider"]
            )
            with np.load(path.with_suffix(".npz")) as arrays:
                given = {x.name: arrays[x.name] for x in session.get_inputs()}
                outputs = session.run(None, given)
                line["allowed"] = float(arrays["allowed"])
                wanted = [arrays[f"out{i}"] for i in range(len(outputs)) if f"out{i}" in arrays]
            pairs = zip(outputs, wanted, strict=False)
            line["difference"] = max((_difference(a, b) for a, b in pairs), default=0.0)
        except Exception as error:  # noqa: BLE001, RUF100  # whatever it is goes into the report
            line["error"] = str(error)[:300]
        sys.stdout.write(json.dumps(line) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1])
