"""A kernel that writes where nothing is, and what gluonish says then. Run as a program.

    python -m benchmarks.gpu_run.faulting [--rehearse]

Prints the error that the next read of an array raises. The error stays with the process: nothing
of CUDA works in it any more, so that it must not be a row's.
"""

import os
import sys
from typing import Any

from benchmarks.gpu_run.place import make_place

SOURCE = """
extern "C" __global__ void write_nowhere(long long address) {
    *reinterpret_cast<volatile int*>(address) = 1;
}
"""
_ILLEGAL_ADDRESS = 700  # CUDA's number of the error
_NOWHERE = 16  # an address that no allocation has


def _fault(place: Any) -> None:
    """Break the device's context."""
    if place.rehearsed:
        place.machine.broken = place.cupy.cuda.runtime.CUDARuntimeError(_ILLEGAL_ADDRESS)
        return
    from gluonish.core.device import device_of

    kernel = place.cupy.RawModule(code=SOURCE).get_function("write_nowhere")
    device_of(place.mx.gpu(0)).compute.launch(lambda: kernel((1,), (1,), (_NOWHERE,)))


def main(words: list[str]) -> int:
    """Fault, and print what the next read says; return 0 if it is an error of gluonish."""
    place = make_place(rehearse="--rehearse" in words)
    mx = place.mx
    x = mx.nd.ones((1024,), ctx=mx.gpu(0))
    x.asnumpy()
    _fault(place)
    try:
        (x + 1).asnumpy()
    except mx.MXNetError as error:
        print(f"{type(error).__name__}: {error}", flush=True)
        return 0
    print("no error", flush=True)
    return 1


if __name__ == "__main__":
    status = main(sys.argv[1:])
    # What a context that is broken does when it is taken down is not asked here.
    os._exit(status)
