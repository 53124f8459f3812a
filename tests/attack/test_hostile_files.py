"""Damaged files in numbers, and small ones that claim to be huge."""

import os
import struct
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gluonish.core.errors import GluonishError
from gluonish.image import imdecode
from tests.fuzz.damage import damaged_bytes
from tests.fuzz.readers import READERS, checked_call
from tests.fuzz.samples import files_of

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
FILES_A_READER = 1000
many = settings(
    max_examples=FILES_A_READER, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", READERS)
def test_damaged_files_are_read_or_refused_in_bounds(
    name: str, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    reader = READERS[name]
    reader.prepare(tmp_path)
    path = tmp_path / reader.name
    refused = []

    @many
    @given(content=damaged_bytes(files_of(reader.kind)))
    def attack(content: bytes) -> None:
        path.write_bytes(content)
        refused.append(checked_call(reader, path) is not None)

    attack()
    record_property("files tried, and refused", f"{len(refused)}, {sum(refused)}")
    assert len(refused) >= FILES_A_READER


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", READERS)
@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.binary(max_size=400))
def test_noise_is_read_or_refused_in_bounds(name: str, tmp_path: Path, content: bytes) -> None:
    reader = READERS[name]
    reader.prepare(tmp_path)
    path = tmp_path / reader.name
    path.write_bytes(content)
    checked_call(reader, path)


def png(width: int, height: int, rows: int) -> bytes:
    def chunk(name: bytes, data: bytes) -> bytes:
        end = struct.pack(">I", zlib.crc32(name + data))
        return struct.pack(">I", len(data)) + name + data + end

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = zlib.compress(bytes((1 + 3 * min(width, 10**5)) * rows))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", body) + chunk(b"IEND", b"")


def bmp(width: int, height: int) -> bytes:
    head = struct.pack("<IiiHHIIiiII", 40, width, height, 1, 24, 0, 0, 0, 0, 0, 0)
    return b"BM" + struct.pack("<IHHI", 54, 0, 0, 54) + head


def jpeg(width: int, height: int) -> bytes:
    content = bytearray(next(image for image in files_of("image") if image[:2] == b"\xff\xd8"))
    at = content.index(b"\xff\xc0") + 5
    content[at : at + 4] = struct.pack(">HH", height, width)
    return bytes(content)


HUGE = {
    "a PNG of 2^31 columns": png((1 << 31) - 1, 1, 1),
    "a PNG of 2^31 rows": png(1, (1 << 31) - 1, 1),
    "a PNG of 10^5 times 10^5": png(10**5, 10**5, 2),
    "a PNG of 30000 times 30000": png(30_000, 30_000, 2),
    "a PNG of no columns": png(0, 10, 1),
    "a BMP of 2^31": bmp((1 << 31) - 1, (1 << 31) - 1),
    "a BMP of negative extents": bmp(-5, -(1 << 31)),
    "a BMP of 30000 times 30000": bmp(30_000, 30_000),
    "a JPEG of 65535 times 65535": jpeg(65_535, 65_535),
    "a JPEG of no rows": jpeg(10, 0),
    "a PBM of many columns": b"P6 99999999999 99999999999 255\n",
    "a PBM of 30000 times 30000": b"P6 30000 30000 255\n",
    "a GIF": b"GIF89a\xff\xff\xff\xff\x80\0\0" + bytes(6) + b",\0\0\0\0\xff\xff\xff\xff\0\x08",
    "a TIFF": b"II*\0\x08\0\0\0\x02\0"
    + b"".join(struct.pack("<HHII", tag, 4, 1, (1 << 31) - 1) for tag in (256, 257)),
    "a WEBP": b"RIFF\xff\xff\xff\x7fWEBPVP8X\x0a\0\0\0\0\0\0\0\xff\xff\xff\xff\xff\xff",
    "an EXR": b"v/1\1\2\0\0\0dataWindow\0box2i\0\x10\0\0\0"
    + b"\0\0\0\0" * 2
    + b"\xff\xff\xff\x7f" * 2,
    "a Sun raster": struct.pack(">8I", 0x59A66A95, 1 << 30, 1 << 30, 24, 0, 1, 0, 0),
    "a Radiance picture": b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 99999999 +X 99999999\n",
}
PROGRAM = """
import resource, sys
from tests.attack.test_hostile_files import HUGE, refusal
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
error = refusal(HUGE[sys.argv[1]])
after = resource.getrusage(resource.RUSAGE_SELF)
sys.stdout.write(f"{(after.ru_maxrss - before) >> 10} {after.ru_utime} {error}")
"""


def refusal(content: bytes) -> str:
    try:
        imdecode(content)
    except GluonishError as error:
        return f"refused: {error}"
    return "taken"


@pytest.mark.parametrize("what", HUGE)
def test_images_that_claim_to_be_huge_end_in_bounds(what: str) -> None:
    """In a process of its own: its memory is measured, and decoders are not Python's."""
    result = subprocess.run(
        [sys.executable, "-c", PROGRAM, what],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "engine")])},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert result.returncode == 0, result.stderr[-2000:]
    grown_mib, seconds, error = result.stdout.split(" ", 2)
    assert error.startswith(("refused: imdecode: expected", "taken"))
    assert int(grown_mib) < 256
    assert float(seconds) < 20
