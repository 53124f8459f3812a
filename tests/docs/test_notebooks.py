"""The tutorials as notebooks: written, executed, with their pictures; and what a notebook shows."""

import json
import os
import zipfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("sphinx", reason="needs the extra docs")
pytest.importorskip("jupytext", reason="needs the extra docs")

import nbclient
import nbformat

from gluonish.tools.cli import main
from gluonish_site import tutorials

ROOT = Path(__file__).resolve().parents[2]
# Those that need no weights, mails or further processes, and run in some seconds.
CHEAP = ("custom_layer", "estimator", "first_steps", "fine_tuning")
OF_THE_DAY = CHEAP[int(os.environ.get("PROGRAM_SEED", "0")) % len(CHEAP)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("tutorials")
    assert main(["docs", "--notebooks", str(path)]) == 0
    return path


def executed(notebook: Any, folder: Path) -> Any:
    paths = [str(ROOT), str(ROOT / "engine"), os.environ.get("PYTHONPATH", "")]
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    try:
        client = nbclient.NotebookClient(
            notebook, timeout=200, kernel_name="python3", resources={"metadata": {"path": folder}}
        )
        return client.execute()
    finally:
        if before is None:
            del os.environ["PYTHONPATH"]
        else:
            os.environ["PYTHONPATH"] = before


def outputs(notebook: Any) -> Iterator[dict[str, Any]]:
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            yield output.get("data", {"text/plain": output.get("text", "")})


def test_a_notebook_of_each_tutorial_is_written(folder: Path) -> None:
    names = {path.stem for path in (ROOT / "tutorials").glob("*.py")}
    assert {path.stem for path in folder.glob("*.ipynb")} == names
    assert (folder / "moby_dick.txt").exists()
    for name in names:
        nbformat.validate(nbformat.read(folder / f"{name}.ipynb", as_version=4))
        (heading, settings, *_) = json.loads((folder / f"{name}.ipynb").read_text())["cells"]
        assert heading["source"].startswith("# ")
        assert f'__file__ = "{name}.py"' in settings["source"]


def test_a_tutorial_runs_as_a_notebook_and_shows_its_pictures(folder: Path) -> None:
    notebook = nbformat.read(folder / f"{OF_THE_DAY}.ipynb", as_version=4)
    made = executed(notebook, folder)
    figures = [cell for cell in made.cells if cell.source.split("\n")[-1] == "figure"]
    assert bool(figures) == (OF_THE_DAY != "first_steps")
    for cell in figures:
        assert any("image/png" in output.get("data", {}) for output in cell.outputs)
    assert any("held-out" in str(data.get("text/plain")) for data in outputs(made))


def test_objects_and_bars_are_shown_as_html_and_widgets(tmp_path: Path) -> None:
    cells = [
        "import gluonish as mx; from gluonish.gluon import nn",
        "mx.nd.ones((2, 3))",
        "net = nn.HybridSequential(); net.add(nn.Dense(3)); net.initialize(); net",
        "net.collect_params()",
        "from gluonish.core.progress import progress_bar; list(progress_bar(range(3)))",
        "loss = mx.nd.array([1.25]); print(f'{loss:.3f}', round(loss, 1))",
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in cells])
    shown = list(outputs(executed(notebook, tmp_path)))
    html = [data["text/html"] for data in shown if "text/html" in data]
    assert [title in text for title, text in zip(("NDArray", "Dense", "weight"), html, strict=True)]
    pytest.importorskip("ipywidgets")
    assert any("application/vnd.jupyter.widget-view+json" in data for data in shown)
    assert any(data.get("text/plain") == "1.250 1.2\n" for data in shown)


def test_the_archive_of_the_site_holds_the_same(folder: Path) -> None:
    made = tutorials.downloads(ROOT)
    assert made == tutorials.downloads(ROOT)
    with zipfile.ZipFile(BytesIO(made["notebooks/tutorials.zip"])) as archive:
        packed = {Path(name).name: archive.read(name) for name in archive.namelist()}
    assert packed == {path.name: path.read_bytes() for path in folder.iterdir()}
