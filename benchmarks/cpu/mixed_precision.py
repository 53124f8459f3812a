"""Training steps in bfloat16 against float32 and against PyTorch's autocast, in turns; and memory.

    python -m benchmarks.cpu mixed_precision --network resnet50|bert|lstm --torch PYTHON

Each candidate is a process of its own that builds the network, warms up and then waits; rounds go
A B C A B C, and printed are medians over rounds of the median time of a step, the ratio to
gluonish's bfloat16, and the process's peak memory. Candidates: gluonish in bfloat16 (``amp``) and
float32, PyTorch's autocast as it is and compiled. Networks: ResNet-50 (32 images; PyTorch's in
channels last), the encoder of BERT-base (8 sequences of 128 words, SGD with momentum) and a
language model of two LSTM layers (see ``lstm_language_model.py``). Synthetic data, all cores.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
CANDIDATES = ("gluonish+bf16", "gluonish+fp32", "torch+autocast", "torch+compile")
UNITS, HEADS, LAYERS, WORDS = 768, 12, 12, 30522
VOCABULARY, LENGTH, BATCH, LSTM_UNITS = 10000, 35, 32, 650


def data(network: str, batch: int) -> tuple[Any, Any]:
    """Return a batch of inputs and labels."""
    numbers = np.random.RandomState(0)
    if network == "resnet50":
        images = numbers.randn(batch, 3, 224, 224).astype("float32")
        return images, numbers.randint(0, 1000, batch)
    if network == "bert":
        return numbers.randint(0, WORDS, (batch, 128)), numbers.randint(0, 2, batch)
    words = numbers.randint(0, VOCABULARY, (LENGTH, BATCH))
    return words, numbers.randint(0, VOCABULARY, LENGTH * BATCH)


def gluon_network(mx: Any, network: str) -> Any:
    """Return a network of Gluon's layers."""
    nn = mx.gluon.nn
    if network == "resnet50":
        return mx.gluon.model_zoo.vision.resnet50_v1()

    class Layer(mx.gluon.HybridBlock):  # type: ignore[misc]  # any package's
        def __init__(self) -> None:
            super().__init__()
            with self.name_scope():
                self.qkv = nn.Dense(3 * UNITS, flatten=False, in_units=UNITS)
                self.out = nn.Dense(UNITS, flatten=False, in_units=UNITS)
                self.first, self.last = (nn.LayerNorm(in_channels=UNITS) for _ in range(2))
                self.wide = nn.Dense(4 * UNITS, flatten=False, in_units=UNITS)
                self.narrow = nn.Dense(UNITS, flatten=False, in_units=4 * UNITS)
                self.gelu = nn.GELU()

        def hybrid_forward(self, F: Any, x: Any) -> Any:
            # (N, T, 3, H, C) to three of (N * H, T, C)
            parts = F.split(
                self.qkv(x).reshape((0, 0, 3, HEADS, -1)).transpose((2, 0, 3, 1, 4)),
                num_outputs=3,
                axis=0,
                squeeze_axis=True,
            )
            query, key, value = (part.reshape((-3, 0, 0)) for part in parts)
            scores = F.batch_dot(query, key, transpose_b=True) * (UNITS / HEADS) ** -0.5
            found = F.batch_dot(F.softmax(scores), value)
            found = found.reshape((-4, -1, HEADS, 0, 0)).transpose((0, 2, 1, 3)).reshape((0, 0, -3))
            x = self.first(x + self.out(found))
            return self.last(x + self.narrow(self.gelu(self.wide(x))))

    class Bert(mx.gluon.HybridBlock):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            with self.name_scope():
                self.words = nn.Embedding(WORDS, UNITS)
                self.norm = nn.LayerNorm(in_channels=UNITS)
                self.layers = nn.HybridSequential()
                for _ in range(LAYERS):
                    self.layers.add(Layer())
                self.out = nn.Dense(2, in_units=UNITS)

        def hybrid_forward(self, F: Any, x: Any) -> Any:
            x = self.layers(self.norm(self.words(x)))
            return self.out(F.slice_axis(x, axis=1, begin=0, end=1).reshape((0, -1)))

    class Language(mx.gluon.HybridBlock):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            with self.name_scope():
                self.words = nn.Embedding(VOCABULARY, LSTM_UNITS)
                self.lstm = mx.gluon.rnn.LSTM(LSTM_UNITS, 2, input_size=LSTM_UNITS)
                self.out = nn.Dense(VOCABULARY, in_units=LSTM_UNITS)

        def hybrid_forward(self, F: Any, x: Any) -> Any:
            return self.out(F.reshape(self.lstm(self.words(x)), shape=(-1, LSTM_UNITS)))

    return Bert() if network == "bert" else Language()


def gluon_step(network: str, batch: int, half: bool) -> Callable[[], float]:
    """Return one training step of gluonish, which returns the loss."""
    import gluonish as mx

    net = gluon_network(mx, network)
    mx.random.seed(1)
    net.initialize(mx.init.Xavier() if network == "resnet50" else mx.init.Normal(0.02))
    net.hybridize(static_alloc=True)
    loss_function = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    loss_function.hybridize(static_alloc=True)
    rule = {"learning_rate": 0.01, "momentum": 0.9 if network != "lstm" else 0.0}
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", rule)
    inputs, labels = map(mx.nd.array, data(network, batch))

    def step() -> float:
        with mx.autograd.record(), mx.amp.autocast("bfloat16", enabled=half):
            loss = loss_function(net(inputs), labels)
        loss.backward()
        trainer.step(labels.size)
        mx.nd.waitall()  # else the update takes the next turn's time
        return float(loss.mean().asscalar())

    return step


def torch_network(torch: Any, network: str) -> Any:
    """Return the same network of PyTorch's modules."""
    nn = torch.nn
    if network == "resnet50":
        import torchvision  # type: ignore[import-not-found]

        net = torchvision.models.resnet50(weights=None)
        for module in net.modules():  # version 1: strides are in the first convolution
            if type(module).__name__ == "Bottleneck":
                module.conv1.stride, module.conv2.stride = module.conv2.stride, (1, 1)
        return net.to(memory_format=torch.channels_last)

    class Layer(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.qkv, self.out = nn.Linear(UNITS, 3 * UNITS), nn.Linear(UNITS, UNITS)
            self.first, self.last = nn.LayerNorm(UNITS), nn.LayerNorm(UNITS)
            self.wide, self.narrow = nn.Linear(UNITS, 4 * UNITS), nn.Linear(4 * UNITS, UNITS)

        def forward(self, x: Any) -> Any:
            n, t, _ = x.shape
            query, key, value = self.qkv(x).view(n, t, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
            found = nn.functional.scaled_dot_product_attention(query, key, value)
            x = self.first(x + self.out(found.transpose(1, 2).reshape(n, t, -1)))
            return self.last(x + self.narrow(nn.functional.gelu(self.wide(x))))

    class Bert(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.words, self.norm = nn.Embedding(WORDS, UNITS), nn.LayerNorm(UNITS)
            self.layers = nn.Sequential(*(Layer() for _ in range(LAYERS)))
            self.out = nn.Linear(UNITS, 2)

        def forward(self, x: Any) -> Any:
            return self.out(self.layers(self.norm(self.words(x)))[:, 0])

    class Language(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.words = nn.Embedding(VOCABULARY, LSTM_UNITS)
            self.lstm = nn.LSTM(LSTM_UNITS, LSTM_UNITS, 2)
            self.out = nn.Linear(LSTM_UNITS, VOCABULARY)

        def forward(self, x: Any) -> Any:
            return self.out(self.lstm(self.words(x))[0].reshape(-1, LSTM_UNITS))

    return Bert() if network == "bert" else Language()


def torch_step(network: str, batch: int, compiled: bool) -> Callable[[], float]:
    """Return one training step of PyTorch in its autocast."""
    import torch  # type: ignore[import-not-found]

    torch.manual_seed(1)
    torch.set_num_threads(os.cpu_count() or 1)
    net = torch_network(torch, network)
    run = torch.compile(net) if compiled else net
    momentum = 0.9 if network != "lstm" else 0.0
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=momentum)
    inputs, labels = map(torch.from_numpy, data(network, batch))
    if network == "resnet50":
        inputs = inputs.to(memory_format=torch.channels_last)

    def step() -> float:
        optimizer.zero_grad()
        with torch.autocast("cpu", torch.bfloat16):
            loss = torch.nn.functional.cross_entropy(run(inputs), labels)
        loss.backward()
        optimizer.step()
        return float(loss.item())

    return step


def work(arguments: argparse.Namespace) -> None:
    """Be a candidate: warm up, then do steps for each line that comes."""
    package, kind = arguments.work.split("+")
    if package == "gluonish":
        step = gluon_step(arguments.network, arguments.batch_size, kind == "bf16")
    else:
        step = torch_step(arguments.network, arguments.batch_size, kind == "compile")
    losses = [step() for _ in range(arguments.warm_up)]
    print(json.dumps(losses), flush=True)
    for line in sys.stdin:
        times = []
        for _ in range(int(line)):
            start = time.perf_counter()
            step()
            times.append(time.perf_counter() - start)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(json.dumps([statistics.median(times), peak]), flush=True)


def start(candidate: str, arguments: argparse.Namespace) -> "subprocess.Popen[str]":
    """Start a candidate's process."""
    package = candidate.split("+")[0]
    python = sys.executable if package == "gluonish" else arguments.torch
    environment = dict(os.environ, PYTHONPATH=f"{ROOT}:{ROOT / 'engine'}")
    if package != "gluonish":
        del environment["PYTHONPATH"]
    command = [python, __file__, "--work", candidate, "--network", arguments.network]
    command += ["--batch-size", str(arguments.batch_size), "--warm-up", str(arguments.warm_up)]
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    )


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--network", choices=("resnet50", "bert", "lstm"), required=True)
    parser.add_argument("--torch", default=sys.executable, help="a Python that has PyTorch")
    parser.add_argument("--candidates", default=",".join(CANDIDATES))
    parser.add_argument("--batch-size", type=int)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=3, help="of a candidate in each round")
    parser.add_argument("--warm-up", type=int, default=3)
    parser.add_argument("--work", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.batch_size is None:
        arguments.batch_size = 8 if arguments.network == "bert" else 32
    if arguments.work:
        work(arguments)
        return
    candidates = arguments.candidates.split(",")
    processes: dict[str, subprocess.Popen[str]] = {}
    for candidate in candidates:  # one after the other, so that each warms up alone
        processes[candidate] = process = start(candidate, arguments)
        assert process.stdout is not None
        print(f"{candidate}: first losses {process.stdout.readline().strip()}", flush=True)
    found: dict[str, list[tuple[float, float]]] = {candidate: [] for candidate in candidates}
    for _ in range(arguments.rounds):
        for candidate, process in processes.items():
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(f"{arguments.steps}\n")
            process.stdin.flush()
            found[candidate].append(tuple(json.loads(process.stdout.readline())))
            print(f"{candidate}: {found[candidate][-1][0] * 1e3:.1f} ms", flush=True)
    for process in processes.values():
        process.communicate(timeout=60)
    base = statistics.median(time for time, _ in found[candidates[0]])
    print(f"\n{arguments.network}, batch {arguments.batch_size}, training")
    print("| candidate | ms a step | times of the first | peak MiB |\n|---|---|---|---|")
    for candidate, measured in found.items():
        own = statistics.median(time for time, _ in measured)
        peak = max(peak for _, peak in measured)
        print(f"| {candidate} | {own * 1e3:.1f} | {own / base:.2f} | {peak:.0f} |")


if __name__ == "__main__":
    main()
