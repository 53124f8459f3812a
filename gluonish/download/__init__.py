"""Files from repositories: fetched or copied, resumed, checked by SHA-1, locked."""

from gluonish.download.archive import WrongArchiveError, extract_members
from gluonish.download.checked_file import check_sha1, download, obtain
from gluonish.download.http_fetch import disk_full_error
from gluonish.download.repository import is_published, published_url
from gluonish.download.target_lock import exclusive

__all__ = [
    "WrongArchiveError",
    "check_sha1",
    "disk_full_error",
    "download",
    "exclusive",
    "extract_members",
    "is_published",
    "obtain",
    "published_url",
]
