"""Two ranks with a core each against one, and against PyTorch's DistributedDataParallel on gloo.

    python -m benchmarks.cpu ranks [--torch /path/to/python] [--batch-size 32] [--rounds 5]

ResNet-18 for 100 classes on random images of 64 x 64 pixels, float32, SGD with momentum. Every
measurement is a job of its own (mpiexec for gluonish, torch.multiprocessing for PyTorch) of some
warm-up steps and the median of the rest, each of which ends with its slowest rank; the jobs take
turns. Printed are images a second of all ranks together, and the ratios that matter: two ranks to
one, and the step with sums to the step without.
"""

import argparse
import os
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
STEPS, WARM_UP = 14, 4

GLUONISH = """
import sys, time
import gluonish as mx
from gluonish import autograd, gluon, nd
from gluonish.gluon.model_zoo import vision
batch, sums, steps, warm_up = int(sys.argv[1]), sys.argv[2] == "sums", *map(int, sys.argv[3:5])
net = vision.resnet18_v1(classes=100)
net.initialize()
net.hybridize(static_alloc=True, static_shape=True)
data, label = nd.random.uniform(shape=(batch, 3, 64, 64)), nd.zeros((batch,))
loss = gluon.loss.SoftmaxCrossEntropyLoss()
loss.hybridize()
store = mx.kv.create("dist_sync")
options = {"learning_rate": 0.01, "momentum": 0.9}
trainer = gluon.Trainer(net.collect_params(), "sgd", options, kvstore=store if sums else None)
times = []
for _ in range(steps):
    store.barrier()
    start = time.perf_counter()
    with autograd.record():
        out = loss(net(data), label)
    out.backward()
    trainer.step(batch * store.num_workers)
    nd.waitall()
    times.append(time.perf_counter() - start)
slowest = map(max, *store.gather(times[warm_up:]), [0] * (steps - warm_up))
if store.rank == 0:
    print(sorted(slowest)[(steps - warm_up) // 2])
"""

TORCH = """
import os, sys, time
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
batch, ranks, steps, warm_up = map(int, sys.argv[1:5])

def block(i, o, stride):
    nn = torch.nn
    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = nn.Sequential(
                nn.Conv2d(i, o, 3, stride, 1, bias=False), nn.BatchNorm2d(o), nn.ReLU(),
                nn.Conv2d(o, o, 3, 1, 1, bias=False), nn.BatchNorm2d(o))
            self.short = nn.Identity() if i == o and stride == 1 else nn.Sequential(
                nn.Conv2d(i, o, 1, stride, bias=False), nn.BatchNorm2d(o))
        def forward(self, x):
            return torch.relu(self.body(x) + self.short(x))
    return Block()

def network():
    nn = torch.nn
    widths = [(64, 64, 1), (64, 64, 1), (64, 128, 2), (128, 128, 1),
              (128, 256, 2), (256, 256, 1), (256, 512, 2), (512, 512, 1)]
    return nn.Sequential(
        nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1),
        *[block(*w) for w in widths], nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 100))

def run(rank):
    os.sched_setaffinity(0, {sorted(os.sched_getaffinity(0))[rank]})
    torch.set_num_threads(1)
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29577")
    dist.init_process_group("gloo", rank=rank, world_size=ranks)
    net = network().to(memory_format=torch.channels_last)
    model = torch.nn.parallel.DistributedDataParallel(net) if ranks > 1 else net
    optimizer = torch.optim.SGD(model.parameters(), 0.01, 0.9)
    data = torch.rand(batch, 3, 64, 64).to(memory_format=torch.channels_last)
    label, loss, times = torch.zeros(batch, dtype=torch.long), torch.nn.CrossEntropyLoss(), []
    for _ in range(steps):
        dist.barrier()
        start = time.perf_counter()
        optimizer.zero_grad()
        loss(model(data), label).backward()
        optimizer.step()
        times.append(time.perf_counter() - start)
    slowest = torch.tensor(times[warm_up:])
    dist.all_reduce(slowest, dist.ReduceOp.MAX)
    if rank == 0:
        print(sorted(slowest.tolist())[(steps - warm_up) // 2], flush=True)
    dist.destroy_process_group()

if __name__ == "__main__":
    mp.get_context("fork")
    mp.start_processes(run, nprocs=ranks, start_method="fork")
"""


def _gluonish(ranks: int, batch: int, sums: str) -> float:
    paths = os.pathsep.join([str(ROOT), str(ROOT / "engine")])
    environment = {**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1"}
    words = [sys.executable, "-m", "gluonish", "launch", "--standalone", "--no-prefix"]
    words += ["-n", str(ranks), sys.executable, "-c", GLUONISH, str(batch), sums]
    if ranks == 1:
        words = ["taskset", "-c", str(min(os.sched_getaffinity(0))), *words]
    return _seconds([*words, str(STEPS), str(WARM_UP)], environment)


def _torch(python: str, ranks: int, batch: int) -> float:
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    words = [python, "-c", TORCH, str(batch), str(ranks), str(STEPS), str(WARM_UP)]
    return _seconds(words, environment)


def _seconds(words: list[str], environment: dict[str, str]) -> float:
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    return float(done.stdout.split()[-1])


def _ratio(first: list[float], second: list[float]) -> float:
    """Return the median ratio of jobs that followed each other: the machine's pace changes."""
    return statistics.median(a / b for a, b in zip(first, second, strict=True))


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--torch", help="a Python with PyTorch")
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    batch = options.batch_size
    jobs = {
        "gluonish 1": lambda: _gluonish(1, batch, "none"),
        "gluonish 2, no sums": lambda: _gluonish(2, batch, "none"),
        "gluonish 2": lambda: _gluonish(2, batch, "sums"),
    }
    if options.torch:
        jobs["torch 1"] = lambda: _torch(options.torch, 1, batch)
        jobs["torch 2, DDP"] = lambda: _torch(options.torch, 2, batch)
    times: dict[str, list[float]] = {name: [] for name in jobs}
    for _ in range(options.rounds):
        for name, job in jobs.items():
            times[name].append(job())
    medians = {name: statistics.median(found) for name, found in times.items()}
    for name, median in medians.items():
        ranks = 2 if " 2" in name else 1
        print(f"{name:22s}{median * 1e3:9.1f} ms a step {ranks * batch / median:8.1f} images/s")
    speedup = 2 * _ratio(times["gluonish 1"], times["gluonish 2"])
    hidden = _ratio(times["gluonish 2"], times["gluonish 2, no sums"])
    print(f"two ranks to one {speedup:.2f}; step with sums to step without {hidden:.3f}")
    if options.torch:
        print(f"gluonish to DDP {_ratio(times['torch 2, DDP'], times['gluonish 2']):.2f}")
