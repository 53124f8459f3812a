"""RecordIO: files of byte strings, such as images with labels."""

from gluonish.recordio.image_record import (
    IRHeader,
    pack,
    pack_img,
    read_header,
    unpack,
    unpack_img,
)
from gluonish.recordio.indexed_file import MXIndexedRecordIO
from gluonish.recordio.record_file import MXRecordIO
from gluonish.recordio.record_table import RecordFile, RecordTable, scan

__all__ = [
    "IRHeader",
    "MXIndexedRecordIO",
    "MXRecordIO",
    "RecordFile",
    "RecordTable",
    "pack",
    "pack_img",
    "read_header",
    "scan",
    "unpack",
    "unpack_img",
]
