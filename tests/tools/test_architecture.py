"""The picture of the architecture shows the plan as it is."""

from xml.etree import ElementTree

import pytest
from tools.architecture import PICTURE, drawn
from tools.walk import PLAN, ROOT


@pytest.mark.docs
def test_the_picture_is_drawn_from_the_layers_and_the_docstrings():
    assert PICTURE.read_text(encoding="utf-8") == drawn(), "python -m tools.architecture draws it"


def test_it_is_well_formed_and_names_every_package():
    names = {text.text for text in ElementTree.fromstring(drawn()).iter("{http://www.w3.org/2000/svg}text")}
    assert {package for package in PLAN if (ROOT / package / "__init__.py").exists()} | {"cli"} <= names
