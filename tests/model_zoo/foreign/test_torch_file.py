"""Checkpoints that PyTorch wrote, and hostile ones."""

import io
import pickle
import random
import struct
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from gluonish.core.errors import ArgumentError, FileFormatError, GluonishError
from gluonish.model_zoo.foreign import open_checkpoint

FOLDER = Path(__file__).parents[2] / "golden" / "foreign"
FILES = {"PyTorch zip": "tensors.pth", "PyTorch before 1.6": "tensors_legacy.pth"}
BASE = np.arange(24, dtype=np.float32).reshape(4, 6)
SMALL = np.arange(-3, 3).reshape(2, 3)
# What make_foreign.py made with PyTorch.
EXPECTED: dict[str, Any] = {
    **{
        name: SMALL.astype(name)
        for name in ("float64", "float32", "float16", "int64", "int32", "int16", "int8")
    },
    "bfloat16": SMALL.astype(ml_dtypes.bfloat16),
    "uint8": np.arange(6, dtype=np.uint8).reshape(2, 3),
    "bool": np.array([True, False, True]),
    "scalar": np.float32(1.5),
    "empty": np.zeros((0, 3), np.float32),
    "base": BASE,
    "transposed": BASE.T,
    "inner": BASE[1:3, 2:5],
    "every_second": BASE[:, ::2],
    "parameter": np.ones(3, np.float32),
}


def read_all(path: Path, key: str | None = None) -> dict[str, Any]:
    with open_checkpoint(path, key) as checkpoint:
        found = {}
        for name, stored in checkpoint.arrays.items():
            values = np.array(stored.read())
            assert (values.shape, values.dtype) == (stored.shape, stored.dtype)
            found[name] = values
        return found


@pytest.mark.parametrize("kind", FILES)
def test_tensors_of_every_dtype_and_stride_are_read(kind: str) -> None:
    path = FOLDER / FILES[kind]
    with open_checkpoint(path) as checkpoint:
        assert checkpoint.kind == kind
    found = read_all(path)
    assert found.keys() == EXPECTED.keys()
    for name, expected in EXPECTED.items():
        assert found[name].dtype == expected.dtype, name
        np.testing.assert_array_equal(found[name], expected, err_msg=name)


def test_averaged_weights_of_a_training_program_come_first() -> None:
    with open_checkpoint(FOLDER / "training.pth") as checkpoint:
        assert list(checkpoint.arrays) == ["weight"]
        assert checkpoint.arrays["weight"].read().tolist() == [[2, 2]]
        assert checkpoint.notes == [
            "used the entry 'state_dict_ema'; the others are state_dict, optimizer",
            "dropped the prefix 'module.' of all names",
        ]


def test_a_key_names_the_entry() -> None:
    assert read_all(FOLDER / "training.pth", "state_dict")["weight"].tolist() == [[1, 1]]
    with pytest.raises(ArgumentError, match=r"of \['state_dict', .*\], got 'weights'"):
        read_all(FOLDER / "training.pth", "weights")


def test_whole_model_is_refused_by_its_class() -> None:
    message = r"whole_model\.pth/.*data\.pkl: .* got torch\.nn\.modules\.linear\.Linear; save only"
    with pytest.raises(FileFormatError, match=message):
        read_all(FOLDER / "whole_model.pth")


def test_torchscript_program_is_refused() -> None:
    with pytest.raises(FileFormatError, match=r"program\.pt: expected a state_dict, got a TorchS"):
        read_all(FOLDER / "program.pt")


# A pickle as PyTorch writes it, of parts that may be wrong.


def storage(count: int = 6, key: str = "0", kind: str = "FloatStorage") -> bytes:
    return (
        b"(X\x07\0\0\0storagectorch\n" + kind.encode() + b"\n"
        b"X" + struct.pack("<i", len(key)) + key.encode() + b"X\x03\0\0\0cpu"
        b"\x8a\x08" + struct.pack("<q", count) + b"tQ"
    )


def integers(*values: int) -> bytes:
    return b"(" + b"".join(b"\x8a\x08" + struct.pack("<q", value) for value in values) + b"t"


def tensor(
    place: bytes | None = None, offset: int = 0, shape: Any = (2, 3), strides: Any = (3, 1)
) -> bytes:
    place = storage() if place is None else place
    start = b"\x8a\x08" + struct.pack("<q", offset)
    return (
        b"ctorch._utils\n_rebuild_tensor_v2\n("
        + place + start + integers(*shape) + integers(*strides) + b"\x89"
        + b"ccollections\nOrderedDict\n)RtR"
    )  # fmt: skip


def state(*tensors: bytes) -> bytes:
    entries = b"".join(b"X\x01\0\0\0" + bytes([97 + i]) + t for i, t in enumerate(tensors))
    return b"\x80\x02}(" + entries + b"u."


def write_zip(path: Path, pickled: bytes, data: bytes = bytes(24), **members: bytes) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a/data.pkl", pickled)
        archive.writestr("a/data/0", data)
        for name, content in members.items():
            archive.writestr(f"a/{name}", content)
    return path


def legacy(pickled: bytes, trailer: bytes) -> bytes:
    head = [0x1950A86A20F9469CFC6C, 1001, {"little_endian": True, "protocol_version": 1001}]
    return b"".join(pickle.dumps(value, 2) for value in head) + pickled + trailer


def trailer(count: int = 6, data: bytes = bytes(24), keys: Any = ("0",)) -> bytes:
    return pickle.dumps(list(keys), 2) + struct.pack("<q", count) + data


def test_the_hand_made_checkpoints_are_right(tmp_path: Path) -> None:
    data = np.arange(6, dtype=np.float32).tobytes()
    expected = np.arange(6).reshape(2, 3).tolist()
    assert read_all(write_zip(tmp_path / "x", state(tensor()), data))["a"].tolist() == expected
    (tmp_path / "y").write_bytes(legacy(state(tensor()), trailer(data=data)))
    assert read_all(tmp_path / "y")["a"].tolist() == expected


HOSTILE = {
    "code": (b"cos\nsystem\n(X\x02\0\0\0lstR.", "got os.system"),
    "code of posix": (b"\x80\x02cposix\nsystem\nX\x02\0\0\0ls\x85R.", "got posix.system"),
    "import by dots": (b"\x80\x04\x8c\x05torch\x8c\x10serialization.os\x93.", "serialization.os"),
    "builtin": (b"cbuiltins\neval\n(X\x01\0\0\x001tR.", "got builtins.eval"),
    "change of a stand-in": (b"ctorch\nSize\n(NX\x01\0\0\0aK\x01\x86s}b.", "a pickle of tensors"),
    "attribute of a stand-in": (
        b"ctorch\nSize\n(N}X\x01\0\0\0aK\x01stb.",
        "expected data, got a change of _Size.a",
    ),
    "no tensors": (pickle.dumps({"a": 1}, 2), "expected tensors, got none"),
    "a list": (pickle.dumps([1], 2), "expected a dictionary of tensors by name, got list"),
    "shape beyond the storage": (state(tensor(shape=(3, 3))), "tensor inside its storage '0' of 6"),
    "huge shape": (state(tensor(shape=(1 << 40, 1), strides=(0, 0))), "inside its storage"),
    "overlapping strides": (state(tensor(shape=(4, 3), strides=(1, 1))), "inside its storage"),
    "offset beyond the storage": (state(tensor(offset=1)), "offset 1, shape"),
    "negative offset": (state(tensor(offset=-1)), "an offset of non-negative integers"),
    "negative stride": (state(tensor(strides=(-3, 1))), "strides of non-negative integers"),
    "negative extent": (state(tensor(shape=(-2, 3))), "a shape of non-negative integers"),
    "strides of another rank": (state(tensor(strides=(1,))), "a stride for each axis"),
    "storage of unknown type": (state(tensor(storage(kind="QInt8Storage"))), "torch.QInt8Storage"),
    "storage that claims more": (
        state(tensor(storage(count=100), shape=(100,), strides=(1,))),
        "expected at least 400 bytes in 'a/data/0', got 24",
    ),
    "storage that claims two sizes": (
        state(tensor(), tensor(storage(count=1000), shape=(1000,), strides=(1,))),
        "one size of storage '0'",
    ),
    "storage that is missing": (state(tensor(storage(key="9"))), "a member 'a/data/9', got none"),
    "storage outside": (
        state(tensor(storage(key="../../etc/passwd"))),
        "a member 'a/data/../../etc/passwd', got none",
    ),
    "tensor of no storage": (
        state(b"ctorch._utils\n_rebuild_tensor_v2\n(K\x01K\x00K\x01K\x01tR"),
        "expected a storage",
    ),
    "parameter of no tensor": (
        state(b"ctorch._utils\n_rebuild_parameter\n(K\x01\x88NtR"),
        "expected a tensor for a parameter",
    ),
    "part of another function": (
        state(b"ctorch._tensor\n_rebuild_from_type_v2\n(ctorch\nSize\nN)NtR"),
        "expected the arguments of a tensor",
    ),
    "identity of no storage": (b"\x80\x02K\x01Q.", "the identity of a storage, got 1"),
    "deep tuples": (b"\x80\x02})" + b"\x85" * 100_000 + b"K\x01s.", "tuples of up to 200 levels"),
    "cut pickle": (state(tensor())[:-40], "expected a pickle of tensors"),
    "empty pickle": (b"", "expected a pickle of tensors"),
    "long text that is not there": (b"\x80\x04\x8d" + b"\xff" * 7 + b"\x7f", "pickle of tensors"),
}  # fmt: skip


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_pickles_are_refused(case: str, tmp_path: Path) -> None:
    pickled, message = HOSTILE[case]
    path = write_zip(tmp_path / "x.pth", pickled)
    tracemalloc.start()
    try:
        with pytest.raises(FileFormatError) as caught:
            read_all(path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert message in str(caught.value)
    assert str(path) in str(caught.value)
    # Nested tuples, one byte each, take some 200 bytes each while they are counted.
    assert peak < 2_000_000 + 300 * path.stat().st_size


def test_dictionaries_that_hold_one_another_end(tmp_path: Path) -> None:
    # Each of 12 has the next one 50 times: 50 ** 12 ways through them.
    text = b"\x80\x02}q\x00"
    for index in range(12):
        again = b"".join(b"K" + bytes([i]) + b"h" + bytes([index]) for i in range(50))
        text += b"}q" + bytes([index + 1]) + b"(" + again + b"u"
    with pytest.raises(FileFormatError, match="ones that multiply"):
        read_all(write_zip(tmp_path / "x", text + b"."))


def test_many_objects_in_few_bytes_are_refused(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "x", b"\x80\x02(" + b"]" * (1 << 20) + b"l.")
    with pytest.raises(FileFormatError, match="up to 300000 opcodes"):
        read_all(path)


def test_long_pickle_is_refused(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "x", b"\x80\x02" + b"N0" * (5 << 20) + b"N.")
    with pytest.raises(FileFormatError, match=r"up to 4194304 bytes in 'a/data\.pkl'"):
        read_all(path)


def rewrite(path: Path, change: Callable[[bytearray], None]) -> Path:
    data = bytearray(path.read_bytes())
    change(data)
    path.write_bytes(data)
    return path


def test_compressed_members_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "x"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a/data.pkl", state(tensor()))
        archive.writestr("a/data/0", bytes(100 << 20))
    with pytest.raises(FileFormatError, match=r"not compressed, got 'a/data\.pkl'"):
        read_all(path)


def test_sizes_beyond_the_file_are_refused(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "x", state(tensor()))

    def claim(data: bytearray) -> None:
        at = data.rindex(b"PK\x01\x02")
        data[at + 20 : at + 28] = struct.pack("<II", 1 << 30, 1 << 30)

    with pytest.raises(FileFormatError, match=r"inside .* bytes, got 'a/data/0' of 1073741824"):
        read_all(rewrite(path, claim))


def test_members_that_share_bytes_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "x"
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("a/data.pkl", state(tensor()))
        archive.writestr("a/data/0", bytes(10_000))
        info = archive.getinfo("a/data/0")
        archive.filelist += [info] * 50
    path.write_bytes(buffer.getvalue())
    with pytest.raises(FileFormatError, match="members that fit in"):
        read_all(path)


def test_damaged_numbers_are_refused(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "x", state(tensor()), b"\1" * 24)

    def damage(data: bytearray) -> None:
        data[data.index(b"\1" * 24)] = 2

    with pytest.raises(FileFormatError, match="expected a PyTorch zip archive, got Bad CRC-32"):
        read_all(rewrite(path, damage))


def test_big_endian_numbers_are_refused(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "x", state(tensor()), byteorder=b"big")
    with pytest.raises(FileFormatError, match="little-endian numbers, got b'big'"):
        read_all(path)


def test_archive_without_a_checkpoint_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x", "w") as archive:
        archive.writestr("readme", b"")
    with pytest.raises(FileFormatError, match="got a zip archive of '"):
        read_all(tmp_path / "x")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (legacy(state(tensor()), trailer(count=7)), "6 elements of storage '0' at byte"),
        (legacy(state(tensor()), trailer(data=bytes(23))), "and 23 bytes; the file is truncated"),
        (legacy(state(tensor()), trailer(keys=("1",))), "a known storage at byte"),
        (legacy(state(tensor()), trailer(keys=())), "a storage '0', got none"),
        (legacy(state(tensor()), pickle.dumps(3)), "the names of storages, got 3"),
        (legacy(b"cos\nsystem\n(X\x02\0\0\0lstR.", b""), "pickle at byte .*got os.system"),
        (legacy(b"", b""), "expected a pickle at byte"),
        (legacy(state(tensor(storage(count=1 << 50), shape=(9,), strides=(1,))),
                trailer(count=1 << 50)), "elements of storage '0' at byte"),
    ],
    ids=range(8),
)  # fmt: skip
def test_hostile_old_files_are_refused(content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "x.pth"
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match=message) as caught:
        read_all(path)
    assert str(path) in str(caught.value)


def test_old_file_of_another_version_is_refused(tmp_path: Path) -> None:
    content = legacy(state(tensor()), trailer())
    (tmp_path / "x").write_bytes(content.replace(pickle.dumps(1001, 2), pickle.dumps(1002, 2)))
    with pytest.raises(FileFormatError, match="version 1001 of the format, got 1002"):
        read_all(tmp_path / "x")


@pytest.mark.parametrize("name", [*FILES.values(), "training.pth", "tensors.safetensors"])
def test_damaged_files_are_read_or_refused(name: str, tmp_path: Path) -> None:
    data = (FOLDER / name).read_bytes()
    choose = random.Random(name)
    errors = []
    for _ in range(400):
        damaged = bytearray(data)
        if choose.random() < 0.3:
            del damaged[choose.randrange(len(data)) :]
        for _ in range(choose.choice((0, 1, 1, 2, 8)) if damaged else 0):
            damaged[choose.randrange(len(damaged))] = choose.choice((0, 1, 127, 128, 255, 46, 82))
        (tmp_path / "x").write_bytes(damaged)
        try:
            read_all(tmp_path / "x")
        except GluonishError as error:
            errors.append(str(error))
    assert len(errors) > 100
    assert all(str(tmp_path / "x") in error for error in errors)
