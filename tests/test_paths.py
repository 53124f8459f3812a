"""Whatever takes a path takes it as str, a subclass, bytes or os.PathLike, and refuses the rest."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import gluon, nd, sym
from gluonish.core.errors import GluonishError
from gluonish.core.files import path_text


class Text(str):
    __slots__ = ()


class Named:
    """An `os.PathLike` over text or bytes."""

    def __init__(self, path: Any) -> None:
        self.path = path

    def __fspath__(self) -> Any:
        return self.path


GOOD: dict[str, Callable[[str], Any]] = {
    "subclass": Text,
    "bytes": str.encode,
    "Path": Path,
    "PathLike": Named,
    "PathLike of bytes": lambda path: Named(path.encode()),
}
BAD = [5, None, 1.5, True, nd.ones(1), np.ones(2), ["a"], ("a",), {}, object(), "a\0b"]


def network() -> gluon.nn.HybridBlock:
    net = gluon.nn.Dense(3, in_units=2)
    net.initialize()
    net.hybridize()
    net(nd.ones((1, 2)))
    return net


def trainer() -> gluon.Trainer:
    return gluon.Trainer(network().collect_params(), "sgd", {"momentum": 0.9}, kvstore=None)


def graph() -> sym.Symbol:
    return sym.FullyConnected(sym.var("data"), num_hidden=2, name="fc")


def module() -> mx.mod.Module:
    made = mx.mod.Module(graph(), label_names=None)
    made.bind([("data", (1, 2))], for_training=False)
    made.init_params()
    return made


# What each is called with a path of; files that it reads are those of `folder`.
USES: dict[str, Callable[[Any], Any]] = {
    "written.params": lambda p: nd.save(p, nd.ones(1)),
    "written.safetensors": lambda p: nd.save(p, nd.ones(1)),
    "written.npz": lambda p: mx.npx.save(p, mx.np.ones(1)),
    "written.safetensors.index.json": lambda p: nd.save(p, nd.ones(1)),
    "a.params": nd.load,
    "a.params ": mx.npx.load,
    "a.params  ": nd.load_metadata,
    "a.params   ": mx.init.Load,
    "net.params": lambda p: network().load_parameters(p),
    "net.params ": lambda p: network().save_parameters(p),
    "dict.params": lambda p: network().collect_params().save(p),
    "exported": lambda p: network().export(p),
    "net-symbol.json": lambda p: gluon.SymbolBlock.imports(p, ["data"]),
    "t.states": lambda p: trainer().load_states(p),
    "t.states ": lambda p: trainer().save_states(p),
    "s.json": sym.load,
    "s.json ": lambda p: graph().save(p),
    "m": lambda p: mx.model.load_checkpoint(p, 1),
    "m ": lambda p: mx.model.load_params(p, 1),
    "m  ": lambda p: mx.mod.Module.load(p, 1, label_names=None),
    "m   ": lambda p: module().save_checkpoint(p, 1),
    "m-0001.params": lambda p: module().load_params(p),
    "r.rec": lambda p: mx.recordio.MXRecordIO(p, "r").close(),
    "w.rec": lambda p: mx.recordio.MXRecordIO(p, "w").close(),
    "r.rec ": gluon.data.RecordFileDataset,
    "r.idx": lambda p: mx.recordio.MXIndexedRecordIO(p, "r.rec", "r").close(),
    "images": gluon.data.vision.ImageFolderDataset,
    "images/c/x.png": mx.image.imread,
    "d.csv": lambda p: mx.io.CSVIter(data_csv=p, data_shape=(2,), batch_size=1),
    "d.svm": lambda p: mx.io.LibSVMIter(data_libsvm=p, data_shape=(2,), batch_size=1),
    "p.json": lambda p: mx.profiler.set_config(filename=p),
    "a.params    ": lambda p: gluon.utils.check_sha1(p, "0" * 40),
    "o.onnx": lambda p: mx.onnx.export_model(graph(), WEIGHTS, [(1, 2)], np.float32, p),
}
WEIGHTS: dict[str, nd.NDArray] = {"fc_weight": nd.ones((2, 2)), "fc_bias": nd.ones(2)}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    from PIL import Image

    monkeypatch.chdir(tmp_path)
    nd.save("a.params", {"w": nd.ones(2)})
    network().save_parameters("net.params")
    network().export("net")
    trainer().save_states("t.states")
    graph().save("s.json")
    module().save_checkpoint("m", 1)
    records = mx.recordio.MXIndexedRecordIO("r.idx", "r.rec", "w")
    records.write_idx(0, b"abc")
    records.close()
    Path("images/c").mkdir(parents=True)
    Image.fromarray(np.zeros((4, 4, 3), np.uint8)).save("images/c/x.png")
    Path("d.csv").write_text("1,2\n")
    Path("d.svm").write_text("0 0:1\n")
    return tmp_path


def test_every_kind_of_path_is_taken(folder: Path) -> None:
    for name, use in USES.items():
        for kind in GOOD.values():
            use(kind(name.strip()))
    for name in USES:
        if name.startswith("w"):
            assert Path(name).exists()
    assert {part for part in os.listdir() if part.startswith("exported")} == {
        "exported-symbol.json",
        "exported-0000.params",
    }


@pytest.mark.parametrize("bad", BAD, ids=lambda bad: f"{bad!r:.20}")
def test_what_is_no_path_is_refused_in_our_words(bad: Any, folder: Path) -> None:
    taken = (dict,) if isinstance(bad, dict) else ()  # `Load` takes arrays by name
    for name, use in USES.items():
        if use is mx.init.Load and taken:
            continue
        if name == "exported" and bad is None:  # returns graph and arrays, as in MXNet 2.0
            continue
        with pytest.raises(GluonishError) as caught:
            use(bad)
        assert "expected" in str(caught.value), name


def test_the_text_of_a_path() -> None:
    for kind in GOOD.values():
        assert type(path_text(kind("ü/a"), "x")) is str
        assert path_text(kind("ü/a"), "x") == "ü/a"
