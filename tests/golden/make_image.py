"""Makes image.npz and image.json; run it with MXNet 1.9.1.

What functions of `mx.image` and transforms give for the calls in image_calls.py, the representation
of transforms, and that wrong arguments are refused.
"""

import json
from pathlib import Path

import image_calls as calls
import mxnet as mx
import numpy as np
from mxnet.gluon.data.vision import transforms as T

HERE = Path(__file__).resolve().parent


def main() -> None:
    arrays = {}
    for i, text in enumerate(calls.FUNCTIONS + calls.TRANSFORMS):
        found = calls.called(text, i, mx, T)
        for j, part in enumerate(found if isinstance(found, list) else [found]):
            arrays[f"{i}_{j}"] = np.asarray(part)
    np.savez_compressed(HERE / "image.npz", **arrays)
    for text in calls.REFUSED:
        try:
            calls.called(text, 0, mx, T)
        except Exception:  # of any kind
            continue
        raise SystemExit(f"not refused: {text}")
    shown = {text: repr(eval(text, {"T": T})) for text in calls.REPRESENTED}
    (HERE / "image.json").write_text(json.dumps(shown, indent=1) + "\n")


main()
