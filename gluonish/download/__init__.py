"""Files from repositories: fetched or copied, resumed, checked by SHA-1, locked."""

from gluonish.download.checked_file import check_sha1, download, obtain
from gluonish.download.http_fetch import disk_full_error
from gluonish.download.target_lock import exclusive

__all__ = ["check_sha1", "disk_full_error", "download", "exclusive", "obtain"]
