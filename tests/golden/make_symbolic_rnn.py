"""Writes symbolic_rnn.json with MXNet 1.9.1: ``python make_symbolic_rnn.py`` in its environment."""

import json
import sys
from pathlib import Path

import mxnet as mx
import numpy as np

FOLDER = Path(__file__).parent
sys.path.insert(0, str(FOLDER))

from symbolic_rnn_cases import CASES, facts  # noqa: E402  # found by the line above

lines = [f"{json.dumps(name)}: {json.dumps(facts(mx, np, name))}" for name in CASES]
(FOLDER / "symbolic_rnn.json").write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
