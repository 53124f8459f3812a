"""Networks of the hub, downloaded into the cache that other programs share.

A file is requested at most once for a commit: first its metadata (commit, hash, length), then its
content, which is resumed after an interruption and checked. Metadata come from the hub's host only;
a content may come from another host, which does not receive the token.
"""

import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, urlsplit

from gluonish.core.config import HF_ENDPOINT, HF_HUB_OFFLINE
from gluonish.core.errors import (
    ArgumentError,
    ArgumentTypeError,
    ConfigError,
    DownloadError,
    FileFormatError,
    MissingFileError,
)
from gluonish.core.files import path_text
from gluonish.core.json_text import parse_json
from gluonish.gluon.download.http_fetch import fetch
from gluonish.gluon.download.probe import Answer, Prober
from gluonish.gluon.download.target import exclusive
from gluonish.model_zoo.pretrained.hub_cache import (
    COMMIT,
    Cached,
    cache_folder,
    check_name,
    check_revision,
    checked_etag,
    hash_of,
    is_inside,
    token,
)

WEIGHTS = "model.safetensors"
INDEX = "model.safetensors.index.json"
MODULES = "modules.json"
TOKENIZER_FILES = (
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "chat_template.jinja",
)
# Of the folder of a network, or of a module that modules.json names.
_FOLDER_FILES = ("config.json", WEIGHTS, INDEX)
NETWORK_FILES = (
    *_FOLDER_FILES,
    "generation_config.json",
    "preprocessor_config.json",
    "sentence_bert_config.json",
    "config_sentence_transformers.json",
    MODULES,
    *TOKENIZER_FILES,
)
"""Files of a network and its tokenizer that are downloaded where they exist."""

_MOST_JSON_NBYTES = 64 << 20
_MOST_MODULES = 32
_MOST_SHARDS = 10_000


def snapshot(
    name: str,
    revision: str = "main",
    files: Iterable[str] | None = None,
    optional: Iterable[str] = (),
) -> Path:
    """Download files of a network of the hub into the cache, and return their folder.

    Files that the cache has are used as they are, whichever program downloaded them. Contents are
    checked by their length and hash, and resumed after an interruption; nothing incomplete gets its
    final name. Of weights only safetensors files are downloaded, never pickles.

    Args:
        name: Name of the network, ``org/name``.
        revision: Branch, tag or commit.
        files: Files that must exist; None for those that a network and its tokenizer need:
            config.json, safetensors weights with index and shards, tokenizer, chat template, and
            the modules of sentence-transformers.
        optional: More files, which need not exist.

    Raises:
        ArgumentError: A name, revision or file is not valid.
        DownloadError: The hub refuses or cannot be reached, a file is missing or does not have the
            announced length and hash, or the disk is full.
        MissingFileError: ``HF_HUB_OFFLINE`` is set and a file is not in the cache.
        FileFormatError: The index or list of modules is malformed, or leaves the folder.
    """
    check_name(name)
    check_revision(revision)
    whole = files is None
    required = _paths(files, "files") if files is not None else ()
    request = (*required, *_paths(optional, "optional"))
    if whole:
        request = (*NETWORK_FILES, *request)
    cached = Cached(name, cache_folder())
    source = _Cache(cached, revision) if HF_HUB_OFFLINE.value else _Hub(cached, revision)
    present = source.obtain(request)
    if whole:
        present |= source.obtain(_named_files(source.folder, present))
        _check_network(source, present)
    for path in required:
        if path not in present:
            raise source.missing(path)
    source.finish()
    return source.folder


def folder_or_snapshot(
    folder: str | os.PathLike[str],
    revision: str | None,
    what: str,
    files: Iterable[str] | None = None,
    optional: Iterable[str] = (),
) -> Path:
    """Return an existing folder, or else the snapshot of a network of the hub.

    Args:
        folder: Path of a folder, or ``org/name``.
        revision: Branch, tag or commit; None for ``main``. An existing folder has none.
        what: Function, for the beginning of messages.
        files: See `snapshot`.
        optional: See `snapshot`.

    Raises:
        ArgumentError: An existing folder is given with a revision.
        MissingFileError: There is no such folder, and it is not a name of the hub either.
        DownloadError: See `snapshot`.
    """
    text = path_text(folder, what)
    path = Path(text)
    if path.is_dir():
        if revision is not None:
            raise ArgumentError(
                f"{what}: expected revision with a name of the hub only, got {revision!r:.100} with"
                f" the folder {text!r}"
            )
        return path
    try:
        check_name(text)
    except ArgumentError:
        content = f"config.json and {WEIGHTS}" if files is None else ", ".join(files)
        raise MissingFileError(
            f"{what}: expected a folder with {content}, or a name of the hub, org/name, got"
            f" {text!r:.300}"
        ) from None
    return snapshot(text, "main" if revision is None else revision, files, optional)


def _paths(paths: Iterable[str], argument: str) -> tuple[str, ...]:
    if isinstance(paths, str) or not isinstance(paths, Iterable):
        raise ArgumentTypeError(f"snapshot: expected {argument} as a list, got {paths!r:.100}")
    found = tuple(paths)
    for path in found:
        if not is_inside(path):
            raise ArgumentError(
                f"snapshot: expected paths inside the network's folder in {argument}, got"
                f" {path!r:.200}"
            )
    return found


def _named_files(folder: Path, present: set[str]) -> tuple[str, ...]:
    """Return the files that modules.json and the index of weights name."""
    found = [*module_files(folder)] if MODULES in present else []
    if INDEX in present and WEIGHTS not in present:
        found += shards(folder / INDEX)
    return tuple(found)


def shards(index: Path) -> list[str]:
    """Return the files that an index of weights names, in their order.

    Args:
        index: Path of ``model.safetensors.index.json``.

    Raises:
        FileFormatError: It is not an index, or a file is outside its folder or not safetensors.
    """
    content = _small_json(index)
    named = content.get("weight_map") if isinstance(content, dict) else None
    if not isinstance(named, dict) or not named:
        raise FileFormatError(f"{index}: expected weight_map with files by name of tensor")
    found = list(dict.fromkeys(value if isinstance(value, str) else "" for value in named.values()))
    for path in found:
        if not is_inside(path) or not path.endswith(".safetensors"):
            raise FileFormatError(
                f"{index}: expected safetensors files inside the folder in weight_map, got"
                f" {path!r:.200}"
            )
    if len(found) > _MOST_SHARDS:
        raise FileFormatError(f"{index}: expected up to {_MOST_SHARDS} files, got {len(found)}")
    return found


def module_folders(folder: Path) -> list[str]:
    """Return the folders that modules.json names, but for the network's own.

    Args:
        folder: Folder with ``modules.json``.

    Raises:
        FileFormatError: It is not a list of modules, or a folder is outside.
    """
    path = folder / MODULES
    content = _small_json(path)
    valid = isinstance(content, list) and all(isinstance(module, dict) for module in content)
    if not valid or len(content) > _MOST_MODULES:
        raise FileFormatError(f"{path}: expected a list of up to {_MOST_MODULES} modules")
    named = [module.get("path") for module in content]
    for name in named:
        if name != "" and not is_inside(name):
            raise FileFormatError(
                f"{path}: expected folders of modules inside this one, got {name!r:.200}"
            )
    return [*dict.fromkeys(name for name in named if name)]


def module_files(folder: Path) -> list[str]:
    """Return the possible files of the modules that modules.json names."""
    names = (*_FOLDER_FILES[:2], "sentence_bert_config.json", *TOKENIZER_FILES)
    return [f"{module}/{name}" for module in module_folders(folder) for name in names]


def _small_json(path: Path) -> Any:
    with path.open("rb") as file:
        content = file.read(_MOST_JSON_NBYTES + 1)
    if len(content) > _MOST_JSON_NBYTES:
        raise FileFormatError(f"{path}: expected JSON of up to {_MOST_JSON_NBYTES} bytes, got more")
    return parse_json(content, str(path), "JSON")


def _check_network(source: "_Cache | _Hub", present: set[str]) -> None:
    """Check that a configuration and all weights are there."""
    if not present & {"config.json", MODULES}:
        raise source.missing("config.json")
    nested = any(path.endswith(f"/{WEIGHTS}") for path in present)  # of older modules.json
    if WEIGHTS not in present and INDEX not in present and not nested:
        raise source.missing(
            f"{WEIGHTS} or {INDEX}", "; weights in other formats, such as pickles, are not opened"
        )
    if WEIGHTS not in present and INDEX in present:
        for path in shards(source.folder / INDEX):
            if path not in present:
                raise source.missing(path)


class _Cache:
    """A version of a network in the cache, without a network connection."""

    def __init__(self, cached: Cached, revision: str) -> None:
        commit = cached.commit(revision)
        if commit is None or not cached.snapshot(commit).is_dir():
            raise MissingFileError(
                f"snapshot: expected {cached.name} at {revision} in {cached.root}, because"
                f" HF_HUB_OFFLINE is set, got no such version; unset it to download"
            )
        self.folder = cached.snapshot(commit)

    def obtain(self, paths: Sequence[str]) -> set[str]:
        """Return those files that are in the cache."""
        return {path for path in paths if (self.folder / path).is_file()}

    def finish(self) -> None:
        """Do nothing: the cache stays as it is."""

    def missing(self, path: str, reason: str = "") -> Exception:
        """Return the error for a file that is not in the cache."""
        return MissingFileError(
            f"snapshot: expected {path} in {self.folder}, because HF_HUB_OFFLINE is set, got no"
            f" such file{reason}; unset it to download"
        )


class _Entry(NamedTuple):
    """A file that will be downloaded: its path, hash, and length (None if unknown)."""

    path: str
    etag: str
    nbytes: int | None


class _Hub:
    """A version of a network on the hub."""

    def __init__(self, cached: Cached, revision: str) -> None:
        self._cached = cached
        self._revision = revision
        self._token = token()
        self._endpoint = _endpoint()
        self._commit = revision if COMMIT.fullmatch(revision) else ""

    @property
    def folder(self) -> Path:
        """Folder of the version; known after the first file was requested."""
        return self._cached.snapshot(self._commit)

    def missing(self, path: str, reason: str = "") -> Exception:
        """Return the error for a file that the version does not have."""
        return DownloadError(
            f"snapshot: expected {path} in {self._cached.name} at {self._revision} on"
            f" {self._endpoint}, got no such file{reason}"
        )

    def obtain(self, paths: Sequence[str]) -> set[str]:
        """Download files, and return those that the version has."""
        present, entries = self._probe(paths)
        for entry in entries:
            self._download(entry)
            present.add(entry.path)
        return present

    def finish(self) -> None:
        """Save which commit the revision is, once all files are there."""
        self._cached.note_commit(self._revision, self._commit)

    def _probe(self, paths: Sequence[str]) -> tuple[set[str], list[_Entry]]:
        """Return the files that the cache has, and those to download."""
        present, entries = set(), []
        with Prober(self._token, self._advice) as prober:
            for path in paths:
                if self._commit and self._cached.has(self._commit, path):
                    present.add(path)
                elif not (self._commit and self._cached.lacks(self._commit, path)):
                    answer = prober.head(self._url(path))
                    entry = self._entry(path, answer)
                    if self._cached.has(self._commit, path):
                        present.add(path)
                    elif entry is None:
                        self._cached.note_missing(self._commit, path)
                    else:
                        entries.append(entry)
        return present, entries

    def _url(self, path: str) -> str:
        revision = quote(self._commit or self._revision, safe="")
        return f"{self._endpoint}/{self._cached.name}/resolve/{revision}/{quote(path)}"

    @property
    def _advice(self) -> str:
        known = self._cached.commit(self._revision)
        if known and self._cached.snapshot(known).is_dir():
            return f"HF_HUB_OFFLINE=1 uses the files in {self._cached.snapshot(known)}"
        return "check the connection and HF_ENDPOINT"

    def _entry(self, path: str, answer: Answer) -> _Entry | None:
        """Return a file's hash and length; None if the version does not have the file.

        The first answer determines the commit.
        """
        found, code = answer.headers, answer.headers.get("X-Error-Code", "")
        absent = answer.status == 404 and code in ("", "EntryNotFound")
        redirected = 300 <= answer.status < 400 and "X-Linked-Etag" in found
        if not absent and answer.status != 200 and not redirected:
            raise self._refusal(answer, code)
        commit = found.get("X-Repo-Commit", self._commit)
        if not COMMIT.fullmatch(commit) or (self._commit and commit != self._commit):
            raise DownloadError(
                f"snapshot: expected the commit {self._commit or 'of 40 digits'} for {answer.url},"
                f" got {commit!r:.60}; set HF_ENDPOINT to the hub or a mirror of it"
            )
        self._commit = commit
        if absent:
            return None
        etag = checked_etag(found.get("X-Linked-Etag") or found.get("ETag", ""), answer.url)
        length = found.get("X-Linked-Size") or ("" if redirected else found.get("Content-Length"))
        known = length if length and length.isascii() and length.isdigit() else ""
        return _Entry(path, etag, int(known) if 0 < len(known) < 19 else None)

    def _refusal(self, answer: Answer, code: str) -> DownloadError:
        got = f"{answer.status} {answer.reason}"
        advice = ""
        if code == "RevisionNotFound":
            advice = "; check revision"
        elif answer.status in (401, 403, 404):
            state = "the token may not read it" if self._token else "it may need a token: HF_TOKEN"
            advice = f"; there is no folder of this name either; check the name, or {state}"
        elif 300 <= answer.status < 400:
            target = urlsplit(answer.headers.get("Location", ""))
            got += f" to {f'{target.scheme}://{target.netloc}'!r:.200}"
            advice = "; metadata are accepted from the host of HF_ENDPOINT only"
        return DownloadError(
            f"snapshot: expected {self._cached.name} at {self._revision}, got {got} for"
            f" {answer.url}{advice}"
        )

    def _download(self, entry: _Entry) -> None:
        """Make a file of the snapshot, from the cache or the hub."""
        blob = self._cached.blob(entry.etag)
        if not _is_complete(blob, entry):
            with exclusive(blob, self._cached.lock(entry.etag)):
                # Another process may have downloaded it while this one waited.
                if not _is_complete(blob, entry):
                    self._fetch(entry, blob)
        self._cached.link(self._commit, entry.path, entry.etag)

    def _fetch(self, entry: _Entry, blob: Path) -> None:
        url = self._url(entry.path)
        _adopt_partial(blob, url, entry)
        got = ""
        # Twice, because wrong content may include old bytes of an interrupted download.
        for _ in range(2):
            part = fetch(
                url,
                blob,
                advice=self._advice,
                max_nbytes=entry.nbytes,
                token=self._token,
                label=entry.path,
            )
            nbytes = part.stat().st_size
            found = hash_of(part, entry.etag)
            if found == entry.etag and entry.nbytes in (None, nbytes):
                part.replace(blob)
                return
            part.unlink()
            got = f"{nbytes} bytes with {found}"
        kind = "SHA-256" if len(entry.etag) == 64 else "git SHA-1"
        length = "" if entry.nbytes is None else f"{entry.nbytes} bytes with "
        raise DownloadError(
            f"snapshot: expected {length}the {kind} {entry.etag} for {url}, got {got};"
            " the server or a proxy sends another content"
        )


def _is_complete(blob: Path, entry: _Entry) -> bool:
    return blob.is_file() and entry.nbytes in (None, blob.stat().st_size)


def _adopt_partial(blob: Path, url: str, entry: _Entry) -> None:
    """Continue the partial file of another program; its hash is checked at the end."""
    other = blob.with_name(f"{blob.name}.incomplete")
    part = blob.with_name(f"{blob.name}.part")
    nbytes = other.stat().st_size if other.is_file() and not part.exists() else 0
    if entry.nbytes is not None and 0 < nbytes < entry.nbytes:
        other.replace(part)
        known = {"url": url, "length": entry.nbytes, "validator": ""}
        part.with_name(f"{part.name}.json").write_text(json.dumps(known), encoding="utf-8")


def _endpoint() -> str:
    found = HF_ENDPOINT.value.rstrip("/")
    try:
        split = urlsplit(found)
        valid = split.scheme in ("http", "https") and split.hostname and not split.query
        _ = split.port
    except ValueError:
        valid = False
    if not valid:
        raise ConfigError(f"HF_ENDPOINT: expected an http:// or https:// URL, got {found!r:.200}")
    return found
