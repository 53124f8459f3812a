"""What the check of a built site finds."""

import zlib
from pathlib import Path

from tests.docs.site_links import faults_of, names_in


def write(folder: Path, **pages: str) -> Path:
    for name, text in pages.items():
        (folder / f"{name}.html").write_text(text)
    return folder


def test_a_whole_site_has_no_faults(tmp_path: Path) -> None:
    (tmp_path / "a.png").touch()
    site = write(
        tmp_path,
        one='<p id="here"></p><a href="two.html#there"></a><a href="#here"></a><img src="a.png">',
        two='<p id="there"></p><a href="https://github.com/x"></a><a href="one.html"></a>',
    )
    assert list(faults_of(site)) == []


def test_what_leads_nowhere_is_named(tmp_path: Path) -> None:
    site = write(
        tmp_path,
        one='<a href="two.html"></a><a href="#no"></a><img src="no.png">'
        '<a href="http://github.com"></a><a href="https://example.com/x"></a>',
    )
    assert [line.partition(": ")[2] for line in faults_of(site)] == [
        "two.html: no such page",
        "#no: no such anchor",
        "http://github.com: expected https",
        "https://example.com/x: a host that is not listed in site_links.py",
        "no.png: no such picture",
    ]


def test_names_are_read_from_the_inventory(tmp_path: Path) -> None:
    lines = (
        b"mx.nd.exp py:function 1 reference/operators/exp.html#$ -\nindex std:doc -1 index.html x\n"
    )
    head = b"# Sphinx inventory version 2\n# Project: x\n# Version: 1\n# zlib\n"
    (tmp_path / "objects.inv").write_bytes(head + zlib.compress(lines))
    assert names_in(tmp_path) == {"mx.nd.exp": "reference/operators/exp.html#mx.nd.exp"}
