"""`.params` files of every version, against files that MXNet 1.9.1 wrote, and against damage."""

import contextlib
import io
import json
import struct
import zipfile
from pathlib import Path

import hypothesis
import hypothesis.strategies as st
import ml_dtypes
import numpy as np
import pytest

from gluonish.core.errors import ArgumentError, ArgumentTypeError, FileFormatError
from gluonish.ndarray.array_file import (
    DenseRecord,
    SparseRecord,
    decode_record,
    encode_record,
    read_array_list,
    write_array_list,
)

GOLDEN = Path(__file__).parents[1] / "golden"
EXPECTED = json.loads((GOLDEN / "expected.json").read_text(encoding="utf-8"))
PARAMS = sorted(path.name for path in GOLDEN.glob("*.params"))
# What expected.json does not tell: written under NumPy semantics.
VERSIONS = {"np_net-0003.params": "V3"}
V2_OR_V3 = [name for name in PARAMS if not name.startswith("legacy")]


def encoded(records, names=(), numpy_shape=False):
    file = io.BytesIO()
    write_array_list(file, records, names, numpy_shape=numpy_shape)
    return file.getvalue()


@pytest.mark.parametrize("name", V2_OR_V3)
def test_golden_file_is_written_back_byte_for_byte(name: str, tmp_path: Path) -> None:
    records, names = read_array_list(GOLDEN / name)
    numpy_shape = "V3" in (EXPECTED.get(name, {}).get("version"), VERSIONS.get(name))
    write_array_list(tmp_path / name, records, names, numpy_shape=numpy_shape)
    assert (tmp_path / name).read_bytes() == (GOLDEN / name).read_bytes()


@pytest.mark.parametrize(
    "name", ["legacy_v0.params", "legacy_v1.params", "utf8_names.params", "unnamed.params"]
)
def test_values_names_and_dtypes_are_as_published(name: str) -> None:
    records, names = read_array_list((GOLDEN / name).read_bytes())
    expected = EXPECTED[name]
    assert names == expected["names"]
    assert [record.values.tolist() for record in records] == expected["values"]
    if "dtypes" in expected:
        assert [record.dtype.name for record in records] == expected["dtypes"]


def test_every_dtype_has_its_values() -> None:
    records, names = read_array_list(GOLDEN / "dtypes.params")
    with np.load(GOLDEN / "dtypes.npz") as wanted:
        for record, name in zip(records, names, strict=True):
            assert record.dtype.name == EXPECTED["dtypes.params"]["arrays"][name]["dtype"]
            if name in wanted:
                reference = wanted[name]
                values = record.values.astype(np.float64)
                np.testing.assert_array_equal(values, reference.astype(np.float64))


@pytest.mark.parametrize("network", ["cnn", "lstm", "cells"])
def test_exported_names_are_as_published(network: str) -> None:
    (file,) = [name for name in EXPECTED[network]["files"] if name.endswith(".params")][:1]
    assert read_array_list(GOLDEN / file)[1] == EXPECTED[network]["exported_names"]


def test_sparse_arrays_have_their_parts() -> None:
    records, names = read_array_list(GOLDEN / "sparse.params")
    for record, name in zip(records, names, strict=True):
        expected = EXPECTED["sparse.params"]["arrays"][name]
        assert (record.stype, list(record.shape)) == (expected["stype"], expected["shape"])
        assert record.values.tolist() == expected["data"]
        if isinstance(record, SparseRecord):
            assert record.aux[-1].tolist() == expected["indices"]
        if record.stype == "csr":
            assert record.aux[0].tolist() == expected["indptr"]


def test_numpy_shapes_are_read() -> None:
    records, _ = read_array_list(GOLDEN / "np_shape.params")
    assert [list(record.shape) for record in records] == EXPECTED["np_shape.params"]["shapes"]
    assert records[0].values[()] == 2.5


def test_arrays_own_their_memory() -> None:
    records, _ = read_array_list((GOLDEN / "single.params").read_bytes())
    records[0].values[:] = 7
    assert records[0].values.tolist() == [7, 7, 7]


def test_open_file_is_read_from_its_position() -> None:
    data = (GOLDEN / "single.params").read_bytes()
    file = io.BytesIO(b"before" + data)
    file.seek(6)
    assert read_array_list(file)[0][0].values.tolist() == [1, 2, 3]


@pytest.mark.parametrize("numpy_shape", [False, True])
def test_undefined_array_survives(numpy_shape: bool) -> None:
    (record,), _ = read_array_list(encoded([DenseRecord(None)], numpy_shape=numpy_shape))
    assert record.values is None
    assert record.shape is None


def test_strided_and_big_endian_arrays_are_written_in_c_order() -> None:
    values = np.arange(12, dtype=">i4").reshape(3, 4)[:, ::2].T
    (record,), _ = read_array_list(encoded([DenseRecord(values)]))
    assert record.dtype == np.dtype("<i4")
    np.testing.assert_array_equal(record.values, values)


def test_bfloat16_keeps_its_bits() -> None:
    values = np.array([1.5, -2.0, 3.25], ml_dtypes.bfloat16)
    assert decode_record(encode_record(DenseRecord(values))).values.tobytes() == values.tobytes()


def test_scalar_needs_numpy_shape() -> None:
    scalar = DenseRecord(np.float32(3).reshape(()))
    with pytest.raises(ArgumentError, match="got a scalar"):
        encode_record(scalar)
    assert decode_record(encode_record(scalar, numpy_shape=True)).values[()] == 3


def test_sparse_is_refused_under_numpy_shape() -> None:
    records, _ = read_array_list(GOLDEN / "sparse.params")
    sparse = next(record for record in records if isinstance(record, SparseRecord))
    with pytest.raises(ArgumentError, match="expected a dense array"):
        encode_record(sparse, numpy_shape=True)


def test_complex_numbers_are_refused() -> None:
    with pytest.raises(ArgumentTypeError, match="got complex64"):
        encode_record(DenseRecord(np.zeros(2, np.complex64)))


def test_wrong_number_of_names_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="expected 1 names or none, got 2"):
        write_array_list(tmp_path / "a", [DenseRecord(np.zeros(1))], ["a", "b"])
    assert list(tmp_path.iterdir()) == []


def test_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    target = tmp_path / "a.params"
    write_array_list(target, [DenseRecord(np.zeros(1, np.float32))])
    before = target.read_bytes()
    with pytest.raises(ArgumentTypeError):
        write_array_list(
            target, [DenseRecord(np.ones(1, np.float32)), DenseRecord(np.zeros(2, np.complex64))]
        )
    assert target.read_bytes() == before


# Damage.


@pytest.mark.parametrize("name", PARAMS)
def test_every_truncation_is_told_with_path_and_offset(name: str, tmp_path: Path) -> None:
    data = (GOLDEN / name).read_bytes()
    path = tmp_path / "cut.params"
    for length in [*range(min(len(data), 130)), *range(130, len(data), 97), len(data) - 1]:
        path.write_bytes(data[:length])
        with pytest.raises(FileFormatError, match=r"cut\.params: expected .* at byte \d+, got"):
            read_array_list(path)


def test_trailing_bytes_are_ignored_as_in_mxnet() -> None:
    data = (GOLDEN / "single.params").read_bytes()
    assert len(read_array_list(data + b"tail")[0]) == 1


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            struct.pack("<QQQ", 0x113, 0, 0),
            "at byte 0, got a file that begins with the bytes 13 0",
        ),
        (struct.pack("<QQQ", 0x112, 0, 1 << 62), "arrays at byte 24, got 0"),
        (struct.pack("<QQQQ", 0x112, 0, 0, 5), "expected 0 or 0 names"),
        (struct.pack("<QQQI", 0x112, 0, 1, 77), "array record at byte 24, got the number 0x4d"),
    ],
)
def test_bad_headers_are_refused(data: bytes, message: str) -> None:
    with pytest.raises(FileFormatError, match=message):
        read_array_list(data)


def record_bytes(stype=0, shape=(2,), dtype=0, payload=b"12345678"):
    head = struct.pack("<Iii", 0xF993FAC9, stype, len(shape))
    return head + struct.pack(f"<{len(shape)}qiii", *shape, 1, 0, dtype) + payload


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (record_bytes(shape=(1 << 60,)), "bytes of values at byte"),
        (record_bytes(shape=(1 << 62, 1 << 62)), "fits in memory"),
        (record_bytes(shape=(0, 1 << 62, 1 << 62)), "fits in memory"),
        (record_bytes(shape=(-5,)), "dimensions of 0 or more"),
        (record_bytes(shape=(1,) * 33), "rank up to 32"),
        (record_bytes(dtype=13), "known dtype flag at byte 32, got 13"),
        (record_bytes(stype=3), "storage type"),
        (struct.pack("<Iii", 0xF993FAC9, 0, 1 << 30), "rank up to 32"),
    ],
)
def test_hostile_records_are_refused_before_allocating(data: bytes, message: str) -> None:
    with pytest.raises(FileFormatError, match=message):
        decode_record(data)


def csr(pointers, columns, shape=(2, 3)):
    values = np.ones(len(columns), np.float32)
    aux = (np.array(pointers, np.int64), np.array(columns, np.int64))
    return encode_record(SparseRecord("csr", shape, values, aux))


@pytest.mark.parametrize(
    ("pointers", "columns", "message"),
    [
        ([0, 1, 2], [0, 3], "column numbers"),
        ([0, 1, 2], [-1, 0], "column numbers"),
        ([0, 5, 2], [0, 1], "go down"),
        ([0, 1], [0], "row pointers"),
        ([0, 1, 9], [0, 1], "row pointers"),
    ],
)
def test_csr_that_points_outside_is_refused(pointers, columns, message: str) -> None:
    with pytest.raises(FileFormatError, match=message):
        decode_record(csr(pointers, columns))


def test_row_number_outside_is_refused() -> None:
    record = SparseRecord("row_sparse", (3, 2), np.ones((1, 2), np.float32), (np.array([3]),))
    with pytest.raises(FileFormatError, match="row numbers that are out of range"):
        decode_record(encode_record(record))


def test_name_that_is_not_utf8_is_refused() -> None:
    data = encoded([DenseRecord(np.zeros(1, np.float32))], ["abc"])
    with pytest.raises(FileFormatError, match="a name in UTF-8 at byte"):
        read_array_list(data[:-3] + b"\xff\xfe\xfd")


def test_bools_are_zero_or_one() -> None:
    data = encode_record(DenseRecord(np.zeros(4, np.bool_)))
    values = decode_record(data[:-4] + b"\x00\x01\x02\xff").values
    assert values.view(np.uint8).tolist() == [0, 1, 1, 1]


@hypothesis.given(
    name=st.sampled_from(["sparse.params", "dtypes.params", "legacy_v0.params", "np_shape.params"]),
    position=st.integers(0, 900),
    value=st.integers(0, 255),
)
def test_a_changed_byte_gives_arrays_or_a_format_error(name, position, value) -> None:
    data = bytearray((GOLDEN / name).read_bytes())
    data[position % len(data)] = value
    with contextlib.suppress(FileFormatError):
        read_array_list(data)


# NumPy's own files.


def npz(**arrays):
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def test_npz_is_read_in_order() -> None:
    arrays = {
        "b.weight": np.arange(6, dtype=np.float32).reshape(2, 3),
        "a": np.array(3, np.int64),
        "f": np.asfortranarray(np.arange(6, dtype=np.float16).reshape(2, 3)),
        "big": np.arange(3, dtype=">f8"),
        "empty": np.zeros((0, 4), np.float32),
    }
    records, names = read_array_list(npz(**arrays))
    assert names == list(arrays)
    for record, array in zip(records, arrays.values(), strict=True):
        assert record.dtype == array.dtype.newbyteorder("=")  # type: ignore[attr-defined]
        np.testing.assert_array_equal(record.values, array)


def test_empty_npz_has_no_arrays() -> None:
    assert read_array_list(npz()) == ([], [])


def test_npy_is_one_array_without_a_name() -> None:
    file = io.BytesIO()
    np.save(file, np.arange(4, dtype=np.int32))
    records, names = read_array_list(file.getvalue())
    assert names == []
    assert records[0].values.tolist() == [0, 1, 2, 3]


def test_bfloat16_of_both_spellings_is_read_from_npz() -> None:
    bits = np.array([0x3F80, 0x4000], np.uint16)
    structured = bits.view(np.dtype([("bfloat16", np.uint16)]))
    records, _ = read_array_list(npz(a=structured, b=bits.view(ml_dtypes.bfloat16)))
    for record in records:
        assert record.dtype == ml_dtypes.bfloat16
        assert record.values.astype(np.float32).tolist() == [1, 2]


def test_sparse_members_become_sparse_records() -> None:
    parts = {
        "w/data": np.array([1.0, 2.0], np.float32),
        "w/indices": np.array([0, 2]),
        "w/indptr": np.array([0, 1, 2]),
        "w/shape": np.array([2, 3]),
        "w/format": np.array(b"csr"),
        "r/data": np.ones((1, 2), np.float32),
        "r/indices": np.array([1]),
        "r/shape": np.array([4, 2]),
        "r/format": np.array(b"row_sparse"),
        "plain/data": np.ones(1, np.float32),
    }
    (w, r, plain), names = read_array_list(npz(**parts))
    assert names == ["w", "r", "plain/data"]
    assert (w.stype, w.shape, [part.tolist() for part in w.aux]) == (
        "csr",
        (2, 3),
        [[0, 1, 2], [0, 2]],
    )
    assert (r.stype, r.shape, r.aux[0].tolist()) == ("row_sparse", (4, 2), [1])
    assert plain.stype == "default"


@pytest.mark.parametrize(
    ("missing", "message"), [("indptr", "expected w/indptr"), ("shape", "expected w/shape")]
)
def test_sparse_without_a_part_is_refused(missing: str, message: str) -> None:
    parts = {
        "w/data": np.ones(1, np.float32),
        "w/indices": np.array([0]),
        "w/indptr": np.array([0, 1]),
        "w/shape": np.array([1, 1]),
        "w/format": np.array(b"csr"),
    }
    del parts[f"w/{missing}"]
    with pytest.raises(FileFormatError, match=message):
        read_array_list(npz(**parts))


def test_pickled_objects_in_npz_are_refused() -> None:
    file = io.BytesIO()
    np.save(file, np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(FileFormatError, match="known dtype"):
        read_array_list(file.getvalue())


def test_npy_that_claims_more_than_it_has_is_refused() -> None:
    header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000,)}\n"
    with pytest.raises(FileFormatError, match="bytes of values"):
        read_array_list(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header)


def test_zip_member_that_claims_more_than_deflate_can_give_is_refused() -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.npy", b"x" * 100)
    data = bytearray(file.getvalue())
    at = data.rindex(b"PK\x01\x02") + 24
    data[at : at + 4] = struct.pack("<I", 1 << 31)
    with pytest.raises(FileFormatError, match="compressed bytes"):
        read_array_list(data)


def test_damaged_zip_is_a_format_error() -> None:
    data = npz(a=np.arange(100))
    for length in range(4, len(data), 23):
        with pytest.raises(FileFormatError):
            read_array_list(data[:length])
