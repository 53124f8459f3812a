# %% [markdown]
"""Streams: training on shards that arrive over HTTP, with breaks, in random order.

Run it with ``python tutorials/streaming.py``; it takes some seconds, with ``--quick`` (fewer
epochs) less. The shards come from a server that the program starts on this machine. A picture goes
to the folder that ``--out`` names, or to a new temporary one.
"""

# %%
import argparse
import logging
import tempfile
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import gluonish as mx
from gluonish import autograd, gluon
from gluonish.gluon import nn
from gluonish.gluon.data import DataLoader, ShardDataset, ShardWriter
from gluonish.gluon.data.digits import load_digits
from gluonish.gluon.data.vision import transforms

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--quick", action="store_true", help="fewer epochs")
parser.add_argument("--seed", type=int, default=1, help="of weights and order")
parser.add_argument("--out", type=Path, help="folder for the picture; a temporary one by default")
options = parser.parse_args()
folder = options.out or Path(tempfile.mkdtemp(prefix="gluonish-"))
folder.mkdir(parents=True, exist_ok=True)

EPOCHS = 4 if options.quick else 12
BATCH, LEARNING_RATE = 32, 3e-3
mx.random.seed(options.seed)

# %% [markdown]
# ## 1. Write shards
#
# Millions of small files are slow to open, on a disk and even more on a server. A shard is a tar
# archive of some hundred samples, which is read from its beginning to its end. Files with the same
# name before the dot are one sample. Any tar program shows what is inside, and other libraries that
# know WebDataset's layout read it, too.
#
# The digits are written class by class, as data often come: all zeros, then all ones, ...

# %%
shards = Path(tempfile.mkdtemp(prefix="shards-", dir=folder))
images, labels = load_digits(train=True)
pixels = (images * 255).astype(np.uint8).transpose(0, 2, 3, 1)  # (N, 8, 8, 1)
with ShardWriter(shards / "train-%06d.tar", max_samples=75) as writer:
    for number, index in enumerate(np.argsort(labels, kind="stable")):
        sample = {"__key__": f"{number:06}", "png": pixels[index], "cls": labels[index]}
        writer.write(sample)
LAST = len(writer.shards) - 1
print(f"{writer.num_samples} samples in {len(writer.shards)} shards")

# %% [markdown]
# ## 2. A server, and not a good one
#
# It sends each shard, and breaks every fifth answer off in the middle. The stream asks for the rest
# then, from the byte where it was, and logs a warning; here these are counted instead.


# %%
class Server(SimpleHTTPRequestHandler):
    """Sends files, or the rest of a file from a byte on; breaks off every fifth answer."""

    answers, broken = 0, 0
    lock = threading.Lock()

    def log_message(self, *_, **__) -> None:
        """Print nothing."""

    def do_GET(self) -> None:
        """Send a file."""
        content = Path(self.translate_path(self.path)).read_bytes()
        wanted = self.headers.get("Range")  # bytes=1000-
        start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted else 0
        self.send_response(206 if wanted else 200)
        if wanted:
            place = f"bytes {start}-{len(content) - 1}/{len(content)}"
            self.send_header("Content-Range", place)
        self.send_header("ETag", f'"{len(content)}"')  # so that a change of the file is noticed
        self.send_header("Content-Length", str(len(content) - start))
        self.end_headers()
        end = len(content)
        with Server.lock:
            Server.answers += 1
            if Server.answers % 5 == 0:
                Server.broken += 1
                end = start + (end - start) // 2
        self.wfile.write(content[start:end])


logging.getLogger("gluonish").setLevel(logging.ERROR)
server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Server, directory=shards))
thread = threading.Thread(target=server.serve_forever)
thread.start()
URL = f"http://127.0.0.1:{server.server_port}/train-{{000000..{LAST:06}}}.tar"

# %% [markdown]
# ## 3. Read samples
#
# The braces stand for all shards. Without `fields` a sample is a dict; with them it is a tuple, as
# training programs of Gluon expect it. Fields are decoded by the end of their names.

# %%
sample = next(iter(ShardDataset(URL)))
print({name: getattr(value, "shape", value) for name, value in sample.items()})

# %% [markdown]
# ## 4. The order
#
# A stream has no indices, so it cannot be shuffled as a whole. Two measures together come close:
# the shards have another order in each pass, and each sample is drawn at random from a buffer,
# which is filled while the stream is read. Both follow from the seed and the number of the pass.

# %%
ORDERS = {
    "as stored": {},
    "shuffled, a buffer of 30": {"shuffle": True, "buffer_size": 30},
    "shuffled, a buffer of 600": {"shuffle": True, "buffer_size": 600},
}


def stream(**order) -> ShardDataset:
    """Return the stream of the training shards, as tuples of image and label."""
    return ShardDataset(URL, ("png", "cls"), seed=options.seed, **order)


found = {name: [label for _, label in stream(**order)] for name, order in ORDERS.items()}
assert all(sorted(values) == sorted(labels) for values in found.values())

# %% [markdown]
# ## 5. Workers and processes share the shards
#
# Each worker of a DataLoader reads its share of the shards. Processes that train together pass
# their number, `part_index`, and have to run equally many steps, whatever is in their shards:
# `samples_per_epoch` says how many samples each of them gives. A process that runs out of samples
# begins its shards again.

# %%
for part in range(2):
    dataset = ShardDataset(
        URL, ("png", "cls"), shuffle=True, num_parts=2, part_index=part, samples_per_epoch=720
    )
    loader = DataLoader(dataset, batch_size=64, num_workers=2, thread_pool=True)
    print(f"process {part}: {len(dataset)} samples in {sum(1 for _ in loader)} batches")

# %% [markdown]
# ## 6. Train
#
# The same network three times, with the three orders. `cache` keeps a copy of each shard, so that
# later passes do not need the server.

# %%
prepare = transforms.Compose([transforms.ToTensor(), transforms.Normalize(0.3, 0.35)])
test_images, test_labels = load_digits(train=False)
test_images = mx.nd.array((np.repeat(test_images, 3, axis=1) - 0.3) / 0.35)
test_labels = mx.nd.array(test_labels)


def train(**order) -> list[float]:
    """Train a new network; return its accuracy on the test images after each epoch."""
    mx.random.seed(options.seed)
    net = nn.HybridSequential()
    net.add(
        nn.Conv2D(16, kernel_size=3, padding=1, activation="relu"),
        nn.MaxPool2D(),
        nn.Flatten(),
        nn.Dense(64, activation="relu"),
        nn.Dense(10),
    )
    net.initialize(mx.init.Xavier())
    net.hybridize(static_alloc=True)
    loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": LEARNING_RATE})
    dataset = stream(cache=folder / "cache", **order).transform_first(prepare)
    loader = DataLoader(dataset, batch_size=BATCH)
    accuracies = []
    for _ in range(EPOCHS):
        for data, label in loader:
            with autograd.record():
                loss = loss_of(net(data), label)
            loss.backward()
            trainer.step(len(data))
        accuracy = mx.metric.Accuracy()
        accuracy.update(test_labels, net(test_images))
        accuracies.append(accuracy.get()[1])
    return accuracies


curves = {}
for name, order in ORDERS.items():
    curves[name] = train(**order)
    print(f"{name}: accuracy {curves[name][-1]:.4f}")
print(f"{Server.answers} answers of the server, {Server.broken} of them broken off")

# %%
server.shutdown()
thread.join()
server.server_close()

# %% [markdown]
# ## 7. What the order does
#
# Left: the labels in the order in which they are read. A buffer that is much smaller than a class
# leaves long runs of one label, and the network forgets the other classes meanwhile.

# %%
figure = Figure(figsize=(11, 4), layout="constrained")
left, right = figure.subplots(1, 2)
for height, values in enumerate(reversed(found.values())):
    left.scatter(
        np.arange(len(values)),
        np.asarray(values) / 12 + height,
        c=values,
        cmap="tab10",
        s=3,
    )
left.set(title="labels in the order of reading", xlabel="sample")
left.set_yticks([0.4, 1.4, 2.4], list(reversed(found)))
for name, accuracies in curves.items():
    right.plot(range(1, EPOCHS + 1), accuracies, marker=".", label=name)
right.set(title="accuracy on test images", xlabel="epoch", ylim=(0, 1))
right.grid(alpha=0.3)
right.legend(loc="lower right")
figure.savefig(folder / "streaming.png", dpi=120)
print(f"picture: {folder / 'streaming.png'}")
figure

# %%
if curves["shuffled, a buffer of 600"][-1] < 0.9:
    raise SystemExit("expected an accuracy of at least 90 %")
