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
import tempfile
from pathlib import Path

import numpy as np
from interleaved.driver import Job, measure, workers
from interleaved.report import Report, table
from loader import write_records


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


def compare(record: str, report: Report, arguments: argparse.Namespace, folder: Path) -> None:
    """Measure in turns, and report rates and ratios."""
    errors: dict[str, str] = {}
    with workers(jobs(record, arguments), arguments.threads, errors) as running:
        want = np.load(running[0].check(folder))
        for worker in running:
            if worker.name == "mxnet":
                distance = float(np.abs(np.load(worker.check(folder)) - want).mean())
                if distance > 0.02:  # decoders differ by a level or two of 255
                    errors[worker.name] = f"its images differ from gluonish's by {distance:.3f}"
        samples = measure(running, arguments.seconds, arguments.rounds, errors)
    own, decoding = samples["gluonish"].median_s, samples["decoding"].median_s
    rows = []
    for name, found in samples.items():
        rate = arguments.records / found.median_s
        spread = (max(found.seconds) - min(found.seconds)) / found.median_s
        ratios = f"{found.median_s / own:.2f}", f"{decoding / found.median_s:.2f}"
        rows.append((name, f"{rate:.0f}", *ratios, f"{spread:.0%}"))
        report.add({"peer": name, "images_a_second": rate, **found.as_json()}, found.versions)
    report.say(table(("peer", "images/s", "gluonish is", "of decoding alone", "spread"), rows))
    for name, error in errors.items():
        report.say(f"{name}: {error}")
    report.write()


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--mxnet-python", help="interpreter with mxnet==1.9.1")
    parser.add_argument("--images", type=Path, help="folder of photographs")
    parser.add_argument("--records", type=int, default=512, help="a multiple of the batch size")
    parser.add_argument("--short-side", type=int, default=256, help="of the images, in pixels")
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--threads", type=int, default=2, help="threads, and cores")
    parser.add_argument("--rounds", type=int, default=7, help="turns of each")
    parser.add_argument("--seconds", type=float, default=1.0, help="of a turn, at least one pass")
    parser.add_argument("--json", help="file for the results; the tables go beside it as .txt")
    parser.add_argument("--date", help="written into the results file (default: today)")
    arguments = parser.parse_args()
    report = Report("image_record_iter", arguments)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        record = folder / "images.rec"
        nbytes = write_records(record, arguments)
        kind = f"photographs of {arguments.images}" if arguments.images else "textures"
        report.say(
            f"{arguments.records} {kind}, {nbytes / arguments.records / 1000:.1f} kB each, "
            f"{arguments.threads} threads, batches of {arguments.batch_size}"
        )
        compare(str(record), report, arguments, folder)


if __name__ == "__main__":
    main()
