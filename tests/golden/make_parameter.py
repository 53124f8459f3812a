"""What Parameters do in MXNet 1.9.1; run by its Python, it writes parameter.json beside itself."""

import json
from pathlib import Path

import mxnet as mx
from parameter_cases import CASES, outcome

found = {name: outcome(case, mx) for name, case in CASES.items()}
text = ",\n".join(f"{json.dumps(name)}: {json.dumps(found[name])}" for name in found)
Path(__file__).with_name("parameter.json").write_text(f"{{\n{text}\n}}\n")
