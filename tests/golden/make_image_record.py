"""Makes image_record.npz and image_record.json; run it with MXNet 1.9.1.

Record files of small images, and the batches that ImageRecordIter and its family make of them
where nothing is random. Images are stored as PNG, whose decoding is exact, and two as JPEG.
"""

import json
import tempfile
from pathlib import Path

import cv2
import mxnet as mx
import numpy as np

HERE = Path(__file__).resolve().parent
RECORDS = {}  # type: ignore[var-annotated]  # name of a file to its bytes
CASES = []  # type: ignore[var-annotated]


def smooth(height, width, seed, channels=3):
    """An image whose pixels change slowly, as those of photographs do."""
    coarse = np.random.RandomState(seed).randint(0, 256, (4, 5, channels), np.uint8)
    return cv2.resize(coarse, (width, height), interpolation=cv2.INTER_CUBIC)


def make_record(folder, name, images, labels, kind=".png"):
    """Write a record file and its index."""
    writer = mx.recordio.MXIndexedRecordIO(f"{folder}/{name}.idx", f"{folder}/{name}.rec", "w")
    for i, (image, label) in enumerate(zip(images, labels, strict=True)):
        header = mx.recordio.IRHeader(0, label, i + 10, 0)
        quality = 90 if kind == ".jpg" else 9
        writer.write_idx(i, mx.recordio.pack_img(header, image, quality, kind))
    writer.close()


def make_records(folder):
    """Write all files."""
    images = [smooth(30, 40, 0), smooth(34, 28, 1)]
    make_record(folder, "two", images, [1.0, 2.0])
    make_record(folder, "jpeg", images, [1.0, 2.0], ".jpg")
    make_record(folder, "wide", images, [[1, 2, 3.5], [4, 5, 6]])
    make_record(folder, "alpha", [smooth(12, 14, 2, 4), smooth(12, 14, 3, 4)], [0.0, 1.0])
    many = [smooth(5 + i % 4, 6 + i % 3, i) for i in range(13)]
    make_record(folder, "many", many, [float(i) for i in range(13)])
    objects = [
        [2, 5, 1, 0.1, 0.2, 0.5, 0.6, 3, 0.4, 0.4, 0.9, 0.8],
        [4, 6, 30, 40, 1, 0.2, 0.2, 0.4, 0.4, 7, 2, 0.5, 0.3, 0.5, 0.7, 8],
    ]
    make_record(folder, "objects", images, objects)
    lines = [f"{i + 10}\t{i * 2}\t{i * 3}\tx{i}.png" for i in range(13)]
    Path(folder, "many.lst").write_text("\n".join(lines) + "\n")
    lines = ["10\t2\t5\t9\t0.1\t0.1\t0.3\t0.3\ta.png", "11\t2\t5\t8\t0.5\t0.5\t0.6\t0.7\tb.png"]
    Path(folder, "objects.lst").write_text("\n".join(lines) + "\n")


def add(record, epochs=1, iterator="ImageRecordIter", **parameters):
    """Note a case."""
    parameters = {"batch_size": 2, "data_shape": [3, 12, 14], **parameters}
    case = {"iterator": iterator, "record": record, "epochs": epochs, "parameters": parameters}
    CASES.append(case)


def add_images():
    """Cases of decoding, geometry and normalization."""
    add("two")
    add("jpeg")
    add("two", data_shape=[1, 12, 14])
    add("alpha", data_shape=[4, 12, 14], mean_a=3, std_a=2)
    add("alpha")
    for shape in ([3, 40, 20], [3, 20, 44], [3, 43, 47]):
        add("two", data_shape=shape)
    for method in (0, 1, 2, 3, 4, 9):
        add("two", resize=15, inter_method=method)
        add("two", data_shape=[3, 38, 10], inter_method=method)
    add("two", resize=44, inter_method=9, data_shape=[3, 8, 9])
    add("two", pad=3, fill_value=9, data_shape=[3, 38, 11])
    add("two", pad=4, resize=10)
    for side in (9, 12, 20):
        for method in (1, 9):
            add("two", max_crop_size=side, min_crop_size=side, inter_method=method)
    add("two", mirror=True)
    add("two", mean_r=10, mean_g=20, mean_b=30, std_r=2, std_g=3, std_b=4, scale=0.5)
    add("two", scale=1 / 255)
    add("two", mirror=True, mean_r=123.68, mean_g=116.28, mean_b=103.53, std_r=58.395)
    add("two", data_shape=[1, 12, 14], mean_r=10, std_r=2)
    add("two", dtype="uint8")
    add("two", dtype="int8", mean_r=100, mean_g=90, mean_b=80)
    for iterator in ("ImageRecordUInt8Iter", "ImageRecordInt8Iter", "ImageRecordUInt8Iter_v1"):
        add("two", iterator=iterator)
    add("two", iterator="ImageRecordIter_v1", scale=0.5)


def add_warps():
    """Cases of affine maps."""
    full = {"data_shape": [3, 26, 12], "fill_value": 9}
    for angle in (30, 90, 200):
        add("two", rotate=angle, **full)
    for method in (2, 3, 4, 9):
        add("two", rotate=30, inter_method=method, **full)
    add("two", max_random_scale=0.5, min_random_scale=0.5)
    add("two", max_random_scale=1.3, min_random_scale=1.3, rotate=20, **full)
    add("two", max_aspect_ratio=0.5, min_aspect_ratio=0.5, **full)
    add("two", max_aspect_ratio=1.4, min_aspect_ratio=1.4, rotate=25, **full)
    add("two", max_img_size=24.0, min_img_size=22.0, **{**full, "data_shape": [3, 22, 9]})
    ratio = {"min_aspect_ratio": 1.2, "max_aspect_ratio": 1.2}
    add("two", resize=20, rotate=40, max_random_scale=0.8, min_random_scale=0.8, **ratio)


def add_orders():
    """Cases of labels, parts, and passes one after another."""
    tiny = {"data_shape": [3, 3, 4]}
    add("wide", label_width=3, **tiny)
    for size in (3, 4, 5, 13):
        add("many", 4, batch_size=size, **tiny)
    for count in (2, 3, 5):
        for part in range(count):
            # An index has one record for the last of 5 parts; there MXNet's second pass is empty.
            for index in (False, True)[: 1 if part == 4 else 2]:
                more = {"path_imgidx": "many.idx"} if index else {}
                add("many", 2, num_parts=count, part_index=part, **more, **tiny)
    for width in (1, 2):
        add("many", path_imglist="many.lst", label_width=width, batch_size=5, **tiny)
    for size in (3, 4, 5, 6):
        add("many", 4, iterator="ImageRecordIter_v1", batch_size=size, **tiny)


def add_detections():
    """Cases with objects."""
    name = "ImageDetRecordIter"
    add("objects", iterator=name)
    add("objects", iterator=name, label_pad_width=20, label_pad_value=-7)
    add("objects", iterator=name, rand_mirror_prob=1)
    add("objects", iterator=name, data_shape=[1, 20, 10])
    add("objects", iterator=name, mean_r=10, std_r=2, std_g=3, std_b=4, scale=0.5, mean_g=5)
    add("objects", iterator=name, path_imglist="objects.lst")
    for mode in ("fit", "shrink"):
        for shape in ([3, 12, 14], [3, 50, 15], [3, 9, 60]):
            add("objects", iterator=name, resize_mode=mode, data_shape=shape)
    for method in (0, 2, 3, 9):
        add("objects", iterator=name, inter_method=method, resize=20)


def run(folder, case):
    """Return the batches of each pass of a case."""
    parameters = {"verbose": False, "preprocess_threads": 1, "prefetch_buffer": 1}
    for key, value in case["parameters"].items():
        parameters[key] = f"{folder}/{value}" if key.startswith("path") else value  # type: ignore[assignment]
    parameters["data_shape"] = tuple(parameters["data_shape"])  # type: ignore[assignment]
    path = f"{folder}/{case['record']}.rec"
    iterator = getattr(mx.io, case["iterator"])(path_imgrec=path, **parameters)
    passes = []
    for _ in range(case["epochs"]):
        passes.append(
            [(b.data[0].asnumpy(), b.label[0].asnumpy(), b.pad, b.index) for b in iterator]
        )
        iterator.reset()
    return passes


def main():
    arrays, keeps_index = {}, {"ImageRecordIter_v1", "ImageRecordUInt8Iter_v1"}
    add_images()
    add_warps()
    add_orders()
    add_detections()
    with tempfile.TemporaryDirectory() as folder:
        make_records(folder)
        for path in sorted(Path(folder).iterdir()):
            arrays[f"file/{path.name}"] = np.frombuffer(path.read_bytes(), np.uint8)
        for i, case in enumerate(CASES):
            passes = run(folder, case)
            # Later the second version leaves the pad of the batch whose memory it uses again.
            reliable = passes if case["iterator"] in keeps_index else passes[:1]
            case["pads"] = [[pad for _, _, pad, _ in batches] for batches in reliable]
            case["labels"] = [[y.tolist() for _, y, _, _ in batches] for batches in passes]
            if case["iterator"] in keeps_index | {"ImageDetRecordIter"}:
                case["index"] = [[n.tolist() for _, _, _, n in batches] for batches in passes]
            data = passes[0][0][0]
            case["dtype"] = data.dtype.name
            whole = data.min() >= 0 and data.max() <= 255 and (data == np.floor(data)).all()
            if case["epochs"] == 1:
                arrays[f"data/{i}"] = data.astype(np.uint8) if whole else data
    np.savez_compressed(HERE / "image_record.npz", **arrays)
    (HERE / "image_record.json").write_text(json.dumps(CASES) + "\n")


main()
