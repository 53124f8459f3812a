"""States files: MXNet 1.9.1's are read as it means them, hostile ones are refused by name."""

import contextlib
import json
import os
import pickle
import struct
from pathlib import Path

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest

from gluonish.core.errors import ArgumentTypeError, FileFormatError
from gluonish.ndarray.array_file import DenseRecord, SparseRecord
from gluonish.optimizer.states import ArrayState, ForeignObject, dump_states, load_states

GOLDEN = Path(__file__).parents[1] / "golden"
EXPECTED = json.loads((GOLDEN / "expected.json").read_text(encoding="utf-8"))
NAMES = ["trainer_adam", "trainer_sgd", "trainer_sgd_fp16"]


def read(name: str):
    return load_states((GOLDEN / f"{name}.states").read_bytes(), name)


def leaves(state):
    return state if isinstance(state, tuple) else (state,)


def array(values, **options):
    return ArrayState(DenseRecord(np.asarray(values, np.float32)), **options)


@pytest.mark.parametrize("name", NAMES)
def test_arrays_of_golden_files_are_as_published(name: str) -> None:
    states = read(name).states
    assert set(states) == set(EXPECTED[f"{name}.states"]["keys"])
    with np.load(GOLDEN / f"{name}.npz") as wanted:
        for key in wanted.files:
            index, _, position = key.replace("/", "_").replace(".", "_").partition("_")
            if not index.isdigit():
                continue
            leaf = leaves(states[int(index)])[int(position or 0)]
            if wanted[key].size == 0:
                assert leaf is None
            else:
                np.testing.assert_array_equal(leaf.values, wanted[key])
                assert leaf.values.dtype == wanted[key].dtype


def test_optimizer_is_a_name_and_a_dictionary() -> None:
    optimizer = read("trainer_sgd").optimizer
    assert optimizer.class_name == "mxnet.optimizer.optimizer.SGD"
    assert (optimizer.state["lr"], optimizer.state["momentum"]) == (0.1, 0.9)
    assert optimizer.state["num_update"] == EXPECTED["trainer_sgd.states"]["num_update"]


def test_scheduler_is_inside_the_optimizer() -> None:
    scheduler = read("trainer_adam").optimizer.state["lr_scheduler"]
    expected = EXPECTED["trainer_adam.states"]["scheduler"]
    assert scheduler.class_name == "mxnet.lr_scheduler.FactorScheduler"
    assert scheduler.state["base_lr"] == expected["base_lr_now"]
    assert scheduler.state["factor"] == expected["factor"]


def test_update_counts_stay_one_dictionary() -> None:
    state = read("trainer_adam").optimizer.state
    assert state["_index_update_count"] is state["_all_index_update_counts"][0]
    again = load_states(dump_states({}, ForeignObject("mxnet.optimizer.optimizer.SGD", state)))
    state = again.optimizer.state
    assert state["_index_update_count"] is state["_all_index_update_counts"][0]


def same(a, b) -> bool:
    if isinstance(a, ForeignObject):
        return a.class_name == b.class_name and same(a.state, b.state)
    if isinstance(a, ArrayState):
        return repr(a) == repr(b) and np.array_equal(a.values, b.values)
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    if isinstance(a, tuple | list):
        return type(a) is type(b) and all(map(same, a, b))
    return type(a) is type(b) and a == b


@pytest.mark.parametrize("name", NAMES)
def test_what_is_written_is_read_back(name: str) -> None:
    content = read(name)
    again = load_states(dump_states(content.states, content.optimizer))
    assert same(content.states, again.states)
    assert same(content.optimizer, again.optimizer)


def test_states_alone_are_read_and_written() -> None:
    content = load_states(dump_states({0: None, "w": (array([1]), [array([2])])}))
    assert content.optimizer is None
    assert content.states["w"][1][0].values.tolist() == [2]


def test_written_arrays_carry_the_class_that_mxnet_expects() -> None:
    rows = SparseRecord("row_sparse", (3, 1), np.ones((1, 1), np.float32), (np.array([2]),))
    data = dump_states({0: ArrayState(rows), 1: array(3.0, is_numpy=True), 2: array([1])})
    for name in (b"mxnet.ndarray.sparse", b"RowSparseNDArray", b"mxnet.numpy", b"NDArray"):
        assert name in data
    states = load_states(data).states
    assert states[0].record.aux[0].tolist() == [2]
    assert (states[1].is_numpy, states[1].values.shape) == (True, ())


def test_plain_values_of_all_kinds_survive() -> None:
    state = {
        "int": -(1 << 31),
        "large": 1 << 70,
        "negative": -(1 << 31) - 1,
        "float": float("inf"),
        "text": "ключ",
        "bytes": b"\x00\xff",
        "flags": (True, False, None),
        "empty": [(), [], {}],
        "number": np.float32(0.5),
    }
    optimizer = ForeignObject("mxnet.optimizer.optimizer.SGD", state)
    again = load_states(dump_states({}, optimizer)).optimizer.state
    assert again == {**state, "number": 0.5}


def test_undefined_array_survives() -> None:
    states = load_states(dump_states({0: ArrayState(DenseRecord(None))})).states
    assert states[0].values is None


def test_objects_of_other_classes_are_not_written() -> None:
    with pytest.raises(ArgumentTypeError, match="got object"):
        dump_states({}, ForeignObject("mxnet.optimizer.optimizer.SGD", {"x": object()}))


@pytest.mark.parametrize("protocol", range(6))
def test_every_pickle_protocol_is_read(protocol: int) -> None:
    assert load_states(pickle.dumps({0: None, "a": (None,)}, protocol)).states == {
        0: None,
        "a": (None,),
    }


def test_file_of_python_2_is_read() -> None:
    handle = dump_states({0: array([5])})
    record = handle[handle.index(b"\xc9\xfa\x93\xf9") :][:36]
    text = "".join(f"\\u{byte:04x}" for byte in record).encode()
    data = (
        b"((dp0\nI0\ncmxnet.ndarray.ndarray\nNDArray\np1\n(NtRp2\n(dp3\nS'handle'\np4\n"
        b"c__builtin__\nbytearray\np5\n(V" + text + b"\nS'latin-1'\ntRp6\nsbs"
        b"ccopy_reg\n_reconstructor\np7\n(cmxnet.optimizer.optimizer\nSGD\np8\n"
        b"c__builtin__\nobject\np9\nNtRp10\n(dp11\nS'lr'\np12\nF0.5\nsbt."
    )
    content = load_states(data)
    assert content.states[0].values.tolist() == [5]
    assert content.optimizer.state == {"lr": 0.5}


def test_numpy_learning_rate_is_read_as_a_number() -> None:
    optimizer = ForeignObject("mxnet.optimizer.optimizer.SGD", {"lr": "@"})
    data = dump_states({}, optimizer)
    number = pickle.dumps(np.float64(0.25), 4)
    number = number[number.index(b"\x8c") : -1].replace(b"\x94", b"")
    number = number.replace(b"h\x08R", b"R")
    before, after = data.split(pickle.BINUNICODE8 + struct.pack("<Q", 1) + b"@")
    assert load_states(before + number + after).optimizer.state == {"lr": 0.25}


# Hostile files.


class Call:
    def __init__(self, function, *arguments) -> None:
        self.function, self.arguments = function, arguments

    def __reduce__(self):
        return self.function, self.arguments


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (os.system, r"(posix|nt)\.system"),
        (eval, r"builtins\.eval"),
        (getattr, r"builtins\.getattr"),
        (os.path.join, "join"),
    ],
)
def test_any_other_function_is_refused_by_name(function, name: str) -> None:
    with pytest.raises(FileFormatError, match=f"bad.states: expected .*{name}"):
        load_states(pickle.dumps(Call(function, "x")), "bad.states")


@pytest.mark.parametrize(
    "name",
    [
        "__main__ MyScheduler",
        "mxnet.optimizer os.system",
        "mxnet os",
        "mxnet.lr_scheduler FactorScheduler.__init__",
        "mxnet.gluon.parameter Parameter",
        "gluonish.core.files atomic_write",
        "mxnet.optimizer.. SGD",
    ],
)
def test_other_globals_are_refused_by_name(name: str) -> None:
    module, attribute = name.split(" ")
    data = b"c" + module.encode() + b"\n" + attribute.encode() + b"\n."
    with pytest.raises(FileFormatError, match=attribute):
        load_states(data)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"cbuiltins\nbytearray\n(I1000000000000\ntR.", "expected bytes"),
        (b"cmxnet.ndarray.ndarray\nNDArray\n(I5\ntR.", r"expected NDArray\(None\)"),
        (b"cmxnet.ndarray.ndarray\nNDArray\n(NtR(dS'handle'\nI7\nsb.", "bytes of an array"),
        (b"cbuiltins\nbytearray\n(NS'x'\nI1\nd\x86b.", "states"),
        (b"cbuiltins\nbytearray\n(N(S'x'\nI1\ndtb.", "expected data, got a change of _Bytes"),
        (b"cmxnet.optimizer.optimizer\nSGD\n)\x81I5\nb.", "expected a dictionary for mxnet"),
        (b"cmxnet.optimizer.optimizer\nSGD\n(I1\ntR.", "pickle of states"),
        (b"}r\xff\xff\xff\x7f.", "memo index"),
        (b"Pabc\n.", "PERSID"),
        (b"(imxnet.optimizer.optimizer\nSGD\n.", "INST"),
        (b"]." + b"", "expected a dictionary, got list"),
        (b"}(I0\nI7\nu.", "expected None, arrays or tuples, got int"),
        (b"}(F0.5\nNu.", "parameter indices"),
        (b"(}I7\nt.", "expected an optimizer, got int"),
        (b"", "pickle of states"),
        (b"hello", "pickle of states"),
        (b"(o.", "opcode OBJ"),
        (b"(((", "pickle of states"),
    ],
)
def test_hostile_pickles_are_refused(data: bytes, message: str) -> None:
    with pytest.raises(FileFormatError, match=message):
        load_states(data)


def test_deep_nesting_is_refused() -> None:
    with pytest.raises(FileFormatError, match="tuples of up to 200 levels"):
        load_states(b"}(I0\n" + b"(" * 5000 + b"t" * 5000 + b"u.")


def test_deep_key_is_refused_before_its_hash_ends_the_process() -> None:
    with pytest.raises(FileFormatError, match="tuples of up to 200 levels"):
        load_states(b"\x80\x02})" + b"\x85" * 3_000_000 + b"I0\ns.")


def test_state_that_holds_itself_is_refused() -> None:
    state: list[object] = []
    state.append(state)
    with pytest.raises(FileFormatError, match="expected no object inside itself"):
        load_states(pickle.dumps({0: state}))


@pytest.mark.parametrize("name", NAMES)
def test_truncated_files_are_refused(name: str) -> None:
    data = (GOLDEN / f"{name}.states").read_bytes()
    for length in range(0, len(data), 41):
        with pytest.raises(FileFormatError, match="cut: "):
            load_states(data[:length], "cut")


@hypothesis.given(position=st.integers(0, 590), value=st.integers(0, 255))
def test_a_changed_byte_gives_states_or_a_format_error(position: int, value: int) -> None:
    data = bytearray((GOLDEN / "trainer_sgd_fp16.states").read_bytes())
    data[position] = value
    with contextlib.suppress(FileFormatError):
        load_states(bytes(data))
