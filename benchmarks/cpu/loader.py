"""Images a second of a DataLoader or ImageRecordIter, against MXNet 1.9.1's and decoding alone.

    python -m benchmarks.cpu loader --mxnet-python mxnet/bin/python [--images DIR] \\
        [--reader ImageRecordIter] [--crop resized]

A record file of JPEG images of quality 95, whose shorter side has 256 pixels (`--short-side`), is
read by worker processes (ImageRecordIter: by threads): decoded, cropped to 224 x 224, flipped, made
float32 planes and normalized, in batches of 64. `decoding` is OpenCV alone, on the same cores, of
images in memory: by processes and by threads. The images are textures made here, or random regions
of the photographs of a folder. MXNet's DataLoader runs with OMP_NUM_THREADS=1, which makes it 13
times faster. `--growth` instead takes 20 passes and says how much memory gluonish's processes hold
after each.
"""

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.interleaved.driver import Job, workers
from benchmarks.interleaved.image_records import compare_rates, image_arguments, recorded_images
from benchmarks.interleaved.report import Report


def jobs(record: str, arguments: argparse.Namespace) -> list[Job]:
    """Return the peers."""
    if arguments.reader == "DataLoader":
        module, work = "loader_jobs", "Loading"
        reading = {"record": record, "crop": arguments.crop, "batch_size": arguments.batch_size}
        environment = {"OMP_NUM_THREADS": "1"}
    else:
        module, work = "image_record_jobs", "Reading"
        reading = {"record": record, "batch_size": arguments.batch_size}
        environment = {}

    def own(name: str, **options: Any) -> Job:
        options = {"package": "gluonish", **reading, **options}
        return Job(name, sys.executable, module, work, options, {})

    def decoding(name: str, **options: Any) -> Job:
        options = {"record": record, **options}
        return Job(name, sys.executable, "loader_jobs", "Decoding", options, {})

    found = [own("gluonish"), decoding("decoding_threads", processes=False)]
    if arguments.reader == "DataLoader":
        found.insert(1, decoding("decoding_processes"))
        if arguments.threads_too:
            found.insert(1, own("gluonish_threads", thread_pool=True))
    if arguments.mxnet_python:
        options = {"package": "mxnet", **reading}
        found.append(Job("mxnet", arguments.mxnet_python, module, work, options, environment))
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


def main() -> None:
    """Run it."""
    parser = image_arguments(__doc__, 2048, "worker processes")
    parser.add_argument("--reader", choices=("DataLoader", "ImageRecordIter"), default="DataLoader")
    parser.add_argument("--crop", choices=("random", "resized"), default="random")
    parser.add_argument("--threads-too", action="store_true", help="also workers that are threads")
    parser.add_argument("--growth", action="store_true", help="measure memory over 20 passes")
    arguments = parser.parse_args()
    report = Report()
    way = f"{arguments.crop} crop, {arguments.threads} workers"
    with recorded_images(report, arguments, way) as record:
        if arguments.growth:
            grow(str(record), report, arguments, record.parent)
        else:
            compare_rates(jobs(str(record), arguments), report, arguments, record.parent)
