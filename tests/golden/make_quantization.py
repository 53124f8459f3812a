"""Make quantization.json.gz, quantization.npz and quantized/: what MXNet 1.9.1 makes of the graphs
of quantization_calls.py.

From the repository's root, with the black box (shared/ORACLE.md):

    oracle/bin/python tests/golden/make_quantization.py
"""

import gzip
import json
import sys
from pathlib import Path

import mxnet as mx
import numpy as np

FOLDER = Path(__file__).parent
sys.path.insert(0, str(FOLDER))

import quantization_calls as calls  # noqa: E402

# Graphs whose files are kept whole, with the setting and whether layers are fused.
FILES = {
    "fused": ("residual", "naive", True),
    "channel": ("residual", "channel", True),
    "plain": ("dense_relu", "naive", False),
    "uncalibrated": ("residual", "none", True),
    "gelu": ("gelu", "naive", True),
    "clip": ("clip", "naive", True),
}
found: dict[str, object] = {}
outputs = {}
for name in calls.GRAPHS:
    for setting in calls.SETTINGS:
        for fused in (True, False):
            key = f"{name} {setting} {'fused' if fused else 'plain'}"
            try:
                symbol, params, states = calls.run_graph(mx, name, setting, fused)
            except Exception as error:
                found[key] = {"error": type(error).__name__}
                continue
            found[key] = {
                "nodes": calls.nodes_of(symbol),
                "params": {k: [list(v.shape), v.dtype.__name__] for k, v in params.items()},
                "states": sorted(states),
            }
            for file, case in FILES.items():
                if case != (name, setting, fused):
                    continue
                prefix = FOLDER / "quantized" / file
                prefix.parent.mkdir(exist_ok=True)
                symbol.save(f"{prefix}-symbol.json")
                every = {f"arg:{k}": v for k, v in params.items()}
                every |= {f"aux:{k}": v for k, v in states.items()}
                mx.nd.save(f"{prefix}-0000.params", every)
                data = mx.nd.array(calls.data_of(name)[:4])
                bound = symbol.bind(
                    mx.cpu(), {**params, "data": data}, aux_states=states, grad_req="null"
                )
                outputs[file] = bound.forward()[0].asnumpy()
found["helpers"] = calls.run_helpers(mx)
with gzip.GzipFile(FOLDER / "quantization.json.gz", "wb", mtime=0) as target:
    target.write(json.dumps(found).encode())
np.savez_compressed(FOLDER / "quantization.npz", **outputs)
