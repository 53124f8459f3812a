"""A pickle writer for trainer states: plain data, arrays and objects of classes not installed here.

It emits the opcodes of protocol 4 itself, because `pickle.Pickler` imports every class that it
names, and the names to write are MXNet's.
"""

import pickle
import struct
from collections.abc import Mapping

import numpy as np

from gluonish.core.errors import ArgumentTypeError
from gluonish.ndarray.array_file import DenseRecord, encode_record
from gluonish.optimizer.restricted_pickle import ArrayState, ForeignObject

__all__ = ["dump_plain"]

_WRITTEN_CLASSES = {
    "default": ("mxnet.ndarray.ndarray", "NDArray"),
    "row_sparse": ("mxnet.ndarray.sparse", "RowSparseNDArray"),
    "csr": ("mxnet.ndarray.sparse", "CSRNDArray"),
}
_NUMPY_CLASS = ("mxnet.numpy", "ndarray")


def dump_plain(value: object) -> bytes:
    """Pickle numbers, text, tuples, lists, dictionaries, `ArrayState` and `ForeignObject`.

    What the value holds twice is one object again after loading.

    Raises:
        ArgumentTypeError: The value holds something else.
    """
    writer = _Writer()
    writer.save(value)
    return writer.content()


class _Writer:
    """Emits pickle protocol 4 for plain data, arrays and foreign objects."""

    def __init__(self) -> None:
        self._parts: list[bytes] = [pickle.PROTO + b"\x04"]
        # By identity; holding the object keeps its identity from being given to another.
        self._memo: dict[int, tuple[int, object]] = {}
        self._globals: dict[tuple[str, str], int] = {}
        self._memo_count = 0

    def content(self) -> bytes:
        return b"".join([*self._parts, pickle.STOP])

    def save(self, value: object) -> None:
        if isinstance(value, np.generic):
            value = value.item()
        if value is None or isinstance(value, bool | int | float | str | bytes | bytearray):
            self._save_plain(value)
        elif id(value) in self._memo:
            self._get(self._memo[id(value)][0])
        elif isinstance(value, ArrayState):
            self._save_array(value)
        elif isinstance(value, ForeignObject):
            self._save_foreign(value)
        else:
            self._save_container(value)

    def _save_plain(self, value: bool | int | float | str | bytes | bytearray | None) -> None:
        if value is None:
            self._parts.append(pickle.NONE)
        elif isinstance(value, bool):
            self._parts.append(pickle.NEWTRUE if value else pickle.NEWFALSE)
        elif isinstance(value, int):
            self._parts.append(_integer(int(value)))
        elif isinstance(value, float):
            self._parts.append(pickle.BINFLOAT + struct.pack(">d", value))
        elif isinstance(value, str):
            text = value.encode("utf-8", "surrogatepass")
            self._parts += [pickle.BINUNICODE8, struct.pack("<Q", len(text)), text]
        else:
            self._parts += [pickle.BINBYTES8, struct.pack("<Q", len(value)), bytes(value)]

    def _save_array(self, array: ArrayState) -> None:
        self._global(*(_NUMPY_CLASS if array.is_numpy else _WRITTEN_CLASSES[array.record.stype]))
        self._parts.append(pickle.NONE + pickle.TUPLE1 + pickle.REDUCE)
        self._remember(array)
        self._parts.append(pickle.EMPTY_DICT)
        self.save("handle")
        if isinstance(array.record, DenseRecord) and array.record.values is None:
            self._parts.append(pickle.NONE)
        else:
            self._global("builtins", "bytearray")
            self.save(encode_record(array.record, numpy_shape=array.is_numpy))
            self._parts.append(pickle.TUPLE1 + pickle.REDUCE)
        self._parts.append(pickle.SETITEM + pickle.BUILD)

    def _save_foreign(self, value: ForeignObject) -> None:
        module, _, name = value.class_name.rpartition(".")
        self._global(module, name)
        self._parts.append(pickle.EMPTY_TUPLE + pickle.NEWOBJ)
        self._remember(value)
        self.save(value.state)
        self._parts.append(pickle.BUILD)

    def _save_container(self, value: object) -> None:
        if isinstance(value, tuple):
            self._parts.append(pickle.MARK)
            for item in value:
                self.save(item)
            self._parts.append(pickle.TUPLE)
            self._remember(value)
        elif isinstance(value, list):
            self._parts.append(pickle.EMPTY_LIST)
            self._remember(value)
            self._parts.append(pickle.MARK)
            for item in value:
                self.save(item)
            self._parts.append(pickle.APPENDS)
        elif isinstance(value, Mapping):
            self._parts.append(pickle.EMPTY_DICT)
            self._remember(value)
            self._parts.append(pickle.MARK)
            for key, item in value.items():
                self.save(key)
                self.save(item)
            self._parts.append(pickle.SETITEMS)
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
        self._parts.append(pickle.STACK_GLOBAL + pickle.MEMOIZE)
        self._globals[module, name] = self._memo_count
        self._memo_count += 1

    def _remember(self, value: object) -> None:
        self._memo[id(value)] = (self._memo_count, value)
        self._parts.append(pickle.MEMOIZE)
        self._memo_count += 1

    def _get(self, number: int) -> None:
        self._parts.append(pickle.LONG_BINGET + struct.pack("<I", number))


def _integer(value: int) -> bytes:
    if -(1 << 31) <= value < 1 << 31:
        return pickle.BININT + struct.pack("<i", value)
    data = value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
    return pickle.LONG4 + struct.pack("<i", len(data)) + data
