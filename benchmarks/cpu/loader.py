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
from pathlib import Path
from typing import Any

import numpy as np
from interleaved.driver import Job, workers
from interleaved.image_records import compare_rates, image_arguments, recorded_images
from interleaved.report import Report


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
    parser = image_arguments(__doc__, 2048, "worker processes")
    parser.add_argument("--crop", choices=("random", "resized"), default="random")
    parser.add_argument("--threads-too", action="store_true", help="also workers that are threads")
    parser.add_argument("--growth", action="store_true", help="measure memory over 20 passes")
    arguments = parser.parse_args()
    report = Report("loader", arguments)
    way = f"{arguments.crop} crop, {arguments.threads} workers"
    with recorded_images(report, arguments, way) as record:
        if arguments.growth:
            grow(str(record), report, arguments, record.parent)
        else:
            compare_rates(jobs(str(record), arguments), report, arguments, record.parent)


if __name__ == "__main__":
    main()
