"""The Markdown pages of the repository as pages of the site: other places, adapted links."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

_FENCE = re.compile(r"(^```.*?^```[ \t]*$)", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
_CAPTION = re.compile(r"^\*\*(.+)\*\*$", re.MULTILINE)
# Pages outside docs/, and where they are on the site.
_OUTSIDE = {
    "README.md": "readme.md",
    "CONTRIBUTING.md": "contributing.md",
    "ARCHITECTURE.md": "packages.md",
    "CHANGELOG.md": "changelog.md",
    "SECURITY.md": "security.md",
    "tutorials/README.md": "tutorials/index.md",
    "tutorials/distributed.md": "tutorials/distributed_training.md",
    "benchmarks/README.md": "benchmarks/index.md",
}
INDEX = "docs/README.md"
_REFERENCE = (
    "[API reference](reference/index.rst): every class and function, by namespace",
    "[Operators](reference/operators/index.rst): a page for each, with arguments and shapes",
)


def places(root: Path) -> dict[str, str]:
    """Return where each page is on the site, by its path in the repository."""
    found = {INDEX: "index.md"}
    found |= {
        str(path.relative_to(root)): str(path.relative_to(root / "docs"))
        for path in sorted((root / "docs").rglob("*.md"))
        if path.name != "README.md"
    }
    found |= {name: place for name, place in _OUTSIDE.items() if (root / name).exists()}
    for path in sorted((root / "benchmarks" / "results").glob("*.md")):
        found[str(path.relative_to(root))] = f"benchmarks/{path.name}"
    for path in sorted((root / "tutorials").glob("*.py")):
        found[str(path.relative_to(root))] = f"tutorials/{path.stem}.ipynb"
    return found


def texts(root: Path) -> dict[str, str]:
    """Return the Markdown pages of the site by file name."""
    known = places(root)
    pages = {
        place: adapted((root / name).read_text("utf-8"), name, known)
        for name, place in known.items()
        if name.endswith(".md")
    }
    pages["index.md"] = _for_site(pages["index.md"])
    listed = set(_listed(pages["index.md"]))
    for name in pages:
        if name.startswith("benchmarks/") and name != "benchmarks/index.md":
            pages[name] = f"---\norphan: true\n---\n\n{pages[name]}"
    pages["readme.md"] = f"---\norphan: true\n---\n\n{pages['readme.md']}"
    pages["index.md"] += _trees(pages["index.md"])
    pages["tutorials/index.md"] += (
        "\nAll as notebooks, with the files that they read: {download}`tutorials.zip "
        "</notebooks/tutorials.zip>`.\n\n"
    )
    pages["tutorials/index.md"] += _tree(
        [
            place.removeprefix("tutorials/")
            for place in _listed_in(pages["tutorials/index.md"], listed)
        ]
    )
    return pages


def _for_site(index: str) -> str:
    """Return the index with the reference, which there is on the site only."""
    text, count = re.subn(r"These pages read well on GitHub\..*?\n\n", "", index, flags=re.DOTALL)
    reference = "\n".join(f"- {line}" for line in _REFERENCE)
    text, found = re.subn(r"(\*\*Look up\*\*\n\n)", rf"\g<1>{reference}\n", text)
    assert count == found == 1, "docs/README.md has no such paragraph and caption"
    return text.replace("# Documentation\n", "# gluonish\n", 1)


def pictures(root: Path) -> dict[str, bytes]:
    """Return the pictures of the pages by file name."""
    return {
        str(path.relative_to(root / "docs")): path.read_bytes()
        for path in sorted((root / "docs" / "pictures").rglob("*"))
        if path.suffix in (".png", ".svg", ".webp")
    }


def adapted(text: str, name: str, known: dict[str, str]) -> str:
    """Return the text of a page with its links to pages of the repository as the site has them.

    A link to a file that is no page of the site keeps its text only.
    """
    pieces = _FENCE.split(text)
    return "".join(
        piece if index % 2 else _LINK.sub(lambda link: _link(link, name, known), piece)
        for index, piece in enumerate(pieces)
    )


def _link(link: re.Match[str], name: str, known: dict[str, str]) -> str:
    mark, shown, target = link.groups()
    if "://" in target or target.startswith(("#", "mailto:")):
        return link[0]
    file, _, anchor = target.partition("#")
    meant = os.path.normpath(os.path.join(os.path.dirname(name), file))
    if mark or meant.startswith("docs/pictures/"):
        place = meant.removeprefix("docs/")
    else:
        found = known.get(meant) or known.get(f"{meant}/README.md")
        if found is None:
            return str(shown)
        place = found
    here = os.path.dirname(known[name])
    relative = os.path.relpath(place, here or ".")
    return f"{mark}[{shown}]({relative}{'#' + anchor if anchor else ''})"


def _listed(text: str) -> Iterator[str]:
    """Yield the pages of the site that a list links to, each once."""
    yield from dict.fromkeys(
        target.partition("#")[0]
        for target in re.findall(r"^[-|] \[[^\]]*\]\(([^)\s]+)\)", text, re.MULTILINE)
        if "://" not in target and not target.startswith("#")
    )


def _listed_in(text: str, without: set[str]) -> list[str]:
    here = [os.path.normpath(os.path.join("tutorials", place)) for place in _listed(text)]
    return [place for place in here if place.startswith("tutorials/") and place not in without]


def _trees(text: str) -> str:
    """Return the navigation of the site: a part for each bold caption of the index and its list."""
    pieces = _CAPTION.split(text)
    trees = []
    for caption, part in zip(pieces[1::2], pieces[2::2], strict=True):
        trees.append(_tree(list(_listed(part)), caption))
    return "\n".join(trees)


def _tree(places: list[str], caption: str = "") -> str:
    entries = "\n".join(re.sub(r"\.(md|ipynb|rst)$", "", place) for place in places)
    title = f":caption: {caption}\n" if caption else ""
    return f"\n```{{toctree}}\n:hidden:\n{title}\n{entries}\n```\n"
