"""A URDF document with other inertials: everything else stays as it is written, character by character."""

from __future__ import annotations

import re
from collections.abc import Mapping
from xml.parsers import expat

import numpy as np
from numpy.typing import NDArray

from emdeg.errors import RobotError

Wanted = tuple[float, NDArray[np.float64], NDArray[np.float64]]
"""Mass [kg], mass centre [m] in the link's frame, tensor [kg m^2] about it."""


def with_inertials(text: str, wanted: Mapping[str, Wanted | None]) -> str:
    """The URDF `text`, read before, with these links' inertials; None leaves a link without one."""
    source = text.encode()
    spans: dict[str, tuple[int, int]] = {}
    """Link -> where its inertial stands, or where one can be put."""
    path: list[tuple[str, str]] = []
    begun = 0
    parser = expat.ParserCreate()

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal begun
        path.append((tag, attributes.get("name", "")))
        if [part[0] for part in path] == ["robot", "link"]:
            at = source.index(b">", parser.CurrentByteIndex)
            spans[path[-1][1]] = (at, at) if source[at - 1 : at] == b"/" else (at + 1, at + 1)
        elif [part[0] for part in path] == ["robot", "link", "inertial"]:
            begun = parser.CurrentByteIndex

    def end(tag: str) -> None:
        if [part[0] for part in path] == ["robot", "link", "inertial"]:
            close = source.index(b">", parser.CurrentByteIndex) + 1
            spans[path[1][1]] = (begun, close)
        path.pop()

    parser.StartElementHandler, parser.EndElementHandler = start, end
    try:
        parser.Parse(source, True)
    except expat.ExpatError as problem:
        raise RobotError(f"not well-formed XML: {problem}") from None
    result = source
    for name, (first, last) in sorted(spans.items(), key=lambda item: -item[1][0]):
        if name not in wanted:
            continue
        body = wanted[name]
        new = b"" if body is None else _inertial(*body).encode()
        if first == last and result[first - 1 : first] == b"/":  # <link name="..."/>
            opened = re.sub(rb"/\Z", b"", result[:first])
            result = opened + b">" + new + b"</link>" + result[first + 1 :] if new else result
        else:
            result = result[:first] + new + result[last:]
    return result.decode()


def _inertial(mass: float, com: NDArray[np.float64], J: NDArray[np.float64]) -> str:
    place = " ".join(f"{v:.12g}" for v in com)
    names = (("ixx", 0, 0), ("ixy", 0, 1), ("ixz", 0, 2), ("iyy", 1, 1), ("iyz", 1, 2), ("izz", 2, 2))
    moments = " ".join(f'{name}="{J[i, j]:.12g}"' for name, i, j in names)
    return f'<inertial><origin xyz="{place}" rpy="0 0 0"/><mass value="{mass:.12g}"/><inertia {moments}/></inertial>'
