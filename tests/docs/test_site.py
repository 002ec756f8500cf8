"""The documentation's site: built without a warning, complete, and dependent on no other host."""

from __future__ import annotations

import inspect
import os
import re
import runpy
import subprocess
import sys

import pytest

import emdeg
from tests.snippets import ROOT

pytestmark = pytest.mark.docs


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder


def pages(site):
    return {str(page.relative_to(site)): page.read_text(encoding="utf-8") for page in site.rglob("*.html")}


def test_nothing_is_loaded_from_another_host(site):
    for name, html in pages(site).items():
        loaded = re.findall(r"<(?:script|img|iframe|link)\b[^>]*?(?:src|href)=\"?((?:https?:)?//[^\"\s>]+)", html)
        assert loaded == [], name
    for sheet in site.rglob("*.css"):
        assert not re.search(r"(?:url\(|@import)\s*[\"']?(?:https?:)?//", sheet.read_text(encoding="utf-8")), sheet


def test_every_formula_is_mathml(site):
    whole = pages(site)
    assert not [name for name, html in whole.items() if "arithmatex" in html]
    formulations = [html for name, html in whole.items() if name.startswith("formulations")]
    assert len(formulations) == 8
    assert all(html.count("<math") >= 3 for html in formulations)


def test_every_public_function_is_in_the_reference(site):
    html = (site / "api" / "index.html").read_text(encoding="utf-8")
    places = set(re.findall(r'id="(emdeg[\w.]*)"', html))
    public = {name: getattr(emdeg, name) for name in emdeg.__all__ if name != "__version__"}
    modules = {name for name, thing in public.items() if inspect.ismodule(thing)}
    at_home = {f"{thing.__module__}.{name}": name for name, thing in public.items() if name not in modules}
    assert [name for home, name in at_home.items() if not places & {home, f"emdeg.{name}"}] == []
    assert {f"emdeg.{name}" for name in modules} <= places


def test_every_notebook_is_a_page_with_its_pictures(site):
    notebooks = sorted((ROOT / "examples").glob("[0-9]*.ipynb"))
    assert notebooks
    for notebook in notebooks:
        html = (site / "examples" / f"{notebook.stem}.html").read_text(encoding="utf-8")
        for picture in re.findall(rf'src="({notebook.stem}_\d+\.png)"', html):
            assert (site / "examples" / picture).stat().st_size > 2000


@pytest.mark.parametrize("formula", [r"\frac{a", r"\begin{pmatrix} a", r"\nosuchcommand x", r"\left( x"])
def test_a_formula_that_cannot_be_converted_is_a_warning(formula, caplog):
    hook = runpy.run_path(str(ROOT / "docs" / "_hooks" / "mathml.py"))
    hook["mathml"](formula, "inline", "page.md")
    assert "page.md: cannot convert the formula" in caplog.text
