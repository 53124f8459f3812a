"""Images a second of ImageRecordIter, against MXNet 1.9.1's and the decoding library alone.

    python benchmarks/image_record_iter.py --mxnet-python mxnet/bin/python [--images DIR]

A record file of JPEG images of quality 95, whose shorter side has 256 pixels (`--short-side`), is
decoded, cropped to 224 x 224 at random, flipped at random and normalized to float32 planes, in
batches of 64 and a random order. `decoding` is OpenCV alone, in threads on the same cores, of
images in memory. The images are textures made here, or random regions of the photographs of a
folder.
"""

import argparse
import sys

from interleaved.driver import Job
from interleaved.image_records import compare_rates, image_arguments, recorded_images
from interleaved.report import Report


def jobs(record: str, arguments: argparse.Namespace) -> list[Job]:
    """Return the peers."""
    module = "image_record_jobs"
    reading = {"record": record, "batch_size": arguments.batch_size}
    decoding = {"record": record, "processes": False}
    found = [
        Job("gluonish", sys.executable, module, "Reading", {"package": "gluonish", **reading}, {}),
        Job("decoding", sys.executable, "loader_jobs", "Decoding", decoding, {}),
    ]
    if arguments.mxnet_python:
        options = {"package": "mxnet", **reading}
        found.append(Job("mxnet", arguments.mxnet_python, module, "Reading", options, {}))
    return found


def main() -> None:
    """Run it."""
    arguments = image_arguments(__doc__, 512, "threads").parse_args()
    report = Report("image_record_iter", arguments)
    with recorded_images(report, arguments, f"{arguments.threads} threads") as record:
        compare_rates(jobs(str(record), arguments), report, arguments, record.parent)


if __name__ == "__main__":
    main()
