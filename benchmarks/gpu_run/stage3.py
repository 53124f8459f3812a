"""Stage 3: speed against PyTorch, eager, compiled and with CUDA graphs, in the same run.

Big rows run in processes of their own, so that the peak of memory is theirs. Those in float32
without tensor cores leave compiling out.
"""

import functools

from benchmarks.gpu_run import bert, host_copies, lstm, networks
from benchmarks.gpu_run.operators import add_operators
from benchmarks.gpu_run.rows import Body, Table

TABLE = Table()
_LIMIT_S = 130


def _add(name: str, body: Body, graphs: bool = False) -> None:
    """Add a row; with ours as CUDA graphs, if that is asked."""
    environment = {"MXNET_ENABLE_CUDA_GRAPHS": str(int(graphs))}
    name += ", CUDA graphs" if graphs else ""
    TABLE.add(name, _LIMIT_S, body, fresh=True, environment=environment)


def _training(batch_size: int, precision: str, *, graphs: bool = False) -> None:
    body = functools.partial(networks.training, batch_size=batch_size, precision=precision)
    _add(f"ResNet-50 training, {batch_size}, {precision}", body, graphs)


def _inference(batch_size: int, precision: str, *, graphs: bool = False) -> None:
    body = functools.partial(networks.inference, batch_size=batch_size, precision=precision)
    _add(f"ResNet-50 inference, {batch_size}, {precision}", body, graphs)


def _bert(precision: str, *, graphs: bool = False) -> None:
    body = functools.partial(bert.training, precision=precision)
    _add(f"BERT-base training, 32 x 128, {precision}", body, graphs)


def _lstm(precision: str, *, graphs: bool = False) -> None:
    body = functools.partial(lstm.training, precision=precision)
    _add(f"LSTM 2 x 650 training, {precision}", body, graphs)


TABLE.add("upload of 64 images, float32", 40, host_copies.upload, fresh=True)
TABLE.add("download of 64 images, float32", 40, host_copies.download, fresh=True)
_inference(1, "TF32", graphs=True)
_training(64, "AMP", graphs=True)
_bert("AMP", graphs=True)
_lstm("TF32", graphs=True)
_training(64, "FP16", graphs=True)
_inference(64, "AMP", graphs=True)
_training(64, "AMP")
_training(64, "TF32")
_inference(1, "TF32")
_bert("AMP")
_inference(64, "AMP")
_lstm("TF32")
add_operators(TABLE)
_inference(64, "TF32")
_inference(1, "AMP")
_training(128, "AMP")
_bert("TF32")
_training(64, "float32")
_inference(1, "float32")
_inference(64, "float32")
_training(128, "TF32")
_lstm("float32")
_training(128, "float32")
