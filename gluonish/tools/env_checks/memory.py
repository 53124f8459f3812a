"""Checks of the variables that control how memory is shared, pooled and saved."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack
from typing import Any

import numpy as np

from gluonish.autograd import record
from gluonish.core.allocation_observers import AllocationTally
from gluonish.core.config import (
    GLUONISH_STAGING_MB,
    MXNET_BACKWARD_DO_MIRROR,
    MXNET_CPU_TEMP_COPY,
    MXNET_EXEC_ENABLE_INPLACE,
    MXNET_EXEC_MATCH_RANGE,
    MXNET_EXEC_NUM_TEMP,
    MXNET_GPU_MEM_LARGE_ALLOC_ROUND_SIZE,
    MXNET_GPU_MEM_POOL_PAGE_SIZE,
    MXNET_GPU_MEM_POOL_RESERVE,
    MXNET_GPU_MEM_POOL_ROUND_LINEAR_CUTOFF,
    MXNET_GPU_MEM_POOL_TYPE,
    MXNET_MEMORY_OPT,
    MXNET_USE_FUSION,
    NNVM_EXEC_MATCH_RANGE,
    Flag,
)
from gluonish.core.context import cpu, gpu
from gluonish.core.device import device_of, gpu_count
from gluonish.gluon.nn import Activation, BatchNorm, Conv2D, HybridLambda, HybridSequential
from gluonish.graph.arenas import Arenas
from gluonish.kernels.cupy.device import GPUDevice, health_of
from gluonish.kernels.cupy.pool import Pool, make_pool
from gluonish.ndarray import NDArray, array
from gluonish.tools.env_checks.process import NotHereError, expect, observes, run_program

_LENGTH = 4096  # elements of each value in the chain


def _chain(F: Any, x: Any) -> Any:
    """Apply a chain of four operators, and multiply the result by its sum, as only output."""
    y = F.sqrt(F.exp(F.sin(F.exp(x))))
    return F.broadcast_mul(y, F.sum(y))


def _planned(*scopes: AbstractContextManager[Any]) -> tuple[int, Any]:
    """Run `_chain` as a graph, and return the size of its arena in bytes, and the result."""
    block = HybridLambda(_chain)
    block.hybridize(static_alloc=True)
    x = array(np.linspace(-1, 1, _LENGTH))
    with ExitStack() as stack:
        for scope in (MXNET_USE_FUSION.override(False), *scopes):
            stack.enter_context(scope)
        tally = stack.enter_context(AllocationTally())
        result = block(x).asnumpy()
        held = sum(h.nbytes for h in tally.holdings() if h.name.endswith(":arena"))
    return held, result


@observes(MXNET_EXEC_ENABLE_INPLACE)
def _in_place() -> str:
    """Run a chain of elementwise operators with and without outputs over inputs."""
    flag = MXNET_EXEC_ENABLE_INPLACE
    in_place, result = _planned(flag.override(True), NNVM_EXEC_MATCH_RANGE.override(16))
    separate, other = _planned(flag.override(False), NNVM_EXEC_MATCH_RANGE.override(16))
    expect(flag, in_place < separate, "a smaller arena with in-place outputs", (in_place, separate))
    expect(flag, np.array_equal(result, other), "the same result", "another")
    return f"arena of {in_place} bytes with in-place outputs, {separate} without; equal results"


@observes(NNVM_EXEC_MATCH_RANGE)
def _match_range() -> str:
    """Run a chain of operators with and without shared blocks of memory."""
    flag = NNVM_EXEC_MATCH_RANGE
    shared, result = _planned(flag.override(16), MXNET_EXEC_ENABLE_INPLACE.override(False))
    separate, other = _planned(flag.override(0), MXNET_EXEC_ENABLE_INPLACE.override(False))
    expect(flag, 1.5 * shared < separate, "a smaller arena with shared blocks", (shared, separate))
    expect(flag, np.array_equal(result, other), "the same result", "another")
    return f"arena of {shared} bytes with a range of 16, {separate} with 0; equal results"


# In a separate process, as it changes the environment.
_PRINT_ARENAS = """
from gluonish.core.config import MXNET_EXEC_ENABLE_INPLACE, set_variable
from gluonish.tools.env_checks.memory import _planned
for newer in (None, "16"):
    set_variable("NNVM_EXEC_MATCH_RANGE", newer)
    print(_planned(MXNET_EXEC_ENABLE_INPLACE.override(False))[0])
"""


@observes(MXNET_EXEC_MATCH_RANGE)
def _older_match_range() -> str:
    """Set the older name alone, and together with the newer one."""
    flag = MXNET_EXEC_MATCH_RANGE
    alone, both = map(int, run_program(_PRINT_ARENAS, **{flag.name: "0"}).split())
    expect(flag, 1.5 * both < alone, "the newer name to take precedence", (alone, both))
    return f"arena of {alone} bytes with 0; {both} with NNVM_EXEC_MATCH_RANGE=16, too"


@observes(MXNET_EXEC_NUM_TEMP)
def _cached_arenas() -> str:
    """Acquire three large arenas at once, release them, and count those that stay cached."""
    flag, nbytes, cached = MXNET_EXEC_NUM_TEMP, 64 << 20, []  # never touched: not resident
    for count in (1, 2):
        with flag.override(count), AllocationTally() as tally:
            arenas = Arenas(device_of(cpu()), keep=True, name="check")
            arenas.join(nbytes)
            acquired = [arenas.acquire() for _ in range(3)]
            while acquired:
                arenas.release(acquired.pop())
            cached.append(sum(h.arrays for h in tally.holdings() if h.name == "check:arena"))
    expect(flag, cached == [1, 2], "1 and 2 cached arenas after three calls at once", cached)
    return "after three calls at once, 1 and 2 large arenas stay cached"


_PRINT_SCRATCH = """
from gluonish.core.config import MXNET_CPU_TEMP_COPY, MXNET_MKLDNN_ENABLED
from gluonish.core.context import cpu
from gluonish.core.device import device_of
from gluonish.kernels import onednn
from gluonish.kernels.onednn import register
device_of(cpu())
for count in (1, 3):
    register._loaded.clear()
    with MXNET_MKLDNN_ENABLED.override(True), MXNET_CPU_TEMP_COPY.override(count):
        if not register.enabled():
            print("missing")
            break
    scratch = onednn.current().engine.workspaces
    for buffer in [scratch.acquire(1 << 20) for _ in range(4)]:
        scratch.release(buffer)
    print(scratch.nbytes >> 20)
"""


@observes(MXNET_CPU_TEMP_COPY)
def _cached_scratch() -> str:
    """Acquire four scratch buffers at once, release them, and count those that stay cached."""
    flag = MXNET_CPU_TEMP_COPY
    cached = run_program(_PRINT_SCRATCH).split()
    if "missing" in cached:
        raise NotHereError("needs oneDNN")
    expect(flag, cached == ["1", "3"], "1 and 3 of 4 MiB of scratch cached", cached)
    return "after four operators at once, 1 and 3 scratch buffers stay cached"


def _train(*scopes: AbstractContextManager[Any]) -> tuple[int, list[Any]]:
    """Return the bytes that a network saves for its backward pass, and its gradients."""
    net = HybridSequential(prefix="mirrored_")
    for i in range(4):
        with net.name_scope():
            net.add(
                Conv2D(4, 3, padding=1, use_bias=False, in_channels=4, prefix=f"conv{i}_"),
                BatchNorm(in_channels=4, prefix=f"norm{i}_"),
                Activation("relu", prefix=f"relu{i}_"),
            )
    net.initialize()
    random = np.random.default_rng(3)
    for parameter in net.collect_params().values():
        parameter.set_data(array(random.normal(1, 0.1, parameter.shape)))
    net.hybridize(static_alloc=True)
    x: NDArray = array(random.normal(size=(2, 4, 12, 12)))
    with ExitStack() as stack:
        for scope in scopes:
            stack.enter_context(scope)
        tally = stack.enter_context(AllocationTally())
        with record():
            y = net(x)
        y.backward()
        found = [p.grad().asnumpy() for p in net.collect_params().values() if p.grad_req != "null"]
        saved = sum(h.nbytes for h in tally.holdings() if h.name.endswith(":kept for backward"))
    return saved, found


def _recomputes(flag: Flag[bool]) -> str:
    """Train one step with saved values, and with recomputed ones."""
    both = (MXNET_BACKWARD_DO_MIRROR, MXNET_MEMORY_OPT)
    usual, gradients = _train(*[other.override(False) for other in both])
    less, recomputed = _train(*[other.override(other is flag) for other in both])
    expect(flag, less < 0.9 * usual, "less saved for the backward pass", (usual, less))
    same = all(
        np.allclose(a, b, rtol=1e-3, atol=1e-4) for a, b in zip(gradients, recomputed, strict=True)
    )
    expect(flag, same, "the same gradients", "others")
    return f"{usual} bytes saved for the backward pass without it, {less} with it; equal gradients"


@observes(MXNET_BACKWARD_DO_MIRROR)
def _mirror() -> str:
    return _recomputes(MXNET_BACKWARD_DO_MIRROR)


@observes(MXNET_MEMORY_OPT)
def _memory_opt() -> str:
    return _recomputes(MXNET_MEMORY_OPT)


def _gpu_pool(*scopes: AbstractContextManager[Any]) -> Pool:
    """Return a new pool of the first GPU, configured by the environment inside the scopes.

    Raises:
        NotHereError: There is no GPU.
    """
    if not gpu_count():
        raise NotHereError("needs a GPU")
    cupy, health = device_of(gpu(0)).xp, health_of(0)
    with ExitStack() as stack:
        for scope in scopes:
            stack.enter_context(scope)
        return make_pool(cupy, cupy.cuda.Device(0), health)


def _sizes(*scopes: AbstractContextManager[Any], requests: Sequence[int]) -> list[int]:
    """Return the sizes of the blocks that a new pool allocates for requests in bytes."""
    pool = _gpu_pool(*scopes)
    blocks = [pool.allocate(nbytes) for nbytes in requests]
    found = [int(block.raw.size) for block in blocks]
    for block in blocks:
        pool.free(block)
    pool.release()
    return found


def _pool_type(kind: str) -> AbstractContextManager[Any]:
    return MXNET_GPU_MEM_POOL_TYPE.override(kind)


@observes(MXNET_GPU_MEM_POOL_TYPE)
def _kinds_of_pool() -> str:
    """Allocate a block of each kind of pool, release it, and allocate another."""
    flag, request = MXNET_GPU_MEM_POOL_TYPE, 5 << 20
    seen = []
    for kind in ("Naive", "Round", "Unpooled"):
        pool = _gpu_pool(
            _pool_type(kind),
            MXNET_GPU_MEM_LARGE_ALLOC_ROUND_SIZE.override(2 << 20),
            MXNET_GPU_MEM_POOL_ROUND_LINEAR_CUTOFF.override(24),
        )
        block = pool.allocate(request)
        size = block.nbytes >> 20
        pool.free(block)
        del block
        pool.free(pool.allocate(request))
        seen.append((size, pool.statistics().allocations))
        pool.release()
    expected = [(6, 1), (8, 1), (5, 2)]
    expect(flag, seen == expected, f"MiB and calls of the driver {expected}", seen)
    return "5 MiB twice: a reused block of 6 MiB, a reused one of 8, and two of 5"


@observes(MXNET_GPU_MEM_POOL_PAGE_SIZE)
def _page() -> str:
    """Allocate small blocks with two page sizes."""
    flag, naive = MXNET_GPU_MEM_POOL_PAGE_SIZE, "Naive"
    found = [
        _sizes(_pool_type(naive), flag.override(page), requests=(1, 5000)) for page in (4096, 1024)
    ]
    expected = [[4096, 8192], [1024, 5120]]
    expect(flag, found == expected, f"blocks of {expected} bytes", found)
    return "1 and 5000 bytes take 4096 and 8192 with pages of 4096, 1024 and 5120 with 1024"


@observes(MXNET_GPU_MEM_LARGE_ALLOC_ROUND_SIZE)
def _large() -> str:
    """Allocate a large block with several rounding sizes."""
    flag, naive = MXNET_GPU_MEM_LARGE_ALLOC_ROUND_SIZE, "Naive"
    found = [
        _sizes(_pool_type(naive), flag.override(rounding), requests=(5 << 20,))[0] >> 20
        for rounding in (2 << 20, 4 << 20, 16 << 20)
    ]
    expect(flag, found == [6, 8, 5], "blocks of 6, 8 and 5 MiB", found)
    return "5 MiB take 6 if rounded to 2 MiB, 8 if rounded to 4, and 5 below a size of 16"


@observes(MXNET_GPU_MEM_POOL_ROUND_LINEAR_CUTOFF)
def _cutoff() -> str:
    """Allocate a large block from Round pools with two cutoffs."""
    flag = MXNET_GPU_MEM_POOL_ROUND_LINEAR_CUTOFF
    found = [
        _sizes(_pool_type("Round"), flag.override(cutoff), requests=(5 << 20,))[0] >> 20
        for cutoff in (20, 24)
    ]
    expect(flag, found == [5, 8], "blocks of 5 and 8 MiB", found)
    return "5 MiB take 5 with a cutoff at 1 MiB, and 8 with one at 16"


@observes(MXNET_GPU_MEM_POOL_RESERVE)
def _reserve() -> str:
    """Allocate a block while another is cached, with no reserve, and with all memory reserved."""
    flag = MXNET_GPU_MEM_POOL_RESERVE
    cached = []
    for percent in (0, 100):
        pool = _gpu_pool(_pool_type("Naive"), flag.override(percent))
        pool.free(pool.allocate(2 << 20))
        block = pool.allocate(4 << 20)
        cached.append(pool.statistics().held >> 20)
        pool.free(block)
        del block
        pool.release()
    expect(flag, cached == [2, 0], "2 and 0 MiB cached beside a new block", cached)
    return "a new block leaves 2 MiB cached with 0 %, and none with 100 %"


@observes(GLUONISH_STAGING_MB)
def _staging() -> str:
    """Upload with a ring of one chunk, and without a ring."""
    flag = GLUONISH_STAGING_MB
    if not gpu_count():
        raise NotHereError("needs a GPU")
    device = device_of(gpu(0))
    assert isinstance(device, GPUDevice)
    values, found = np.zeros(1 << 20, np.float32), []
    for megabytes in (0, 2):
        device.empty_cache()
        with flag.override(megabytes):
            array(values, ctx=gpu(0)).wait_to_read()
        found.append(device.staging.held >> 20)
    expect(flag, found == [0, 2], "0 and 2 MB of page-locked memory held", found)
    return "an upload of 4 MB left 2 MB page-locked for the next, and none without the ring"
