"""Models as JSON: they read back equal, and what is no model is refused in words."""

from __future__ import annotations

import json

import pytest

import emdeg
from emdeg.equations import derive, from_json, to_json
from emdeg.errors import BadData
from tests.random_robots import random_robot


@pytest.mark.parametrize("name", [name for name in emdeg.library_names() if emdeg.load(name).loops is None])
def test_json_reads_back_to_an_equal_model(name):
    model = derive(emdeg.load(name))
    assert from_json(to_json(model)) == model


def test_json_of_symbols_constant_angles_and_parts_left_out_reads_back():
    for model in (
        derive(emdeg.load("puma560"), symbolic=True),
        derive(random_robot(1, 3)),
        derive(emdeg.load("scara"), only="g"),
        derive(emdeg.load("scara"), only="M"),
    ):
        again = from_json(to_json(model))
        assert again == model
        assert again.known == model.known


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.update(format="x"), "it is not a model"),
        (lambda d: d["M"]["M11"].append(["1", {"zz": 1}]), "M11: 'zz' is not among the model's letters"),
        (lambda d: d["M"]["M11"].append(["1.5.2", {}]), "M11: '1.5.2' is not a number"),
        (lambda d: d["M"]["M11"].append(["1", {"c2": -1}]), "M11: the exponent of c2"),
        (lambda d: d["robot"].update(links=3), "robot.links must be a list"),
        (lambda d: d["robot"].pop("name"), "robot must be an object with"),
        (lambda d: d.pop("letters"), "the model is incomplete: KeyError 'letters'"),
        (lambda d: d["M"].pop("M11"), "the model is incomplete"),
    ],
)
def test_json_that_is_no_model_is_refused_in_words(change, message):
    data = json.loads(to_json(derive(emdeg.load("planar2r"))))
    change(data)
    with pytest.raises(BadData, match=message):
        from_json(json.dumps(data))
