"""The picture of one program becoming many shows the targets there are."""

import pytest
from tools.fan import PICTURE, drawn


@pytest.mark.docs
def test_the_picture_shows_every_target_there_is():
    assert PICTURE.read_text(encoding="utf-8") == drawn(), "python -m tools.fan"
