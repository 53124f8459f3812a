"""The subcommand ``gluonish train``."""

import argparse
from time import perf_counter
from typing import Any

from gluonish.core.command import INTERRUPTED
from gluonish.kernels.generated.elementwise import compiled_at_once
from gluonish.tools.json_output import stdout_to_stderr, write_json
from gluonish.tools.train.batches import Batches, SyntheticBatches
from gluonish.tools.train.images import make_batches
from gluonish.tools.train.options import (
    add_options,
    augmentation,
    complete,
    contexts_of,
    settings,
    uses_pipeline,
)
from gluonish.tools.train.pixels import Changes, DatasetBatches, RecordBatches, load_images
from gluonish.tools.train.progress import Progress
from gluonish.tools.train.ranks import Ranks, joined
from gluonish.tools.train.recipe import write_recipe
from gluonish.tools.train.session import Session

_BENCHMARK_BATCHES = 20
_WARM_UPS = 3


def add_parser(parsers: Any) -> None:
    """Add ``train`` to the subcommands of ``gluonish``."""
    parser = parsers.add_parser(
        "train",
        help="train a network to classify images",
        description="Train a network to classify images, such as `gluonish train --dataset digits "
        "--network mlp`. The images are those of a published data set or of record "
        "files. The options are those of MXNet's image classification example. With "
        "--model-prefix each epoch writes a checkpoint, from which --resume continues to the "
        "same result, however the process ended; prefix-curves.png shows the learning curves. "
        "`gluonish launch -n 2 gluonish train --kv-store dist_sync ...` shares each batch between "
        "two processes.",
    )
    add_options(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Train, or run the benchmark; return 0 if it was completed."""
    with stdout_to_stderr(arguments.json):
        status, found = _run(arguments)
    if arguments.json and found is not None:
        write_json(found)
    return status


def _run(arguments: argparse.Namespace) -> tuple[int, dict[str, Any] | None]:
    """Train; return the exit status, and the report of the first rank."""
    complete(arguments)
    if arguments.write_recipe is not None:
        write_recipe(arguments.write_recipe, settings(arguments), "gluonish train")
        print(f"recipe: {arguments.write_recipe}")
        return 0, {"recipe": arguments.write_recipe}
    ranks = joined(arguments.kv_store, arguments.batch_size)
    contexts = contexts_of(arguments, ranks.size)
    source = make_source(arguments, ranks)
    try:
        with ranks.quiet():
            if arguments.test_io:
                found = _test_io(source, arguments)
                return 0, found if ranks.is_first else None
            # The selected kernels must not depend on how long the process has run.
            with compiled_at_once():
                found = _train(Session(arguments, contexts, source, ranks), source, arguments)
                return 0, found if ranks.is_first else None
    except KeyboardInterrupt:
        print("interrupted" + ("; continue with --resume" if arguments.model_prefix else ""))
        return INTERRUPTED, None


def _train(session: Session, source: Batches, arguments: argparse.Namespace) -> dict[str, Any]:
    if arguments.benchmark:
        return _benchmark(session, arguments)
    with session.held():
        session.restore()
        session.run()
    return {"network": arguments.network, "epochs": session.record.history, **session.files()}


def make_source(arguments: argparse.Namespace, ranks: Ranks) -> Batches:
    """Return the source of this process's share of the batches."""
    size = arguments.batch_size
    if arguments.benchmark:
        samples = arguments.num_examples or size * _BENCHMARK_BATCHES
        return SyntheticBatches(
            size // ranks.size,
            arguments.image_shape,
            arguments.num_classes,
            samples // ranks.size,
            arguments.seed,
        )
    if uses_pipeline(arguments):
        return make_batches(arguments, ranks)
    if arguments.dataset:
        changes = Changes(
            arguments.pad_size,
            bool(arguments.random_crop),
            bool(arguments.random_mirror),
            arguments.fill_value,
            arguments.rgb_mean,
            arguments.rgb_std,
        )
        train, test = (load_images(arguments.dataset, part) for part in (True, False))
        return DatasetBatches(
            train,
            test,
            size,
            changes,
            arguments.seed,
            arguments.workers,
            arguments.num_examples,
            ranks,
        )
    channels = "rgba"[: arguments.image_shape[0]]
    common = {
        f"{kind}_{channel}": value
        for kind, values in (("mean", arguments.rgb_mean), ("std", arguments.rgb_std))
        for channel, value in zip(channels, values, strict=True)
    }
    return RecordBatches(
        arguments.data_train,
        arguments.data_train_idx or "",
        arguments.data_val or "",
        arguments.data_val_idx or "",
        size,
        arguments.image_shape,
        arguments.num_examples,
        arguments.data_nthreads,
        arguments.seed,
        common,
        augmentation(arguments),
        ranks,
    )


def _test_io(source: Batches, arguments: argparse.Namespace) -> dict[str, Any]:
    """Load an epoch without training, and print the speed."""
    samples = 0
    start = perf_counter()
    count = source.batches_per_epoch
    with Progress(0, 1, count, arguments.disp_batches, arguments.progress) as progress:
        for batch in source.training(0):
            batch.data.wait_to_read()
            samples += batch.data.shape[0]
            if progress.batch(batch.data.shape[0]):
                progress.report({})
    speed = samples / (perf_counter() - start)
    print(f"loading: {speed:.2f} samples/sec")
    return {"samples": samples, "samples_per_second": speed}


def _benchmark(session: Session, arguments: argparse.Namespace) -> dict[str, Any]:
    """Train on synthetic data, and print the speed after a warm-up."""
    speeds = []
    for epoch, speed in enumerate(session.measure(_WARM_UPS)):
        print(f"Epoch[{epoch}] {arguments.network}: {speed:.2f} samples/sec")
        speeds.append(speed)
    return {"network": arguments.network, "samples_per_second": speeds}
