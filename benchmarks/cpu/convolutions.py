"""What a network's convolutions alone allow through oneDNN, beside the network's own rate.

    python -m benchmarks.cpu convolutions --networks resnet50_v1 --batch-sizes 1,8,32 [--training]

The convolutions run one after another, each in its fastest layout, with nothing between them and
no reorders; for training, forward and both backwards. "gluonish is" is then the share of that rate
that the network reaches.
"""

import argparse
from contextlib import ExitStack

from benchmarks.interleaved.compare import Workplace, comparison_table
from benchmarks.interleaved.peers import add_arguments, make_job
from benchmarks.interleaved.report import Report


def main() -> None:
    """Measure every network and batch size."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--networks", default="resnet50_v1")
    parser.add_argument("--batch-sizes", default="1,8,32")
    parser.add_argument("--dtype", choices=("float32", "bfloat16"), default="float32")
    parser.add_argument("--training", action="store_true", help="steps of training (float32)")
    parser.add_argument("--together", type=int, default=8)
    add_arguments(parser, "")
    arguments = parser.parse_args()
    if arguments.training and arguments.dtype != "float32":
        parser.error("expected --dtype float32 with --training")
    report = Report()
    work = "Training" if arguments.training else "Inference"
    with ExitStack() as stack:
        place = Workplace(arguments, stack)
        for path, network in place.networks(arguments.networks, report):
            flops = network.training_flops if arguments.training else network.flops
            for batch_size in map(int, arguments.batch_sizes.split(",")):
                options = {"network": path, "batch_size": batch_size}
                dtype = {"dtype": arguments.dtype}
                alone = make_job(
                    *("onednn", "Convolutions", arguments),
                    {**options, **dtype, "training": arguments.training},
                )
                alone.name = "convolutions"
                rows = place.compare(
                    work,
                    options if arguments.training else {**options, **dtype},
                    tolerance=0.0,  # with itself
                    flops=flops * batch_size,
                    dtype=arguments.dtype,
                    extra=[alone],
                )
                report.say(
                    f"\n{network.name}, batch {batch_size}, {arguments.dtype}, {work.lower()}"
                )
                comparison_table(rows, batch_size, "images", report)
        report.end()
