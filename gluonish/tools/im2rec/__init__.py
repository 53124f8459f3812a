"""``gluonish im2rec``: creates lists of images, and record files of the images on a list."""

from gluonish.tools.im2rec.command import add_parser, run
from gluonish.tools.im2rec.listing import ImageEntry, make_lists, read_list
from gluonish.tools.im2rec.records import Outcome, Packing, make_records, pack_entry

__all__ = [
    "ImageEntry",
    "Outcome",
    "Packing",
    "add_parser",
    "make_lists",
    "make_records",
    "pack_entry",
    "read_list",
    "run",
]
