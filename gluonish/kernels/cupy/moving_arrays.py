"""Moving arrays: CUDA graphs that read a large array where it is, instead of a copy of it.

A graph holds the addresses of its capture. If an array has another address at each call, either
its values are copied to a fixed address, or the arguments of the graph's nodes are changed: one
call of the driver for each launch that has the address. The change is for later launches of the
graph; those that are running or enqueued are not affected (cuGraphExecKernelNodeSetParams, in
cuda.h). A device copies 5 MiB, read and written at 3 TB/s, in 3.5 us, about what the host takes to
change one launch, so that only larger arrays are moved.

Whether all launches that depend on the address are known is not assumed, but observed: the same
work is captured twice, with the array at two addresses. Captures execute nothing, so the two graphs
differ only in what depends on the address. They must have the same nodes, and differ in nothing but
arguments of 8 bytes of gluonish's own kernels, each of which points into the array in both graphs,
at the same offset. A library that has the address, as a descriptor or with an offset of its own, a
kernel of CuPy's, a structure, or a memory copy is another difference, and then the array is
copied. So it is if a call of the driver fails or is missing (CUDA 12.4 has all of them), if an
address is not aligned to the accesses of kernels, or if the graph writes to the array's memory.

Invariants: a graph is changed and launched by one thread at a time. Its stream runs launches in
order, and memory of the stream is reused by later work only, so that an array may be freed after
the launch that reads it, as after any other launch.
"""

import ctypes
import logging
import weakref
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Sequence
from types import ModuleType
from typing import Any, NamedTuple

from gluonish.core.config import GLUONISH_CUDA_MOVE
from gluonish.kernels.cupy.source import VECTOR_NBYTES, functions_of

_LOG = logging.getLogger("gluonish")

_NBYTES_PER_LAUNCH = 5 << 20
_KERNEL, _MEMCPY, _MEMSET, _EMPTY = 0, 1, 2, 5  # CUgraphNodeType
_INVALID_VALUE = 1  # CUresult
_HOST = 1  # CUmemorytype
_MEMCPY_NBYTES, _SOURCE_TYPE = 200, 32  # CUDA_MEMCPY3D, and its srcMemoryType
_MEMSET_NBYTES = 40  # CUDA_MEMSET_NODE_PARAMS
_WIDTH = 8  # bytes of an address

_POINTER, _SIZE, _UNSIGNED = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_uint


class KernelParams(ctypes.Structure):
    """CUDA_KERNEL_NODE_PARAMS_v2."""

    _fields_ = (
        ("func", _POINTER),
        ("grid", _UNSIGNED * 3),
        ("block", _UNSIGNED * 3),
        ("shared_nbytes", _UNSIGNED),
        ("values", _POINTER),  # the addresses of the arguments
        ("extra", _POINTER),
        ("kernel", _POINTER),
        ("context", _POINTER),
    )


_NODE_PARAMS = (_POINTER, _POINTER)
_PARAM_INFO = (_POINTER, _SIZE, ctypes.POINTER(_SIZE), ctypes.POINTER(_SIZE))
# Parameters of each function (cuda.h); all return a status.
PROTOTYPES: dict[str, tuple[Any, ...]] = {
    "cuGraphGetNodes": (_POINTER, _POINTER, ctypes.POINTER(_SIZE)),
    "cuGraphNodeGetType": (_POINTER, ctypes.POINTER(ctypes.c_int)),
    "cuGraphKernelNodeGetParams_v2": (_POINTER, ctypes.POINTER(KernelParams)),
    "cuGraphMemcpyNodeGetParams": _NODE_PARAMS,
    "cuGraphMemsetNodeGetParams": _NODE_PARAMS,
    "cuFuncGetParamInfo": _PARAM_INFO,
    "cuKernelGetParamInfo": _PARAM_INFO,
    "cuGraphExecKernelNodeSetParams_v2": (_POINTER, _POINTER, ctypes.POINTER(KernelParams)),
}


class _CopiedError(Exception):
    """The array has to be copied; says why."""


class _Node(NamedTuple):
    """A node of a graph.

    Attributes:
        handle: CUgraphNode.
        function: CUfunction of a kernel; 0 for other nodes.
        facts: All that the node is but its arguments, to be compared.
        arguments: The arguments of a kernel.
        params: The parameters of a kernel.
    """

    handle: int
    function: int
    facts: tuple[object, ...]
    arguments: tuple[bytes, ...] = ()
    params: KernelParams | None = None


class Launch:
    """A kernel node of an executable graph, with the arguments of its next launch."""

    __slots__ = ("_places", "node", "params", "values")

    def __init__(self, node: _Node) -> None:
        params = node.params
        assert params is not None
        self.node = node.handle
        self.values = [ctypes.create_string_buffer(x, len(x)) for x in node.arguments]
        places = (_POINTER * len(self.values))(*map(ctypes.addressof, self.values))
        self.params = KernelParams.from_buffer_copy(params)
        self.params.values = ctypes.addressof(places)
        self._places = places


class MovingArray:
    """An array that a graph reads at an address that can be changed between launches.

    Args:
        driver: The driver's functions.
        graph: CuPy's Graph, kept alive.
        places: The launches with the number of the argument and the offset in the array.
        address: The array's address at the capture.

    Attributes:
        address: The address that the next launch of the graph reads.
        is_usable: Whether the graph may be launched; false after the driver refused a change.
    """

    __slots__ = (
        *("_ends", "_graph", "_launches", "_set", "_starts", "_values", "address", "is_usable"),
    )

    def __init__(
        self, driver: "Driver", graph: Any, places: Sequence[tuple[Launch, int, int]], address: int
    ) -> None:
        self._set = driver.functions["cuGraphExecKernelNodeSetParams_v2"]
        self._graph = graph
        self._values = [
            (ctypes.c_uint64.from_buffer(launch.values[number]), offset)
            for launch, number, offset in places
        ]
        self._launches = list(dict.fromkeys(launch for launch, _, _ in places))
        self._starts: list[int] = []
        self._ends: list[int] = []
        self.address = address
        self.is_usable = True

    def keep_apart(self, written: Sequence[Any]) -> None:
        """Refuse to read arrays that overlap with some, which the graph writes."""
        self._starts = sorted(x.data.ptr for x in written)
        self._ends = sorted(x.data.ptr + x.nbytes for x in written)

    def read(self, array: Any) -> bool:
        """Have later launches of the graph read an array, which its stream must not free before.

        Args:
            array: A contiguous array of the same shape and dtype.

        Returns:
            False if the graph has to read a copy, as the array is not aligned or the graph writes
            to it, or if the driver refuses: then the graph is unusable.
        """
        start: int = array.data.ptr
        # Of the spans that begin before the array's end, all must end at or before its start.
        before = bisect_left(self._starts, start + array.nbytes)
        if start % VECTOR_NBYTES or before != bisect_right(self._ends, start):
            return False
        for value, offset in self._values:
            value.value = start + offset
        for launch in self._launches:
            status = self._set(self._graph.graphExec, launch.node, launch.params)
            if status:
                _LOG.debug("A CUDA graph reads no moved array: the driver reports %s", status)
                self.is_usable = False
                return False
        self.address = start
        return True


class Driver:
    """The functions of CUDA's driver that read graphs and change them.

    Args:
        library: Has the functions of `PROTOTYPES`.
    """

    def __init__(self, library: Any) -> None:
        self.functions = {name: getattr(library, name) for name in PROTOTYPES}

    def nodes(self, graph: int) -> list[_Node]:
        """Return the nodes of a CUgraph.

        Raises:
            _CopiedError: A node cannot be compared.
        """
        count = _SIZE()
        self._call("cuGraphGetNodes", graph, None, ctypes.byref(count))
        handles = (_POINTER * count.value)()
        self._call("cuGraphGetNodes", graph, handles, ctypes.byref(count))
        sizes: dict[tuple[str, int], list[int]] = {}
        return [self._node(handle or 0, sizes) for handle in handles]

    def _node(self, handle: int, sizes: dict[tuple[str, int], list[int]]) -> _Node:
        found = ctypes.c_int()
        self._call("cuGraphNodeGetType", handle, ctypes.byref(found))
        kind = found.value
        if kind == _KERNEL:
            return self._kernel(handle, sizes)
        facts: tuple[object, ...] = (kind,)
        if kind == _MEMCPY:
            raw = self._params("cuGraphMemcpyNodeGetParams", handle, _MEMCPY_NBYTES)
            if raw[_SOURCE_TYPE] == _HOST:
                raise _CopiedError("memory of the host is copied, which may hold addresses")
            facts += (raw,)
        elif kind == _MEMSET:
            facts += (self._params("cuGraphMemsetNodeGetParams", handle, _MEMSET_NBYTES),)
        elif kind != _EMPTY:
            raise _CopiedError(f"a node has the type {kind}")
        return _Node(handle, 0, facts)

    def _params(self, name: str, handle: int, nbytes: int) -> bytes:
        params = ctypes.create_string_buffer(nbytes)
        self._call(name, handle, params)
        return params.raw

    def _kernel(self, handle: int, sizes: dict[tuple[str, int], list[int]]) -> _Node:
        params = KernelParams()
        self._call("cuGraphKernelNodeGetParams_v2", handle, ctypes.byref(params))
        function, kernel = params.func or 0, params.kernel or 0
        key = ("cuFuncGetParamInfo", function) if function else ("cuKernelGetParamInfo", kernel)
        if key not in sizes:
            sizes[key] = self._sizes(*key)
        if params.extra or bool(params.values) != bool(sizes[key]):
            raise _CopiedError("a kernel shows no arguments")
        places: Any = ()
        if sizes[key]:
            places = (_POINTER * len(sizes[key])).from_address(params.values)
        arguments = [ctypes.string_at(x, n) for x, n in zip(places, sizes[key], strict=True)]
        launch = (*params.grid, *params.block, params.shared_nbytes, params.context)
        return _Node(handle, function, (_KERNEL, *key, *launch), tuple(arguments), params)

    def _sizes(self, name: str, kernel: int) -> list[int]:
        """Return the sizes of a kernel's parameters in bytes."""
        sizes: list[int] = []
        offset, size = _SIZE(), _SIZE()
        function = self.functions[name]
        while True:
            status = function(kernel, len(sizes), ctypes.byref(offset), ctypes.byref(size))
            if status == _INVALID_VALUE:  # there are no more
                return sizes
            if status:
                raise _CopiedError(f"{name} reports {status}")
            sizes.append(size.value)

    def _call(self, name: str, *args: Any) -> None:
        status = self.functions[name](*args)
        if status:
            raise _CopiedError(f"{name} reports {status}")


_opened: weakref.WeakKeyDictionary[ModuleType, Driver | None] = weakref.WeakKeyDictionary()


def adopt(xp: ModuleType, library: Any) -> None:
    """Use ``library`` instead of the installed driver for graphs of the module ``xp``."""
    _opened[xp] = Driver(library)


def _driver(xp: ModuleType) -> Driver | None:
    """Return the driver; None if it cannot change graphs."""
    if xp not in _opened:
        _opened.setdefault(xp, _load())
    return _opened[xp]


def _load() -> Driver | None:
    try:
        library: Any = ctypes.CDLL("libcuda.so.1")
        for name, parameters in PROTOTYPES.items():
            function = getattr(library, name)
            function.argtypes, function.restype = parameters, ctypes.c_int
    except (AttributeError, OSError) as error:
        _LOG.debug("CUDA graphs read copies of all arrays that move: %s", error)
        return None
    return Driver(library)


def is_worth_moving(xp: ModuleType, nbytes: int, launches: int = 1) -> bool:
    """Whether to change some launches instead of copying an array of this size."""
    return (
        nbytes >= _NBYTES_PER_LAUNCH * launches
        and GLUONISH_CUDA_MOVE.value
        and _driver(xp) is not None
    )


def find_moving(
    xp: Any, graph: Any, other: Any, array: Any, moved: Any, launches: dict[int, "Launch"]
) -> MovingArray | None:
    """Return an array that a graph can read at other addresses; None if it has to be copied.

    Args:
        graph: CuPy's Graph to change.
        other: CuPy's Graph of the same work, with the array in another place.
        array: The array of ``graph``, which reads it only.
        moved: The array of ``other``.
        launches: Launches of ``graph`` that have been found so far, by their nodes; those that have
            the array are added. All moving arrays of a graph must share them.
    """
    driver = _driver(xp)
    assert driver is not None, "is_worth_moving was not asked"
    try:
        found = _places(
            driver.nodes(graph.graph),
            driver.nodes(other.graph),
            range(array.data.ptr, array.data.ptr + array.nbytes),
            moved.data.ptr - array.data.ptr,
            functions_of(xp),
        )
        count = len({node.handle for node, _, _ in found})
        if not is_worth_moving(xp, array.nbytes, count):
            raise _CopiedError(f"{count} launches read it")
    except _CopiedError as reason:
        _LOG.debug("A CUDA graph reads a copy of %s: %s", array.shape, reason)
        return None
    places = [
        (launches.setdefault(node.handle, Launch(node)), number, offset)
        for node, number, offset in found
    ]
    return MovingArray(driver, graph, places, array.data.ptr)


def _places(
    nodes: Sequence[_Node],
    others: Sequence[_Node],
    addresses: range,
    distance: int,
    own: Collection[int],
) -> list[tuple[_Node, int, int]]:
    """Return where nodes of two graphs differ: the node, the argument, the offset in the array.

    Args:
        nodes: Of the graph with the array at ``addresses``.
        others: Of the graph with the array ``distance`` bytes behind.
        addresses: Of the array's bytes.
        own: CUfunctions of gluonish's kernels.

    Raises:
        _CopiedError: There is another difference, or none.
    """
    if [node.facts for node in nodes] != [node.facts for node in others]:
        raise _CopiedError("other work is launched for other addresses")
    found = []
    for node, other in zip(nodes, others, strict=True):
        changed = [i for i, x in enumerate(node.arguments) if x != other.arguments[i]]
        if not changed:
            continue
        if node.function not in own:
            raise _CopiedError("a library has its address")
        for number in changed:
            before, after = (x.arguments[number] for x in (node, other))
            address = int.from_bytes(before, "little")
            step = int.from_bytes(after, "little") - address
            if len(before) != _WIDTH or address not in addresses or step != distance:
                raise _CopiedError("its address is part of an argument")
            found.append((node, number, address - addresses.start))
    if not found:
        raise _CopiedError("no launch has its address")
    return found
