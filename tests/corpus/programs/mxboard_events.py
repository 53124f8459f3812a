"""mxboard 0.1.0: event files of every kind, from classic arrays and a network's graph."""

import tempfile
from pathlib import Path

import mxboard
import numpy as np
from corpus_cases import arrays
from mxnet import nd
from mxnet.gluon import nn


def _write(action):
    with tempfile.TemporaryDirectory() as folder:
        with mxboard.SummaryWriter(logdir=folder, flush_secs=5) as writer:
            action(writer)
            writer.flush()
        return sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file()) > 0


def case_scalars():
    return _write(
        lambda writer: (
            [writer.add_scalar("loss", nd.array([i * 0.5]).asscalar(), i) for i in range(5)]
            + [writer.add_scalar("pairs", {"a": 1.0, "b": 2.0}, 1)]
        )
    )


def case_histogram():
    return _write(
        lambda writer: [
            writer.add_histogram("weights", nd.array(arrays((40, 5), i)), i) for i in range(3)
        ]
    )


def case_images():
    return _write(
        lambda writer: writer.add_image(
            "image", nd.array(np.random.RandomState(0).uniform(0, 1, (2, 3, 8, 8))), 0
        )
    )


def case_text():
    return _write(lambda writer: writer.add_text("text", "hello", 0))


def case_precision_recall():
    return _write(
        lambda writer: writer.add_pr_curve(
            "pr", nd.array([0, 1, 1, 0]), nd.array([0.1, 0.8, 0.6, 0.4]), 10, 0
        )
    )


def case_embedding():
    return _write(
        lambda writer: writer.add_embedding(
            "embedding", nd.array(arrays((6, 4))), labels=nd.array(np.arange(6))
        )
    )


def case_graph():
    net = nn.HybridSequential()
    net.add(nn.Dense(4, activation="relu"), nn.Dense(2))
    net.initialize()
    net.hybridize()
    net(nd.ones((1, 3)))
    return _write(lambda writer: writer.add_graph(net))


def case_audio():
    return _write(
        lambda writer: writer.add_audio("tone", nd.array(np.sin(np.arange(800) / 10)), 8000, 0)
    )
