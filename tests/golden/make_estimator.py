"""Make estimator.json: what MXNet 1.9.1 gives for the runs of estimator_runs.py.

From the repository's root, with the black box (shared/ORACLE.md):

    oracle/bin/python tests/golden/make_estimator.py
"""

import json
import sys
import tempfile
from pathlib import Path

import mxnet as mx
from mxnet.gluon.contrib import estimator

FOLDER = Path(__file__).parent
sys.path.insert(0, str(FOLDER))

import estimator_runs  # noqa: E402

with tempfile.TemporaryDirectory() as folder:
    found = estimator_runs.run(mx, estimator, Path(folder))
(FOLDER / "estimator.json").write_text(json.dumps(found, indent=0) + "\n")
