"""Make the golden data beside it with MXNet 2.0: ``oracle2/bin/python make.py``.

``optimizer2.npz`` has the weights after each step of each case of `optimizer2_cases`, and
``refused.json`` the classes of errors of cases that MXNet refuses.
"""

import json
from pathlib import Path

import mxnet as mx
import numpy as np
from optimizer2_cases import cases, train  # type: ignore[import-not-found]  # beside it

HERE = Path(__file__).parent

if __name__ == "__main__":
    mx.npx.set_np()
    values, refused = {}, {}
    for name, optimizer, args in cases():
        if optimizer == "sgld":
            continue
        try:
            values[name] = train(mx, optimizer, args)
        except Exception as error:  # what MXNet raises is the datum
            refused[name] = type(error).__name__
    np.savez_compressed(HERE / "optimizer2.npz", **values)
    (HERE / "refused.json").write_text(json.dumps(refused, indent=1, sort_keys=True) + "\n")
