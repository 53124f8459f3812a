"""Files from repositories: fetched or copied, resumed, checked by SHA-1, locked."""

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
