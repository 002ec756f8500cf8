"""Inertials are replaced, put in or left out; every other character of a URDF stays."""

from __future__ import annotations

import numpy as np

from emdeg.robot import with_inertials

TEXT = """<?xml version="1.0"?><robot name="r"><!-- <link name="a"/> --><link name="a">
 <inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial> <visual/></link>
<link name="b"/><link name="c" ><visual/></link><link name="é"/></robot>"""


def test_inertials_are_replaced_put_in_and_left_out():
    body = (2.5, np.array([0.1, 0.0, -0.2]), np.diag([1.0, 2.0, 2.5]))
    new = with_inertials(TEXT, {"a": None, "b": body, "c": body, "é": None})
    assert '<link name="a">\n  <visual/></link>' in new
    inertial = '<inertial><origin xyz="0.1 0 -0.2" rpy="0 0 0"/><mass value="2.5"/><inertia ixx="1"'
    assert f'<link name="b">{inertial}' in new
    assert f'<link name="c" >{inertial}' in new
    assert '<link name="é"/></robot>' in new
    assert "<!-- <link" in new
