"""A kernel that leaves its memory, in a process of its own: what it says, and that it ends."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.timeout(300),
    pytest.mark.skipif(
        not hasattr(sys.modules.get("cupy"), "__file__"),
        reason="the double of CuPy computes on the host, where a kernel cannot lose a device",
    ),
]

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """
import gluonish as mx
from gluonish import nd
from gluonish.core.errors import GluonishError

SOURCE = 'extern "C" __global__ void bad_kernel(float *x) { x[1ull << 44] = 1; }'
kernel = mx.rtc.CudaModule(SOURCE).get_kernel("bad_kernel", "float *x")
x = nd.ones((4,), ctx=mx.gpu(0))
x.wait_to_read()
kernel.launch([x], mx.gpu(0), (1, 1, 1), (1, 1, 1))
for use in (
    x.asnumpy,
    lambda: nd.ones((2,), ctx=mx.gpu(0)).asnumpy(),
    lambda: nd.array([1.0] * 100000, ctx=mx.gpu(0)).asnumpy(),
    mx.gpu(0).empty_cache,
):
    try:
        use()
    except GluonishError as error:
        print(str(error).replace("\\n", " "))
    else:
        print("nothing was raised")
try:
    nd.waitall()
except GluonishError:
    pass
print("on the cpu:", (nd.ones((2,)) + 1).asnumpy().tolist())
"""


@pytest.mark.parametrize("engine", ["NaiveEngine", "ThreadedEnginePerDevice"])
def test_faulting_kernel_is_named_and_everything_after_says_that_the_device_is_lost(
    engine: str,
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**_environment(), "MXNET_ENGINE_TYPE": engine},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    lines = done.stdout.splitlines()
    assert len(lines) == 5, done.stdout + done.stderr
    for line in lines[:4]:
        assert "bad_kernel" in line
        assert "The device is lost to this process" in line
    assert lines[4] == "on the cpu: [2.0, 2.0]"


def _environment() -> dict[str, str]:
    paths = [str(ROOT), str(ROOT / "engine"), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
