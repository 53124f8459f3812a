"""Images a second of training steps, gluonish beside its peers in turns; and peak memory.

    python -m benchmarks.cpu training --mxnet-python .. --peers-python .. \\
        --network resnet50_v1 --batch-size 32

A step is forward, softmax cross entropy, backward, and SGD with momentum, on synthetic data. The
losses of the first three steps (a prediction, where the network has dropout) are compared with
gluonish's before a peer is timed. Memory: ``--peers gluonish+mirror,mxnet,torch_cl+keep``.
"""

import argparse
from contextlib import ExitStack

from benchmarks.interleaved.compare import Row, Workplace, comparison_table, summary
from benchmarks.interleaved.peers import add_arguments
from benchmarks.interleaved.report import Report

PEERS = "mxnet,torch_eager,torch_eager+keep,torch_cl,torch_cl+keep,torch_compile,torch_compile+keep"
SMALL = ("lenet", "mlp")  # what the JAX jobs can do

TOLERANCE = 0.01  # of losses three steps apart, in float32
PREDICTION_TOLERANCE = 1e-3


def main() -> None:
    """Measure one network, or several with one batch size."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--network", required=True, help="one or more, comma-separated")
    parser.add_argument("--batch-size", type=int, required=True)
    parser.add_argument(
        "--together", type=int, default=3, help="peers that hold memory at the same time"
    )
    add_arguments(parser, PEERS + ",jax")
    arguments = parser.parse_args()
    report = Report()
    cells: list[list[Row]] = []
    wanted = arguments.peers.split(",")
    with ExitStack() as stack:
        place = Workplace(arguments, stack)
        for path, network in place.networks(arguments.network, report):
            small = network.name in SMALL
            arguments.peers = ",".join(peer for peer in wanted if small or peer != "jax")
            rows = place.compare(
                "Training",
                {"network": path, "batch_size": arguments.batch_size},
                PREDICTION_TOLERANCE if network.has_dropout else TOLERANCE,
                flops=network.training_flops * arguments.batch_size,
            )
            report.say(f"\n{network.name}, batch {arguments.batch_size}, float32, training")
            comparison_table(rows, arguments.batch_size, "images", report)
            cells.append(rows)
        if len(cells) > 1:
            summary(cells, report)
        report.end()
