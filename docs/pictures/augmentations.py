"""Draw one image per augmentation for the guide: ``python docs/pictures/augmentations.py``.

The photograph is the one that comes with matplotlib (Grace Hopper, US Navy, public domain).
"""

from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib import cbook
from PIL import Image

import gluonish as mx
from gluonish import nd
from gluonish.gluon.data.vision import transforms

mpl.use("agg")
SIZE = 160  # pixels
COLORS = 128


def photograph() -> np.ndarray[Any, Any]:
    """Return the middle of the photograph, (SIZE, SIZE, 3)."""
    with cbook.get_sample_data("grace_hopper.jpg") as file:
        image = Image.open(file).convert("RGB").crop((0, 0, 512, 512))
        return np.asarray(image.resize((SIZE, SIZE)))


def pictures() -> dict[str, Any]:
    """Return an image for each augmentation."""
    x = nd.array(photograph(), dtype="uint8")
    found = {"the image": x}
    made = [
        transforms.AutoContrast(),
        transforms.Equalize(),
        transforms.Posterize(2),
        transforms.Solarize(),
        transforms.Invert(),
        transforms.Sharpness(4),
        transforms.RandomAffine(30, translate=(0.1, 0.1), scale=(0.7, 1.3), shear=15),
        transforms.RandomPerspective(p=1),
        transforms.GaussianBlur(9, (1.5, 2.5)),
        transforms.RandomErasing(p=1),
        transforms.RandAugment(),
        transforms.TrivialAugmentWide(),
        transforms.AugMix(severity=6),
    ]
    for transform in made:
        found[type(transform).__name__] = transform(x)
    batch = nd.stack(x, x[:, ::-1], axis=0)
    for mix in (transforms.MixUp(num_classes=2), transforms.CutMix(num_classes=2, layout="NHWC")):
        found[type(mix).__name__] = mix(batch, nd.array([0, 1]))[0][0]
    return found


def main() -> None:
    """Draw the images and keep them beside this script, with few colors."""
    from matplotlib import pyplot

    mx.random.seed(20)
    figure, axes = pyplot.subplots(4, 4, figsize=(7.2, 8.0))
    for axis, (name, image) in zip(axes.flat, pictures().items(), strict=True):
        axis.imshow(image.asnumpy())
        axis.set_title(name, fontsize=9)
        axis.axis("off")
    figure.tight_layout(pad=0.4, h_pad=1.0)
    path = Path(__file__).with_name("augmentations.png")
    figure.savefig(path, dpi=100)
    with Image.open(path) as drawn:
        small = drawn.convert("RGB").quantize(COLORS)
    small.save(path, optimize=True)


if __name__ == "__main__":
    main()
