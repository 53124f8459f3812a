"""Record files: many byte strings in one file, images with labels among them."""

from gluonish.recordio.image_record import IRHeader, pack, pack_img, unpack, unpack_img
from gluonish.recordio.indexed_file import MXIndexedRecordIO
from gluonish.recordio.record_file import MXRecordIO

__all__ = [
    "IRHeader",
    "MXIndexedRecordIO",
    "MXRecordIO",
    "pack",
    "pack_img",
    "unpack",
    "unpack_img",
]
