"""Files from repositories: fetched or copied, resumed, checked by SHA-1, locked.

pooch (1.9.0 was read) is not used: it starts again from the first byte, has no limit for a server
that sends a byte now and then, none for the size, and no lock between processes. The servers of
tests/gluon/download do each of these.
"""

from gluonish.gluon.download.archive import BROKEN_ARCHIVE, WrongArchiveError, extract_members
from gluonish.gluon.download.checked_file import check_sha1, download, obtain
from gluonish.gluon.download.repository import is_published, published_url
from gluonish.gluon.download.target import check_room, disk_full_error, exclusive, make_folder

__all__ = [
    "BROKEN_ARCHIVE",
    "WrongArchiveError",
    "check_room",
    "check_sha1",
    "disk_full_error",
    "download",
    "exclusive",
    "extract_members",
    "is_published",
    "make_folder",
    "obtain",
    "published_url",
]
