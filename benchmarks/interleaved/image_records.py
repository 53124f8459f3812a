"""Record files of images to measure on, and their rates beside that of decoding alone."""

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.interleaved.driver import Job, measure, workers
from benchmarks.interleaved.report import Report, table
from gluonish.recordio import IRHeader, MXIndexedRecordIO, pack_img

_QUALITY = 95
_ENDINGS = (".jpg", ".jpeg", ".png")
_SMALLEST = 256  # pixels of a photograph's shorter side


def _textures(count: int, side: int) -> Iterator[Any]:
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


def _photographs(folder: Path, count: int, side: int) -> Iterator[Any]:
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
        sys.exit(f"expected images in colour of {_SMALLEST} pixels a side in {folder}")
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


def _write_records(path: Path, arguments: argparse.Namespace) -> int:
    """Write the record file and its index; return the bytes of the images."""
    count, side = arguments.records, arguments.short_side
    folder = arguments.images
    images = _photographs(folder, count, side) if folder else _textures(count, side)
    nbytes = 0
    file = MXIndexedRecordIO(str(path.with_suffix(".idx")), str(path), "w")
    for i, image in enumerate(images):
        record = pack_img(IRHeader(0, float(i % 10), i, 0), image, quality=_QUALITY)
        nbytes += len(record)
        file.write_idx(i, record)
    file.close()
    return nbytes


def image_arguments(doc: str | None, records: int, threads: str) -> argparse.ArgumentParser:
    """Return a parser of the arguments that the scripts share.

    Args:
        doc: The script's docstring.
        records: How many images there are by default.
        threads: What there are as many of as of cores.
    """
    parser = argparse.ArgumentParser(description=(doc or "").splitlines()[0])
    parser.add_argument("--mxnet-python", help="interpreter with mxnet==1.9.1")
    parser.add_argument("--images", type=Path, help="folder of photographs")
    parser.add_argument(
        "--records", type=int, default=records, help="images, a multiple of the batch size"
    )
    parser.add_argument("--short-side", type=int, default=256, help="of the images, in pixels")
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--threads", type=int, default=2, help=f"{threads}, and cores")
    parser.add_argument("--rounds", type=int, default=7, help="turns of each")
    parser.add_argument("--seconds", type=float, default=1.0, help="of a turn, at least one pass")
    return parser


@contextmanager
def recorded_images(report: Report, arguments: argparse.Namespace, way: str) -> Iterator[Path]:
    """Give a record file of the images that the arguments ask for, and report what it holds.

    Args:
        report: To be written to.
        arguments: As `image_arguments` parses them.
        way: How the images are read, for the report.
    """
    with tempfile.TemporaryDirectory() as name:
        record = Path(name) / "images.rec"
        nbytes = _write_records(record, arguments)
        kind = f"photographs of {arguments.images}" if arguments.images else "textures"
        report.say(
            f"{arguments.records} {kind}, shorter side {arguments.short_side}, "
            f"{nbytes / arguments.records / 1000:.1f} kB each, {way}, batches of "
            f"{arguments.batch_size}"
        )
        yield record


def compare_rates(
    jobs: Sequence[Job], report: Report, arguments: argparse.Namespace, folder: Path
) -> None:
    """Measure in turns, and report images a second and ratios.

    Args:
        jobs: gluonish's first; of ``decoding...`` the fastest is what a reader could reach.
        report: To be written.
        arguments: As `image_arguments` parses them.
        folder: For the images by which the peers are held against gluonish.
    """
    errors: dict[str, str] = {}
    with workers(jobs, arguments.threads, errors) as running:
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
        ratios = f"{found.median_s / own:.2f}", f"{decoding / found.median_s:.2f}"
        rows.append((name, f"{rate:.0f}", *ratios, f"{spread:.0%}"))
        report.note(found.versions)
    report.say(table(("peer", "images/s", "gluonish is", "of decoding alone", "spread"), rows))
    for name, error in errors.items():
        report.say(f"{name}: {error}")
    report.end()
