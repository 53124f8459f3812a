"""Published text files: found in a folder, or fetched as a part of an archive and checked."""

from pathlib import Path

from gluonish.core.errors import DownloadError
from gluonish.gluon.download import (
    download,
    exclusive,
    extract_members,
    is_published,
    published_url,
)

__all__ = ["get_published_file"]

# The largest published file, glove.840B.300d.txt, has 5.6 GB.
_MAX_MEMBER_NBYTES = 16 << 30


def get_published_file(
    target: Path, sha1: str, namespace: str, archive_name: str, archive_sha1: str | None
) -> Path:
    """Return the path of a published file; download and extract it if it is missing or damaged.

    The archive is kept next to it: it may contain more files, and MXNet's programs look for it
    there.

    Args:
        target: Path of the file; in the archive it has the same name, in any folder.
        sha1: Published SHA-1 of the file.
        namespace: Folder of the archive in the repository that ``MXNET_GLUON_REPO`` names.
        archive_name: Name of the archive; or of the file, if it is published without one.
        archive_sha1: SHA-1 of the archive; None if unknown.

    Raises:
        DownloadError: It cannot be downloaded, or has another SHA-1.
    """
    if is_published(target, sha1):
        return target
    with exclusive(target):
        # Another process may have made it while this one waited.
        if not is_published(target, sha1):
            url = published_url(f"{namespace}/{archive_name}")
            plain = archive_name == target.name
            path = target.with_name(f"{archive_name}.download" if plain else archive_name)
            archive = _archive(url, path, sha1 if plain else archive_sha1, target)
            if plain:
                archive.replace(target)
            else:
                extract_members(archive, {target: sha1}, _MAX_MEMBER_NBYTES)
    return target


def _archive(url: str, path: Path, sha1: str | None, target: Path) -> Path:
    try:
        return Path(download(url, path, sha1_hash=sha1))
    except DownloadError as error:
        raise DownloadError(
            f"{error}; without a network put {target.name} into {target.parent}, or set "
            "MXNET_GLUON_REPO to a mirror or a folder"
        ) from error
