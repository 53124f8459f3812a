# %% [markdown]
"""Training in several processes: the same weights as one process has, sooner.

Run it with ``python tutorials/distributed.py``; it starts itself with ``gluonish launch`` in one
process and in two, compares what they learned, and draws it. ``--quick`` takes a few seconds.
Pictures go to the folder that ``--out`` names, or to a new temporary one. It needs mpi4py and
MPICH: ``pip install 'gluonish[dist]'``. How to use several machines, Slurm or Kubernetes says
`distributed.md` beside this file.
"""

# %%
import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from matplotlib.figure import Figure

import gluonish as mx
from gluonish import autograd, gluon
from gluonish.gluon import nn
from gluonish.gluon.data.digits import load_digits

BATCH = 64  # images a step, of all processes together


def train(epochs: int, folder: Path) -> None:
    """Train as one of several processes; the first one writes what came of it."""
    # 1. The store. It joins the processes that were started together: each has a number, its rank.
    store = mx.kv.create("dist_sync")
    rank, workers = store.rank, store.num_workers

    # 2. The data. Each process draws its own share of every pass, of the same length in each: a
    #    process with one step more would wait for the others for ever. All deal the images out by
    #    the same seed, so that the shares of one step together are a batch of one process.
    images, labels = load_digits(train=True)
    dataset = gluon.data.ArrayDataset(images, labels)
    sampler = gluon.data.SplitSampler(len(dataset), workers, rank, shuffle=True, seed=7)
    loader = gluon.data.DataLoader(dataset, BATCH // workers, sampler=sampler, last_batch="discard")

    # 3. The network. First values are drawn from the same seed in each process. (Otherwise all get
    #    those of rank 0 in the first step, whose gradients are from the values that were there.)
    net = nn.HybridSequential()
    net.add(
        nn.Conv2D(16, 3, padding=1, activation="relu"),
        nn.MaxPool2D(),
        nn.Conv2D(32, 3, padding=1, activation="relu"),
        nn.GlobalAvgPool2D(),
        nn.Dense(10),
    )
    mx.random.seed(7)
    net.initialize(mx.init.Xavier())
    net.hybridize(static_alloc=True)

    # 4. The Trainer. It adds gradients up over all processes while the backward pass still runs,
    #    and each process updates its own weights, which stay the same, bit for bit. The learning
    #    rate and the number of samples in `step` are those of the whole batch.
    trainer = gluon.Trainer(
        net.collect_params(), "sgd", {"learning_rate": 0.2, "momentum": 0.9}, kvstore=store
    )
    loss_function = gluon.loss.SoftmaxCrossEntropyLoss()
    losses = []
    start = time.perf_counter()
    for _ in range(epochs):
        total = 0.0
        for data, label in loader:
            with autograd.record():
                loss = loss_function(net(data), label)
            loss.backward()
            trainer.step(BATCH)
            total += float(loss.sum().asscalar())
        # 5. What each process knows of its share, all get to know with `gather`.
        losses.append(sum(store.gather(total)) / (len(loader) * BATCH))
    seconds = time.perf_counter() - start

    # 6. One process writes; the others have the same.
    if rank == 0:
        net.save_parameters(str(folder / f"net-{workers}.params"))
        (folder / f"losses-{workers}.json").write_text(json.dumps([seconds, losses]))
        print(f"{workers} processes: {epochs} epochs in {seconds:.1f} s, loss {losses[-1]:.4f}")


def main(options: argparse.Namespace) -> None:
    """Start one process, then two, and compare."""
    folder = options.out or Path(tempfile.mkdtemp(prefix="gluonish-"))
    folder.mkdir(parents=True, exist_ok=True)
    axes = (figure := Figure(figsize=(7, 4), layout="constrained")).subplots()
    curves: list[list[float]] = []
    for workers, line in ((1, "-"), (2, "--")):
        launch = [sys.executable, "-m", "gluonish", "launch", "--standalone", "--no-prefix"]
        program = [sys.executable, __file__, "--rank-of", str(folder)]
        epochs = ["--epochs", "3" if options.quick else "12"]
        subprocess.run([*launch, "-n", str(workers), *program, *epochs], check=True)
        _, losses = json.loads((folder / f"losses-{workers}.json").read_text())
        curves.append(losses)
        axes.plot(range(1, len(losses) + 1), losses, line, lw=3 - workers * 0.7)
    axes.legend(["one process", "two processes"])
    axes.set(xlabel="epoch", ylabel="loss on the training images", ylim=(0, None))
    figure.savefig(folder / "distributed.png")
    # Two processes add a batch up in another order, and are rounded otherwise; over hundreds of
    # steps that grows, as it would between two machines.
    apart = max(abs(a - b) for a, b in zip(*curves, strict=True))
    print(f"largest difference between their losses: {apart:.6f}")
    print(f"pictures in {folder}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer epochs, for a few seconds")
    parser.add_argument("--out", type=Path, help="folder for pictures; temporary by default")
    parser.add_argument("--rank-of", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--epochs", type=int, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.rank_of:
        train(chosen.epochs, chosen.rank_of)
    else:
        main(chosen)
