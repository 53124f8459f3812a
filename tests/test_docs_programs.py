"""The programs on pages of docs/ run, with small networks in the place of those that they name."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.model_zoo import get_model, save_pretrained
from tests.tools.text_folders import GOLDEN, encoder_folder, initialized, language_folder

ROOT = Path(__file__).resolve().parents[1]
BLOCK = re.compile(r"```python\n(.*?)```", re.DOTALL)
WITH_OUTPUT = re.compile(r"```python\n(.*?)```(?:\n\n```text\n(.*?)```)?", re.DOTALL)


def write_networks(folder: Path) -> None:
    """Write what the pages name."""
    for name in ("SmolLM2-135M-Instruct", "all-MiniLM-L6-v2", "mobilenetv3_small_050"):
        (folder / name).mkdir()
    language_folder(folder / "SmolLM2-135M-Instruct")
    encoder_folder(folder / "all-MiniLM-L6-v2")
    shutil.copytree(GOLDEN / "text_networks" / "t5", folder / "t5-small")
    shutil.copy(GOLDEN / "gguf" / "llama.gguf", folder / "SmolLM2-135M-Instruct.Q4_1.gguf")
    timm = folder / "mobilenetv3_small_050"
    save_pretrained(initialized(get_model(timm.name, classes=3)), timm)
    settings = json.loads((timm / "config.json").read_text())
    settings["pretrained_cfg"] |= {
        "input_size": [3, 64, 64],
        "crop_pct": 0.875,
        "interpolation": "bicubic",
        "mean": [0.485, 0.456, 0.406],
        "std": [0.229, 0.224, 0.225],
    }
    (timm / "config.json").write_text(json.dumps(settings))


def run(page: str, folder: Path, monkeypatch: pytest.MonkeyPatch, **given: Any) -> dict[str, Any]:
    """Run the programs of a page, one after another, and return what they defined."""
    pytest.importorskip("tokenizers", reason="needs the extra text")
    pytest.importorskip("jinja2", reason="needs the extra text")
    write_networks(folder)
    monkeypatch.chdir(folder)
    programs = BLOCK.findall((ROOT / "docs" / page).read_text("utf-8"))
    assert programs
    for program in programs:
        exec(compile(program, page, "exec"), given)
    return given


def test_programs_on_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = run("text.md", tmp_path, monkeypatch)
    assert found["scores"].shape[2] == 400
    assert len(found["texts"]) == 3
    assert found["vectors"].shape == (2, 16)
    np.testing.assert_allclose(mx.nd.norm(found["vectors"], axis=1).asnumpy(), 1, rtol=1e-5)
    for name in ("attention.png", "attention.html", "int8.params", "copy/model.safetensors"):
        assert (tmp_path / name).stat().st_size > 0


def test_programs_on_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    picture = mx.nd.zeros((90, 120, 3), dtype="uint8")
    found = run("files.md", tmp_path, monkeypatch, picture=picture)
    assert found["images"].shape == (3, 64, 64)
    assert found["scores"].shape == (1, 3)


# Pages whose programs need networks, which `run` writes.
WITH_NETWORKS = {"files.md", "text.md"}
PAGES = sorted(
    str(page.relative_to(ROOT / "docs"))
    for page in (ROOT / "docs").rglob("*.md")
    if BLOCK.search(page.read_text("utf-8")) and page.name not in WITH_NETWORKS
)


# Packages that the programs of a page need besides those that gluonish requires.
NEEDED = {"guide/other_libraries.md": ("einops", "polars")}


@pytest.mark.parametrize("page", PAGES)
def test_programs_of_a_page_print_what_it_says(
    page: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A block of text below a program is what it prints; programs without one print nothing."""
    for package in NEEDED.get(page, ()):
        pytest.importorskip(package, reason=f"{page} needs the package {package}")
    monkeypatch.chdir(tmp_path)
    given: dict[str, Any] = {"__name__": page}
    for program, said in WITH_OUTPUT.findall((ROOT / "docs" / page).read_text("utf-8")):
        if "onnx" in program:
            pytest.importorskip("onnx", reason="needs the extra onnx")
        exec(compile(program, page, "exec"), given)
        assert capsys.readouterr().out == said, program


# What the names on pages begin with, as programs import them.
ROOTS: dict[str, Any] = {
    "mx": mx,
    "nd": mx.nd,
    "gluon": mx.gluon,
    "nn": mx.gluon.nn,
    "rnn": mx.gluon.rnn,
    "autograd": mx.autograd,
    "amp": mx.contrib.amp,
    "model_zoo": mx.gluon.model_zoo,
    "transforms": mx.gluon.data.vision.transforms,
    "Estimator": mx.gluon.contrib.estimator.Estimator,
}
SPAN = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
NAME = re.compile(rf"(?<![\w.])({'|'.join(ROOTS)})((?:\.[A-Za-z_]\w*)+)")


def names_on(page: Path) -> set[tuple[str, str]]:
    """The names of ours in the text of a page; in a table of words, those of our column."""
    found = set()
    text = re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.DOTALL)
    for line in text.splitlines():
        if line.startswith("|") and page.name in ("coming_from_pytorch.md", "coming_from_keras.md"):
            line = line.partition("|")[2].partition("|")[2]
        for span in SPAN.findall(line):
            found |= {(match[1], match[2]) for match in NAME.finditer(span)}
    return found


def test_names_on_pages_exist() -> None:
    pages = [p for p in (ROOT / "docs").rglob("*.md") if not p.name.startswith("changelog")]
    count = 0
    for page in pages:
        for root, rest in names_on(page):
            if f"{root}{rest}" in ("mx.rtc",) or rest.endswith((".md", ".py")):
                continue
            value = ROOTS[root]
            for part in rest[1:].split("."):
                assert hasattr(value, part), f"{page.name}: {root}{rest}"
                value = getattr(value, part)
            count += 1
    assert count > 150
