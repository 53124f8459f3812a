"""The engine: one loaded library, and a stream and scratch memory for each thread.

Invariants. `Engine` is shared by all threads and does not change once made. The library fixes the
number of threads in a primitive when it is made, and plans are shared: so the number is the
engine's, and each thread sets it before it makes its first primitive. `ThreadState` belongs
to one thread: its scratch memory is never used by two runs at once, because a thread runs one
plan at a time. A little is the thread's own; more is taken from what all threads share, from
`ThreadState.reserve` to the end of `ThreadState.run`.
"""

import threading
from collections.abc import Iterable
from typing import Any

import ml_dtypes
import numpy as np

from gluonish.kernels.onednn.api import Api, DataType, OneDNNError
from gluonish.kernels.onednn.memory import Descriptor, contiguous_strides, element_strides
from gluonish.kernels.onednn.primitive import PrimitiveDescriptor
from gluonish.kernels.onednn.workspaces import Workspace, Workspaces
from gluonish.ops.kernel import Array, RefusedError

_OWN = 1 << 20  # bytes of scratch that each thread may have to itself

_FLOAT32 = np.dtype(np.float32)
_BFLOAT16 = np.dtype(ml_dtypes.bfloat16)


class ThreadState:
    """One thread's stream and scratch memory.

    Args:
        api: The library.
        engine: Handle of the engine.
        workspaces: Where large scratch buffers come from.
        threads: How many threads primitives use that are made in this thread; 0 for what OpenMP
            would take.
    """

    __slots__ = ("__weakref__", "_api", "_own", "_taken", "_threads", "_workspaces", "stream")

    def __init__(self, api: Api, engine: int, workspaces: Workspaces, threads: int) -> None:
        if threads:
            api.limit_threads(threads)
        self._api = api
        self._workspaces = workspaces
        self._own = Workspace(0)
        self._taken: Workspace | None = None
        self._threads = api.max_threads()
        self.stream = api.create_stream(self, engine)

    @property
    def nbytes(self) -> int:
        """Size of the thread's own scratch buffer."""
        return self._own.nbytes

    def run(self, steps: Iterable[tuple[int, int, Any, int]]) -> None:
        """Run primitives, and give back what `reserve` took for them.

        Args:
            steps: For each the handle, how many arguments, the arguments, and how many threads it
                was made for: to have another number join is slow, and changes what it costs.

        Raises:
            OneDNNError: A primitive failed.
        """
        api, stream, usual = self._api, self.stream, self._threads
        active = usual
        try:
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
            taken = self._taken
            if taken is not None:
                self._taken = None
                self._workspaces.give(taken)

    def reserve(self, nbytes: int) -> int:
        """Address of ``nbytes`` or more of scratch, aligned to a page, for the next `run`."""
        if nbytes > _OWN:
            return self._take(nbytes).address
        if nbytes > self._own.nbytes:
            self._own = Workspace(nbytes)
        return self._own.address

    def _take(self, nbytes: int) -> Workspace:
        """Return a large buffer; one is here already where no run came after a `reserve`."""
        taken, self._taken = self._taken, None
        if taken is None or taken.nbytes < nbytes:
            taken = self._workspaces.take(nbytes)
        self._taken = taken
        return taken


class Engine:
    """The CPU engine of one library.

    Args:
        api: The library.
        threads: How many threads each primitive uses; 0 for what OpenMP would take, which is
            ``OMP_NUM_THREADS`` as it was when the library was loaded, else all cores.
        workspaces: How many large scratch buffers are kept for each device.
    """

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
        """The calling thread's stream and scratch memory."""
        try:
            state: ThreadState = self._local.state
        except AttributeError:
            state = self._local.state = ThreadState(
                self.api, self.handle, self.workspaces, self._threads
            )
        return state

    def begin_small(self) -> int:
        """Have primitives that this thread makes from now on use one thread; see `end_small`.

        Returns:
            How many they used before.
        """
        before = self.api.max_threads()
        if before > 1:
            self.api.limit_threads(1)
        return before

    def end_small(self, before: int) -> None:
        """Have new primitives use as many threads as before `begin_small`."""
        if before > 1:
            self.api.limit_threads(before)

    def forget_workers(self) -> None:
        """In a forked child, where OpenMP's worker threads are gone: use one thread from now on.

        A primitive keeps the number of threads it was made with, and would wait for them forever:
        drop all plans as well.
        """
        self._threads = 1
        self._local = threading.local()
        self.api.limit_threads(1)

    def describe(self, array: Array) -> Descriptor:
        """The layout of an array as it is.

        Raises:
            OneDNNError: Its dtype is not one that this machine computes in.
        """
        strides = element_strides(array)
        return Descriptor.strided(self.api, array.shape, strides, self.data_type(array))

    def undecided(self, array: Array) -> Descriptor:
        """The shape and dtype of an array, in whatever layout a primitive wants."""
        return Descriptor.undecided(self.api, array.shape, self.data_type(array))

    def contiguous(self, array: Array) -> Descriptor:
        """The layout that a C-contiguous array of this shape and dtype has."""
        strides = contiguous_strides(array.shape)
        return Descriptor.strided(self.api, array.shape, strides, self.data_type(array))

    def agreed(self, *arrays: Array) -> list[Descriptor]:
        """Layouts for arrays that a primitive wants alike.

        They are the arrays' own where all are contiguous or all have their channels last; else all
        contiguous, and the plan reorders those that are not.
        """
        if all(np.moveaxis(array, 1, -1).flags.c_contiguous for array in arrays):
            return [self.describe(array) for array in arrays]
        return [self.contiguous(array) for array in arrays]

    def data_type(self, array: Array) -> DataType:
        """The library's name for an array's dtype.

        Raises:
            OneDNNError: The library does not compute in it here.
        """
        data_type = self.data_types.get(array.dtype)
        if data_type is None:
            names = " or ".join(str(dtype) for dtype in self.data_types)
            raise OneDNNError(f"oneDNN: expected dtype {names}, got {array.dtype}")
        return data_type

    def _multiplies(self, data_type: DataType) -> bool:
        """Whether the library computes in the type here: bfloat16 needs AVX-512."""
        square = Descriptor.strided(self.api, (16, 16), (16, 1), data_type)
        handles = (square.handle, square.handle, None, square.handle, self.attributes)
        try:
            PrimitiveDescriptor(
                self.api, "dnnl_matmul_primitive_desc_create", self.handle, *handles
            )
        except (OneDNNError, RefusedError):
            return False
        return True
