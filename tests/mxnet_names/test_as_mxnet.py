import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gluonish.core import mxnet_rules
from gluonish.mxnet_names.imported_modules import imported_modules

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "packages" / "mxnet"
FIRST_LINE = "import gluonish.as_mxnet\n"


def python(*arguments: str, path: tuple[object, ...] = (), cwd: Path | None = None) -> str:
    """What a new interpreter prints; the working tree is on its path, the double of a wheel."""
    paths = [str(p) for p in (*path, ROOT, ROOT / "engine")]
    done = subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        cwd=cwd,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


# How a program comes to its name `mxnet`: a first line, or a package on the path.
WAYS = [pytest.param(FIRST_LINE, (), id="first line"), pytest.param("", (PACKAGE,), id="package")]


@pytest.mark.parametrize(("first", "path"), WAYS)
def test_modules_are_the_same_objects(first: str, path: tuple[Path, ...]) -> None:
    source = """
import mxnet as mx, mxnet.gluon.nn as nn, mxnet.ndarray.ndarray, importlib, sys
from mxnet.gluon.data.vision import transforms
from mxnet import nd
import gluonish
text = importlib.import_module("mxnet.contrib.text")
pairs = [(mx, gluonish), (nn, gluonish.gluon.nn), (text, gluonish.contrib.text), (nd, gluonish.nd),
         (transforms, gluonish.gluon.data.vision.transforms), (mxnet.gluon.nn, gluonish.gluon.nn),
         (sys.modules["mxnet.ndarray.ndarray"], sys.modules["gluonish.ndarray.ndarray"])]
print(all(a is b for a, b in pairs), mx.__version__, mx.nd.__name__, mx.__spec__.name)
"""
    assert python("-c", first + source, path=path).split() == [
        *("True", "1.9.1", "mxnet.ndarray", "gluonish"),
    ]


@pytest.mark.parametrize(("first", "path"), WAYS)
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_child_processes_know_the_name(
    first: str, path: tuple[Path, ...], method: str, tmp_path: Path
) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        first
        + f"""
import multiprocessing, pickle, subprocess, sys
import mxnet as mx

class Item:
    pass

def work(item, queue):
    from mxnet.gluon import rnn
    queue.put((type(item).__name__, rnn.LSTM.__module__, mx.__version__))

if __name__ == "__main__":
    context = multiprocessing.get_context({method!r})
    queue = context.Queue()
    process = context.Process(target=work, args=(Item(), queue))
    process.start()
    print(*queue.get(timeout=30))
    process.join()
    code = "import mxnet.gluon.nn as nn; print(nn.Dense.__name__)"
    print(subprocess.run([sys.executable, "-c", code], stdout=-1, text=True).stdout)
"""
    )
    printed = python(str(program), path=path).split()
    assert printed == ["Item", "gluonish.gluon.rnn.rnn_layer", "1.9.1", "Dense"]


def test_pickle_names_classes_by_mxnets_modules() -> None:
    source = """
import pickle
data = pickle.dumps(gluonish.optimizer.SGD, protocol=0).replace(
    b"gluonish.optimizer.sgd", b"mxnet.optimizer.sgd")
assert b"mxnet" in data
print(pickle.loads(data) is gluonish.optimizer.SGD)
"""
    assert python("-c", f"import gluonish.as_mxnet, gluonish{source}") == "True\n"


def test_missing_module_is_missing_by_its_name() -> None:
    source = """
import importlib.util
print(importlib.util.find_spec("mxnet.nowhere"))
try:
    import mxnet.gluon.nowhere
except ModuleNotFoundError as error:
    print(error.name, error)
"""
    name = "mxnet.gluon.nowhere"
    expected = f"None\n{name} No module named '{name}'\n"
    assert python("-c", FIRST_LINE + source) == expected


def test_other_package_of_the_name_is_refused_with_its_place(tmp_path: Path) -> None:
    folder = tmp_path / "mxnet"
    folder.mkdir()
    (folder / "__init__.py").write_text("__version__ = '1.9.1'\n")
    info = tmp_path / "mxnet_cu112-1.9.1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: mxnet-cu112\nVersion: 1.9.1\n")
    (info / "RECORD").write_text("mxnet/__init__.py,,\n")
    (info / "top_level.txt").write_text("mxnet\n")
    source = """
try:
    import gluonish.as_mxnet
except ImportError as error:
    print(error)
import gluonish
print(gluonish.core.mxnet_rules.follows_mxnet(), gluonish.__version__ != "1.9.1")
"""
    message, state = python("-c", source, path=(tmp_path,)).splitlines()
    assert f"got mxnet-cu112 1.9.1 (pip uninstall mxnet-cu112) in {folder}" in message
    assert state == "False True"


def test_faces_are_told_apart_by_their_names() -> None:
    source = """
import mxnet as mx
class Named(mx.gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        print(F.__name__)
        return x + 1
net = Named()
net(mx.nd.ones(1))
net.hybridize()
net(mx.nd.ones(1)).wait_to_read()
from mxnet.ndarray import sparse
from mxnet.symbol import contrib
"""
    assert python("-c", FIRST_LINE + source) == "mxnet.ndarray\nmxnet.symbol\n"
    code = "import gluonish; print(gluonish.nd.__name__, gluonish.sym.__name__)"
    assert python("-c", code) == "gluonish.ndarray gluonish.symbol\n"


def test_program_may_use_the_pool_of_processes_unimported() -> None:
    code = "import mxnet, multiprocessing; print(multiprocessing.pool.Pool.__name__)"
    assert python("-c", FIRST_LINE + code) == "Pool\n"


def test_modules_show_modules_that_their_files_import() -> None:
    source = """
from mxnet.gluon.data.vision.datasets import image, nd
from mxnet.metric import ndarray
import mxnet as mx, gluonish
print(image is gluonish.image, nd is mx.nd, ndarray is mx.nd)
print(mx.gluon.data.dataset.recordio is mx.recordio, mx.gluon.loss.ndarray is mx.nd)
print(hasattr(mx.metric, "nowhere"), mx.gluon.data.DataLoader.__name__)
"""
    expected = "True True True\nTrue True\nFalse DataLoader\n"
    assert python("-c", FIRST_LINE + source) == expected
    code = "import gluonish.gluon.loss as loss; print(hasattr(loss, 'ndarray'))"
    assert python("-c", code) == "False\n"


def test_every_imported_module_is_there() -> None:
    for module, shown in imported_modules().items():
        for target in shown.values():
            found, _, inside = target.partition(":")
            assert importlib.util.find_spec(found) is not None, (module, target)
            assert not inside or hasattr(importlib.import_module(found), inside), (module, target)


def test_modules_that_are_others_here_are_found() -> None:
    source = """
import importlib
from gluonish.mxnet_names.imported_modules import further_modules
import mxnet as mx
import mxnet.numpy.multiarray, mxnet.ndarray.utils, mxnet.misc
print(mxnet.numpy.multiarray is mx.np, mx.nd.utils is mx.nd, mx.io.utils._init_data.__name__)
for name, target in further_modules().items():
    found = importlib.import_module(name.replace("gluonish", "mxnet", 1))
    assert found is importlib.import_module(target), name
    parent, _, last = name.replace("gluonish", "mxnet", 1).rpartition(".")
    assert getattr(importlib.import_module(parent), last) is found, name
"""
    assert python("-c", FIRST_LINE + source) == "True True init_data\n"


def test_private_names_that_programs_import_are_there() -> None:
    source = """
from mxnet.gluon.nn.conv_layers import _Conv, _Pooling
from mxnet.gluon.nn.basic_layers import _BatchNorm
from mxnet.gluon.rnn.rnn_layer import _RNNLayer
from mxnet.gluon.rnn.rnn_cell import _format_sequence, _get_begin_state
from mxnet.gluon.contrib.rnn.conv_rnn_cell import _BaseConvRNNCell
from mxnet.gluon.data.dataset import _DownloadedDataset
from mxnet.module.executor_group import _load_data, _merge_multi_context
from mxnet import nd
from mxnet.gluon import nn, rnn, contrib

class Own(_Conv):
    def __init__(self, **kwargs):
        super().__init__(4, (3, 3), (1, 1), (1, 1), (1, 1), 1, "NCHW", 3, op_name="Deconvolution",
                         adj=(0, 0), **kwargs)

own = Own()
own.initialize()
print(own(nd.ones((1, 3, 4, 4))).shape, own._op_name, nn.Conv2DTranspose(3, 2).outpad)

class Pool(_Pooling):
    def __init__(self, **kwargs):
        super().__init__((2, 2), None, (0, 0), False, False, "max", "NCHW", **kwargs)

print(Pool()(nd.ones((1, 3, 4, 4))).shape)
print(issubclass(nn.BatchNorm, _BatchNorm), issubclass(nn.BatchNormReLU, _BatchNorm),
      issubclass(contrib.nn.SyncBatchNorm, nn.BatchNorm), issubclass(rnn.LSTM, _RNNLayer))

class Cell(_BaseConvRNNCell):
    def __init__(self):
        super().__init__((3, 5, 5), 4, (3, 3), (3, 3), (1, 1), (1, 1), (1, 1), None, None, "zeros",
                         "zeros", 2, "NCHW", "tanh")
    @property
    def _gate_names(self):
        return ["_a", "_b"]
    def hybrid_forward(self, F, inputs, states, i2h_weight, h2h_weight, i2h_bias, h2h_bias):
        i2h, h2h = self._conv_forward(F, inputs, states, i2h_weight, h2h_weight, i2h_bias,
                                      h2h_bias, "p_")
        a, b = F.split(i2h + h2h, num_outputs=2, axis=self._channel_axis)
        output = self._get_activation(F, a, self._activation) * b
        return output, [output]

cell = Cell()
cell.initialize()
print(cell(nd.ones((2, 3, 5, 5)), cell.begin_state(2))[0].shape, cell.i2h_weight.shape)
"""
    expected = """(1, 4, 4, 4) Deconvolution (0, 0)
(1, 3, 2, 2)
True True True True
(2, 4, 5, 5) (8, 3, 3, 3)
"""  # as on MXNet 1.9.1
    assert python("-c", FIRST_LINE + source) == expected


def test_all_names_of_test_utils_are_those_of_its_file_too() -> None:
    source = """
from mxnet.test_utils import *
print(np.__name__, rnd.__name__, npt.__name__, mx.__name__, os.sep, use_np is mx.util.use_np)
print(json.dumps([1]), array is mx.nd.array, Context is mx.Context, rand_ndarray((2,)).shape)
"""
    expected = "numpy numpy.random numpy.testing gluonish / True\n[1] True True (2,)\n"
    assert python("-c", FIRST_LINE + source) == expected
    code = "from gluonish.test_utils import *; print('np' in globals())"
    assert python("-c", code) == "False\n"


def test_name_loads_nothing_but_the_pool_of_processes() -> None:
    listed = "; import sys; print(*sys.modules, sep='\\n')"
    plain = set(python("-c", f"import gluonish{listed}").split())
    added = set(python("-c", f"import gluonish.as_mxnet{listed}").split()) - plain
    ours = {name for name in added if name.startswith("gluonish")}
    loaded = {"gluonish.as_mxnet", "gluonish.mxnet_names.as_mxnet"}
    loaded |= {f"gluonish.mxnet_names.{name}" for name in ("imported_modules", "replacing")}
    assert ours <= loaded
    assert "multiprocessing.pool" not in plain


def test_loaded_modules_are_listed_under_both_names() -> None:
    source = """
import mxnet, sys
names = "mxnet.ndarray", "mxnet.symbol"
print(*(sys.modules[name] is getattr(mxnet, name[6:]) for name in names))
"""
    assert python("-c", FIRST_LINE + source) == "True True\n"


def test_package_and_folder_of_child_processes_hold_the_same_file() -> None:
    inside = ROOT / "gluonish" / "mxnet_names" / "mxnet_path" / "mxnet" / "__init__.py"
    assert (PACKAGE / "mxnet" / "__init__.py").read_bytes() == inside.read_bytes()


def test_page_holds_the_table_of_differences() -> None:
    page = (ROOT / "docs" / "coming_from_mxnet.md").read_text("utf-8")
    for line in (*mxnet_rules.DIFFERENCES, *mxnet_rules.DIFFERENCES2):
        assert f"| {line.what} | {line.mxnet} | {line.gluonish} |\n" in page


@pytest.mark.parametrize(("first", "path"), WAYS)
def test_all_names_of_test_utils_are_those_of_mxnet(first: str, path: tuple[Path, ...]) -> None:
    """Counted with MXNet 1.9.1: what the star gives there and here."""
    names = (
        "Context Features OrderedDict Symbol array bz2 contextmanager current_context errno getenv "
        "get_cuda_compute_capability gzip json logging mx np np_symbol npt numbers os platform "
        "requests rnd setenv struct sys time traceback use_np zipfile gen_buckets_probs_with_ppf"
    )
    source = f"""
from mxnet.test_utils import *
{names.replace(" ", ", ")}
print(mx.__version__, np.__name__, rnd.__name__, Context is mx.Context)
"""
    assert python("-c", first + source, path=path).split() == [
        *("1.9.1", "numpy", "numpy.random", "True"),
    ]


def test_all_names_of_test_utils_are_the_helpers_without_the_name() -> None:
    source = "from gluonish.test_utils import *\nprint('np' in dir(), 'almost_equal' in dir())"
    assert python("-c", source).split() == ["False", "True"]
