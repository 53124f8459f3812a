"""A restricted pickle reader for PyTorch checkpoints, which executes no code of the file.

Tensors become `StoredTensor`, a reference to their storage. Other objects in checkpoints (command
line options, NumPy numbers) become inert objects. All classes and functions named in a file are
replaced by stand-ins that check their arguments.
"""

import io
import math
import pickle
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from gluonish.core.dtype import BFLOAT16, BOOL, FLOAT16, FLOAT32, FLOAT64, INT8, INT32, INT64, UINT8
from gluonish.core.errors import FileFormatError
from gluonish.core.pickle_safety import BROKEN_PICKLE, Sealed, check_opcodes

MAX_PICKLE_NBYTES = 4 << 20
"""A checkpoint's pickle has some 200 bytes for each tensor, without its numbers."""
MAX_OPCODES = 300_000
"""A checkpoint's pickle has some 30 opcodes for each tensor."""

_DTYPES: Mapping[str, np.dtype[Any]] = {
    "Double": FLOAT64,
    "Float": FLOAT32,
    "Half": FLOAT16,
    "BFloat16": BFLOAT16,
    "Long": INT64,
    "Int": INT32,
    "Short": np.dtype(np.int16),
    "Char": INT8,
    "Byte": UINT8,
    "Bool": BOOL,
}


class StorageClass(NamedTuple):
    """A class of storages, such as ``torch.FloatStorage``.

    Attributes:
        name: Name without the module.
        dtype: Element type; None if the pickle specifies it elsewhere.
    """

    name: str
    dtype: np.dtype[Any] | None


class Storage(NamedTuple):
    """A block of numbers stored outside the pickle.

    Attributes:
        key: Name of the storage in the file.
        dtype: Element type; None for bytes.
        elements: Declared number of elements.
    """

    key: str
    dtype: np.dtype[Any] | None
    elements: int

    @property
    def nbytes(self) -> int:
        """Declared number of bytes."""
        return self.elements * (1 if self.dtype is None else self.dtype.itemsize)


class StoredTensor(NamedTuple):
    """A tensor: a view of a storage, checked against its bounds.

    Attributes:
        storage: The storage.
        dtype: Element type.
        offset: Index of the first element in the storage.
        shape: Shape of the tensor.
        strides: Strides along each axis, in elements.
    """

    storage: Storage
    dtype: np.dtype[Any]
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


class _Marker(NamedTuple):
    """A stand-in for a dtype or a class, of which only the name is kept."""

    name: str


class _Mapping(dict[Any, Any], metaclass=Sealed):
    """A stand-in for dictionaries; drops attributes, such as ``_metadata`` of a state dict."""

    def __setstate__(self, state: object) -> None:
        """Drop the attributes."""


class _DefaultMapping(_Mapping):
    def __new__(cls, factory: object = None) -> Any:
        return _Mapping()


class _Inert(metaclass=Sealed):
    """A stand-in for other objects; drops their content."""

    def __new__(cls, *args: object, **kwargs: object) -> Any:
        return super().__new__(cls)

    def __init__(self, *args: object, **kwargs: object) -> None:
        pass

    def __setstate__(self, state: object) -> None:
        """Drop the content."""


class _Size(metaclass=Sealed):
    """Stand-in for ``torch.Size``."""

    def __new__(cls, extents: object = ()) -> Any:
        return _extents(extents, "a size")


class _Tensor(metaclass=Sealed):
    """Stand-in for ``torch._utils._rebuild_tensor_v2`` and its older form with fewer arguments."""

    def __new__(cls, storage: Any, offset: Any, shape: Any, strides: Any, *unused: object) -> Any:
        dtype = storage.dtype if isinstance(storage, Storage) else None
        return _tensor(storage, dtype, offset, shape, strides)


class _TypedTensor(metaclass=Sealed):
    """Stand-in for ``torch._utils._rebuild_tensor_v3``, whose storage has no dtype."""

    def __new__(
        cls,
        storage: Any,
        offset: Any,
        shape: Any,
        strides: Any,
        requires_grad: object,
        hooks: object,
        dtype: Any,
        *unused: object,
    ) -> Any:
        known = _TORCH_DTYPES.get(dtype.name) if isinstance(dtype, _Marker) else None
        return _tensor(storage, known, offset, shape, strides)


class _Parameter(metaclass=Sealed):
    """Stand-in for ``torch._utils._rebuild_parameter``, with or without attributes."""

    def __new__(cls, data: object, *unused: object) -> Any:
        if not isinstance(data, StoredTensor):
            raise FileFormatError(f"expected a tensor for a parameter, got {data!r:.60}")
        return data


class _Subclass(metaclass=Sealed):
    """Stand-in for ``torch._tensor._rebuild_from_type_v2``, for subclasses and attributes."""

    def __new__(cls, function: object, kind: object, arguments: object, state: object) -> Any:
        if function not in (_Tensor, _TypedTensor, _Parameter) or not isinstance(arguments, tuple):
            raise FileFormatError(f"expected the arguments of a tensor, got {function!r:.60}")
        return function(*arguments)


def _tensor(
    storage: object, dtype: np.dtype[Any] | None, offset: object, shape: object, strides: object
) -> StoredTensor:
    if not isinstance(storage, Storage) or dtype is None:
        raise FileFormatError(f"expected a storage with a known dtype, got {storage!r:.80}")
    extents, steps = _extents(shape, "a shape"), _extents(strides, "strides")
    start = _extents((offset,), "an offset")[0]
    if len(extents) != len(steps):
        raise FileFormatError(f"expected a stride for each axis of {extents}, got {steps}")
    count = storage.nbytes // dtype.itemsize
    last = sum((size - 1) * step for size, step in zip(extents, steps, strict=True))
    elements = math.prod(extents)
    if elements and (start + last >= count or elements > count):
        raise FileFormatError(
            f"expected a tensor inside its storage {storage.key!r} of {count} elements, got offset"
            f" {start}, shape {extents}, strides {steps}"
        )
    return StoredTensor(storage, dtype, start, extents, steps)


def _extents(values: object, what: str) -> tuple[int, ...]:
    if isinstance(values, list | tuple) and all(
        type(value) is int and 0 <= value < 1 << 62 for value in values
    ):
        return tuple(values)
    raise FileFormatError(f"expected {what} of non-negative integers, got {values!r:.80}")


_TORCH_DTYPES: Mapping[str, np.dtype[Any]] = {
    f"torch.{dtype.name}": dtype for dtype in _DTYPES.values()
} | {f"torch.uint{bits}": np.dtype(f"uint{bits}") for bits in (16, 32, 64)}
_GLOBALS: Mapping[str, object] = {
    "collections.OrderedDict": _Mapping,
    "collections.defaultdict": _DefaultMapping,
    "torch.Size": _Size,
    "torch._utils._rebuild_tensor": _Tensor,
    "torch._utils._rebuild_tensor_v2": _Tensor,
    "torch._utils._rebuild_tensor_v3": _TypedTensor,
    "torch._utils._rebuild_parameter": _Parameter,
    "torch._utils._rebuild_parameter_with_state": _Parameter,
    "torch._tensor._rebuild_from_type_v2": _Subclass,
    **{
        f"{module}.{name}Storage": StorageClass(f"{name}Storage", dtype)
        for module in ("torch", "torch.cuda")
        for name, dtype in _DTYPES.items()
    },
    "torch.storage.UntypedStorage": StorageClass("UntypedStorage", None),
    **{
        name: _Marker(name)
        for name in (
            *_TORCH_DTYPES,
            *("torch.Tensor", "torch.nn.parameter.Parameter"),
            *("builtins.dict", "builtins.list", "builtins.int", "builtins.float"),
        )
    },
    **dict.fromkeys(
        (
            *("argparse.Namespace", "torch.device", "pathlib.PosixPath", "_codecs.encode"),
            *("numpy.dtype", "numpy.core.multiarray.scalar", "numpy._core.multiarray.scalar"),
        ),
        _Inert,
    ),
}  # fmt: skip


class _Reader(pickle.Unpickler):
    """An unpickler that resolves names only to the stand-ins above."""

    storages: dict[str, Storage]

    def find_class(self, module: str, name: str) -> Any:
        full_name = f"{module}.{name}"
        if full_name in _GLOBALS:
            return _GLOBALS[full_name]
        raise FileFormatError(
            f"expected tensors and plain data, got {full_name:.100}; save only the state_dict in"
            " PyTorch: torch.save(model.state_dict(), path)"
        )

    def persistent_load(self, identity: Any) -> Any:
        """Return the storage of a persistent id."""
        if not isinstance(identity, tuple) or len(identity) < 5 or identity[0] != "storage":
            raise FileFormatError(f"expected the identity of a storage, got {identity!r:.80}")
        kind, key, count = identity[1], identity[2], identity[4]
        if not isinstance(kind, StorageClass) or not isinstance(key, str):
            raise FileFormatError(f"expected the class and name of a storage, got {identity!r:.80}")
        if len(identity) > 5 and identity[5] is not None:
            raise FileFormatError(f"expected a full storage, got a view of it: {identity!r:.80}")
        storage = Storage(key, kind.dtype, _extents((count,), "a count")[0])
        # Tensors are checked against the declared size, which must not change.
        if self.storages.setdefault(key, storage).nbytes != storage.nbytes:
            raise FileFormatError(f"expected one size of storage {key!r:.60}, got {identity!r:.80}")
        return storage


def load_torch_pickle(data: bytes) -> tuple[object, dict[str, Storage]]:
    """Read a checkpoint's pickle without running code from it.

    Args:
        data: The pickle.

    Returns:
        The unpickled object, with `StoredTensor` for tensors; and the storages by key, in the order
        of their first use.

    Raises:
        FileFormatError: The data is not a pickle, is too long, refers to anything but tensors and
            plain data, or contains a tensor outside its storage.
    """
    reader = _Reader(io.BytesIO(data), encoding="latin1")
    reader.storages = {}
    try:
        check_opcodes(data, (), MAX_PICKLE_NBYTES, MAX_OPCODES)
        return reader.load(), reader.storages
    except FileFormatError:
        raise
    except BROKEN_PICKLE as error:
        raise FileFormatError(f"expected a pickle of tensors, got {error!r:.200}") from error
