"""Stage 3: speed of steps against PyTorch, eager and with CUDA graphs, in the same run."""

from benchmarks.gpu_run import host_copies
from benchmarks.gpu_run.rows import Table
from benchmarks.gpu_run.step_rows import Steps

TABLE = Table()
_steps = Steps(TABLE)

TABLE.add("upload of 64 images, float32", 40, host_copies.upload, fresh=True)
TABLE.add("download of 64 images, float32", 40, host_copies.download, fresh=True)
_steps.inference(1, "TF32", graphs=True)
_steps.training(64, "AMP", graphs=True)
_steps.bert("AMP", graphs=True)
_steps.lstm("TF32", graphs=True)
_steps.training(64, "TF32", graphs=True)
_steps.training(64, "FP16", graphs=True)
_steps.inference(64, "AMP", graphs=True)
_steps.inference(64, "AMP", graphs=True, moving=True)
_steps.training(64, "AMP")
_steps.training(64, "TF32")
_steps.inference(1, "TF32")
_steps.bert("AMP")
_steps.inference(64, "AMP")
_steps.lstm("TF32")
