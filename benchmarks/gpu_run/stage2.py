"""Stage 2: what nobody knows before it ran on a device, each answered with a number."""

from benchmarks.gpu_run.cudnn_rows import add_rows
from benchmarks.gpu_run.launch_rows import add_captures, add_costs
from benchmarks.gpu_run.rows import Table

TABLE = Table()
_cudnn = add_rows(TABLE)
next(_cudnn)  # the main convolutions
add_captures(TABLE)
add_costs(TABLE)
next(_cudnn, None)  # norms, attention, other convolutions
