"""What the README and the documentation show runs as it stands."""

from __future__ import annotations

import re

import pytest

from snippets import COMMANDS, ROOT, Reader, escaped_commands, pages, snippets

PAGES = [page for page in pages() if any(s.language in ("python", *COMMANDS) for s in snippets(page))]


@pytest.mark.docs
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_pages_snippets_run(page, tmp_path):
    assert Reader(tmp_path).work_through(page) or all(s.not_run for s in snippets(page))


def test_the_readmes_example_runs(capsys):
    (example,) = (s for s in snippets(ROOT / "README.md") if s.language == "python")
    exec(compile(example.text, "README.md", "exec"), {})  # our own text, not a robot's
    assert capsys.readouterr().out.splitlines()[-1] == "True"


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_no_command_stands_outside_a_block_that_is_run(page):
    assert escaped_commands(page) == []


def test_few_snippets_are_left_out_and_each_says_why():
    left_out = [s for page in pages() for s in snippets(page) if s.not_run is not None]
    assert len(left_out) <= 8
    assert all(len(s.not_run.split()) >= 3 for s in left_out)


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_links_between_files_lead_somewhere(page):
    """mkdocs checks links inside docs/; the README's, and pictures, are checked here too."""
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.S)
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
        if not re.match(r"[a-z]+:", target):
            assert (page.parent / target).exists() or _generated(page, target), f"{page.name}: {target}"


def _generated(page, target):
    """Pages that the site's build makes of the notebooks."""
    return (ROOT / "examples" / (page.parent / target).with_suffix(".ipynb").name).exists()
