"""Images a second that two worker processes augment, beside torchvision's transforms v2.

    python -m benchmarks.cpu augment_loader --peers-python PYTHON [--transforms RandAugment,AugMix]

Images of 224 x 224 in bytes; torchvision on tensors, and on Pillow's images. A ratio is a peer's
time to gluonish's in the same round: above 1, gluonish is faster.
"""

import argparse
import statistics
import sys

from benchmarks.interleaved.augment_jobs import COUNT, TRANSFORMS
from benchmarks.interleaved.driver import Job, measure, workers


def main() -> None:
    """Compare each transform."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--transforms", help="comma-separated (default: all)")
    parser.add_argument("--peers-python", required=True, help="that of torch and torchvision")
    parser.add_argument("--rounds", type=int, default=5, help="turns of each peer")
    arguments = parser.parse_args()
    chosen = arguments.transforms.split(",") if arguments.transforms else list(TRANSFORMS)
    for name in chosen:
        options = {"transform": name}
        python = arguments.peers_python
        jobs = [
            Job("gluonish", sys.executable, "augment_jobs", "Gluonish", options, {}),
            Job("torchvision", python, "augment_jobs", "TorchVision", options, {}),
            Job("pillow", python, "augment_jobs", "TorchVision", {**options, "pil": True}, {}),
        ]
        errors: dict[str, str] = {}
        with workers(jobs, 2, errors) as running:
            samples = measure(running, 0.5, arguments.rounds, errors)
        first = samples["gluonish"].seconds
        for peer, sample in samples.items():
            ratio = statistics.median(b / a for a, b in zip(first, sample.seconds, strict=True))
            rate = COUNT / sample.median_s
            print(f"{name:22} {peer:12} {rate:9.0f} images/s  ratio {ratio:5.2f}", flush=True)
        for peer, error in errors.items():
            print(f"{name:22} {peer:12} {error}", flush=True)


if __name__ == "__main__":
    main()
