"""``gluonish docs``: build the documentation as a site, and open it."""

import argparse
import importlib.metadata
import importlib.util
import os
import subprocess
import sys
import webbrowser
from pathlib import Path

from gluonish.core.errors import MissingFileError, NotSupportedError
from gluonish.tools.json_output import add_json_option, stdout_to_stderr, write_json

_NEEDED = ("sphinx", "furo", "myst_nb", "sphinx_copybutton", "jupytext")


def add_parser(parsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add ``docs`` to the subcommands of ``gluonish``."""
    parser = parsers.add_parser(
        "docs",
        help="build the documentation as a site, and open it in a browser",
        description="Build the documentation as a site: the guide, the tutorials, and the "
        "reference of every class, function and operator, with a search. Needs the extra `docs`, "
        "and no network. The first build takes a minute or two, further ones seconds. Exits with 1 "
        "if the build fails.",
    )
    parser.add_argument(
        "--output",
        type=Path,
        default=Path("gluonish-docs"),
        metavar="FOLDER",
        help="where the site goes (default: %(default)s)",
    )
    parser.add_argument(
        "--notebooks",
        type=Path,
        metavar="FOLDER",
        help="write the tutorials as Jupyter notebooks into this folder, and build no site",
    )
    parser.add_argument("--no-open", action="store_true", help="do not open a browser")
    parser.add_argument("--strict", action="store_true", help="treat warnings as errors")
    parser.add_argument(
        "--jobs",
        type=int,
        default=os.cpu_count() or 1,
        metavar="N",
        help="processes that read pages (default: one per core)",
    )
    add_json_option(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Build the site, print the path of its first page, and open it unless told not to.

    Raises:
        NotSupportedError: The extra ``docs`` is not installed.
        MissingFileError: The pages are not part of this installation.
    """
    missing = [name for name in _NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        raise NotSupportedError(
            f"docs: expected the packages of the extra docs, got none named {', '.join(missing)}; "
            "pip install 'gluonish[docs]' (in a clone: pip install '.[docs]')"
        )
    if arguments.notebooks is not None:
        status = write_notebooks(arguments.notebooks.resolve())
        if status == 0:
            print(f"Notebooks are in {arguments.notebooks}: jupyter lab {arguments.notebooks}")
        return status
    output = arguments.output.resolve()
    with stdout_to_stderr(arguments.json):
        print(f"Building the documentation in {output}, for a minute or two ...", flush=True)
        status = build(output, strict=arguments.strict, jobs=max(1, arguments.jobs))
    first = output / "index.html"
    if status == 0:
        if arguments.json:
            write_json({"first_page": first})
        else:
            print(f"The first page is {first}")
        if not arguments.no_open:
            webbrowser.open(first.as_uri())
    return status


def build(output: Path, *, strict: bool, jobs: int) -> int:
    """Build the site with Sphinx, and return Sphinx's exit status.

    Args:
        output: Folder of the site. Its hidden folders hold what makes the next build fast.
        strict: Whether a warning is an error.
        jobs: Number of processes.
    """
    settings = source_folder() / "docs"
    pages = output / ".pages"
    pages.mkdir(parents=True, exist_ok=True)
    options = ["-q", "-j", str(jobs), "-c", str(settings), "-d", str(output / ".cache")]
    if strict:
        options += ["--fail-on-warning"]
    command = [sys.executable, "-m", "sphinx", *options, str(pages), str(output)]
    return subprocess.run(command, check=False).returncode


def write_notebooks(folder: Path) -> int:
    """Write the tutorials as notebooks, with the files that they read; return an exit status.

    Args:
        folder: Folder of the notebooks, created if missing.
    """
    source = source_folder()
    folders = [str(path.resolve()) for path in (source, folder)]
    command = [sys.executable, "-m", "gluonish_site.notebooks", *folders]
    return subprocess.run(command, cwd=source / "docs", check=False).returncode


def source_folder() -> Path:
    """Return the folder of ``docs`` and ``tutorials``: a clone, or what the package installed.

    Raises:
        MissingFileError: There is neither.
    """
    clone = Path(__file__).resolve().parents[2]
    if (clone / "docs" / "conf.py").exists():
        return clone
    for file in importlib.metadata.files("gluonish") or ():
        if file.parts[-2:] == ("docs", "conf.py"):
            return Path(str(file.locate())).resolve().parents[1]
    raise MissingFileError(
        f"docs: expected the pages of the documentation, got none in {clone} and none that "
        "the package installed; run the command in a clone of the repository"
    )
