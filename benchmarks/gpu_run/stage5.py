"""Stage 5: speed of operators against PyTorch, alone and joined, and of steps that matter less."""

from benchmarks.gpu_run.joined import add_joined
from benchmarks.gpu_run.operators import add_operators
from benchmarks.gpu_run.rows import Table
from benchmarks.gpu_run.step_rows import Steps

TABLE = Table()
_steps = Steps(TABLE)

add_joined(TABLE)
add_operators(TABLE)
_steps.inference(64, "TF32")
_steps.inference(1, "AMP")
_steps.training(128, "AMP")
_steps.bert("TF32")
_steps.training(64, "float32")
_steps.inference(1, "float32")
_steps.inference(64, "float32")
_steps.training(128, "TF32")
_steps.lstm("float32")
_steps.training(128, "float32")
