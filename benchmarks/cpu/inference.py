"""Images a second of inference, gluonish beside its peers in turns.

    python -m benchmarks.cpu inference --mxnet-python .. --peers-python .. \\
        [--networks resnet50_v1] [--batch-sizes 1,8,32] [--dtype bfloat16]

README.md in this folder tells how to make the environments. Each peer is a process of its own; its
output is compared with gluonish's before it is timed.
"""

import argparse
from contextlib import ExitStack

from benchmarks.interleaved.compare import Row, Workplace, comparison_table, summary
from benchmarks.interleaved.peers import add_arguments
from benchmarks.interleaved.report import Report

NETWORKS = "alexnet,vgg16,inception_bn,inceptionv3,resnet50_v1,resnet152_v1"
PEERS = "mxnet,mxnet_mkldnn,torch_eager,torch_cl,torch_compile,onnxruntime,openvino"

# bfloat16 keeps 8 bits, and deep random networks pass their rounding on through all layers. Another
# network would be off by 1 or more.
TOLERANCES = {"float32": 1e-3, "bfloat16": 0.35}


def main() -> None:
    """Measure every cell and print its table, then the means over the cells."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--networks", default=NETWORKS, help="(default: %(default)s)")
    parser.add_argument("--batch-sizes", default="1,8,32", help="(default: %(default)s)")
    parser.add_argument("--dtype", choices=tuple(TOLERANCES), default="float32")
    parser.add_argument(
        "--together", type=int, default=8, help="peers that hold memory at the same time"
    )
    add_arguments(parser, PEERS)
    arguments = parser.parse_args()
    report = Report()
    cells: list[list[Row]] = []
    with ExitStack() as stack:
        place = Workplace(arguments, stack)
        for path, network in place.networks(arguments.networks, report):
            for batch_size in map(int, arguments.batch_sizes.split(",")):
                options = {"network": path, "batch_size": batch_size, "dtype": arguments.dtype}
                rows = place.compare(
                    "Inference",
                    options,
                    TOLERANCES[arguments.dtype],
                    flops=network.flops * batch_size,
                    dtype=arguments.dtype,
                )
                report.say(f"\n{network.name}, batch {batch_size}, {arguments.dtype}, inference")
                comparison_table(rows, batch_size, "images", report)
                cells.append(rows)
        summary(cells, report)
        for dtype, peak in place.peaks.items():
            report.say(
                f"\npeak of oneDNN's products and convolutions, {dtype}: {peak / 1e9:.0f} GFLOP/s"
            )
        report.end()
