"""Downloads from repositories: resumable, checked by SHA-1, locked between processes.

pooch (as of 1.9.0) is not used: it does not resume, has no time limit for a slow server and no size
limit, and does not lock. tests/gluon/download covers each case.
"""

from gluonish.gluon.download.archive import BROKEN_ARCHIVE, WrongArchiveError, extract_members
from gluonish.gluon.download.checked_file import (
    check_sha1,
    download,
    is_published,
    obtain,
    published_url,
)
from gluonish.gluon.download.other_sources import OtherSource, obtain_elsewhere, tell_source
from gluonish.gluon.download.target import check_free_space, disk_full_error, exclusive, make_folder

__all__ = [
    "BROKEN_ARCHIVE",
    "OtherSource",
    "WrongArchiveError",
    "check_free_space",
    "check_sha1",
    "disk_full_error",
    "download",
    "exclusive",
    "extract_members",
    "is_published",
    "make_folder",
    "obtain",
    "obtain_elsewhere",
    "published_url",
    "tell_source",
]
