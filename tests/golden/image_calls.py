"""Calls of `mx.image` and of transforms that MXNet 1.9.1 and gluonish make alike.

Imported by both interpreters. A call is Python text over what `inputs` gives, with ``image`` and
``T``, the modules of functions and of transforms; before each, the generators of `random` and
`numpy.random` are seeded by its position.
"""

import random
from typing import Any

import numpy as np

FUNCTIONS = [
    *(f"image.imresize(x, {w}, {h})" for w, h in ((10, 12), (5, 7), (23, 17), (10, 6), (31, 12))),
    *(f"image.imresize(x, 6, 7, interp={i})" for i in range(5)),
    *(f"image.imresize(x, 17, 19, interp={i})" for i in range(5)),
    *(f"image.imresize(x, 17, 9, {i})" for i in range(5)),
    "image.imresize(f, 6, 7, 1)",
    "image.imresize(f, 17, 19, 2)",
    "image.resize_short(x, 6)",
    "image.resize_short(x, 30)",
    "image.resize_short(x.transpose((1, 0, 2)), 6)",
    "image.resize_short(x, 6, interp=9)",
    "image.resize_short(x, 30, interp=9)",
    "image.resize_short(x, 30, interp=10)",
    *(
        f"image.scale_down({a}, {b})"
        for a, b in (
            ((640, 480), (720, 120)),
            ((360, 1000), (480, 500)),
            ((10, 10), (5, 5)),
            ((10, 10), (20.5, 5)),
            ((7, 9), (30, 20)),
        )
    ),
    "image.copyMakeBorder(x, 1, 2, 3, 4)",
    "image.copyMakeBorder(x, 1, 2, 3, 4, type=0, value=7.0)",
    "image.copyMakeBorder(x, 1, 2, 3, 4, type=0, values=(1, 2, 3))",
    *(f"image.copyMakeBorder(x, 1, 2, 3, 4, type={i})" for i in range(1, 5)),
    "image.fixed_crop(x, 1, 2, 5, 6)",
    "image.fixed_crop(x, 1, 2, 5, 6, (7, 8))",
    "image.fixed_crop(x, 1, 2, 5, 6, (5, 6))",
    "image.fixed_crop(x, 8, 2, 5, 6)",
    "image.fixed_crop(x, 1, 2, 5, 6, (7, 8), 1)",
    *(
        f"image.{name}({source}, {size})"
        for name in ("center_crop", "random_crop")
        for source in ("x", "f")
        for size in ((4, 5), (20, 20), (10, 20), (10, 12), (3, 9))
    ),
    "image.random_crop(x, (20, 20), 1)",
    "image.center_crop(x.asnumpy(), (4, 5))",
    "image.random_size_crop(x, (4, 5), (0.1, 0.5), (0.5, 2))",
    "image.random_size_crop(x, (4, 5), 0.5, (1, 1), 1)",
    "image.random_size_crop(x, (14, 5), (0.2, 1), (0.3, 3), 0)",
    "image.random_size_crop(x, (4, 5), (0.99, 1), (5, 5))",
    "image.color_normalize(f, 100.0, 50.0)",
    "image.color_normalize(f, None, 50.0)",
    "image.color_normalize(f, 100.0)",
    "image.color_normalize(f, nd.array([1, 2, 3]), nd.array([4, 5, 6]))",
    *(
        f"image.imrotate({source}, {degrees}{zoom})"
        for source in ("chw", "wide")
        for degrees in (0, 33, -50, 121)
        for zoom in ("", ", zoom_in=True", ", zoom_out=True")
    ),
    "image.imrotate(batch, 33)",
    "image.imrotate(batch, nd.array([10, 200]), True)",
    "image.random_rotate(chw, (-40, 40))",
    "image.random_rotate(batch, (-40, 40), zoom_in=True)",
    "image.random_rotate(chw, (40, -40), False, True)",
]

TRANSFORMS = [
    "T.Cast()(x)",
    "T.Cast('float16')(x)",
    "T.Cast('int8')(x)",
    "T.ToTensor()(x)",
    "T.ToTensor()(f)",
    "T.ToTensor()(x.astype('int32'))",
    "T.ToTensor()(images)",
    "T.Normalize()(chw)",
    "T.Normalize(0.5, 2)(chw)",
    "T.Normalize([1, 2, 3], (4, 5, 6))(chw)",
    "T.Normalize((1, 2, 3), 2)(batch)",
    "T.Rotate(33)(chw)",
    "T.Rotate(33, zoom_in=True)(batch)",
    "T.Rotate(33, zoom_out=True)(chw)",
    "T.RandomRotation((-40, 40))(chw)",
    "T.RandomRotation((-40, 40), zoom_in=True)(batch)",
    *("T.RandomRotation((-40, 40), False, True, 0.5)(chw)",) * 4,
    "T.RandomResizedCrop(4)(x)",
    "T.RandomResizedCrop((4, 6), scale=(0.3, 0.9), ratio=(0.5, 2), interpolation=0)(x)",
    "T.RandomResizedCrop((14, 6), scale=0.5)(f)",
    "T.CropResize(1, 2, 4, 5)(x)",
    "T.CropResize(1, 2, 4, 5, (6, 7), 1)(x)",
    "T.CropResize(x=0, y=0, width=4, height=4, size=2, interpolation=0)(images)",
    "T.CenterCrop(4)(x)",
    "T.CenterCrop((4, 6))(x)",
    "T.CenterCrop((14, 20))(x)",
    "T.CenterCrop([14, 20], interpolation=0)(x)",
    "T.CenterCrop(4.0)(x)",
    "T.CenterCrop(4)(x.asnumpy())",
    "T.Resize(4)(x)",
    "T.Resize((4, 6))(x)",
    "T.Resize([17, 6])(x)",
    "T.Resize(4, keep_ratio=True)(x)",
    "T.Resize(14, keep_ratio=True, interpolation=2)(images)",
    "T.Resize((4, 6), True, 0)(x)",
    "T.RandomBrightness(0)(x)",
    "T.RandomContrast(0)(x)",
    "T.RandomSaturation(0)(x)",
    "T.RandomLighting(0)(x)",
    *("T.RandomApply(T.Cast('int32'), 0.5)(x)",) * 4,
    "T.RandomApply(T.Compose([T.Resize(4), T.ToTensor()]), 1)(x)",
    "T.Compose([])(x)",
    "T.Compose([T.Resize(6), T.CenterCrop(4), T.ToTensor(), T.Normalize(0.5, 0.5)])(x)",
    "T.Compose([T.ToTensor(), T.Rotate(20)])(x)",
]

REPRESENTED = [
    "T.Resize(4)",
    "T.CenterCrop(3)",
    "T.ToTensor()",
    "T.Normalize(0.1, 0.2)",
    "T.RandomColorJitter(0.1)",
    "T.RandomApply(T.Cast(), 0.3)",
    "T.Compose([])",
    "T.Compose([T.ToTensor()])",
    "T.Compose([T.Resize(4), T.ToTensor()])",
    "T.Compose([T.Rotate(3), T.ToTensor(), T.Rotate(5)])",
    "T.Compose([T.RandomFlipLeftRight(), T.ToTensor(), T.Rotate(10)])",
    "T.Compose([T.Compose([T.Resize(4), T.ToTensor()]), T.Normalize(0, 1)])",
]

# What 1.9.1 makes of wrong arguments differs; that it refuses them does not.
REFUSED = [
    "image.imdecode('abc')",
    "image.imdecode(b'')",
    "image.imdecode(b'abcdef')",
    "image.imread('no such file.png')",
    "image.imresize(x.asnumpy(), 5, 6)",
    "image.fixed_crop(x, -1, 2, 5, 6)",
    "image.fixed_crop(x, 1, 2, 0, 6)",
    "image.center_crop(x, 4)",
    "image.random_size_crop(x, (4, 5), 0.5, (1, 1), foo=2)",
    "image.color_normalize(x, nd.array([1, 2, 3]))",
    "image.imrotate(chw.astype('uint8'), 30)",
    "image.imrotate(chw, 30, True, True)",
    "image.imrotate(chw, nd.array([10]))",
    "image.imrotate(batch, nd.array([10, 20, 30]))",
    "image.imrotate(chw[0], 10)",
    "image.random_rotate(chw, 5)",
    "T.Normalize(0.5, 2)(x)",
    "T.Rotate(30)(x)",
    "T.RandomRotation((10, -10))",
    "T.RandomRotation((-10, 10), rotate_with_proba=2)",
    "T.RandomResizedCrop(4)(images)",
    "T.CropResize(8, 2, 4, 5)(x)",
    "T.CenterCrop(4)(images)",
    "T.Resize(0)(x)",
    "T.Normalize((0.1, 0.2), 0.1)(chw)",
    "T.ToTensor()(x[0])",
    "T.RandomFlipLeftRight()(images)",
    "T.RandomBrightness(0.1)(images)",
]


def inputs(nd: Any) -> dict[str, Any]:
    """Return the arrays that calls name, made anew; ``nd`` is the module of arrays."""
    numbers = np.random.RandomState(7)
    x = numbers.randint(0, 256, (12, 10, 3)).astype(np.uint8)
    images = numbers.randint(0, 256, (2, 12, 10, 3)).astype(np.uint8)
    chw = numbers.uniform(0, 1, (3, 13, 13)).astype(np.float32)
    return {
        "x": nd.array(x, dtype="uint8"),
        "f": nd.array(x, dtype="float32"),
        "images": nd.array(images, dtype="uint8"),
        "chw": nd.array(chw),
        "wide": nd.array(chw[:, :7]),
        "batch": nd.array(np.stack([chw, chw[::-1]])),
    }


def called(text: str, position: int, mx: Any, transforms: Any) -> Any:
    """Make a call and return the arrays and numbers that it gave, as NumPy has them."""
    random.seed(position)
    np.random.seed(position)  # noqa: NPY002  # what is called draws from it
    names = {"image": mx.image, "T": transforms, "nd": mx.nd, **inputs(mx.nd)}
    return plain(eval(text, names))


def plain(value: Any) -> Any:
    """Return arrays in NumPy, and tuples as lists."""
    if isinstance(value, (tuple, list)):
        return [plain(part) for part in value]
    return value.asnumpy() if hasattr(value, "asnumpy") else value
