"""Training speed of an LSTM language model, against MXNet 1.9.1, PyTorch and JAX.

    python -m benchmarks.cpu lstm_language_model --oracle PYTHON --torch PYTHON --jax PYTHON \\
        [--dropout 0.2] [--clip]

It learns the words of a text (``tutorials/moby_dick.txt``: 36,017 words and marks, 5,570 distinct),
one window after the other. Each round starts a process of every package in turn (A B C A B C);
printed are medians over rounds of the median tokens per second of each process, and the ratio to
each peer. Float32, all cores: Embedding, LSTM of some layers, Dense over the vocabulary, softmax
cross entropy, SGD; hybridized with static_alloc where there is that. The last states of a step are
the first of the next one. PyTorch updates with its fused SGD; JAX compiles the whole step, products
of the inputs of all time steps at once and a scan over the rest, and updates in place.
"""

import argparse
import itertools
import os
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]


def encoded(arguments: argparse.Namespace) -> Any:
    """Return the text as numbers of words, the most frequent first; columns are parts of it."""
    words = re.findall(r"[a-z']+|[^a-z' \n]+", arguments.text.read_text("utf-8").lower())
    names, numbers, counts = np.unique(words, return_inverse=True, return_counts=True)
    ranks = np.empty(len(names), np.int64)
    ranks[np.argsort(-counts, kind="stable")] = np.arange(len(names))
    rows = len(words) // arguments.batch_size
    return ranks[numbers][: rows * arguments.batch_size].reshape(-1, rows).T


def windows(text: Any, length: int) -> Iterator[tuple[Any, Any]]:
    """Yield words (T, N) and the words that follow them, along the text again and again."""
    for start in itertools.cycle(range(0, len(text) - length, length)):
        window = text[start : start + length + 1]
        yield window[:-1], window[1:].reshape(-1)


def gluon_step(mx: Any, arguments: argparse.Namespace) -> Callable[[], None]:
    """Return one training step with Gluon's layers."""
    text = encoded(arguments)
    units, vocabulary = arguments.units, int(text.max()) + 1

    class Model(mx.gluon.HybridBlock):  # type: ignore[misc]  # of either package
        def __init__(self) -> None:
            super().__init__()
            with self.name_scope():
                self.embedding = mx.gluon.nn.Embedding(vocabulary, units)
                self.lstm = mx.gluon.rnn.LSTM(
                    units, arguments.layers, dropout=arguments.dropout, input_size=units
                )
                self.decoder = mx.gluon.nn.Dense(vocabulary, in_units=units)

        def hybrid_forward(self, F: Any, words: Any, states: Any) -> Any:
            output, states = self.lstm(self.embedding(words), states)
            return self.decoder(F.reshape(output, shape=(-1, units))), states

    net = Model()
    net.initialize(mx.init.Xavier())
    net.hybridize(static_alloc=True)
    loss_function = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    loss_function.hybridize(static_alloc=True)
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 1.0})
    batches = windows(text, arguments.length)
    states = net.lstm.begin_state(batch_size=arguments.batch_size)

    def step() -> None:
        nonlocal states
        words, following = map(mx.nd.array, next(batches))
        states = [state.detach() for state in states]
        with mx.autograd.record():
            scores, states = net(words, states)
            loss = loss_function(scores, following)
        loss.backward()
        if arguments.clip:
            gradients = [p.grad() for p in net.collect_params().values()]
            mx.gluon.utils.clip_global_norm(gradients, 0.25 * following.size)
        trainer.step(following.size)
        mx.nd.waitall()

    return step


def torch_step(torch: Any, arguments: argparse.Namespace) -> Callable[[], None]:
    """Return the same step with PyTorch's modules."""
    text = encoded(arguments)
    units, vocabulary = arguments.units, int(text.max()) + 1
    embedding = torch.nn.Embedding(vocabulary, units)
    lstm = torch.nn.LSTM(units, units, arguments.layers, dropout=arguments.dropout)
    decoder = torch.nn.Linear(units, vocabulary)
    parameters = [p for part in (embedding, lstm, decoder) for p in part.parameters()]
    optimizer = torch.optim.SGD(parameters, lr=1.0, fused=True)
    loss_function = torch.nn.CrossEntropyLoss()
    batches = windows(text, arguments.length)
    shape = (arguments.layers, arguments.batch_size, units)
    states = (torch.zeros(shape), torch.zeros(shape))

    def step() -> None:
        nonlocal states
        words, following = (torch.from_numpy(x.copy()) for x in next(batches))
        states = tuple(state.detach() for state in states)
        optimizer.zero_grad()
        output, states = lstm(embedding(words), states)
        loss_function(decoder(output.reshape(-1, units)), following).backward()
        if arguments.clip:
            torch.nn.utils.clip_grad_norm_(parameters, 0.25)
        optimizer.step()

    return step


def jax_step(jax: Any, arguments: argparse.Namespace) -> Callable[[], None]:
    """Return the same step with JAX, compiled as a whole."""
    import jax.numpy as jnp  # type: ignore[import-not-found,unused-ignore]

    text = encoded(arguments)
    units, vocabulary, layers = arguments.units, int(text.max()) + 1, arguments.layers
    random = np.random.default_rng(0)

    def uniform(*shape: int) -> Any:
        bound = units**-0.5
        return jnp.asarray(random.uniform(-bound, bound, shape), jnp.float32)

    gates = 4 * units
    parameters = {
        "embedding": uniform(vocabulary, units),
        "decoder": (uniform(units, vocabulary), uniform(vocabulary)),
        "lstm": [
            (uniform(units, gates), uniform(units, gates), uniform(gates)) for _ in range(layers)
        ],
    }

    def layer(x: Any, weights: Any, state: Any) -> Any:
        i2h, h2h, bias = weights

        def time_step(state: Any, pre: Any) -> Any:
            h, c = state
            i, f, g, o = jnp.split(pre + h @ h2h, 4, axis=-1)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            h = jax.nn.sigmoid(o) * jnp.tanh(c)
            return (h, c), h

        return jax.lax.scan(time_step, state, x @ i2h + bias)

    def loss(parameters: Any, words: Any, following: Any, states: Any, key: Any) -> Any:
        x, after = parameters["embedding"][words], []
        for i, weights in enumerate(parameters["lstm"]):
            if i and arguments.dropout:
                key, own = jax.random.split(key)
                keep = jax.random.bernoulli(own, 1 - arguments.dropout, x.shape)
                x = jnp.where(keep, x / (1 - arguments.dropout), 0)
            state, x = layer(x, weights, states[i])
            after.append(state)
        weight, bias = parameters["decoder"]
        scores = jax.nn.log_softmax(x.reshape(-1, units) @ weight + bias)
        return -jnp.take_along_axis(scores, following[:, None], 1).mean(), after

    def train(parameters: Any, words: Any, following: Any, states: Any, key: Any) -> Any:
        (_, states), found = jax.value_and_grad(loss, has_aux=True)(
            parameters, words, following, states, key
        )
        factor = 1.0
        if arguments.clip:
            norm = jnp.sqrt(sum(jnp.sum(x * x) for x in jax.tree.leaves(found)))
            factor = jnp.minimum(1.0, 0.25 / norm)
        return jax.tree.map(lambda x, d: x - factor * d, parameters, found), states

    compiled = jax.jit(train, donate_argnums=(0, 3))
    batches = windows(text, arguments.length)
    empty = (arguments.batch_size, units)
    states = [(jnp.zeros(empty), jnp.zeros(empty)) for _ in range(layers)]
    keys = itertools.count()

    def step() -> None:
        nonlocal parameters, states
        words, following = (jnp.asarray(x.copy()) for x in next(batches))
        key = jax.random.key(next(keys))
        parameters, states = compiled(parameters, words, following, states, key)
        jax.block_until_ready(parameters)

    return step


def tokens_per_second(arguments: argparse.Namespace) -> float:
    """Run one package in this process and return its median speed."""
    package = __import__(arguments.package)
    makers = {"torch": torch_step, "jax": jax_step}
    step = makers.get(arguments.package, gluon_step)(package, arguments)
    times = []
    for _ in range(arguments.steps + 2):
        start = time.perf_counter()
        step()
        times.append(time.perf_counter() - start)
    words: int = arguments.length * arguments.batch_size
    return words / statistics.median(times[2:])


def in_process(python: str, package: str, options: list[str]) -> float:
    """Return what a process of a package prints."""
    # MXNet takes every second core for a second thread of the one before, unless told.
    threads = os.environ.get("OMP_NUM_THREADS", str(os.cpu_count()))
    path = f"{ROOT}{os.pathsep}{ROOT / 'engine'}"
    environment = {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": threads}
    command = [python, "-W", "ignore", __file__, *options, "--package", package]
    result = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=900, check=True
    )
    return float(result.stdout.split()[-1])


def parse() -> argparse.Namespace:
    """Return the command line's options."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--oracle", help="python of an environment with mxnet==1.9.1")
    parser.add_argument("--torch", help="python of an environment with torch")
    parser.add_argument("--jax", help="python of an environment with jax")
    parser.add_argument("--package", choices=("gluonish", "mxnet", "torch", "jax"))
    for name, default in (
        *(("units", 512), ("layers", 2), ("length", 35)),
        *(("batch-size", 32), ("steps", 5), ("rounds", 3)),
    ):
        parser.add_argument(f"--{name}", type=int, default=default)
    text = ROOT / "tutorials" / "moby_dick.txt"
    parser.add_argument("--text", type=Path, default=text, help="file to learn")
    parser.add_argument("--dropout", type=float, default=0.0)
    parser.add_argument("--clip", action="store_true", help="clip the norm of the gradients")
    return parser.parse_args()


def main() -> None:
    """Measure all packages in turn, or one in this process."""
    arguments = parse()
    if arguments.package:
        print(tokens_per_second(arguments))
        return
    pythons = {"gluonish": sys.executable, "mxnet": arguments.oracle, "torch": arguments.torch}
    pythons["jax"] = arguments.jax
    pythons = {name: python for name, python in pythons.items() if python}
    rounds: dict[str, list[float]] = {name: [] for name in pythons}
    for _ in range(arguments.rounds):
        for name, python in pythons.items():
            rounds[name].append(in_process(python, name, sys.argv[1:]))
    medians = {name: statistics.median(speeds) for name, speeds in rounds.items()}
    for name, speed in medians.items():
        shown = ", ".join(f"{each:.0f}" for each in rounds[name])
        print(f"{name:10} {speed:8.0f} tokens/s   ({shown})")
    for name, speed in medians.items():
        if name != "gluonish":
            print(f"gluonish / {name}: {medians['gluonish'] / speed:.2f}")


if __name__ == "__main__":
    main()
