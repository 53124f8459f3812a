import io
import pickle
import sys
import time
import tracemalloc
from collections import OrderedDict
from pathlib import Path

import pytest

from gluonish.core.errors import FileFormatError
from gluonish.core.pickle_safety import BROKEN_PICKLE, FOREIGN_OPCODES, Sealed, check_opcodes
from gluonish.optimizer.states import load_states

# Deep enough to end Python where it hashes the tuple as a key.
DEEP = b"\x80\x02}" + b")" + b"\x85" * 300_000 + b"K\x01s."

# Keys of one hash: a dictionary of n of them takes n^2 steps.
M = sys.hash_info.modulus
COUNT = 40_000
ALIKE = {
    "numbers": lambda i: i * M,
    "negative numbers": lambda i: -i * M,
    "tuples": lambda i: (i * M,),
    "tuples in tuples": lambda i: ((1, i * M), 2),
}


def check(data: bytes, refused: frozenset[str] = frozenset(), max_nbytes: int = 1 << 20) -> None:
    check_opcodes(data, refused, max_nbytes)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_plain_data_of_every_protocol_passes(protocol: int) -> None:
    value = {"a": [1, (2, (3.5, None)), b"x", {4, 5}], ("b", 1): OrderedDict(c=[(), True])}
    check(pickle.dumps(value, protocol))


def test_deep_tuples_are_refused() -> None:
    with pytest.raises(FileFormatError, match="tuples of up to 200 levels"):
        check(DEEP)


def test_deep_tuples_by_way_of_the_memo_are_refused() -> None:
    data = b"\x80\x02)q\x00" + b"h\x00\x85q\x00" * 300 + b"."
    with pytest.raises(FileFormatError, match="tuples of up to 200 levels"):
        check(data)


def test_many_shallow_tuples_pass() -> None:
    check(pickle.dumps([(i, (i,)) for i in range(2000)], 2))


def test_memo_number_beyond_the_pickle_is_refused() -> None:
    with pytest.raises(FileFormatError, match="memo index up to 1, got 2147483647"):
        check(b"Nr\xff\xff\xff\x7f.")


def test_many_opcodes_are_refused() -> None:
    pickled = b"(" + b"]" * 1000 + b"t."
    check_opcodes(pickled, (), 2000, max_opcodes=1003)
    with pytest.raises(FileFormatError, match="up to 1002 opcodes"):
        check_opcodes(pickled, (), 2000, max_opcodes=1002)


def test_pickle_in_a_file_is_read_from_its_position_to_its_end() -> None:
    file = io.BytesIO(b"junk" + pickle.dumps([1, 2], 2) + b"more")
    file.seek(4)
    check_opcodes(file, (), 20)
    assert file.read() == b"more"


@pytest.mark.parametrize("length", [b"X\0\0\0\x7f", b"\x8e" + b"\0" * 6 + b"\x01\0"])
def test_a_claimed_length_takes_no_memory(length: bytes, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\x80\x04" + length + b"few")
    tracemalloc.start()
    try:
        with open(tmp_path / "a", "rb") as file, pytest.raises(BROKEN_PICKLE):
            check_opcodes(file, (), 1 << 20)
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


def test_long_pickle_is_refused() -> None:
    with pytest.raises(FileFormatError, match="up to 100 bytes"):
        check(pickle.dumps(list(range(1000))), max_nbytes=100)


@pytest.mark.parametrize("opcode", [b"P1\n", b"\x82\x01"])
def test_opcodes_that_reach_outside_are_refused(opcode: bytes) -> None:
    with pytest.raises(FileFormatError, match="expected only data, got the opcode"):
        check(opcode + b".")


def test_a_reader_refuses_more() -> None:
    assert "BINPERSID" not in FOREIGN_OPCODES
    with pytest.raises(FileFormatError, match="got the opcode BINPERSID"):
        check(b"NQ.", refused=frozenset({"BINPERSID"}))


def test_sealed_class_cannot_be_changed() -> None:
    class Standin(metaclass=Sealed):
        value = 1

    with pytest.raises(FileFormatError, match=r"change of Standin\.value"):
        Standin.value = 2


@pytest.mark.parametrize("double", [b"2\x86", b"q\x000(h\x00h\x00t"], ids=["dup", "memo"])
def test_objects_that_multiply_are_refused(double: bytes) -> None:
    with pytest.raises(FileFormatError, match="ones that multiply"):
        check(b"\x80\x02N" + double * 40 + b".")


def test_what_several_objects_share_passes() -> None:
    shared = {"lr": (1, 2.5), "names": ["a", "b"]}
    check(pickle.dumps([shared, {0: shared, 1: [shared, shared]}], 4))


def test_an_object_inside_itself_is_refused() -> None:
    circle: list[object] = [1]
    circle.append({"a": (circle,)})
    with pytest.raises(FileFormatError, match="expected no object inside itself"):
        check(pickle.dumps(circle, 4))


def test_deep_lists_are_refused() -> None:
    with pytest.raises(FileFormatError, match="of up to 200 levels"):
        check(b"\x80\x02" + b"]" * 300 + b"a" * 299 + b".")


@pytest.mark.parametrize("kind", ALIKE)
def test_keys_of_one_hash_are_refused_at_once(kind: str) -> None:
    # A list holds them without hashing; what makes it a dictionary is put in its place.
    keys = [(ALIKE[kind](i), None) for i in range(COUNT)]
    pairs = pickle.dumps([part for pair in keys for part in pair], protocol=2)
    data = pairs.replace(b"]q\x00(", b"}q\x00(", 1).replace(b"e(", b"u(")[:-2] + b"u."
    start = time.process_time()
    with pytest.raises(FileFormatError, match="text or integers, got more than 1000 others"):
        load_states(data, "a.states")
    assert time.process_time() - start < 5


@pytest.mark.parametrize("close", [b"\x91.", b"d."])
def test_members_of_sets_and_of_old_dictionaries_count(close: bytes) -> None:
    number = pickle.dumps(M, protocol=2)[2:-1]
    with pytest.raises(FileFormatError, match="got more than 1000 others"):
        check_opcodes(b"\x80\x04(" + number * 3000 + close, (), 1 << 20)


@pytest.mark.parametrize("key", [lambda i: i, lambda i: f"w{i}", lambda i: -i - 1, lambda i: M - i])
def test_many_ordinary_keys_are_taken(key) -> None:
    data = pickle.dumps({key(i): None for i in range(1, 5000)}, protocol=4)
    check_opcodes(data, (), 1 << 20)


def test_some_other_keys_are_taken() -> None:
    data = pickle.dumps({(i, "a"): 0.5 for i in range(900)}, protocol=4)
    check_opcodes(data, (), 1 << 20)
