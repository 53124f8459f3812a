"""Time of each augmentation of an image of 224 x 224, beside Pillow's function in the same turns.

    python -m benchmarks.cpu augment
    python -m benchmarks.cpu augment --repeats 100

Prints minimum and median of repeats in milliseconds, in one process with one thread: gluonish from
NDArray to NDArray; Pillow from an array to an image, its function, and back, which is what the
transforms of torchvision do to a PIL image before it becomes a tensor. Random transforms have no
function in Pillow.
"""

import argparse
import os
import statistics
import time
from collections.abc import Callable
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from PIL import Image, ImageEnhance, ImageOps

import gluonish as mx
from gluonish import nd
from gluonish.gluon.data.vision import transforms as T

SIZE = 224
BILINEAR = Image.Resampling.BILINEAR


def picture() -> np.ndarray[Any, Any]:
    """Return a smooth image with all levels, (224, 224, 3)."""
    small = np.random.default_rng(0).integers(0, 256, (20, 20, 3)).astype(np.uint8)
    return np.array(Image.fromarray(small).resize((SIZE, SIZE), BILINEAR))


def pairs() -> dict[str, tuple[Any, Callable[[Any], Any] | None]]:
    """Return our transform and Pillow's function by name."""
    angle = T.RandomAffine((20, 20))
    smooth = T.RandomAffine((20, 20), interpolation="bilinear")
    return {
        "AutoContrast": (T.AutoContrast(), ImageOps.autocontrast),
        "Equalize": (T.Equalize(), ImageOps.equalize),
        "Posterize": (T.Posterize(4), lambda image: ImageOps.posterize(image, 4)),
        "Solarize": (T.Solarize(), ImageOps.solarize),
        "Invert": (T.Invert(), ImageOps.invert),
        "Sharpness": (T.Sharpness(1.5), lambda image: ImageEnhance.Sharpness(image).enhance(1.5)),
        "RandomAffine, nearest": (angle, lambda image: image.rotate(-20)),
        "RandomAffine, bilinear": (smooth, lambda image: image.rotate(-20, BILINEAR)),
        "RandomPerspective": (T.RandomPerspective(p=1), None),
        "GaussianBlur(5)": (T.GaussianBlur(5), None),
        "GaussianBlur(23)": (T.GaussianBlur(23), None),
        "RandomErasing": (T.RandomErasing(1), None),
        "RandAugment": (T.RandAugment(), None),
        "TrivialAugmentWide": (T.TrivialAugmentWide(), None),
        "AugMix": (T.AugMix(), None),
    }


def timed(call: Callable[[], Any]) -> float:
    """Return the milliseconds of a call."""
    start = time.perf_counter()
    call()
    return 1e3 * (time.perf_counter() - start)


def main() -> None:
    """Time all transforms."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=60)
    repeats = parser.parse_args().repeats
    mx.random.seed(0)
    values = picture()
    x = nd.array(values, dtype="uint8")
    print(f"{'':24}{'gluonish min':>14}{'median':>9}{'Pillow min':>12}{'median':>9}")
    for name, (transform, by_pillow) in pairs().items():
        ours, theirs = [], []
        for _ in range(repeats):
            ours.append(timed(lambda transform=transform: transform(x)))
            if by_pillow is not None:
                theirs.append(
                    timed(lambda call=by_pillow: np.asarray(call(Image.fromarray(values))))
                )
        line = f"{name:24}{min(ours):14.3f}{statistics.median(ours):9.3f}"
        if theirs:
            line += f"{min(theirs):12.3f}{statistics.median(theirs):9.3f}"
        print(line)


if __name__ == "__main__":
    main()
