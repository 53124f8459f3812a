"""Files that readers once answered wrongly: with a hang, another kind of error, or no place."""

import gzip
import io
import struct
import zipfile
from pathlib import Path

import pytest

import gluonish.ndarray as nd
from gluonish.core.errors import FileFormatError
from gluonish.gluon.data.vision.datasets import ImageListDataset
from gluonish.gluon.data.vision.datasets.downloaded import _unpacked
from gluonish.optimizer.states import load_states
from gluonish.recordio import MXIndexedRecordIO
from tests.fuzz.readers import READERS, checked_call
from tests.fuzz.samples import files_of

_HEAD = b"\x80\x02"
_OPTIMIZER = b"cmxnet.optimizer.optimizer\nSGD\n)\x81}"
_ARRAY = b"cmxnet.ndarray.ndarray\nNDArray\nN\x85R}"


def text(word: str) -> bytes:
    return b"X" + struct.pack("<I", len(word)) + word.encode()


def doubled_dictionaries(levels: int) -> bytes:
    """A dictionary that holds another twice, which holds another twice, and so on."""
    made = b"}"
    for level in range(1, levels + 1):
        name = bytes([level])
        made += b"q" + name + b"0}(K\x00h" + name + b"K\x01h" + name + b"u"
    return made


def doubled_tuples(levels: int) -> bytes:
    return b"N" + b"2\x86" * levels


def wide_tuples(levels: int, width: int) -> bytes:
    made = b"N"
    for level in range(1, levels + 1):
        name = bytes([level])
        made += b"q" + name + b"0(" + (b"h" + name) * width + b"t"
    return made


MULTIPLYING = {
    "a key": b"}" + doubled_tuples(40) + b"Ns.",
    "a state": b"}K\x00" + wide_tuples(7, 60) + b"s.",
    "a setting": b"}" + _OPTIMIZER + text("a") + doubled_dictionaries(40) + b"sb\x86.",
    "counts": b"}"
    + (_OPTIMIZER + text("_index_update_count") + doubled_dictionaries(40))
    + b"sb\x86.",
    "an array": b"}K\x00" + _ARRAY + text("handle") + doubled_dictionaries(40) + b"sbs.",
    "bytes": b"}K\x00cbuiltins\nbytearray\n" + doubled_dictionaries(40) + b"\x85Rs.",
    "a class": b"ccopy_reg\n_reconstructor\n(" + doubled_dictionaries(40) + b"NNtR.",
}


@pytest.mark.parametrize("place", MULTIPLYING)
@pytest.mark.timeout(30)
def test_states_that_multiply_are_refused_at_once(place: str) -> None:
    # Each is below 1000 bytes, and hashing, printing or walking through it took for ever.
    with pytest.raises(FileFormatError, match=r"a.states: .* multiply the size, near byte \d+"):
        load_states(_HEAD + MULTIPLYING[place], "a.states")


def test_a_setting_that_holds_itself_is_refused() -> None:
    setting = b"}q\x05(K\x00h\x05K\x01h\x05u"
    data = _HEAD + b"}" + _OPTIMIZER + text("a") + setting + b"sb\x86."
    with pytest.raises(FileFormatError, match=r"no object inside itself, got one, near byte \d+"):
        load_states(data, "a.states")


def test_deep_dictionaries_are_refused() -> None:
    data = _HEAD + b"}K\x00" + b"}K\x00" * 50_000 + b"N" + b"s" * 50_001 + b"."
    with pytest.raises(FileFormatError, match="up to 200 levels, got more, near byte"):
        load_states(data, "a.states")


def test_an_archive_that_begins_before_its_file_is_refused(tmp_path: Path) -> None:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr("a.npy", b"")
    content = bytearray(target.getvalue())
    # In the end record: the directory's size, which is taken from its end to find its beginning.
    end = content.rindex(b"PK\x05\x06")
    content[end + 12 : end + 16] = struct.pack("<I", end)
    content[end + 16 : end + 20] = struct.pack("<I", 0)
    directory = content.index(b"PK\x01\x02")
    content[0:4] = b"PK\x03\x04"
    head = bytes(content[directory : directory + 46])
    content[0:46] = head[:42] + b"\xff\xff\xff\x7f"
    (tmp_path / "a.params").write_bytes(b"PK\x03\x04" + bytes(content[4:]))
    with pytest.raises(FileFormatError, match=r"a\.params: expected .* bytes 0 to \d+, got"):
        nd.load(tmp_path / "a.params")


def test_a_list_in_another_encoding_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.lst").write_bytes(b"0\t1\t\xb0.jpg\n")
    (path, label) = ImageListDataset(str(tmp_path), str(tmp_path / "a.lst")).items[0]
    assert (path.encode("utf-8", "surrogateescape")[-5:], label) == (b"\xb0.jpg", 1.0)


@pytest.mark.parametrize(
    "line", [b"9" * 5000 + b"\t0\n", b"0\t" + b"9" * 5000 + b"\n", b"0\t9223372036854775808\n"]
)
def test_numbers_of_an_index_beyond_measure_are_refused(line: bytes, tmp_path: Path) -> None:
    (tmp_path / "a.rec").write_bytes(files_of("records")[0])
    (tmp_path / "a.idx").write_bytes(b"3\t0\n" + line)
    with pytest.raises(FileFormatError, match=r"line 2 of .*a\.idx \(byte 4\)") as caught:
        MXIndexedRecordIO(str(tmp_path / "a.idx"), str(tmp_path / "a.rec"), "r")
    assert len(str(caught.value)) < 1000


def test_a_key_that_leads_nowhere_names_both_files(tmp_path: Path) -> None:
    (tmp_path / "a.rec").write_bytes(files_of("records")[0])
    (tmp_path / "a.idx").write_bytes(b"3\t1\n")
    file = MXIndexedRecordIO(str(tmp_path / "a.idx"), str(tmp_path / "a.rec"), "r")
    with pytest.raises(FileFormatError, match=r"at byte 1 of .*a\.rec, .* key 3 of .*a\.idx"):
        file.read_idx(3)
    file.close()


def test_packed_digits_that_fill_the_memory_are_refused(tmp_path: Path) -> None:
    bomb = gzip.compress(bytes(60 << 20), mtime=0)
    (tmp_path / "a-ubyte.gz").write_bytes(bomb)
    with pytest.raises(FileFormatError, match=r"up to 47040016 bytes packed in .*a-ubyte\.gz"):
        _unpacked(tmp_path / "a-ubyte.gz")


HOSTILE = {
    "lists in lists": b'{"nodes":' + b"[" * 100_000,
    "objects in objects": b'{"nodes":[' + b'{"a":' * 100_000,
    "a number of 5000 digits": b'{"nodes": [' + b"9" * 5000 + b"]}",
    "a node after itself": b'{"nodes":[{"op":"relu","name":"r","inputs":[[0,0,0]]}],'
    b'"arg_nodes":[],"heads":[[0,0,0]]}',
    "subgraphs in subgraphs": (
        b'{"arg_nodes":[],"heads":[],"nodes":[{"op":"_foreach","name":"f","inputs":[],"subgraphs":['
        * 100
        + b"]}]}" * 100
    ),
    "an attribute of brackets": b'{"nodes":[{"op":"null","name":"x","inputs":[]},{"op":"transpose",'
    b'"name":"t","attrs":{"axes":"' + b"(" * 10_000 + b'"},"inputs":[[0,0,0]]}],'
    b'"arg_nodes":[0],"heads":[[1,0,0]]}',
    "an attribute of 10^6 digits": b'{"nodes":[{"op":"null","name":"x","inputs":[]},{"op":"sum",'
    b'"name":"t","attrs":{"axis":"' + b"9" * 1_000_000 + b'"},"inputs":[[0,0,0]]}],'
    b'"arg_nodes":[0],"heads":[[1,0,0]]}',
    "a long name": b'{"nodes":[{"op":"nothing","name":"' + b"n" * 100_000 + b'","inputs":[]}],'
    b'"arg_nodes":[],"heads":[[0,0,0]]}',
}


@pytest.mark.parametrize("what", HOSTILE)
@pytest.mark.parametrize("reader", ["symbol", "model structure", "checkpoint's symbol"])
def test_hostile_json_is_refused_in_bounds(reader: str, what: str, tmp_path: Path) -> None:
    READERS[reader].prepare(tmp_path)
    path = tmp_path / READERS[reader].name
    path.write_bytes(HOSTILE[what])
    assert isinstance(checked_call(READERS[reader], path), FileFormatError)


def test_many_tiny_arrays_take_time_and_room_in_proportion(tmp_path: Path) -> None:
    # Undefined arrays of the oldest version are 4 bytes each.
    count = 20_000
    path = tmp_path / "a.params"
    path.write_bytes(struct.pack("<QQQ", 0x112, 0, count) + bytes(4 * count) + bytes(8))
    assert checked_call(READERS["arrays"], path) is None
