"""Check a built site: ``python -m tests.docs.site_links FOLDER``.

Every link inside the site leads to a page and an anchor that are there, every picture is there,
links to elsewhere are well-formed and go to hosts that are expected, and every public name and
every operator has its place. Nothing is fetched. Exits with 1 and a line for each fault.
"""

import argparse
import sys
import zlib
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# Hosts that pages may lead to. A new one is added here after a look at the page it leads to.
HOSTS = {
    "data-apis.org",
    "github.com",
    "jupytext.readthedocs.io",
    "keepachangelog.com",
    "onnxruntime.ai",
    "semver.org",
    "ui.perfetto.dev",
}


class Page(HTMLParser):
    """The anchors, links and pictures of a page.

    Attributes:
        anchors: Values of ``id`` and ``name``.
        links: Targets of links.
        pictures: Sources of pictures.
    """

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.pictures: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.anchors |= {x for key in ("id", "name") if (x := given.get(key))}
        if tag == "a" and given.get("href"):
            self.links.append(given["href"] or "")
        if tag == "img":
            self.pictures.append(given.get("src") or "")


def faults_of(folder: Path, hosts: set[str] = HOSTS) -> Iterator[str]:
    """Yield a line for each link or picture that leads nowhere."""
    pages = {path.resolve(): Page(path.read_text("utf-8")) for path in folder.rglob("*.html")}
    for path, page in sorted(pages.items()):
        shown = path.relative_to(folder.resolve())
        for link in dict.fromkeys(page.links):
            if fault := _fault(path, link, pages, hosts):
                yield f"{shown}: {link}: {fault}"
        for picture in dict.fromkeys(page.pictures):
            if not picture.startswith("data:") and not (path.parent / unquote(picture)).is_file():
                yield f"{shown}: {picture}: no such picture"


def _fault(path: Path, link: str, pages: dict[Path, Page], hosts: set[str]) -> str:
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        if parts.scheme not in ("https", "mailto"):
            return "expected https"
        unknown = parts.scheme == "https" and parts.hostname not in hosts
        return f"a host that is not listed in {Path(__file__).name}" if unknown else ""
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if target not in pages:
        return "" if target.is_file() else "no such page"
    if parts.fragment and unquote(parts.fragment) not in pages[target].anchors:
        return "no such anchor"
    return ""


def names_in(folder: Path) -> dict[str, str]:
    """Return the page and anchor of each name in the inventory of a site."""
    content = (folder / "objects.inv").read_bytes()
    *_, packed = content.split(b"\n", 4)
    found = {}
    for line in zlib.decompress(packed).decode().splitlines():
        name, kind, _, place, _ = line.split(" ", 4)
        if kind.startswith("py:"):
            found[name] = place.replace("$", name)
    return found


def missing_names(folder: Path) -> Iterator[str]:
    """Yield a line for each public name or operator that the site has no place for."""
    from gluonish_site.namespaces import Names, full

    there = names_in(folder)
    public = Names()
    for namespace, listed in public.by_namespace.items():
        yield from (
            f"{full(namespace, name)}: on no page"
            for name in listed
            if full(namespace, name) not in there
        )
    for name, page in public.pages.items():
        if not (folder / f"{page}.html").is_file():
            yield f"operator {name}: no page {page}.html"


def main(words: list[str]) -> int:
    """Print the faults of a site, and how much was looked at."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, help="the site that `gluonish docs` built")
    folder = parser.parse_args(words).folder
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "docs"))
    faults = [*faults_of(folder), *missing_names(folder)]
    sys.stdout.write("".join(f"{line}\n" for line in faults))
    count = sum(1 for _ in folder.rglob("*.html"))
    operators = sum(1 for _ in (folder / "reference" / "operators").glob("*.html"))
    sys.stdout.write(
        f"{count} pages, {operators} of operators, {len(names_in(folder))} names, "
        f"{len(faults)} faults\n"
    )
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
