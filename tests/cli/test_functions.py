import json

import pytest

from emdeg.dynamics import mechanism_kinds
from emdeg.dynamics.functions import CATALOGUE
from tests.commands import run


def test_the_catalogue_is_listed_with_inputs_outputs_units_formulations_and_what_proves_them():
    listed = json.loads(run("functions", "--json").stdout)["result"]
    assert list(listed) == list(CATALOGUE)
    for name, data in listed.items():
        assert [one["name"] for one in data["inputs"]] == list(CATALOGUE[name].inputs)
        assert all(one["unit"] and one["name"] for one in (*data["inputs"], *data["outputs"]))
        assert data["kinds"].keys() <= {kind.name for kind in mechanism_kinds()}
        for kind in data["kinds"].values():
            assert kind["formulations"]
            assert kind["reference"]


@pytest.mark.parametrize("words", [["functions"], ["functions", "mass_matrix"]])
def test_names_are_whole_in_print(words):
    shown = run(*words).stdout
    assert "mass_matrix" in shown
    assert "\N{HORIZONTAL ELLIPSIS}" not in shown


def test_an_unknown_function_is_wrong_usage():
    found = run("functions", "mass_matricks")
    assert found.returncode == 2
    assert "did you mean mass_matrix?" in found.stderr
