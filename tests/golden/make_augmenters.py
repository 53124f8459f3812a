"""Makes augmenters.npz and augmenters.json; run it with MXNet 1.9.1.

What augmenters and image iterators give for the calls in augmenter_calls.py, and that wrong
arguments are refused.
"""

import json
import tempfile
from pathlib import Path

import augmenter_calls as calls
import cv2
import mxnet as mx
import numpy as np

HERE = Path(__file__).resolve().parent


def images() -> list[bytes]:
    """Return PNG files of different sizes."""
    numbers = np.random.RandomState(1)
    found = []
    for i in range(7):
        high, wide = numbers.randint(9, 14, 2)
        image = np.full((high, wide, 3), i * 10, np.uint8)
        image[:, :, 2] += numbers.randint(0, 9, (high, wide)).astype(np.uint8)
        found.append(cv2.imencode(".png", image)[1].tobytes())
    return found


def changes() -> dict[str, np.ndarray]:
    """Return what augmenters make of images and boxes."""
    arrays = {}
    for kind, texts in (("x", calls.AUGMENTERS), ("f", calls.AUGMENTERS + calls.COLORS)):
        for i, text in enumerate(texts):
            for j, made in enumerate(calls.changed(text, i, mx, kind)):
                arrays[f"{kind}_{i}_{j}"] = made
    for i, text in enumerate(calls.WITH_BOXES):
        for j, made in enumerate(calls.changed_with_boxes(text, i, mx)):
            arrays[f"boxes_{i}_{j}"] = made
    return arrays


def batches(folder: str, shown: dict[str, object]) -> dict[str, np.ndarray]:
    """Return what iterators give and draw; ``shown`` gets the rest."""
    arrays = {}
    for i, text in enumerate(calls.ITERATORS):
        found, shown[text] = calls.epochs(text, i, mx, folder)
        for j, made in enumerate(found):
            # Bytes, where they are: smaller.
            whole = made.ndim == 4 and (made == made.astype(np.uint8)).all()
            arrays[f"epochs_{i}_{j}"] = made.astype(np.uint8) if whole else made
    for i, text in enumerate(calls.DRAWINGS):
        for j, made in enumerate(calls.drawn(text, i, mx, folder)):
            arrays[f"drawn_{i}_{j}"] = made
    return arrays


def main() -> None:
    texts = calls.AUGMENTERS + calls.COLORS + calls.WITH_BOXES
    shown = {
        "dumps": {text: eval(text, calls.names(mx)).dumps() for text in texts},
        "lists": {text: calls.described(eval(text, calls.names(mx))) for text in calls.LISTS},
        "iterators": {},
    }
    arrays = changes()
    pngs = images()
    for i, stored in enumerate(pngs):
        arrays[f"png_{i}"] = np.frombuffer(stored, np.uint8)
    with tempfile.TemporaryDirectory() as folder:
        calls.make_files(folder, mx, pngs)
        arrays.update(batches(folder, shown["iterators"]))
        refused(folder)
    pools, shown["shapes"] = calls.packed(arrays)
    np.savez_compressed(HERE / "augmenters.npz", **pools)
    (HERE / "augmenters.json").write_text(json.dumps(shown) + "\n")


def refused(folder: str) -> None:
    for text in calls.REFUSED:
        try:
            eval(text.replace("{}", folder), calls.names(mx))
        except Exception:  # of any kind
            continue
        raise SystemExit(f"not refused: {text}")


main()
