"""Stick figures that move: an animated GIF, or an HTML page that can be turned with the mouse."""

from __future__ import annotations

import io
import json
from html import escape
from pathlib import Path

import numpy as np

from emdeg.algebra import Array
from emdeg.documents import write_whole
from emdeg.dynamics.functions import forward_kinematics, link_transforms
from emdeg.errors import ScenarioError
from emdeg.loops import ready
from emdeg.robot import BASE, Robot

FRAMES_PER_SECOND = 25
MOST_FRAMES = 1500
SIZE, FINE = 480, 2
"""A GIF's width [pixels], drawn finer by this factor and reduced."""


def skeleton(robot: Robot, q: Array) -> tuple[Array, list[tuple[int, int]]]:
    """(points, bones): points (k, n + 2, 3) [m] are base, link origins and tool; bones join two of them."""
    if robot.rods or robot.closures:
        return _loop_skeleton(robot, q)
    count = len(q)
    points = np.zeros((count, robot.n + 2, 3))
    points[:, 1:-1] = link_transforms(robot, q)[..., :3, 3]
    points[:, -1] = forward_kinematics(robot, q)[..., :3, 3]
    bones = [(0 if link.parent == BASE else link.parent + 1, k + 1) for k, link in enumerate(robot.links)]
    bones.append((robot.tool.link + 1, robot.n + 1))
    return points, bones


def _loop_skeleton(robot: Robot, q: Array) -> tuple[Array, list[tuple[int, int]]]:
    """The links that have mass, rods and the ends of closing joints; a platform's massless slides are not drawn."""
    link = ready(robot).link
    T = link_transforms(robot, q)
    points, bones, place = [np.zeros((len(q), 3))], [], {BASE: 0}
    bodies = [k for k, body in enumerate(robot.links) if body.inertia.mass]

    def add(point: Array, *ends: int) -> int:
        points.append(point)
        bones.extend((end, len(points) - 1) for end in ends)
        return len(points) - 1

    for k in bodies:
        parent = robot.links[k].parent
        place[k] = add(T[:, k, :3, 3], *([place[parent]] if parent in place else []))
    for loop in (*link.bars, *link.meetings):
        ends = []
        for end in (loop.first, loop.second):
            local = np.array(end.p, dtype=np.float64)
            at = (
                np.broadcast_to(local, (len(q), 3))
                if end.link == BASE
                else (T[:, end.link, :3, :3] @ local + T[:, end.link, :3, 3])
            )
            ends.append(add(at, *([place[end.link]] if end.link in place and end.link != BASE else [])))
        bones.append((ends[0], ends[1]))
    add(forward_kinematics(robot, q)[..., :3, 3], *([place[robot.tool.link]] if robot.tool.link in place else []))
    return np.stack(points, axis=1), bones


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
    points, bones = skeleton(robot, shown)
    if kind == ".gif":
        return _gif(points, bones, times, title or robot.name)
    return page(points, bones, times, title or robot.name).encode()


def _gif(points: Array, bones: list[tuple[int, int]], times: Array, title: str) -> bytes:
    """Drawn with Pillow, which matplotlib brings along: a hundred times faster than its own 3D axes."""
    from PIL import Image, ImageDraw

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


def page(points: Array, bones: list[tuple[int, int]], times: Array, title: str) -> str:
    """A self-contained page: the motion's points and a little script that draws and turns them."""
    data = json.dumps({"points": np.round(points, 5).tolist(), "bones": bones, "times": np.round(times, 4).tolist()})
    return _PAGE.replace("DATA", data).replace("TITLE", escape(title))  # the data are numbers: no TITLE among them


_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>TITLE</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
body { font: 15px system-ui, sans-serif; margin: 1em auto; padding: 0 .7em; max-width: 720px; color: #222; }
* { box-sizing: border-box; }
canvas { width: 100%; aspect-ratio: 1; border: 1px solid #ccc; touch-action: none; cursor: grab; }
.row { display: flex; gap: 1em; align-items: center; } input { flex: 1; }
</style></head><body>
<h1 style="font-size:1.2em">TITLE</h1>
<canvas id="view" width="900" height="900" tabindex="0" role="img" aria-label="The robot's stick figure"></canvas>
<div class="row"><button id="play">Pause</button><input id="time" type="range" min="0" value="0" aria-label="Time">
<output id="clock"></output></div>
<p>Drag to turn, or use the arrow keys.</p>
<script>
const data = DATA;
const canvas = document.getElementById("view"), pen = canvas.getContext("2d");
const slider = document.getElementById("time"), clock = document.getElementById("clock");
const button = document.getElementById("play");
slider.max = data.times.length - 1;
let low = [1e9, 1e9, 1e9], high = [-1e9, -1e9, -1e9];
for (const frame of data.points) for (const p of frame) for (let k = 0; k < 3; k++) {
  low[k] = Math.min(low[k], p[k]); high[k] = Math.max(high[k], p[k]);
}
const middle = low.map((v, k) => (v + high[k]) / 2);
const size = Math.max(0.2, Math.hypot(...low.map((v, k) => high[k] - v)));
let turn = -0.7, tilt = 0.4, playing = true, frame = 0, start = performance.now();
function project(p) {
  const x = p[0] - middle[0], y = p[1] - middle[1], z = p[2] - middle[2];
  const a = Math.cos(turn) * x - Math.sin(turn) * y, b = Math.sin(turn) * x + Math.cos(turn) * y;
  const scale = 0.85 * canvas.width / size;
  return [canvas.width / 2 + scale * a, canvas.height / 2 - scale * (Math.cos(tilt) * z + Math.sin(tilt) * b)];
}
function stroke(points, colour, width) {
  pen.beginPath(); pen.strokeStyle = colour; pen.lineWidth = width; pen.lineCap = "round";
  points.forEach((p, i) => { const [x, y] = project(p); i ? pen.lineTo(x, y) : pen.moveTo(x, y); });
  pen.stroke();
}
function draw() {
  pen.clearRect(0, 0, canvas.width, canvas.height);
  const length = size / 8;
  [["x", [length, 0, 0]], ["y", [0, length, 0]], ["z", [0, 0, length]]].forEach(([name, to]) => {
    stroke([[0, 0, 0], to], "#888", 2);
    const [x, y] = project(to); pen.fillStyle = "#555"; pen.font = "22px sans-serif"; pen.fillText(name, x + 4, y);
  });
  const now = data.points[frame], last = now.length - 1;
  stroke(data.points.slice(0, frame + 1).map(p => p[last]), "#999", 2);
  for (const [a, b] of data.bones) stroke([now[a], now[b]], "#0072B2", 10);
  for (const p of now) {
    const [x, y] = project(p);
    pen.beginPath(); pen.fillStyle = "#D55E00"; pen.arc(x, y, 8, 0, 7); pen.fill();
  }
  slider.value = frame; clock.textContent = data.times[frame].toFixed(2) + " s";
}
function tick(now) {
  if (playing) {
    const end = data.times[data.times.length - 1] - data.times[0];
    const at = Math.max(0, now - start) / 1000 % (end + 0.8);  // a frame's time may lie before the script's
    frame = Math.min(data.times.length - 1, Math.floor(at / end * (data.times.length - 1)));
    draw();
  }
  requestAnimationFrame(tick);
}
button.onclick = () => {
  playing = !playing; button.textContent = playing ? "Pause" : "Play";
  start = performance.now() - 1000 * (data.times[frame] - data.times[0]);
};
slider.oninput = () => { playing = false; button.textContent = "Play"; frame = +slider.value; draw(); };
let held = null;
canvas.onpointerdown = e => { held = [e.clientX, e.clientY]; canvas.setPointerCapture(e.pointerId); };
canvas.onpointermove = e => {
  if (!held) return;
  turn += (e.clientX - held[0]) / 150; tilt += (e.clientY - held[1]) / 150; held = [e.clientX, e.clientY]; draw();
};
canvas.onpointerup = () => { held = null; };
canvas.onkeydown = e => {
  const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[e.key];
  if (way) { e.preventDefault(); turn += 0.1 * way[0]; tilt += 0.1 * way[1]; draw(); }
};
draw(); requestAnimationFrame(tick);
</script></body></html>
"""
