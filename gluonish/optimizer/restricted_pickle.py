"""Pickles of states: loaded without running code, and written in MXNet's format.

Arrays become `ArrayState`, optimizers and schedulers become `ForeignObject`: a class name and a
dictionary, without behaviour. Stand-ins replace the classes and functions that a file refers to;
they check their arguments, and a file cannot modify them.

The writer emits protocol 4 opcodes directly, because `pickle.Pickler` imports every class by name,
and the names are MXNet's.
"""

import io
import pickle
import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gluonish.core.errors import ArgumentTypeError, FileFormatError
from gluonish.core.pickle_safety import BROKEN_PICKLE, Sealed, check_opcodes
from gluonish.ndarray.array_file import ArrayRecord, DenseRecord, decode_record, encode_record

_ARRAY_CLASSES = frozenset(
    {
        "ndarray.ndarray.NDArray",
        "ndarray.NDArray",
        "ndarray.sparse.RowSparseNDArray",
        "ndarray.sparse.CSRNDArray",
    }
)
_NUMPY_ARRAY_CLASSES = frozenset({"numpy.ndarray", "numpy.multiarray.ndarray"})
_FOREIGN_MODULES = re.compile(r"(mxnet|gluonish)\.(optimizer(\.[a-z_]\w*)*|lr_scheduler)")


class ArrayState:
    """An array in a states file; ``is_numpy`` if it is an ``mx.np.ndarray``."""

    __slots__ = ("is_numpy", "record")

    def __init__(self, record: ArrayRecord, *, is_numpy: bool = False) -> None:
        self.record = record
        self.is_numpy = is_numpy

    @property
    def values(self) -> Any:
        """The dense array, or the stored values of a sparse one; None for an undefined array."""
        return self.record.values

    def __repr__(self) -> str:
        return f"ArrayState({self.record.stype}, {self.record.shape}, {self.record.dtype})"


@dataclass(slots=True, eq=False)
class ForeignObject:
    """An optimizer or a scheduler in a states file.

    Args:
        class_name: Module and class, such as ``mxnet.optimizer.optimizer.SGD``.
        state: Instance dictionary of the object.
    """

    class_name: str
    state: dict[str, Any] = field(default_factory=dict)

    def __setstate__(self, state: object) -> None:
        """Set the instance dictionary from a pickle."""
        if not isinstance(state, dict) or not all(isinstance(key, str) for key in state):
            raise FileFormatError(
                f"expected a dictionary for {self.class_name}, got {type(state).__name__}"
            )
        self.state = state


# Stand-ins for the classes and functions that a pickle refers to. A pickle may call them with any
# arguments and may try to modify them, so they check their arguments and are immutable.


class _PickledArray(ArrayState, metaclass=Sealed):
    """An `ArrayState` whose record is set after construction, as ``{"handle": bytes}``."""

    __slots__ = ()
    _of_numpy = False

    def __init__(self, handle: None = None) -> None:
        if handle is not None:
            raise FileFormatError(f"expected NDArray(None), got NDArray({handle!r:.40})")
        super().__init__(DenseRecord(None), is_numpy=self._of_numpy)

    def __setstate__(self, state: object) -> None:
        handle = state.get("handle") if isinstance(state, dict) else state
        if isinstance(handle, bytes | bytearray):
            self.record = decode_record(handle)
        elif handle is not None:
            raise FileFormatError(f"expected the bytes of an array, got {handle!r:.40}")


class _PickledNumpyArray(_PickledArray):
    __slots__ = ()
    _of_numpy = True


class _ForeignClass(metaclass=Sealed):
    class_name = ""

    def __new__(cls) -> Any:
        return ForeignObject(cls.class_name)


class _Bytes(metaclass=Sealed):
    """Stand-in for ``bytearray`` and ``_codecs.encode``, called with bytes or (Python 2) str."""

    def __new__(cls, data: object = b"", encoding: object = None) -> Any:
        if isinstance(data, bytes) and encoding is None:
            return data
        if isinstance(data, str) and encoding in ("latin-1", "latin1"):
            return data.encode("latin-1")
        raise FileFormatError(f"expected bytes, got {data!r:.40}")


class _Object(metaclass=Sealed):
    """Stand-in for ``object``, the base argument of `_Reconstructor`."""


class _Reconstructor(metaclass=Sealed):
    """Stand-in for ``copyreg._reconstructor``, which creates objects in pickles of Python 2."""

    def __new__(cls, klass: object, base: object, state: object) -> Any:
        if isinstance(klass, type) and issubclass(klass, _ForeignClass) and base is _Object:
            return klass()
        raise FileFormatError(f"expected an optimizer or scheduler, got {klass!r:.80}")


class _NumberType(metaclass=Sealed):
    """Stand-in for ``numpy.dtype``, for NumPy numbers that a user passed as a learning rate."""

    def __init__(self, code: object, align: object = False, copy: object = True) -> None:
        if not isinstance(code, str) or not re.fullmatch("[bfiu][1248]", code):
            raise FileFormatError(f"expected the dtype of a number, got {code!r:.40}")
        self.dtype = np.dtype(code).newbyteorder("<")

    def __setstate__(self, state: object) -> None:
        if not isinstance(state, tuple) or len(state) < 2 or state[1] not in ("<", "|"):
            raise FileFormatError(f"expected a little-endian dtype, got {state!r:.40}")


class _Number(metaclass=Sealed):
    def __new__(cls, kind: object, data: object) -> Any:
        if isinstance(data, str):
            data = data.encode("latin-1")
        if not isinstance(kind, _NumberType) or not isinstance(data, bytes):
            raise FileFormatError(f"expected a NumPy number, got {kind!r:.40}")
        return np.frombuffer(data, kind.dtype, 1)[0].item()


_GLOBALS: Mapping[str, type] = {
    "builtins.bytearray": _Bytes,
    "__builtin__.bytearray": _Bytes,
    "_codecs.encode": _Bytes,
    "builtins.object": _Object,
    "__builtin__.object": _Object,
    "copyreg._reconstructor": _Reconstructor,
    "copy_reg._reconstructor": _Reconstructor,
    "numpy.dtype": _NumberType,
    "numpy.core.multiarray.scalar": _Number,
    "numpy._core.multiarray.scalar": _Number,
}
# States files have no persistent ids.
_REFUSED_OPCODES = frozenset({"BINPERSID"})


class _Reader(pickle.Unpickler):
    """Unpickler that resolves names only to the stand-ins above."""

    def find_class(self, module: str, name: str) -> Any:
        full_name = f"{module}.{name}"
        if full_name in _GLOBALS:
            return _GLOBALS[full_name]
        package, _, inner = full_name.partition(".")
        if package in ("mxnet", "gluonish") and inner in _ARRAY_CLASSES:
            return _PickledArray
        if package in ("mxnet", "gluonish") and inner in _NUMPY_ARRAY_CLASSES:
            return _PickledNumpyArray
        if _FOREIGN_MODULES.fullmatch(module) and name.isidentifier():
            return Sealed(name, (_ForeignClass,), {"class_name": full_name})
        raise FileFormatError(
            f"expected arrays, optimizers and schedulers of MXNet, got {full_name};"
            " user-defined classes are not loaded: save states without the optimizer"
        )


def load_restricted(data: bytes) -> object:
    """Load a pickle, of any protocol, of plain data, arrays, optimizers and schedulers.

    Raises:
        FileFormatError: The data is not a pickle, or refers to another class; the message
            contains the approximate byte offset.
    """
    source = io.BytesIO(data)
    try:
        check_opcodes(source, _REFUSED_OPCODES, len(data))
        source.seek(0)
        return _Reader(source, encoding="latin1").load()
    except FileFormatError as error:
        raise FileFormatError(f"{error}, near byte {source.tell()}") from error
    except BROKEN_PICKLE as error:
        raise FileFormatError(
            f"expected a pickle of states, got {error!r:.200} near byte {source.tell()}"
        ) from error


_WRITTEN_CLASSES = {
    "default": ("mxnet.ndarray.ndarray", "NDArray"),
    "row_sparse": ("mxnet.ndarray.sparse", "RowSparseNDArray"),
    "csr": ("mxnet.ndarray.sparse", "CSRNDArray"),
}
_NUMPY_CLASS = ("mxnet.numpy", "ndarray")


def dump_restricted(value: object) -> bytes:
    """Pickle numbers, text, tuples, lists, dictionaries, `ArrayState` and `ForeignObject`.

    Loading preserves shared references.

    Raises:
        ArgumentTypeError: The value contains an object of another type.
    """
    writer = _Writer()
    writer.save(value)
    return writer.content()


class _Writer:
    """Emits pickle protocol 4 for plain data, arrays and foreign objects."""

    def __init__(self) -> None:
        self._chunks: list[bytes] = [pickle.PROTO + b"\x04"]
        # By id; the reference keeps the id from being reused.
        self._memo: dict[int, tuple[int, object]] = {}
        self._globals: dict[tuple[str, str], int] = {}
        self._memo_count = 0

    def content(self) -> bytes:
        return b"".join([*self._chunks, pickle.STOP])

    def save(self, value: object) -> None:
        if isinstance(value, np.generic):
            value = value.item()
        if value is None or isinstance(value, bool | int | float | str | bytes | bytearray):
            self._save_scalar(value)
        elif id(value) in self._memo:
            self._get(self._memo[id(value)][0])
        elif isinstance(value, ArrayState):
            self._save_array(value)
        elif isinstance(value, ForeignObject):
            self._save_foreign(value)
        else:
            self._save_container(value)

    def _save_scalar(self, value: bool | int | float | str | bytes | bytearray | None) -> None:
        if value is None:
            self._chunks.append(pickle.NONE)
        elif isinstance(value, bool):
            self._chunks.append(pickle.NEWTRUE if value else pickle.NEWFALSE)
        elif isinstance(value, int):
            self._chunks.append(_integer(int(value)))
        elif isinstance(value, float):
            self._chunks.append(pickle.BINFLOAT + struct.pack(">d", value))
        elif isinstance(value, str):
            text = value.encode("utf-8", "surrogatepass")
            self._chunks += [pickle.BINUNICODE8, struct.pack("<Q", len(text)), text]
        else:
            self._chunks += [pickle.BINBYTES8, struct.pack("<Q", len(value)), bytes(value)]

    def _save_array(self, array: ArrayState) -> None:
        self._global(*(_NUMPY_CLASS if array.is_numpy else _WRITTEN_CLASSES[array.record.stype]))
        self._chunks.append(pickle.NONE + pickle.TUPLE1 + pickle.REDUCE)
        self._remember(array)
        self._chunks.append(pickle.EMPTY_DICT)
        self.save("handle")
        if isinstance(array.record, DenseRecord) and array.record.values is None:
            self._chunks.append(pickle.NONE)
        else:
            self._global("builtins", "bytearray")
            self.save(encode_record(array.record, numpy_shape=array.is_numpy))
            self._chunks.append(pickle.TUPLE1 + pickle.REDUCE)
        self._chunks.append(pickle.SETITEM + pickle.BUILD)

    def _save_foreign(self, value: ForeignObject) -> None:
        module, _, name = value.class_name.rpartition(".")
        self._global(module, name)
        self._chunks.append(pickle.EMPTY_TUPLE + pickle.NEWOBJ)
        self._remember(value)
        self.save(value.state)
        self._chunks.append(pickle.BUILD)

    def _save_container(self, value: object) -> None:
        if isinstance(value, tuple):
            self._chunks.append(pickle.MARK)
            for item in value:
                self.save(item)
            self._chunks.append(pickle.TUPLE)
            self._remember(value)
        elif isinstance(value, list):
            self._chunks.append(pickle.EMPTY_LIST)
            self._remember(value)
            self._chunks.append(pickle.MARK)
            for item in value:
                self.save(item)
            self._chunks.append(pickle.APPENDS)
        elif isinstance(value, Mapping):
            self._chunks.append(pickle.EMPTY_DICT)
            self._remember(value)
            self._chunks.append(pickle.MARK)
            for key, item in value.items():
                self.save(key)
                self.save(item)
            self._chunks.append(pickle.SETITEMS)
        else:
            raise ArgumentTypeError(
                "dump_states: expected numbers, text, tuples, lists, dictionaries, ArrayState and"
                f" ForeignObject, got {type(value).__name__}: {value!r:.80}"
            )

    def _global(self, module: str, name: str) -> None:
        known = self._globals.get((module, name))
        if known is not None:
            self._get(known)
            return
        self.save(module)
        self.save(name)
        self._chunks.append(pickle.STACK_GLOBAL + pickle.MEMOIZE)
        self._globals[module, name] = self._memo_count
        self._memo_count += 1

    def _remember(self, value: object) -> None:
        self._memo[id(value)] = (self._memo_count, value)
        self._chunks.append(pickle.MEMOIZE)
        self._memo_count += 1

    def _get(self, number: int) -> None:
        self._chunks.append(pickle.LONG_BINGET + struct.pack("<I", number))


def _integer(value: int) -> bytes:
    if -(1 << 31) <= value < 1 << 31:
        return pickle.BININT + struct.pack("<i", value)
    data = value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
    return pickle.LONG4 + struct.pack("<i", len(data)) + data
