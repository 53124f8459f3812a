"""Images a second of a DataLoader, against MXNet 1.9.1's and the decoding library alone.

    python benchmarks/loader.py --mxnet-python mxnet/bin/python [--images DIR] [--crop resized]

A record file of JPEG images of quality 95, whose shorter side has 256 pixels (`--short-side`), is
read by worker processes: decoded, cropped to 224 x 224, flipped, made float32 planes and
normalized, in batches of 64. `decoding` is OpenCV alone, on the same cores, of images in memory: by
processes and by threads. The images are textures made here, or random regions of the photographs of
a folder. MXNet runs with OMP_NUM_THREADS=1, which makes its loader 13 times faster. `--growth`
instead takes 20 passes and says how much memory gluonish's processes hold after each.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from interleaved.driver import Job, measure, workers
from interleaved.report import Report, table

from gluonish.recordio import IRHeader, MXIndexedRecordIO, pack_img

QUALITY = 95
_ENDINGS = (".jpg", ".jpeg", ".png")
_SMALLEST = 256  # pixels of a photograph's shorter side


def textures(count: int, side: int) -> Iterator[Any]:
    """Yield images (height, width, 3) whose spectra fall as those of photographs, with edges."""
    numbers = np.random.default_rng(0)
    for _ in range(count):
        height, width = side, int(numbers.integers(side, side * 3 // 2))
        down = np.fft.fftfreq(height)[:, None]
        across = np.fft.rfftfreq(width)
        falling = 1 / np.maximum(np.hypot(down, across), 1 / width) ** 1.25
        planes = []
        for _ in range(3):
            phases = np.exp(2j * np.pi * numbers.random(falling.shape))
            planes.append(np.fft.irfft2(falling * phases, (height, width)))
        gray, *others = (plane / plane.std() for plane in planes)
        light = np.where(numbers.random() * 2 - 1 < others[0] / 2, 0.6, 1.0)
        colors = np.stack([gray, gray + 0.3 * others[0], gray + 0.3 * others[1]], axis=-1)
        yield np.clip((colors * 45 + 128) * light[..., None], 0, 255).astype(np.uint8)


def photographs(folder: Path, count: int, side: int) -> Iterator[Any]:
    """Yield random regions of the images of a folder, the shorter side ``side`` long."""
    import cv2

    paths = sorted(path for path in folder.iterdir() if path.suffix.lower() in _ENDINGS)
    read = [cv2.imread(str(path), cv2.IMREAD_COLOR) for path in paths]
    images = [
        image
        for image in read
        if image is not None and min(image.shape[:2]) >= _SMALLEST and np.ptp(image, axis=2).any()
    ]
    if not images:
        sys.exit(f"loader: expected images in colour of {_SMALLEST} pixels a side in {folder}")
    numbers = np.random.default_rng(0)
    for i in range(count):
        image = images[i % len(images)]
        share = numbers.uniform(0.7, 1)
        high, wide = (int(extent * share) for extent in image.shape[:2])
        y, x = (
            int(numbers.integers(image.shape[0] - high + 1)),
            int(numbers.integers(image.shape[1] - wide + 1)),
        )
        factor = side / min(high, wide)
        size = (max(side, round(wide * factor)), max(side, round(high * factor)))
        method = cv2.INTER_AREA if factor < 1 else cv2.INTER_LINEAR
        yield cv2.resize(image[y : y + high, x : x + wide], size, interpolation=method)


def write_records(path: Path, arguments: argparse.Namespace) -> int:
    """Write the record file and its index; return the bytes of the images."""
    count, side = arguments.records, arguments.short_side
    folder = arguments.images
    images = photographs(folder, count, side) if folder else textures(count, side)
    nbytes = 0
    file = MXIndexedRecordIO(str(path.with_suffix(".idx")), str(path), "w")
    for i, image in enumerate(images):
        record = pack_img(IRHeader(0, float(i % 10), i, 0), image, quality=QUALITY)
        nbytes += len(record)
        file.write_idx(i, record)
    file.close()
    return nbytes


def jobs(record: str, arguments: argparse.Namespace) -> list[Job]:
    """Return the peers."""

    def job(name: str, work: str, options: dict[str, Any]) -> Job:
        return Job(name, sys.executable, "loader_jobs", work, {"record": record, **options}, {})

    loading = {"crop": arguments.crop, "batch_size": arguments.batch_size}
    own = {"package": "gluonish", **loading}
    found = [
        job("gluonish", "Loading", own),
        job("decoding_processes", "Decoding", {}),
        job("decoding_threads", "Decoding", {"processes": False}),
    ]
    if arguments.threads_too:
        found.insert(1, job("gluonish_threads", "Loading", {**own, "thread_pool": True}))
    if arguments.mxnet_python:
        options = {"package": "mxnet", "record": record, **loading}
        python, one = arguments.mxnet_python, {"OMP_NUM_THREADS": "1"}
        found.append(Job("mxnet", python, "loader_jobs", "Loading", options, one))
    return found


def compare(record: str, report: Report, arguments: argparse.Namespace, folder: Path) -> None:
    """Measure in turns, and report rates and ratios."""
    errors: dict[str, str] = {}
    with workers(jobs(record, arguments), arguments.threads, errors) as running:
        first, *others = running
        want = np.load(first.check(folder))
        for worker in others:
            distance = float(np.abs(np.load(worker.check(folder)) - want).mean())
            if distance > 0.02:  # decoders differ by a level or two of 255
                errors[worker.name] = f"its images differ from gluonish's by {distance:.3f}"
        samples = measure(running, arguments.seconds, arguments.rounds, errors)
    own = samples["gluonish"].median_s
    decoding = min(samples[name].median_s for name in samples if name.startswith("decoding"))
    rows = []
    for name, found in samples.items():
        rate = arguments.records / found.median_s
        spread = (max(found.seconds) - min(found.seconds)) / found.median_s
        rows.append(
            (
                name,
                f"{rate:.0f}",
                f"{found.median_s / own:.2f}",
                f"{decoding / found.median_s:.2f}",
                f"{spread:.0%}",
            )
        )
        cell = {"peer": name, "images_a_second": rate, **found.as_json()}
        report.add(cell, found.versions)
    report.say(table(("peer", "images/s", "gluonish is", "of decoding alone", "spread"), rows))
    for name, error in errors.items():
        report.say(f"{name}: {error}")
    report.write()


def grow(record: str, report: Report, arguments: argparse.Namespace, folder: Path) -> None:
    """Report the memory of gluonish's processes after each of twenty passes."""
    options = {
        "package": "gluonish",
        "record": record,
        "crop": arguments.crop,
        "batch_size": arguments.batch_size,
    }
    job = Job("gluonish", sys.executable, "loader_jobs", "Growth", options, {})
    with workers([job], arguments.threads, {}) as (worker,):
        held = np.load(worker.check(folder))
        report.say("MB after each pass: " + " ".join(f"{mb:.0f}" for mb in held))
        report.say(f"after the last less after the fifth: {held[-1] - held[4]:+.1f} MB")
        report.add({"held_mb": held.tolist()}, worker.versions)


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--mxnet-python", help="interpreter with mxnet==1.9.1")
    parser.add_argument("--images", type=Path, help="folder of photographs")
    parser.add_argument("--records", type=int, default=2048)
    parser.add_argument("--short-side", type=int, default=256, help="of the images, in pixels")
    parser.add_argument("--crop", choices=("random", "resized"), default="random")
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--threads", type=int, default=2, help="worker processes, and cores")
    parser.add_argument("--threads-too", action="store_true", help="also workers that are threads")
    parser.add_argument("--rounds", type=int, default=7, help="turns of each")
    parser.add_argument("--seconds", type=float, default=1.0, help="of a turn, at least one pass")
    parser.add_argument("--growth", action="store_true", help="measure memory over 20 passes")
    parser.add_argument("--json", help="file for the results; the tables go beside it as .txt")
    parser.add_argument("--date", help="written into the results file (default: today)")
    arguments = parser.parse_args()
    report = Report("loader", arguments)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        record = folder / "images.rec"
        nbytes = write_records(record, arguments)
        kind = f"photographs of {arguments.images}" if arguments.images else "textures"
        report.say(
            f"{arguments.records} {kind}, shorter side {arguments.short_side}, "
            f"{nbytes / arguments.records / 1000:.1f} kB each, "
            f"{arguments.crop} crop, {arguments.threads} workers, batches of "
            f"{arguments.batch_size}"
        )
        work: Any = grow if arguments.growth else compare
        work(str(record), report, arguments, folder)


if __name__ == "__main__":
    main()
