"""Everything that writes files, as functions of a folder and of how much there is to write."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

import gluonish as mx
from gluonish.core.files import atomic_write
from gluonish.gluon import Trainer, nn
from gluonish.gluon.data import ShardWriter
from gluonish.module.feed_forward import save_checkpoint
from gluonish.recordio import MXIndexedRecordIO, MXRecordIO
from gluonish.recordio.index_file import new_record_pair
from gluonish.tools.demo import new_figure, save_figure
from gluonish.tools.train.checkpoint import Checkpoints, Record, write_json

Saver = Callable[[Path, int], object]


def _net(units: int) -> nn.HybridSequential:
    net = nn.HybridSequential()
    net.add(nn.Dense(units, in_units=64))
    net.initialize("ones")
    net.hybridize()
    return net


def _trained(units: int) -> tuple[nn.HybridSequential, Trainer]:
    net = _net(units)
    trainer = Trainer(net.collect_params(), "adam")
    with mx.autograd.record():
        loss = net(mx.nd.ones((1, 64))).sum()
    loss.backward()
    trainer.step(1)
    return net, trainer


def _exported(folder: Path, units: int) -> None:
    net, _ = _trained(units)
    net.export(str(folder / "net"), epoch=1)


def _store_states(folder: Path, units: int) -> None:
    store = mx.kv.create("local")
    store.set_optimizer(mx.optimizer.Adam())
    store.init(0, mx.nd.ones((units, 64)))
    store.push(0, mx.nd.ones((units, 64)))
    store.save_optimizer_states(str(folder / "store.states"))


def _symbol(units: int) -> mx.sym.Symbol:
    symbol = mx.sym.Variable("data")
    for number in range(units):
        symbol = mx.sym.FullyConnected(symbol, num_hidden=4, name=f"layer{number}")
    return symbol


def _checkpoint(folder: Path, units: int) -> None:
    save_checkpoint(
        str(folder / "c"), 1, _symbol(2), {"w": mx.nd.ones((units, 64))}, {"a": mx.nd.ones(2)}
    )


def _training(folder: Path, units: int) -> None:
    checkpoints = Checkpoints(str(folder / "train"))

    def write(epoch: int) -> None:
        for path in (checkpoints.params_path(epoch), checkpoints.states_path(epoch)):
            with atomic_write(path) as file:
                file.write(bytes(units * 256))

    checkpoints.save(Record(1), write)


def _profile(folder: Path, units: int) -> None:
    mx.profiler.set_config(filename=str(folder / "profile.json"), profile_all=True)
    mx.profiler.set_state("run")
    for _ in range(units // 4):
        mx.nd.ones(2)
    mx.nd.waitall()
    mx.profiler.set_state("stop")
    mx.profiler.dump()


def _pair(folder: Path, units: int) -> None:
    with new_record_pair(folder / "pair.rec", folder / "pair.idx") as pair:
        for number in range(units):
            pair.write(number, bytes(256))


def _records(folder: Path, units: int) -> None:
    file = MXRecordIO(str(folder / "stream.rec"), "w")
    try:
        for _ in range(units):
            file.write(bytes(256))
    finally:
        file.close()


def _indexed(folder: Path, units: int) -> None:
    file = MXIndexedRecordIO(str(folder / "i.idx"), str(folder / "i.rec"), "w")
    try:
        for number in range(units):
            file.write_idx(number, bytes(256))
    finally:
        file.close()


def _plot(folder: Path, units: int) -> None:
    figure = new_figure(4, 3)
    figure.subplots().plot(np.random.default_rng(units).random(units))
    save_figure(figure, folder / "plot.png")


def _shard(folder: Path, units: int) -> None:
    with ShardWriter(folder / "shard-%d.tar", max_samples=units) as writer:
        for number in range(units):
            writer.write({"__key__": str(number), "bin": bytes(256)})


SAVERS: dict[str, Saver] = {
    "nd.save": lambda folder, n: mx.nd.save(str(folder / "a.params"), {"a": mx.nd.ones((n, 64))}),
    "npx.save": lambda folder, n: mx.npx.save(str(folder / "b.params"), mx.np.ones((n, 64))),
    "save_parameters": lambda folder, n: _net(n).save_parameters(str(folder / "net.params")),
    "Block.save": lambda folder, n: _net(n).save(str(folder / "block")),
    "export": _exported,
    "Trainer.save_states": lambda folder, n: _trained(n)[1].save_states(str(folder / "t.states")),
    "KVStore.save_optimizer_states": _store_states,
    "Symbol.save": lambda folder, n: _symbol(n).save(str(folder / "s.json")),
    "save_checkpoint": _checkpoint,
    "train's checkpoint": _training,
    "write_json": lambda folder, n: write_json(folder / "a.json", {"a": "x" * n * 256}),
    "profiler.dump": _profile,
    "im2rec's pair": _pair,
    "a plot": _plot,
    "ShardWriter": _shard,
}
TOGETHER = ("Block.save", "export", "save_checkpoint", "im2rec's pair")
"""These write several files, which all change or none."""
STREAMING: dict[str, Saver] = {"MXRecordIO": _records, "MXIndexedRecordIO": _indexed}
"""These write as they go: a failed one leaves what was written, and says that it failed."""
