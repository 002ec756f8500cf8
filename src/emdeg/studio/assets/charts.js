"use strict";
// Lines over one joint or over time, and maps over two joints.
const charts = (function () {
  const made = emdeg.made, NS = "http://www.w3.org/2000/svg";
  const COLOURS = ["#0072b2", "#d55e00", "#009e73", "#1c2733"], DASHES = ["", "6 3", "2 3", "8 3 2 3"];
  const short = (v) => emdeg.digits(+v.toPrecision(4));

  // `lines`: lists of points, those that are no numbers left out; `faint` ones are another robot's. `at`: where it stands.
  function lines(box, all, title, across, names, faint, at) {
    const W = 470, H = 220, left = 52, right = W - 10, top = 26, bottom = H - 36, every = all.concat(faint || []);
    const fine = every.flat().filter((p) => Number.isFinite(p[1])), xs = every.flat().map((p) => p[0]), ys = fine.map((p) => p[1]);
    let x0 = Math.min(...xs), x1 = Math.max(...xs), y0 = ys.length ? Math.min(...ys) : 0, y1 = ys.length ? Math.max(...ys) : 0;
    if (x1 - x0 < 1e-12) x1 = x0 + 1;
    if (y1 - y0 < 1e-12) { y0 -= 1; y1 += 1; }
    const svg = document.createElementNS(NS, "svg"), put = (tag, where, text) => { const e = document.createElementNS(NS, tag); Object.entries(where).forEach(([k, v]) => e.setAttribute(k, v)); if (text !== undefined) e.textContent = text; svg.append(e); };
    const X = (v) => left + (right - left) * (v - x0) / (x1 - x0), Y = (v) => bottom - (bottom - top) * (v - y0) / (y1 - y0);
    svg.setAttribute("viewBox", "0 0 " + W + " " + H); svg.setAttribute("role", "img"); svg.setAttribute("aria-label", title);
    put("text", { x: left, y: 14, "font-size": 12, fill: "#1c2733" }, title);
    for (let k = 0; k <= 4; k++) { const v = y0 + (y1 - y0) * k / 4; put("polyline", { points: left + "," + Y(v) + " " + right + "," + Y(v), stroke: "#d9dfe5", fill: "none" }); put("text", { x: left - 5, y: Y(v) + 4, "font-size": 10, "text-anchor": "end", fill: "#5b6875" }, short(v)); }
    for (let k = 0; k <= 4; k++) { const v = x0 + (x1 - x0) * k / 4; put("text", { x: X(v), y: bottom + 14, "font-size": 10, "text-anchor": "middle", fill: "#5b6875" }, short(v)); }
    put("text", { x: (left + right) / 2, y: H - 6, "font-size": 10, "text-anchor": "middle", fill: "#5b6875" }, across);
    if (at !== undefined) put("polyline", { points: X(at) + "," + top + " " + X(at) + "," + bottom, stroke: "#5b6875", "stroke-dasharray": "3 3", fill: "none" });
    const draw = (list, dim) => list.forEach((line, k) => runs(line).forEach((run) => put("polyline", { points: run.map((p) => X(p[0]).toFixed(1) + "," + Y(p[1]).toFixed(1)).join(" "), fill: "none", stroke: COLOURS[k % 4], "stroke-width": dim ? 1 : 2, "stroke-dasharray": dim ? "1 3" : DASHES[Math.floor(k / 4) % 4], "data-line": dim ? "beside" : "here" })));
    draw(faint || [], true); draw(all, false);
    box.replaceChildren(svg);
    if (names) { const key = made("p", undefined, "caption"); names.forEach((n, k) => key.append(made("span", "— " + n + "  ", "axis " + ["z", "x", "y", ""][k % 4]))); box.append(key); }
  }
  function runs(line) { // where a mechanism cannot be there is no number
    const found = [[]];
    line.forEach((p) => { if (Number.isFinite(p[1])) found[found.length - 1].push(p); else if (found[found.length - 1].length) found.push([]); });
    return found.filter((run) => run.length);
  }

  // Values (rows by falling y) as colours; `go` is told where it was clicked, as shares of both ranges.
  function map(box, values, count, title, x, y, go) {
    const fine = values.filter(Number.isFinite), low = Math.min(...fine), high = Math.max(...fine), frame = made("figure", undefined, "map"), canvas = made("canvas");
    canvas.width = canvas.height = count;
    const pen = canvas.getContext("2d"), image = pen.createImageData(count, count), both = low < 0 && high > 0, most = Math.max(-low, high) || 1;
    values.forEach((v, k) => { const c = Number.isFinite(v) ? (both ? diverging(v / most) : rising(high > low ? (v - low) / (high - low) : 0.5)) : [127, 127, 127]; image.data.set([c[0], c[1], c[2], 255], 4 * k); });
    pen.putImageData(image, 0, 0);
    canvas.setAttribute("role", "img"); canvas.setAttribute("aria-label", title + ": from " + emdeg.digits(low) + " to " + emdeg.digits(high));
    const held = box.contains(document.activeElement), clamp = (v) => Math.max(0, Math.min(1, v));
    let sx = x.share, sy = y.share;
    canvas.tabIndex = 0;
    canvas.addEventListener("keydown", (e) => {
      const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowDown: [0, -1], ArrowUp: [0, 1] }[e.key];
      if (!step) return;
      e.preventDefault(); sx = clamp(sx + step[0] / (count - 1)); sy = clamp(sy + step[1] / (count - 1)); go(sx, sy);
    });
    canvas.addEventListener("click", (e) => { const b = canvas.getBoundingClientRect(); go((e.clientX - b.left) / b.width, 1 - (e.clientY - b.top) / b.height); });
    const place = made("div", undefined, "map-place"), mark = made("span", undefined, "map-mark");
    mark.style.left = 100 * x.share + "%"; mark.style.top = 100 * (1 - y.share) + "%";
    place.append(canvas, mark);
    const key = made("p", undefined, "caption"), bar = made("span", undefined, both ? "ramp both" : "ramp");
    key.append(both ? emdeg.digits(-most) : emdeg.digits(low), " ", bar, " ", emdeg.digits(both ? most : high));
    const least = values.indexOf(low), greatest = values.indexOf(high), where = (k) => "(" + short(x.at((k % count) / (count - 1))) + ", " + short(y.at(1 - Math.floor(k / count) / (count - 1))) + ")";
    frame.append(made("figcaption", title + "; across " + x.name + " from " + short(x.at(0)) + " to " + short(x.at(1)) + ", up " + y.name + " from " + short(y.at(0)) + " to " + short(y.at(1)) + ". A click goes there, arrow keys from place to place."), place, key);
    if (fine.length) frame.append(made("p", "Least " + emdeg.digits(low) + " at " + where(least) + ", greatest " + emdeg.digits(high) + " at " + where(greatest) + (fine.length < values.length ? "; grey where it cannot be" : "") + ".", "caption"));
    box.replaceChildren(frame);
    if (held) canvas.focus({ preventScroll: true }); // it follows the joints, and is drawn anew
  }
  const mixed = (a, b, t) => a.map((v, k) => Math.round(v + (b[k] - v) * t));
  const rising = (t) => (t < 0.5 ? mixed([22, 34, 84], [35, 144, 140], 2 * t) : mixed([35, 144, 140], [253, 231, 80], 2 * t - 1));
  const diverging = (t) => (t < 0 ? mixed([244, 244, 244], [0, 90, 160], -t) : mixed([244, 244, 244], [196, 78, 0], t));
  return { lines, map };
})();
