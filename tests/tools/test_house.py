"""The picture of the house shows the plan as it is."""

from xml.etree import ElementTree

import pytest
from tools.house import PICTURE, drawn
from tools.walk import PLAN, ROOT


@pytest.mark.docs
def test_the_picture_is_the_one_that_the_plan_and_the_rooms_give():
    assert PICTURE.read_text(encoding="utf-8") == drawn(), "python -m tools.house draws it"


def test_it_is_well_formed_and_names_every_room():
    names = {text.text for text in ElementTree.fromstring(drawn()).iter("{http://www.w3.org/2000/svg}text")}
    assert {room for room in PLAN if (ROOT / room / "__init__.py").exists()} | {"cli"} <= names
