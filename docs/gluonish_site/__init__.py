"""The Sphinx extension that makes the site from the repository's pages and docstrings.

The folder that Sphinx reads is written here, when a build starts: the Markdown pages of the
repository with their links adapted (`pages`), the tutorials as notebooks (`tutorials`), a page for
each public namespace (`reference`) and one for each operator (`operators`). Files whose text has
not changed are left alone, so that a second build reads only what is new.
"""

from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging

from gluonish_site import (
    line_breaks,
    narrow_tables,
    navigation,
    operators,
    pages,
    reference,
    tutorials,
)
from gluonish_site.names import NamesDirective, TableDirective
from gluonish_site.namespaces import Names, full

_logger = logging.getLogger(__name__)
ROOT = Path(__file__).resolve().parents[2]


def write_sources(app: Sphinx) -> None:
    """Write the pages that Sphinx is to read into its source folder."""
    target = Path(app.srcdir)
    names = Names()
    texts = {
        **pages.texts(ROOT),
        **tutorials.texts(ROOT),
        **reference.texts(names),
        **operators.texts(names),
    }
    write_changed(target, {name: text.encode("utf-8") for name, text in texts.items()})
    files = {**pages.pictures(ROOT), **tutorials.downloads(ROOT)}
    write_changed(target, files)
    remove_others(target, {*texts, *files})


def check_names(app: Sphinx, env: BuildEnvironment) -> None:
    """Warn of public names that no page describes or lists."""
    del app
    found = env.domains.python_domain.objects
    for namespace, listed in Names().by_namespace.items():
        for name in listed:
            if full(namespace, name) not in found:
                _logger.warning("no page describes %s", full(namespace, name))


def write_changed(folder: Path, contents: dict[str, bytes]) -> None:
    """Write files below a folder, except those that have this content already."""
    for name, content in contents.items():
        path = folder / name
        if not path.exists() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)


def remove_others(folder: Path, names: set[str]) -> None:
    """Remove pages that an earlier build wrote and that do not exist any more."""
    for path in folder.rglob("*"):
        if path.suffix in (".md", ".rst", ".ipynb") and str(path.relative_to(folder)) not in names:
            path.unlink()


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension with Sphinx."""
    app.connect("builder-inited", write_sources)
    app.connect("env-check-consistency", check_names)
    app.connect("env-check-consistency", navigation.keep_titles)
    app.connect("html-page-context", navigation.add_contents, priority=100)
    app.connect("html-page-context", navigation.show_contents, priority=900)
    app.connect("html-page-context", line_breaks.add_breaks)
    app.connect("html-page-context", narrow_tables.add_titles)
    app.add_directive("gluonish-names", NamesDirective)
    app.add_directive("gluonish-table", TableDirective)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
