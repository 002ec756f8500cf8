"""Stick figures that move: an animated GIF, or an HTML page that can be turned with the mouse."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from html import escape
from importlib import resources
from pathlib import Path

import numpy as np

from emdeg.algebra import Array
from emdeg.documents import write_whole
from emdeg.dynamics import kind_of
from emdeg.errors import ScenarioError
from emdeg.robot import Robot
from emdeg.simulation.pictures.skeleton import Stroke, joined, line_figure

FRAMES_PER_SECOND = 25
MOST_FRAMES = 1500
SIZE, FINE = 480, 2
"""A GIF's width [pixels], drawn finer by this factor and reduced."""


KINDS = (".gif", ".html")


def animate(robot: Robot, t: Array, q: Array, path: Path, title: str = "") -> None:
    """Write the motion q (k, n) at t (k) as .gif or .html, in real time."""
    write_whole({path: animation(robot, t, q, path.suffix.lower(), title)})


def animation(robot: Robot, t: Array, q: Array, kind: str, title: str = "") -> bytes:
    """The file's content; a long run is shown with fewer frames a second."""
    if kind not in KINDS:
        raise ScenarioError(f"an animation is written as .gif or .html, not as {kind or 'a file without ending'}")
    frames = round(float(t[-1] - t[0]) * FRAMES_PER_SECOND) + 1
    times = np.linspace(t[0], t[-1], min(max(frames, 2), MOST_FRAMES))
    shown = np.stack([np.interp(times, t, column) for column in q.T], axis=1)
    shown = kind_of(robot).joint_positions(robot, shown)
    strokes = [stroke for stroke in line_figure(robot, shown) if stroke.kind != "virtual"]
    if kind == ".gif":
        return _gif(strokes, times, title or robot.name)
    return page(strokes, times, title or robot.name).encode()


def _gif(strokes: Sequence[Stroke], times: Array, title: str) -> bytes:
    """Drawn with Pillow, which matplotlib brings along: a hundred times faster than its own 3D axes."""
    from PIL import Image, ImageDraw

    points, bones = joined(strokes)
    low, high = points.min(axis=(0, 1)), points.max(axis=(0, 1))
    size = max(float(np.linalg.norm(high - low)), 0.2)
    view = _View((low + high) / 2, 0.85 * SIZE * FINE / size)
    flat = view(points)
    length = size / 8
    axes = view(np.concatenate([np.zeros((1, 3)), length * np.eye(3)]))
    frames = []
    for i, at in enumerate(times):
        image = Image.new("RGB", (SIZE * FINE, SIZE * FINE), "white")
        pen = ImageDraw.Draw(image)
        for name, end in zip("xyz", axes[1:]):
            pen.line([tuple(axes[0]), tuple(end)], fill="#888888", width=2 * FINE)
            pen.text(tuple(end), name, fill="#444444", font_size=13 * FINE)
        if i:
            pen.line([tuple(p) for p in flat[: i + 1, -1]], fill="#999999", width=FINE)
        for a, b in bones:
            pen.line([tuple(flat[i, a]), tuple(flat[i, b])], fill="#0072B2", width=5 * FINE)
        for x, y in flat[i]:
            pen.ellipse([x - 4 * FINE, y - 4 * FINE, x + 4 * FINE, y + 4 * FINE], fill="#D55E00")
        pen.text((8 * FINE, 6 * FINE), f"{title[:70]}\nt = {at:.2f} s", fill="#222222", font_size=13 * FINE)
        frames.append(image.resize((SIZE, SIZE), Image.Resampling.LANCZOS).quantize(32))
    # GIF counts in hundredths of a second.
    pause = 10 * max(2, round(100 * float(times[-1] - times[0]) / (len(times) - 1)))
    target = io.BytesIO()
    frames[0].save(target, "gif", save_all=True, append_images=frames[1:], duration=pause, loop=0)
    return target.getvalue()


class _View:
    """Points [m] to pixels: seen from the front right, a little from above."""

    def __init__(self, middle: Array, scale: float, turn: float = -0.7, tilt: float = 0.4) -> None:
        c, s, ct, st = np.cos(turn), np.sin(turn), np.cos(tilt), np.sin(tilt)
        self._middle, self._matrix = middle, scale * np.array([[c, -s, 0], [-st * s, -st * c, -ct]])

    def __call__(self, points: Array) -> Array:
        return (points - self._middle) @ self._matrix.T + SIZE * FINE / 2


def page(strokes: Sequence[Stroke], times: Array, title: str) -> str:
    """A self-contained page: the motion's points and a little script that draws and turns them."""
    points, bones = joined(strokes)
    data = json.dumps({"points": np.round(points, 5).tolist(), "bones": bones, "times": np.round(times, 4).tolist()})
    text = resources.files("emdeg.simulation.pictures").joinpath("animation.html").read_text("utf-8")
    return text.replace("DATA", data).replace("TITLE", escape(title))  # the data are numbers: no TITLE among them
