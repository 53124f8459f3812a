"""Stage 3: speed against PyTorch, eager, compiled and with CUDA graphs, in the same run.

Big rows run in processes of their own, so that the peak of memory is theirs. Those in float32
without tensor cores leave compiling out.
"""

import functools

from benchmarks.gpu_run import bert, lstm, networks
from benchmarks.gpu_run.operators import add_operators
from benchmarks.gpu_run.rows import Table

__all__ = ["TABLE"]

TABLE = Table()
_LIMIT_S = 130


def _training(batch_size: int, precision: str) -> None:
    body = functools.partial(networks.training, batch_size=batch_size, precision=precision)
    TABLE.add(f"ResNet-50 training, {batch_size}, {precision}", _LIMIT_S, body, fresh=True)


def _inference(batch_size: int, precision: str) -> None:
    body = functools.partial(networks.inference, batch_size=batch_size, precision=precision)
    TABLE.add(f"ResNet-50 inference, {batch_size}, {precision}", _LIMIT_S, body, fresh=True)


def _bert(precision: str) -> None:
    body = functools.partial(bert.training, precision=precision)
    TABLE.add(f"BERT-base training, 32 x 128, {precision}", _LIMIT_S, body, fresh=True)


def _lstm(precision: str) -> None:
    body = functools.partial(lstm.training, precision=precision)
    TABLE.add(f"LSTM 2 x 650 training, {precision}", _LIMIT_S, body, fresh=True)


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
