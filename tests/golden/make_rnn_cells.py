"""Write rnn_cells.npz and rnn_cells.json.gz: outputs, gradients and graphs of MXNet 1.9.1's cells.

Usage: oracle/bin/python tests/golden/make_rnn_cells.py
"""

import gzip
import json
from pathlib import Path
from typing import Any

import mxnet as mx
import numpy as np
from mxnet.gluon import rnn
from mxnet.gluon.contrib import rnn as contrib
from rnn_cell_cases import CASES, LAYERS, described, filled, graph, run, run_layer


def joined(results: dict[str, Any]) -> Any:
    """Return all results in one vector: an archive's entries take more room than their numbers."""
    return np.concatenate([value.ravel() for value in results.values()])


def main() -> None:
    """Run every case, and describe its cell; those with lengths have graphs of their own here."""
    saved: dict[str, Any] = {}
    words: dict[str, Any] = {}
    for name, case in CASES.items():
        words[name] = described(case.make(rnn, contrib))
        if not case.ragged:
            words[name]["graph"] = graph(mx, case, case.make(rnn, contrib))
        cell = filled(mx, case.make(rnn, contrib))
        saved[name] = joined(run(mx, case, cell))
    for name, make in LAYERS.items():
        saved[name] = joined(run_layer(mx, filled(mx, make(rnn))))
    here = Path(__file__)
    np.savez_compressed(here.with_name("rnn_cells.npz"), **saved)
    text = json.dumps(words, indent=1, sort_keys=True).encode()
    here.with_name("rnn_cells.json.gz").write_bytes(gzip.compress(text, mtime=0))


if __name__ == "__main__":
    main()
