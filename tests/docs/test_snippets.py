"""What the README and the documentation show runs as it stands."""

from __future__ import annotations

import re

import pytest

from tests.snippets import COMMANDS, ROOT, Reader, console, escaped_commands, pages, shown, snippets

PAGES = [page for page in pages() if any(s.language in ("python", *COMMANDS) for s in snippets(page))]


@pytest.mark.docs
@pytest.mark.parametrize("page", PAGES, ids=shown)
def test_the_pages_snippets_run(page, tmp_path):
    assert Reader(tmp_path).work_through(page) or all(s.not_run for s in snippets(page))


def test_the_readmes_example_runs(capsys):
    (example,) = (s for s in snippets(ROOT / "README.md") if s.language == "python")
    exec(compile(example.text, "README.md", "exec"), {})  # our own text, not a robot's
    assert capsys.readouterr().out.splitlines()[-1] == "True"


@pytest.mark.parametrize("page", pages(), ids=shown)
def test_no_command_stands_outside_a_block_that_is_run(page):
    assert escaped_commands(page) == []


def test_few_snippets_are_left_out_and_each_says_why():
    left_out = [s for page in pages() for s in snippets(page) if s.not_run is not None]
    assert len(left_out) <= 12
    assert all(len(s.not_run.split()) >= 3 for s in left_out)


@pytest.mark.parametrize("page", pages(), ids=shown)
def test_links_between_files_lead_somewhere(page):
    """mkdocs checks links inside docs/; the README's, and pictures, are checked here too."""
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.S)
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
        if not re.match(r"[a-z]+:", target):
            assert (page.parent / target).exists() or _generated(page, target), f"{page.name}: {target}"


def _generated(page, target):
    """Pages that the site's build makes of the notebooks."""
    return (ROOT / "examples" / (page.parent / target).with_suffix(".ipynb").name).exists()


PAGE = """
<!-- file: note.txt -->
```toml
a = 1
```

```python
from pathlib import Path
print(Path("note.txt").read_text())
```

```output
a = {number}
```

<!-- not run: it would take a year -->
```python
raise RuntimeError
```

<!-- needs: no-such-program -->
```sh
no-such-program
```

```console
$ echo one \\
    two
one {word}
```
"""


def _page(folder, **parts):
    page = folder / "page.md"
    page.write_text(PAGE.format(**{"number": "1", "word": "two", **parts}))
    (folder / "work").mkdir()
    return page


def test_a_reader_works_through_a_page_and_skips_what_it_says(tmp_path):
    page = _page(tmp_path)
    assert Reader(tmp_path / "work").work_through(page) == 2


@pytest.mark.parametrize("parts", [{"number": "2"}, {"word": "three"}, {"word": "..., three"}])
def test_an_output_that_is_not_what_the_page_shows_is_found(parts, tmp_path):
    page = _page(tmp_path, **parts)
    with pytest.raises(AssertionError, match=r"page\.md:\d+ prints"):
        Reader(tmp_path / "work").work_through(page)


@pytest.mark.parametrize(
    "text", ["    emdeg robots\n", "```\nemdeg show puma560\n```\n", "```toml\n$ emdeg show a.toml\n```\n"]
)
def test_a_command_in_no_block_that_is_run_is_found(text, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(text)
    assert len(escaped_commands(page)) == 1


PAPERS = [page for page in pages() if page.parent == ROOT / "docs" / "papers" and page.name != "index.md"]


@pytest.mark.parametrize("page", PAPERS, ids=shown)
def test_every_command_of_a_papers_table_is_whole_and_run_on_its_page(page):
    blocks = "\n".join(s.text for s in snippets(page) if s.language in COMMANDS and s.not_run is None)
    lines = blocks.replace("\\\n", "").splitlines()
    run = {line.removeprefix("$ ").partition("||")[0].strip() for line in lines}  # || echo "exit code $?"
    rows = [line for line in page.read_text(encoding="utf-8").splitlines() if line.startswith("|")]
    asked = [command for row in rows for command in re.findall(r"`(emdeg [^`]+)`", row)]
    assert len(asked) >= 8
    assert [command for command in asked if command not in run] == []
    assert not [row for row in rows if "..." in row and "`emdeg" in row]


@pytest.mark.parametrize("page", PAPERS, ids=shown)
def test_every_command_of_a_papers_page_shows_what_must_come_out(page):
    blocks = [s for s in snippets(page) if s.language == "console" and s.not_run is None]
    asked = [pair for block in blocks for pair in console(block.text)]
    assert [command for command, output in asked if not (output or "").replace("...", "").strip()] == []
