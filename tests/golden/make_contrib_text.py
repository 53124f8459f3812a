"""Make contrib_text.json: what MXNet 1.9.1 gives for the calls of text_calls.py.

From the repository's root, with the black box (shared/ORACLE.md):

    oracle/bin/python tests/golden/make_contrib_text.py
"""

import json
import sys
import tempfile
from pathlib import Path

import mxnet as mx
from mxnet.contrib import text

FOLDER = Path(__file__).parent
sys.path.insert(0, str(FOLDER))

import text_calls  # noqa: E402

with tempfile.TemporaryDirectory() as folder:
    found = text_calls.run(mx, text, Path(folder))
(FOLDER / "contrib_text.json").write_text(json.dumps(found, indent=0) + "\n")
