"""Archives that were made to leave their folder, to fill the disk, or to end the reader."""

import gzip
import hashlib
import io
import stat
import struct
import tarfile
import time
import tracemalloc
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gluonish.core.errors import GluonishError
from gluonish.gluon.download import extract_members
from gluonish.test_utils.downloads import unzip

pytestmark = pytest.mark.slow

NAME = "net.params"
CONTENT = b"weights" * 100
SHA1 = hashlib.sha1(CONTENT).hexdigest()
MAX_NBYTES = 1 << 20
NAMES = (
    *("../net.params", "../../net.params", "a/../../net.params", "/net.params", "//net.params"),
    *("..\\net.params", "a\\..\\..\\net.params", "C:net.params", "C:\\net.params", "\\net.params"),
    *("..", ".", "", "net.params/", "net.params/..", "a\nnet.params", "\x1b[31mnet.params"),
    *("%2e%2e/net.params", "net.params\0.txt", "~/net.params", "net.params:stream", "CON", "."),
    *("é" * 200, "a/" * 500 + "net.params", "x" * 60_000),
)


def zip_of(members: dict[str, bytes], **attributes: int) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            info = zipfile.ZipInfo("x")
            info.filename = info.orig_filename = name
            info.compress_type = zipfile.ZIP_DEFLATED
            for key, value in attributes.items():
                setattr(info, key, value)
            archive.writestr(info, content)
    return packed.getvalue()


def tar_of(name: str, kind: bytes, link: str = "", size: int | None = None) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz", format=tarfile.PAX_FORMAT) as archive:
        info = tarfile.TarInfo(name)
        info.type, info.linkname = kind, link
        info.size = len(CONTENT) if kind == tarfile.REGTYPE else 0
        archive.addfile(info, io.BytesIO(CONTENT))
    return packed.getvalue()


def linked(kind: bytes) -> bytes:
    """A link to a folder outside, and a file in what the link is called."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        link = tarfile.TarInfo("a")
        link.type, link.linkname = kind, "../outside"
        archive.addfile(link)
        file = tarfile.TarInfo("a/net.params")
        file.size = len(CONTENT)
        archive.addfile(file, io.BytesIO(CONTENT))
    return packed.getvalue()


def lied(field: int, value: int, form: str = "<I") -> bytes:
    """A zip archive whose central directory lies at one place."""
    content = bytearray(zip_of({NAME: CONTENT}))
    at = content.index(b"PK\x01\x02") + field
    content[at : at + struct.calcsize(form)] = struct.pack(form, value)
    return bytes(content)


def overlapping() -> bytes:
    """Many entries of the directory that share one packed body."""
    whole = zip_of({NAME: bytes(1_000_000)})
    at = whole.index(b"PK\x01\x02")
    end = whole.index(b"PK\x05\x06")
    entry, count = whole[at:end], 30_000
    record = struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, count, count, len(entry) * count, at, 0)
    return whole[:at] + entry * count + record


def zips() -> Iterator[tuple[str, bytes]]:
    for name in NAMES:
        yield f"the name {name[:20]!r}", zip_of({name: b"evil"})
    for name in ("link", "char", "block", "fifo", "socket"):
        kind = {
            "link": stat.S_IFLNK,
            "char": stat.S_IFCHR,
            "block": stat.S_IFBLK,
            "fifo": stat.S_IFIFO,
            "socket": stat.S_IFSOCK,
        }[name]
        yield f"a {name}", zip_of({NAME: b"/etc/passwd"}, external_attr=(kind | 0o777) << 16)
    yield "a bomb", zip_of({NAME: bytes(200 << 20)})
    yield "a small bomb of another name", zip_of({"other": bytes(200 << 20)})
    yield "many files", zip_of({f"f{i}": b"" for i in range(65_000)})
    yield "bodies that overlap", overlapping()
    yield "a small size told", lied(24, 5)
    yield "a huge size told", lied(24, 0xFFFF_FFFE)
    yield "a place beyond the end", lied(42, 0x7FFF_FFFF)
    yield "no known packing", lied(10, 99, "<H")
    yield "LZMA that is none", lied(10, 14, "<H")
    yield "bzip2 that is none", lied(10, 12, "<H")
    yield "a password", lied(8, 1, "<H")
    yield "patched data", lied(8, 0x20, "<H")
    yield "a wrong checksum", lied(16, 0)
    yield "an old version", lied(6, 99, "<H")
    for cut in range(0, 60, 7):
        yield f"the first {cut} bytes", zip_of({NAME: CONTENT})[:cut]
        yield f"without the last {cut + 1} bytes", zip_of({NAME: CONTENT})[: -cut - 1]
    yield "two of one name", zip_of({"a/" + NAME: b"evil", "b/" + NAME: b"evil"})


def tars() -> Iterator[tuple[str, bytes]]:
    for name in NAMES:
        yield f"the name {name[:20]!r}", tar_of(name, tarfile.REGTYPE)
    for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE):
        yield f"a member of kind {kind!r}", tar_of(NAME, kind, "/etc/passwd")
        yield f"an outer member of kind {kind!r}", tar_of("other", kind, "../../outside")
    yield "a pipe", tar_of(NAME, tarfile.FIFOTYPE)
    yield "a symbolic link used as a folder", linked(tarfile.SYMTYPE)
    yield "a hard link used as a folder", linked(tarfile.LNKTYPE)
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        info = tarfile.TarInfo(NAME)
        info.size = 200 << 20
        archive.addfile(info, io.BytesIO(bytes(200 << 20)))
    yield "a bomb", packed.getvalue()
    yield "a gzip bomb that is no tar", gzip.compress(bytes(200 << 20))
    yield "no tar", gzip.compress(b"hello")
    yield "no gzip", b"\x1f\x8b" + bytes(100)
    huge = bytearray(gzip.decompress(tar_of(NAME, tarfile.REGTYPE)))
    for at in (124, 136, 148, 156, 257):
        broken = bytearray(huge)
        broken[at : at + 8] = b"\x80" + b"\xff" * 7
        yield f"a header with junk at {at}", gzip.compress(bytes(broken))
    pax = io.BytesIO()
    with tarfile.open(fileobj=pax, mode="w:gz", format=tarfile.PAX_FORMAT) as archive:
        info = tarfile.TarInfo("x")
        info.pax_headers = {"path": "../" + NAME, "size": "99999999999999999999"}
        archive.addfile(info)
    yield "headers that say otherwise", pax.getvalue()


def everything(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def attack(path: Path, run: Callable[[], object], folder: Path, limit_nbytes: int) -> str:
    """Return what is wrong after reading an archive, or nothing."""
    outside = {name for name in everything(folder) if not name.startswith("inside")}
    start = time.process_time()
    tracemalloc.start()
    problem = ""
    try:
        run()
    except GluonishError as error:
        if len(str(error)) > 2000:
            problem = f"a message of {len(str(error))} characters"
    except OSError as error:
        if error.errno is None:
            problem = repr(error)
    except Exception as error:  # all others are what the attack looks for
        problem = repr(error)[:200]
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    if time.process_time() - start > 20:
        problem = f"{time.process_time() - start} s"
    if peak > limit_nbytes:
        problem = f"{peak} bytes of memory for {path.stat().st_size}"
    if {name for name in everything(folder) if not name.startswith("inside")} != outside:
        problem = "something outside the folder"
    if list(folder.rglob(".*.tmp")) or any(p.is_symlink() for p in folder.rglob("*")):
        problem = "a temporary file, or a link"
    return problem


@pytest.mark.parametrize("kind", ["zip", "tar.gz"])
def test_single_files_come_out_whole_or_not_at_all(
    tmp_path: Path, kind: str, record_property: Callable[[str, object], None]
) -> None:
    failed, tried = {}, 0
    for what, content in zips() if kind == "zip" else tars():
        tried += 1
        folder = tmp_path / f"{tried}"
        (folder / "inside").mkdir(parents=True)
        path = folder / f"a.{kind}"
        path.write_bytes(content)
        target = folder / "inside" / NAME

        def run(path: Path = path, target: Path = target) -> None:
            extract_members(path, {target: SHA1}, MAX_NBYTES)

        problem = attack(path, run, folder, (64 << 20) + 400 * len(content))
        if target.exists() and target.read_bytes() != CONTENT:
            problem = "a file that is another"
        if everything(folder / "inside") - {NAME}:
            problem = f"also {everything(folder / 'inside')}"
        if problem:
            failed[what] = problem
    record_property("archives tried", tried)
    assert not failed


def test_whole_archives_stay_in_their_folder(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    failed, tried = {}, 0
    for what, content in zips():
        if what in ("many files", "a bomb", "a small bomb of another name"):
            continue  # who asks for all of an archive gets all of it, as far as the disk has room
        tried += 1
        folder = tmp_path / f"{tried}"
        (folder / "inside").mkdir(parents=True)
        path = folder / "a.zip"
        path.write_bytes(content)

        def run(path: Path = path, folder: Path = folder) -> None:
            unzip(path, folder / "inside")

        problem = attack(path, run, folder, (64 << 20) + 400 * len(content))
        if problem:
            failed[what] = problem
    record_property("archives tried", tried)
    assert not failed
