import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
# Names on conda-forge that differ from those on PyPI; None for what it lacks.
CONDA_NAMES = {"matplotlib": "matplotlib-base", "onednn-cpu-gomp": None}

yaml = pytest.importorskip("yaml", reason="needs PyYAML, which the extra docs brings")


def read(path: str) -> Any:
    return yaml.safe_load((ROOT / path).read_text("utf-8"))


def test_recipe_has_the_versions_and_requirements_of_the_project() -> None:
    recipe = read("packages/conda/recipe.yaml")
    assert recipe["context"] == {"name": PROJECT["name"], "version": PROJECT["version"]}
    wanted = [f"python {PROJECT['requires-python']}"]
    for requirement in PROJECT["dependencies"]:
        name, bound = re.fullmatch(r"([\w-]+)(>=[\d.]+).*", requirement).groups()
        conda = CONDA_NAMES.get(name, name)
        if conda is not None:
            wanted.append(f"{conda} {bound}")
    assert recipe["requirements"]["run"] == wanted
    assert recipe["build"]["python"]["entry_points"] == [
        f"{name} = {place}" for name, place in PROJECT["scripts"].items()
    ]
    assert recipe["about"]["summary"] == PROJECT["description"]
    assert recipe["about"]["license_file"] == PROJECT["license-files"]


def test_citation_has_the_version_and_license_of_the_project() -> None:
    citation = read("CITATION.cff")
    assert citation["version"] == PROJECT["version"]
    assert citation["license"] == PROJECT["license"]


def test_dockerfile_copies_what_the_build_reads() -> None:
    kept = {
        line[1:].split("/")[0]
        for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines()
        if line.startswith("!")
    }
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]
    wheel = settings["build"]["targets"]["wheel"]
    for path in (*wheel["packages"], *wheel["shared-data"], *PROJECT["license-files"]):
        first = path.split("/")[0]
        assert first in kept or first.endswith(".md"), path


def test_extras_of_the_dockerfile_exist() -> None:
    text = (ROOT / "packages/docker/Dockerfile").read_text("utf-8")
    named = {extra for found in re.findall(r"EXTRAS=([\w,]+)", text) for extra in found.split(",")}
    assert named
    assert named <= PROJECT["optional-dependencies"].keys()


FORMS = sorted(path.name for path in (ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml"))
TYPES = {"markdown", "textarea", "input", "dropdown", "checkboxes"}


@pytest.mark.parametrize("form", [name for name in FORMS if name != "config.yml"])
def test_issue_form_has_what_github_requires(form: str) -> None:
    found = read(f".github/ISSUE_TEMPLATE/{form}")
    assert {"name", "description", "body"} <= found.keys()
    assert found.keys() <= {"name", "description", "body", "labels", "title", "assignees"}
    names = [one["id"] for one in found["body"] if one["type"] != "markdown"]
    assert names
    assert len(names) == len(set(names))
    for one in found["body"]:
        assert one["type"] in TYPES
        required = "value" if one["type"] == "markdown" else "label"
        assert one["attributes"][required]


def test_lowest_constraints_name_every_dependency() -> None:
    command = [sys.executable, str(ROOT / ".ci/lowest.py"), "test"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    lines = done.stdout.splitlines()
    assert "numpy==2.2.*" in lines
    named = {re.split("[=<>!;]", line)[0] for line in lines}
    for requirement in PROJECT["dependencies"]:
        found = re.match(r"[\w-]+", requirement)
        assert found is not None
        assert found[0] in named
