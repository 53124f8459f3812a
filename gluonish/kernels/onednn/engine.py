"""The engine: one loaded library, and a stream and scratch memory for each thread.

Invariants. `Engine` is shared by all threads and immutable. The library fixes the number of threads
of a primitive when it is created, and plans are shared. Therefore the number belongs to the engine,
and each thread sets it before it creates its first primitive. `ThreadState` belongs to one thread:
no two runs use its scratch memory at once, because a thread runs one plan at a time. Each thread
has a small buffer; larger ones are shared by all threads, acquired by `ThreadState.reserve` and
released at the end of `ThreadState.run`.
"""

import threading
from collections.abc import Iterable
from typing import Any

import ml_dtypes
import numpy as np

from gluonish.kernels.onednn.api import Api, DataType, OneDNNError
from gluonish.kernels.onednn.memory import Descriptor, contiguous_strides, element_strides
from gluonish.kernels.onednn.native_calls import NativeCalls
from gluonish.kernels.onednn.primitive import PrimitiveDescriptor
from gluonish.kernels.onednn.workspaces import Workspace, Workspaces
from gluonish.ops.kernel import Array, RefusedError

_PER_THREAD = 1 << 20  # limit of each thread's scratch buffer, in bytes

_FLOAT32 = np.dtype(np.float32)
_BFLOAT16 = np.dtype(ml_dtypes.bfloat16)


class ThreadState:
    """One thread's stream and scratch memory.

    Args:
        engine: Handle of the engine.
        workspaces: Pool of large scratch buffers.
        threads: Number of threads of primitives created in this thread; 0 for OpenMP's default.
    """

    __slots__ = (
        "__weakref__",
        "_api",
        "_scratch",
        "_threads",
        "_workspace",
        "_workspaces",
        "stream",
    )

    def __init__(self, api: Api, engine: int, workspaces: Workspaces, threads: int) -> None:
        if threads:
            api.limit_threads(threads)
        self._api = api
        self._workspaces = workspaces
        self._scratch = Workspace(0)
        self._workspace: Workspace | None = None
        self._threads = api.max_threads()
        self.stream = api.create_stream(self, engine)

    @property
    def nbytes(self) -> int:
        """Size of the thread's scratch buffer."""
        return self._scratch.nbytes

    def run(
        self, steps: Iterable[tuple[int, int, Any, int]], native: NativeCalls | None = None
    ) -> None:
        """Run primitives, and release the workspace that `reserve` acquired for them.

        Args:
            steps: Handle, number of arguments, arguments, and number of threads of each primitive.
                Running with another number of threads than at creation would be slow.
            native: Calls to run in place of ``steps``.

        Raises:
            OneDNNError: A primitive failed.
        """
        api, stream, usual = self._api, self.stream, self._threads
        active = usual
        try:
            if native is not None:
                active = native.run(stream, usual)
                native.check()
                return
            for handle, count, arguments, threads in steps:
                if threads != active:
                    api.limit_threads(threads)
                    active = threads
                status = api.execute(handle, stream, count, arguments)
                if status:
                    api.check(status, "dnnl_primitive_execute")
            api.wait(stream)
        finally:
            if active != usual:
                api.limit_threads(usual)
            workspace = self._workspace
            if workspace is not None:
                self._workspace = None
                self._workspaces.release(workspace)

    def reserve(self, nbytes: int) -> int:
        """Return the address of page-aligned scratch memory of ``nbytes`` for the next `run`."""
        if nbytes > _PER_THREAD:
            return self._acquire(nbytes).address
        if nbytes > self._scratch.nbytes:
            self._scratch = Workspace(nbytes)
        return self._scratch.address

    def _acquire(self, nbytes: int) -> Workspace:
        """Return a large buffer; reuse the last one if no `run` has followed its `reserve`."""
        workspace, self._workspace = self._workspace, None
        if workspace is None or workspace.nbytes < nbytes:
            workspace = self._workspaces.acquire(nbytes)
        self._workspace = workspace
        return workspace


class Engine:
    """The CPU engine of a library; `gluonish.kernels.onednn.load` explains the arguments."""

    def __init__(self, api: Api, threads: int = 0, workspaces: int = 1) -> None:
        self.api = api
        self.workspaces = Workspaces(workspaces)
        self._threads = threads
        self.handle = api.create_engine()
        self.attributes = api.create_attributes(self)
        self._local = threading.local()
        self.data_types: dict[np.dtype[np.generic], DataType] = {_FLOAT32: DataType.F32}
        if self._multiplies(DataType.BF16):
            self.data_types[_BFLOAT16] = DataType.BF16

    def thread(self) -> ThreadState:
        """Return the calling thread's stream and scratch memory."""
        try:
            state: ThreadState = self._local.state
        except AttributeError:
            state = self._local.state = ThreadState(
                self.api, self.handle, self.workspaces, self._threads
            )
        return state

    def use_one_thread(self) -> int:
        """Create this thread's primitives for one thread until `restore_threads` is called.

        Returns:
            The previous number of threads, to restore.
        """
        before = self.api.max_threads()
        if before > 1:
            self.api.limit_threads(1)
        return before

    def restore_threads(self, before: int) -> None:
        """Create this thread's primitives for ``before`` threads again."""
        if before > 1:
            self.api.limit_threads(before)

    def forget_workers(self) -> None:
        """Use one thread from now on, because OpenMP's workers are gone in a forked child.

        The caller must drop all plans, too: their primitives would wait for the workers forever.
        """
        self._threads = 1
        self._local = threading.local()
        self.api.limit_threads(1)

    def describe(self, array: Array) -> Descriptor:
        """Return the layout of an array.

        Raises:
            OneDNNError: The library does not compute in its dtype on this machine.
        """
        strides = element_strides(array)
        return Descriptor.strided(self.api, array.shape, strides, self.data_type(array))

    def undecided(self, array: Array) -> Descriptor:
        """Return a descriptor of an array's shape and dtype; the primitive chooses the layout."""
        return Descriptor.undecided(self.api, array.shape, self.data_type(array))

    def contiguous(self, array: Array) -> Descriptor:
        """Return the C-contiguous layout of an array's shape and dtype."""
        strides = contiguous_strides(array.shape)
        return Descriptor.strided(self.api, array.shape, strides, self.data_type(array))

    def common_layouts(self, *arrays: Array) -> list[Descriptor]:
        """Return layouts for arrays that a primitive requires in the same order of axes.

        These are the actual layouts if all are channels last; else all are contiguous, and the plan
        reorders arrays that are not.
        """
        if all(np.moveaxis(array, 1, -1).flags.c_contiguous for array in arrays):
            return [self.describe(array) for array in arrays]
        return [self.contiguous(array) for array in arrays]

    def data_type(self, array: Array) -> DataType:
        """Return the library's name for an array's dtype.

        Raises:
            OneDNNError: The library does not compute in this dtype on this machine.
        """
        data_type = self.data_types.get(array.dtype)
        if data_type is None:
            names = " or ".join(str(dtype) for dtype in self.data_types)
            raise OneDNNError(f"oneDNN: expected dtype {names}, got {array.dtype}")
        return data_type

    def _multiplies(self, data_type: DataType) -> bool:
        """Whether the library computes in a type on this machine: bfloat16 needs AVX-512."""
        square = Descriptor.strided(self.api, (16, 16), (16, 1), data_type)
        handles = (square.handle, square.handle, None, square.handle, self.attributes)
        try:
            PrimitiveDescriptor(
                self.api, "dnnl_matmul_primitive_desc_create", self.handle, *handles
            )
        except (OneDNNError, RefusedError):
            return False
        return True
