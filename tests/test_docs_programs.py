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


def test_every_page_with_programs_is_tested() -> None:
    pages = (ROOT / "docs").glob("*.md")
    assert {page.name for page in pages if BLOCK.search(page.read_text("utf-8"))} == {
        "files.md",
        "text.md",
    }
