"""The figures in README and docs are those of the result files kept in docs/data."""

import json

import pytest
from tools.tables import DATA, HOME, MARKED, TABLES, filled, kept, pages, table, whole


@pytest.mark.parametrize("path", list(pages()), ids=lambda path: str(path.relative_to(HOME)))
def test_every_table_says_what_its_data_say(path):
    text = path.read_text(encoding="utf-8")
    assert filled(text) == text, "python tools/tables.py fills them in"


def test_every_table_stands_somewhere_and_only_known_ones_do():
    asked = [name for path in pages() for _, name, _ in MARKED.findall(path.read_text(encoding="utf-8"))]
    assert sorted(asked) == sorted(TABLES)


def test_every_table_has_its_data():
    assert all(made() for made in TABLES.values())


def test_result_files_say_which_command_and_which_machine_made_them():
    for path in set(DATA.glob("*.json")) - {DATA / "walk.json"}:
        data = kept(path.stem)
        assert data["command"].startswith("python benchmarks/bench_"), path.name
        assert {"processor", "cores", "system", "python", "load_average"} <= set(data["machine"]), path.name
        assert data["emdeg"]
        assert data["day"]


def test_what_is_between_the_markers_is_replaced_and_nothing_else(monkeypatch, tmp_path):
    monkeypatch.setattr("tools.tables.DATA", tmp_path)
    rows = [{"robot": "r", "function": "f", "peer": 10, "whose": "theirs", "plain": 9, "found": 5}]
    (tmp_path / "counts.json").write_text(json.dumps({"figures": {"table": rows}}))
    page = "before\n<!-- from docs/data: counts -->\nold\n<!-- end -->\nafter\n"
    head = ("robot, function", "best peer", "plain", "found", "of the peer")
    expected = table(head, [("r f", "10 (theirs)", 9, 5, "0.50")])
    assert filled(page) == page.replace("old\n", f"\n{expected}\n")
    assert filled(filled(page)) == filled(page)


def test_ratios_have_no_more_digits_than_people_want():
    assert [whole(value) for value in (1.234, 9.94, 22.4, 106.2)] == ["1.2", "9.9", "22", "106"]
