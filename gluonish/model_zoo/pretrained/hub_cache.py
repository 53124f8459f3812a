"""The hub's cache of networks on disk, which other programs share.

Layout, below a folder for each network (``models--org--name``): ``blobs`` holds contents by their
hash, ``snapshots/{commit}`` the files of a version as links to them, ``refs/{revision}`` the commit
of a branch or tag, and ``.no_exist/{commit}`` empty files for those that a version does not have.
Locks are in ``.locks`` beside these folders.

Invariants: a blob has its name only when it is complete and its hash was checked. Commits never
change, so a file of a snapshot is never requested again.
"""

import hashlib
import os
import re
import shutil
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from gluonish.core.config import HF_HOME, HF_HUB_CACHE, HF_TOKEN, HF_TOKEN_PATH, get_variable
from gluonish.core.errors import ArgumentError, ConfigError, DownloadError, require_text
from gluonish.core.files import atomic_write
from gluonish.gluon.download import make_folder

COMMIT = re.compile("[0-9a-f]{40}")
_PART_OF_NAME = re.compile(r"[A-Za-z0-9_][\w.-]{0,95}", re.ASCII)
_PART_OF_PATH = re.compile(r"[\w. +=@#~,()\[\]-]{1,200}")
_MOST_TOKEN_NBYTES = 4096


def check_name(name: object, what: str = "snapshot") -> str:
    """Return the name of a network of the hub, ``org/name``, after checking it.

    Args:
        name: The argument.
        what: Beginning of the message.

    Raises:
        ArgumentTypeError: It is not text.
        ArgumentError: It cannot be a name of the hub.
    """
    require_text(name, f"{what}: expected a name of the hub")
    parts = str(name).split("/")
    valid = len(parts) <= 2 and all(map(_PART_OF_NAME.fullmatch, parts))
    if not valid or "--" in str(name) or ".." in str(name) or str(name).endswith((".git", ".")):
        raise ArgumentError(
            f"{what}: expected a name of the hub, org/name of letters, digits, -, _ and ., got"
            f" {name!r:.200}"
        )
    return str(name)


def check_revision(revision: object) -> str:
    """Return a branch, tag or commit, after checking it.

    Raises:
        ArgumentTypeError: It is not text.
        ArgumentError: It cannot be one, or would leave the folder of the cache.
    """
    require_text(revision, "snapshot: expected revision")
    if not is_inside(str(revision)):
        raise ArgumentError(
            f"snapshot: expected revision as a branch, tag or commit, got {revision!r:.200}"
        )
    return str(revision)


def is_inside(path: object) -> bool:
    """Whether a text is a relative path of ordinary names, with / between, that stays inside."""
    if not isinstance(path, str):
        return False
    parts = path.split("/")
    return len(path) <= 400 and all(
        _PART_OF_PATH.fullmatch(part) and part.strip(". ") for part in parts
    )


def cache_folder() -> Path:
    """Return the folder of the cache: ``HF_HUB_CACHE``, else ``hub`` in `home_folder`."""
    chosen = HF_HUB_CACHE.value
    return Path(chosen).expanduser() if chosen else home_folder() / "hub"


def home_folder() -> Path:
    """Return ``HF_HOME``; without it ``huggingface`` in ``XDG_CACHE_HOME`` if that is set."""
    shared = get_variable("XDG_CACHE_HOME")
    if HF_HOME.source == "default" and shared:
        return Path(shared).expanduser() / "huggingface"
    return Path(HF_HOME.value)


def token() -> str:
    """Return the token of ``HF_TOKEN`` or its file; empty if there is none.

    Raises:
        ConfigError: It has characters that no token has.
    """
    found, source = HF_TOKEN.value, "HF_TOKEN"
    if not found:
        path = HF_TOKEN_PATH.value
        file = Path(path).expanduser() if path else home_folder() / "token"
        source = str(file)
        with suppress(OSError, UnicodeDecodeError), file.open("rb") as opened:
            found = opened.read(_MOST_TOKEN_NBYTES).decode("ascii").strip()
    if not re.fullmatch("[!-~]*", found):  # a line break would begin another header
        raise ConfigError(f"{source}: expected a token of printable characters, got others")
    return found


class Cached(NamedTuple):
    """The folder of one network in the cache.

    Args:
        name: Name of the network, ``org/name``.
        root: Folder of the cache.
    """

    name: str
    root: Path

    @property
    def folder(self) -> Path:
        """The network's folder."""
        return self.root / self._folder_name

    @property
    def _folder_name(self) -> str:
        return "--".join(["models", *self.name.split("/")])

    def blob(self, etag: str) -> Path:
        """Return the path of a content by its hash."""
        return self.folder / "blobs" / etag

    def lock(self, etag: str) -> Path:
        """Return the path of the lock of a content."""
        return self.root / ".locks" / self._folder_name / f"{etag}.lock"

    def snapshot(self, commit: str) -> Path:
        """Return the folder of a version."""
        return self.folder / "snapshots" / commit

    def has(self, commit: str, path: str) -> bool:
        """Whether a file of a version is in the cache."""
        return (self.snapshot(commit) / path).is_file()

    def lacks(self, commit: str, path: str) -> bool:
        """Whether a version is known not to have a file."""
        return (self.folder / ".no_exist" / commit / path).is_file()

    def commit(self, revision: str) -> str | None:
        """Return the commit of a revision as of the last download; None if there was none."""
        if COMMIT.fullmatch(revision):
            return revision
        with suppress(OSError, UnicodeDecodeError):
            with (self.folder / "refs" / revision).open("rb") as file:
                found = file.read(100).decode("ascii").strip()
            if COMMIT.fullmatch(found):
                return found
        return None

    def note_commit(self, revision: str, commit: str) -> None:
        """Save the commit of a branch or tag."""
        if revision != commit and self.commit(revision) != commit:
            path = self.folder / "refs" / revision
            make_folder(path.parent)
            with atomic_write(path) as file:
                file.write(commit.encode())

    def note_missing(self, commit: str, path: str) -> None:
        """Save that a version does not have a file."""
        marker = self.folder / ".no_exist" / commit / path
        make_folder(marker.parent)
        marker.touch()

    def link(self, commit: str, path: str, etag: str) -> None:
        """Make a file of a version from a content: a link, or where there are none a copy."""
        target = self.snapshot(commit) / path
        make_folder(target.parent)
        blob = self.blob(etag)
        temporary = target.with_name(f".{etag[:16]}.{os.urandom(4).hex()}.link")
        try:
            try:
                temporary.symlink_to(os.path.relpath(blob, target.parent))
            except (OSError, NotImplementedError):  # Windows without the right to make links
                shutil.copyfile(blob, temporary)
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)


def hash_of(path: Path, etag: str) -> str:
    """Return the hash of a file's content, of the kind of an entity tag.

    Args:
        path: The file.
        etag: 64 digits for SHA-256; 40 for SHA-1 as in git.
    """
    start = b"" if len(etag) == 64 else b"blob %d\0" % path.stat().st_size
    with path.open("rb") as file:
        return hashlib.file_digest(
            file,
            lambda: hashlib.new(
                "sha256" if len(etag) == 64 else "sha1", start, usedforsecurity=False
            ),
        ).hexdigest()


def checked_etag(etag: str, url: str) -> str:
    """Return the hash in an entity tag.

    Raises:
        DownloadError: The tag is not a hash, so that the content could not be checked.
    """
    found = etag.strip().removeprefix("W/").strip('"')
    if not re.fullmatch("[0-9a-f]{40}|[0-9a-f]{64}", found):
        raise DownloadError(
            f"snapshot: expected an entity tag with the SHA-256 or git's SHA-1 of {url}, got"
            f" {etag!r:.100}; set HF_ENDPOINT to the hub or a mirror of it"
        )
    return found
