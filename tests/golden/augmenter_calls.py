"""Calls of augmenters and image iterators that MXNet 1.9.1 and gluonish make alike.

Imported by both interpreters. A call is Python text; before each, the generators of `random` and
`numpy.random` are seeded by its position.
"""

import os
import random
from typing import Any

import numpy as np

_LIGHT = (
    "np.array([55.46, 4.794, 1.148]), "
    "np.array([[-0.57, 0.72, 0.4], [-0.58, 0, -0.81], [-0.58, -0.69, 0.42]])"
)

# Each is called with an image of bytes and one of floats, twice.
AUGMENTERS = [
    "ResizeAug(6)",
    "ResizeAug(15, 1)",
    "ResizeAug(6, interp=10)",
    "ForceResizeAug((6, 7))",
    "ForceResizeAug((17, 7), 1)",
    "RandomCropAug((4, 5))",
    "RandomCropAug((20, 20), 1)",
    "RandomSizedCropAug((4, 5), (0.1, 0.5), (0.5, 2))",
    "RandomSizedCropAug((4, 5), 0.2, (0.5, 2), 1)",
    "RandomSizedCropAug((4, 5), (0.99, 1), (5, 5))",
    "CenterCropAug((4, 5))",
    "CenterCropAug((20, 20), 1)",
    "HorizontalFlipAug(0.5)",
    "HorizontalFlipAug(1)",
    "CastAug()",
    "CastAug('float16')",
    "CastAug('uint8')",
    "SequentialAug([ResizeAug(6, 1), HorizontalFlipAug(0.5), CastAug()])",
    "RandomOrderAug([ResizeAug(6, 1), CastAug(), HorizontalFlipAug(0.5)])",
    "RandomGrayAug(0)",
    "ColorNormalizeAug(None, None)",
    "SequentialAug([CastAug(), ColorNormalizeAug([1, 2, 3], [4, 5, 6])])",
]

# Each is called with an image of floats only: MXNet refuses others, or makes them black.
COLORS = [
    "BrightnessJitterAug(0.3)",
    "ContrastJitterAug(0.3)",
    "SaturationJitterAug(0.3)",
    "HueJitterAug(0.3)",
    "ColorJitterAug(0.3, 0.2, 0.1)",
    "ColorJitterAug(0, 0.2, 0.1)",
    "ColorJitterAug(0, 0, 0)",
    f"LightingAug(0.1, {_LIGHT})",
    "ColorNormalizeAug(np.array([1.5, 2, 3]), np.array([4, 5, 6]))",
    "ColorNormalizeAug(nd.array([1, 2, 3]), None)",
    "ColorNormalizeAug(None, [4, 5, 6])",
    "RandomGrayAug(0.5)",
    "RandomGrayAug(1)",
]

# Each is called with an image and boxes, twice.
WITH_BOXES = [
    "DetBorrowAug(HorizontalFlipAug(0.5))",
    "DetRandomSelectAug([DetHorizontalFlipAug(1), DetBorrowAug(CastAug())], 0.1)",
    "DetRandomSelectAug([DetHorizontalFlipAug(1)], 0.7)",
    "DetRandomSelectAug([], 0.1)",
    "DetRandomSelectAug(DetHorizontalFlipAug(1), 0)",
    "DetHorizontalFlipAug(0.5)",
    "DetRandomCropAug()",
    "DetRandomCropAug(0.5, (0.5, 2), (0.3, 0.9), 0.5, 10)",
    "DetRandomCropAug(0.3, (0.3, 3), (0.05, 0.3), 0.2, 20)",
    "DetRandomCropAug(0.01, (0.3, 3), (0.01, 0.3), 0.9, 20)",
    "DetRandomCropAug(0.99, (0.9, 1.1), (0.01, 0.05), 0.5, 3)",
    "DetRandomCropAug(0.1, 1.0, 0.5)",
    "DetRandomCropAug(area_range=(0.05, 3.0))",
    "DetRandomCropAug(max_attempts=0)",
    "DetRandomPadAug()",
    "DetRandomPadAug((0.5, 2), (1.5, 2), 3, (1, 2, 3))",
    "DetRandomPadAug((0.2, 5), (1.0, 1.2), 5, (1, 2, 3))",
    "DetRandomPadAug(1.0, 2.0, 5, (7, 7, 7))",
    "DetRandomPadAug(max_attempts=0)",
    "CreateMultiRandCropAugmenter([0.1, 0.5], (0.5, 2), (0.1, 0.8), skip_prob=0.2)",
]

# What the lists of augmenters are made of: only described.
LISTS = [
    "CreateAugmenter((3, 8, 9))",
    "CreateAugmenter((3, 8, 9), resize=10)",
    "CreateAugmenter((3, 8, 9), rand_crop=True)",
    "CreateAugmenter((3, 8, 9), rand_crop=True, rand_resize=True)",
    "CreateAugmenter((3, 8, 9), rand_mirror=True)",
    "CreateAugmenter((3, 8, 9), mean=True, std=True)",
    "CreateAugmenter((3, 8, 9), mean=np.array([1, 2, 3]), std=np.array([1, 2, 3]))",
    "CreateAugmenter((3, 8, 9), std=np.array([1, 2, 3]))",
    "CreateAugmenter((3, 8, 9), mean=nd.array([1, 2, 3]))",
    "CreateAugmenter((3, 8, 9), brightness=0.1)",
    "CreateAugmenter((3, 8, 9), 9, False, False, True, None, True, 0.1, 0.2, 0.3, 0.4, 0.1, 0.5)",
    "CreateAugmenter((1, 8, 9), hue=0.1)",
    "CreateMultiRandCropAugmenter()",
    "CreateMultiRandCropAugmenter(0.1, (0.5, 2), (0.1, 1), 0.3, 20, 0.1)",
    "CreateMultiRandCropAugmenter([0.1, 0.3, 0.5])",
    "CreateMultiRandCropAugmenter([0.1, 0.3], [(0.5, 2), (0.3, 3)], skip_prob=0.2)",
    "CreateMultiRandCropAugmenter(0.1, [(0.5, 2), (0.3, 3)])",
    "CreateMultiRandCropAugmenter([0.1, 0.2], [(0.5, 2)])",
    "CreateDetAugmenter((3, 8, 9))",
    "CreateDetAugmenter((3, 8, 9), resize=10, inter_method=9)",
    "CreateDetAugmenter((3, 8, 9), rand_crop=0.5)",
    "CreateDetAugmenter((3, 8, 9), 9, 1, 0.4, 0.2, True, True, True, 0.1, 0.2, 0.3, 0.1, 0.4)",
    "CreateDetAugmenter((3, 8, 9), rand_pad=1, area_range=(0.3, 4), pad_val=(1, 2, 3))",
    "CreateDetAugmenter((3, 8, 9), rand_crop=0.5, min_object_covered=[0.1, 0.3], max_attempts=7)",
]

_LIST = "path_imglist='{}/a.lst', path_root='{}'"
_RECORDS = "path_imgrec='{}/a.rec', path_imgidx='{}/a.idx'"
_GIVEN = "imglist=[[1, '0.png'], [2.5, '1.png'], [3, '2.png']], path_root='{}'"

ITERATORS = [
    *(
        f"ImageIter(3, (3, 8, 8), {source}, last_batch_handle='{handle}'{shuffle})"
        for handle in ("pad", "discard", "roll_over")
        for source in (_LIST, _RECORDS)
        for shuffle in ("", ", shuffle=True")
    ),
    "ImageIter(3, (3, 8, 8), path_imgrec='{}/a.rec')",
    "ImageIter(3, (3, 8, 8), path_imgrec='{}/a.rec', path_imglist='{}/a.lst')",
    "ImageIter(3, (3, 8, 8), path_imgrec='{}/a.rec', last_batch_handle='roll_over')",
    f"ImageIter(9, (3, 8, 8), {_LIST})",
    f"ImageIter(9, (3, 8, 8), {_LIST}, last_batch_handle='roll_over')",
    f"ImageIter(9, (3, 8, 8), {_LIST}, last_batch_handle='discard')",
    "ImageIter(2, (3, 8, 8), 2, path_imglist='{}/b.lst', path_root='{}')",
    f"ImageIter(2, (3, 8, 8), 2, {_LIST})",
    "ImageIter(2, (3, 8, 8), 2, path_imgrec='{}/b.rec', path_imgidx='{}/b.idx')",
    f"ImageIter(2, (3, 8, 8), {_RECORDS}, path_imglist='{{}}/a.lst')",
    f"ImageIter(2, (3, 8, 8), {_GIVEN})",
    "ImageIter(2, (3, 8, 8), 2, imglist=[[1, 2, '0.png'], [[2.5, 3], '1.png']], path_root='{}')",
    *(
        f"ImageIter(2, (3, 8, 8), {source}, num_parts={parts}, part_index={part}, shuffle=True)"
        for source in (_LIST, _RECORDS)
        for parts, part in ((2, 0), (2, 1), (3, 2))
    ),
    f"ImageIter(2, (3, 5, 6), {_LIST}, rand_crop=True, rand_mirror=True, mean=True, std=True)",
    f"ImageIter(2, (3, 8, 8), {_LIST}, aug_list=[CenterCropAug((8, 8))], data_name='x')",
    *(
        f"ImageDetIter(2, (3, 8, 8), imglist=BOXES, path_root='{{}}', last_batch_handle='{handle}')"
        for handle in ("pad", "discard", "roll_over")
    ),
    "ImageDetIter(2, (3, 8, 8), path_imgrec='{}/d.rec', path_imgidx='{}/d.idx', shuffle=True)",
    "ImageDetIter(2, (3, 8, 8), imglist=WIDE_BOXES, path_root='{}', label_name='y')",
    "ImageDetIter(2, (3, 8, 8), imglist=BOXES, path_root='{}', shuffle=True, rand_mirror=True,"
    " rand_crop=0.5, rand_pad=0.5, mean=True, inter_method=1)",
]

# MXNet exchanges red and blue of the colour on every second image: it is the same here.
DRAWINGS = [
    "draw_next(color=(255, 9, 255))",
    "draw_next()",
    "draw_next(color=(255, 9, 255), thickness=1)",
    "draw_next((1, 2, 1), 1, mean=np.array([30, -20, 3.0]), std=np.array([2.0, 1.0, 3.0]))",
    "draw_next((1, 2, 1), 1, mean=True, std=True)",
]

REFUSED = [
    "ResizeAug(0)(x)",
    "ResizeAug((3, 4))(x)",
    "ForceResizeAug(4)(x)",
    "RandomCropAug(4)(x)",
    "CenterCropAug(3)(x)",
    "RandomSizedCropAug((4, 5), 0.2, (2,))(x)",
    "RandomSizedCropAug((4, 5), 0.2, (0.5, 2), foo=3)",
    "LightingAug(0.1, [1, 2], [[1, 2]])(f)",
    "ColorNormalizeAug([1, 2], [1, 2])(f)",
    "ColorNormalizeAug([1, 2, 3], None)(x)",
    "HueJitterAug(0.1)(f[:, :, :1])",
    "RandomGrayAug(1)(f[:, :, :1])",
    "BrightnessJitterAug('a')(f)",
    "CastAug('foo')(x)",
    "SequentialAug(3)(x)",
    "SequentialAug([3])(x)",
    "CenterCropAug((4, 4))(x[0])",
    "Augmenter(a=1)(x)",
    "DetAugmenter(a=1)(x, boxes)",
    "CreateAugmenter((3, 8, 9), rand_resize=True)",
    "CreateAugmenter((3, 8, 9), mean=3.0)",
    "CreateAugmenter((3, 8, 9), mean=[1, 2])",
    "CreateAugmenter((8, 9))",
    "CreateAugmenter(8)",
    "DetBorrowAug(3)",
    "DetRandomSelectAug([CastAug()])",
    "DetRandomSelectAug(3)",
    "DetRandomCropAug(0.5, (2, 0.5))",
    "DetRandomCropAug('a')(x, boxes)",
    "DetRandomCropAug(0.5, (0.5, 2), (2, 1))",
    "DetRandomPadAug((2, 0.5))",
    "DetRandomPadAug((0.5, 2), (0.5, 0.7))",
    "DetRandomPadAug(pad_val='a')",
    "CreateMultiRandCropAugmenter([0.1, 0.2, 0.3], [(0.5, 2), (0.6, 2)])",
    "ImageIter(2, (3, 8, 8))",
    "ImageIter(2, (3, 8, 8), path_imgrec='{}/a.rec', shuffle=True)",
    "ImageIter(2, (3, 8, 8), path_imgrec='{}/a.rec', num_parts=2)",
    "ImageIter(2, (3, 8, 8), path_imgrec='{}/no.rec')",
    "ImageIter(2, (3, 8, 8), path_imgrec='{}/a.rec', path_imgidx='{}/no.idx')",
    "ImageIter(2, (3, 8, 8), path_imglist='{}/no.lst')",
    f"ImageIter(2, (8, 8), {_LIST})",
    f"ImageIter(2, (1, 8, 8), {_LIST})",
    f"ImageIter(2, (3, 8, 8), {_LIST}, dtype='uint8')",
    f"ImageIter(2, (3, 8, 8), {_LIST}, part_index=3, num_parts=2)",
    f"ImageIter(2, (3, 8, 8), {_LIST}, aug_list=[]).next()",
    f"ImageIter(2, (3, 8, 8), {_LIST}, foo=1)",
    "ImageIter(2, (3, 8, 8), path_imglist='{}/b.lst', path_root='{}').next()",
    "ImageIter(2, (3, 8, 8), imglist=[[1, 'no.png']], path_root='{}').next()",
    "ImageIter(2, (3, 8, 8), imglist=[[1, 'a.lst']], path_root='{}').next()",
    "ImageIter(2, (3, 8, 8), imglist=[['0.png']], path_root='{}')",
    "ImageIter(2, (3, 8, 8), imglist='foo', path_root='{}')",
    *(
        f"ImageDetIter(2, (3, 8, 8), imglist=[[{label}, '0.png']], path_root='{{}}')"
        for label in (
            "[2, 5]",
            "3",
            "[2, 5, 0, 0.1, 0.2, 0.3]",
            "[2, 4, 0, 0.1, 0.2, 0.3]",
            "[1, 5, 0, 0.1, 0.2, 0.5, 0.6]",
            "[9, 5, 0, 0.1, 0.2, 0.5, 0.6]",
            "[2, 5, 0, 0.5, 0.2, 0.5, 0.6]",
        )
    ),
    "ImageDetIter(2, (3, 8, 8), imglist=BOXES, path_root='{}').check_label_shape((1, 5))",
    "ImageDetIter(2, (3, 8, 8), imglist=BOXES, path_root='{}').reshape(label_shape=(3, 6))",
    "ImageDetIter(2, (3, 8, 8), imglist=BOXES, path_root='{}').reshape((1, 6, 7))",
    "ImageDetIter(2, (3, 8, 8), imglist=BOXES, path_root='{}').sync_label_shape(3)",
    "list(ImageDetIter(2, (3, 8, 8), imglist=BOXES, path_root='{}').draw_next(color='red'))",
    "list(ImageDetIter(2, (3, 8, 8), imglist=BOXES, path_root='{}').draw_next(mean=[1, 2]))",
]

_OBJECTS: Any = [
    [[0, 0.1, 0.2, 0.5, 0.6]],
    [[1, 0.4, 0.3, 0.9, 0.8], [2, 0.7, 0.1, 0.95, 0.4]],
    [[0, 0.2, 0.2, 0.8, 0.8], [1, 0.1, 0.1, 0.3, 0.3], [2, 0.5, 0.5, 0.5, 0.9]],
    [[3, 0.2, 0.2, 0.8, 0.8]],
    [[0, 0, 0, 1, 1]],
]


def label_of(objects: list[list[float]], header: tuple[float, ...] = ()) -> list[float]:
    """Return objects behind a header, as lists and records store them."""
    width = len(objects[0])
    return [2 + len(header), width, *header, *(float(part) for row in objects for part in row)]


BOXES = [[label_of(rows), f"{i}.png"] for i, rows in enumerate(_OBJECTS)]
WIDE_BOXES = [
    [label_of([[*row, 0.5] for row in rows], (7, 8)), f"{i}.png"] for i, rows in enumerate(_OBJECTS)
]


def make_files(folder: str, mx: Any, pngs: list[bytes]) -> None:
    """Write images, lists and records into a folder."""
    for i, stored in enumerate(pngs):
        with open(os.path.join(folder, f"{i}.png"), "wb") as file:
            file.write(stored)
    with open(os.path.join(folder, "a.lst"), "w") as file:
        file.writelines(f"{i}\t{i + 0.5}\t{i}.png\n" for i in range(len(pngs)))
    with open(os.path.join(folder, "b.lst"), "w") as file:
        file.writelines(f"{i + 3}\t{i}\t{i * 2}\t{i}.png\n" for i in range(len(pngs)))
    labels = {
        "a": [i + 0.25 for i in range(len(pngs))],
        "b": [[i, i + 0.25] for i in range(len(pngs))],
        "d": [label for label, _ in BOXES],
    }
    for name, column in labels.items():
        path = os.path.join(folder, name)
        records = mx.recordio.MXIndexedRecordIO(path + ".idx", path + ".rec", "w")
        for i, label in enumerate(column):  # type: ignore[var-annotated]
            records.write_idx(i, mx.recordio.pack((0, label, i, 0), pngs[i]))
        records.close()


def names(mx: Any, folder: str = "") -> dict[str, Any]:
    """Return what calls may name; arrays are made anew."""
    numbers = np.random.RandomState(7)
    x = numbers.randint(0, 256, (12, 10, 3)).astype(np.uint8)
    boxes = [[0, 0.1, 0.2, 0.5, 0.6], [1, 0.4, 0.3, 0.9, 0.8], [2, 0.7, 0.1, 0.95, 0.4], [-1] * 5]
    return {
        "np": np,
        "nd": mx.nd,
        **{name: getattr(mx.image, name) for name in dir(mx.image) if name[0].isupper()},
        "x": mx.nd.array(x, dtype="uint8"),
        "f": mx.nd.array(x, dtype="float32"),
        "boxes": np.array(boxes, np.float32),
        "BOXES": BOXES,
        "WIDE_BOXES": WIDE_BOXES,
    }


def packed(arrays: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return arrays one behind the other, by dtype, and the dtype and shape of each."""
    pools: dict[str, list[Any]] = {}
    shapes = {}
    for name, array in arrays.items():
        pools.setdefault(str(array.dtype), []).append(array.reshape(-1))
        shapes[name] = [str(array.dtype), *array.shape]
    return {dtype: np.concatenate(parts) for dtype, parts in pools.items()}, shapes


def unpacked(pools: dict[str, Any], shapes: dict[str, Any]) -> dict[str, Any]:
    """Return what `packed` got."""
    at = dict.fromkeys(pools, 0)
    found = {}
    for name, (dtype, *shape) in shapes.items():
        end = at[dtype] + int(np.prod(shape))
        found[name] = pools[dtype][at[dtype] : end].reshape(shape)
        at[dtype] = end
    return found


def seed(position: int) -> None:
    """Seed both generators."""
    random.seed(position)
    np.random.seed(position)  # noqa: NPY002  # what is called draws from it


def changed(text: str, position: int, mx: Any, image: str) -> list[Any]:
    """Return what an augmenter makes of an image, ``x`` or ``f``, twice, in NumPy."""
    seed(position)
    augmenter = eval(text, names(mx))
    return [augmenter(names(mx)[image]).asnumpy() for _ in range(2)]


def changed_with_boxes(text: str, position: int, mx: Any) -> list[Any]:
    """Return images and boxes in turn, twice, in NumPy."""
    seed(position)
    augmenter = eval(text, names(mx))
    found = []
    for _ in range(2):
        image, boxes = augmenter(names(mx)["x"], names(mx)["boxes"])
        found += [image.asnumpy(), np.asarray(boxes)]
    return found


def described(augmenters: Any) -> Any:
    """Return class names and arguments of augmenters, as JSON has them."""
    if isinstance(augmenters, list):
        return [described(augmenter) for augmenter in augmenters]
    shown = {
        word: value.tolist() if hasattr(value, "tolist") else value
        for word, value in vars(augmenters).items()
        if isinstance(value, (int, float, str, tuple, np.ndarray)) and word[0] != "_"
    }
    parts = [*getattr(augmenters, "ts", []), *getattr(augmenters, "aug_list", [])]
    if hasattr(augmenters, "augmenter"):
        parts.append(augmenters.augmenter)
    return [type(augmenters).__name__, shown, described(parts), augmenters.dumps()]


def epochs(text: str, position: int, mx: Any, folder: str) -> tuple[list[Any], list[Any]]:
    """Return the batches of two epochs: images and labels in turn, and what describes them."""
    seed(position)
    iterator = eval(text.replace("{}", folder), names(mx))
    described = [list(map(list, iterator.provide_data)), list(map(list, iterator.provide_label))]
    arrays, pads = [], []  # type: ignore[var-annotated]
    for _ in range(2):
        pads.append([])
        for batch in iterator:
            arrays += [batch.data[0].asnumpy(), batch.label[0].asnumpy()]
            pads[-1].append(batch.pad)
        iterator.reset()
    return arrays, [[[name, list(shape)] for name, shape in part] for part in described] + [pads]


def drawn(text: str, position: int, mx: Any, folder: str) -> list[Any]:
    """Return the images that an iterator draws."""
    iterator = mx.image.ImageDetIter(
        2, (3, 16, 20), imglist=BOXES, path_root=folder, inter_method=1
    )
    seed(position)
    return [np.asarray(image) for image in eval(f"it.{text}", {"it": iterator, "np": np})]
