import copy
import json

import pytest

import emdeg
from emdeg.errors import NotAProgram
from emdeg.programs.json_form import from_data, to_data
from tests.program_samples import kitchen_sink, random_program


@pytest.mark.parametrize("program", [kitchen_sink()[0], random_program(3, divisions=True)], ids=["sink", "random"])
def test_a_program_comes_back_number_for_number(program):
    assert from_data(json.loads(json.dumps(to_data(program)))) == program


def test_a_robots_program_comes_back_with_its_angles_and_labels():
    program = emdeg.program(emdeg.load("panda"), "inverse_dynamics")
    assert from_data(json.loads(json.dumps(to_data(program)))) == program


@pytest.mark.parametrize(
    "spoil",
    [
        lambda data: data.pop("ops"),
        lambda data: data["ops"].append("add 1 999999"),
        lambda data: data["ops"].append("add 0 1"),
        lambda data: data["ops"].append("explode 1"),
        lambda data: data["ops"].append("number 1e999999999"),
        lambda data: data["ops"].append("number 1/0"),
        lambda data: data["ops"].append("number " + "9" * 5000),
        lambda data: data["ops"].append("angle 0 0 pi"),
        lambda data: data["ops"].append("input q 7"),
        lambda data: data["ops"].append(""),
        lambda data: data["outputs"][0][2].append(10**9),
        lambda data: data["inputs"].append(["q; evil", 1, "rates", []]),
        lambda data: data["inputs"][0].__setitem__(1, -1),
        lambda data: data["inputs"][0].__setitem__(2, "sometimes"),
    ],
)
def test_other_data_is_refused(spoil):
    data = copy.deepcopy(to_data(kitchen_sink()[0]))
    spoil(data)
    with pytest.raises(NotAProgram):
        from_data(data)


@pytest.mark.parametrize("data", [None, 3, [], {}, "text", {"ops": 5}])
def test_what_is_no_program_at_all_is_refused(data):
    with pytest.raises(NotAProgram):
        from_data(data)
