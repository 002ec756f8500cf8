"use strict";
(function () {
  const data = (id) => { const e = document.getElementById(id); return e ? JSON.parse(e.textContent) : null; };
  const mul = (A, B) => { // 3 x 4 affine maps, row by row
    const C = new Array(12);
    for (let i = 0; i < 3; i++) for (let j = 0; j < 4; j++)
      C[4 * i + j] = A[4 * i] * B[j] + A[4 * i + 1] * B[4 + j] + A[4 * i + 2] * B[8 + j] + (j === 3 ? A[4 * i + 3] : 0);
    return C;
  };
  const apply = (T, p) => [0, 4, 8].map((k) => T[k] * p[0] + T[k + 1] * p[1] + T[k + 2] * p[2] + T[k + 3]);
  const I = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0];
  const origin = (T) => [T[3], T[7], T[11]];
  const axis = (T, k) => [T[k], T[4 + k], T[8 + k]];
  const add = (p, v, s) => [p[0] + s * v[0], p[1] + s * v[1], p[2] + s * v[2]];

  function scene(d) {
    const canvas = document.getElementById("canvas"), view = canvas.parentNode, box = document.getElementById("joints");
    const pen = canvas.getContext("2d");
    let azimuth = 0.9, elevation = 0.42, zoom = 1, q = d.start.slice(), timer = null;
    view.classList.add("live");

    function frames() {
      const F = [];
      d.links.forEach((l, i) => {
        const s = Math.sin(q[i]), c = Math.cos(q[i]);
        const own = l.slides ? [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, q[i]] : [c, -s, 0, 0, s, c, 0, 0, 0, 0, 1, 0];
        F.push(mul(mul(l.parent < 0 ? I : F[l.parent], l.T), own));
      });
      return F;
    }

    function draw() {
      const ratio = window.devicePixelRatio || 1, w = view.clientWidth, h = view.clientHeight;
      if (canvas.width !== Math.round(w * ratio) || canvas.height !== Math.round(h * ratio)) {
        canvas.width = Math.round(w * ratio); canvas.height = Math.round(h * ratio);
      }
      pen.setTransform(ratio, 0, 0, ratio, 0, 0);
      pen.clearRect(0, 0, w, h);
      const r = d.extent.radius, m = d.extent.middle, scale = 0.5 * Math.min(w, h * 1.15) / r * zoom;
      const ca = Math.cos(azimuth), sa = Math.sin(azimuth), ce = Math.cos(elevation), se = Math.sin(elevation);
      const at = (p) => {
        const x = p[0] - m[0], y = p[1] - m[1], z = p[2] - m[2];
        return [w / 2 + scale * (-sa * x + ca * y), h / 2 - scale * (-se * ca * x - se * sa * y + ce * z),
          ce * ca * x + ce * sa * y + se * z];
      };
      const F = frames(), on = (k) => (k < 0 ? I : F[k]);
      const parts = [];
      const line = (points, colour, width, dash) => {
        for (let k = 1; k < points.length; k++) {
          const a = at(points[k - 1]), b = at(points[k]);
          if (Math.hypot(a[0] - b[0], a[1] - b[1]) > 0.3) parts.push({ z: (a[2] + b[2]) / 2, a, b, colour, width, dash });
        }
      };
      const floor = Math.min(0, ...F.map((T) => T[11]));
      for (let k = -2; k <= 2; k++) {
        const s = r / 2;
        [[[k * s, -2 * s, floor], [k * s, 2 * s, floor]], [[-2 * s, k * s, floor], [2 * s, k * s, floor]]].forEach((e) => {
          const a = at(e[0]), b = at(e[1]);
          pen.strokeStyle = "#d5dce2"; pen.lineWidth = 1; pen.beginPath(); pen.moveTo(a[0], a[1]); pen.lineTo(b[0], b[1]); pen.stroke();
        });
      }
      d.links.forEach((l, i) => {
        const P = on(l.parent), T = F[i], o = origin(T), start = origin(P);
        const path = [start, add(start, axis(P, 2), l.b), add(o, axis(T, 2), -(l.d + (l.slides ? q[i] : 0))), o];
        if (l.virtual) line(path, "#c3cdd6", 1.5, [4, 4]);
        else line(path, "#8794a1", 9);
      });
      d.rods.forEach((rod) => {
        const ends = [rod.a, rod.b].map((e) => apply(on(e.link), e.p));
        [rod.a, rod.b].forEach((e, k) => { if (e.link >= 0) line([origin(on(e.link)), ends[k]], "#8794a1", 6); });
        if (rod.rod) line(ends, "#47535f", 3);
      });
      if (d.tool.link >= 0) line([origin(on(d.tool.link)), origin(mul(on(d.tool.link), d.tool.T))], "#47535f", 4);
      const colours = ["#D55E00", "#009E73", "#0072B2"];
      const size = 0.15 * r;
      [I].concat(F).forEach((T, i) => colours.forEach((colour, k) => line([origin(T), add(origin(T), axis(T, k), size)], colour, i ? 2 : 3)));
      d.links.forEach((l, i) => {
        const T = F[i];
        if (!l.virtual) line([add(origin(T), axis(T, 2), -0.05 * r), add(origin(T), axis(T, 2), 0.05 * r)], l.slides ? "#E69F00" : "#1c2733", 13);
      });
      parts.sort((a, b) => a.z - b.z);
      pen.lineCap = "round";
      parts.forEach((p) => {
        pen.globalAlpha = Math.max(0.45, Math.min(1, 0.8 + 0.35 * p.z / r));
        pen.strokeStyle = p.colour; pen.lineWidth = p.width; pen.setLineDash(p.dash || []);
        pen.beginPath(); pen.moveTo(p.a[0], p.a[1]); pen.lineTo(p.b[0], p.b[1]); pen.stroke();
      });
      pen.globalAlpha = 1; pen.setLineDash([]);
      pen.fillStyle = "#1c2733"; pen.font = "12px system-ui, sans-serif";
      const taken = {};
      d.links.forEach((l, i) => {
        if (l.virtual) return;
        const p = at(origin(F[i])), key = Math.round(p[0] / 12) + "," + Math.round(p[1] / 12);
        taken[key] = (taken[key] || 0) + 1;
        pen.fillText(l.name.slice(0, 18), p[0] + 11, p[1] - 9 + 13 * (taken[key] - 1));
      });
    }

    const held = new Map();
    let gap = 0;
    canvas.addEventListener("pointerdown", (e) => { canvas.setPointerCapture(e.pointerId); held.set(e.pointerId, [e.clientX, e.clientY]); gap = 0; });
    canvas.addEventListener("pointermove", (e) => {
      const was = held.get(e.pointerId);
      if (!was) return;
      const now = [e.clientX, e.clientY];
      held.set(e.pointerId, now);
      if (held.size === 1) {
        azimuth -= (now[0] - was[0]) * 0.009;
        elevation = Math.max(-1.5, Math.min(1.5, elevation + (now[1] - was[1]) * 0.009));
      } else {
        const [a, b] = Array.from(held.values()), apart = Math.hypot(a[0] - b[0], a[1] - b[1]);
        if (gap) zoom = Math.max(0.3, Math.min(8, zoom * apart / gap));
        gap = apart;
      }
      draw();
    });
    ["pointerup", "pointercancel"].forEach((name) => canvas.addEventListener(name, (e) => { held.delete(e.pointerId); gap = 0; }));
    canvas.addEventListener("wheel", (e) => { e.preventDefault(); zoom = Math.max(0.3, Math.min(8, zoom * Math.exp(-e.deltaY * 0.001))); draw(); }, { passive: false });
    canvas.addEventListener("keydown", (e) => {
      const step = { ArrowLeft: [0.1, 0], ArrowRight: [-0.1, 0], ArrowUp: [0, 0.1], ArrowDown: [0, -0.1] }[e.key];
      if (!step) return;
      e.preventDefault(); azimuth += step[0]; elevation = Math.max(-1.5, Math.min(1.5, elevation + step[1])); draw();
    });

    const rows = [];
    function control(name, low, high, value, show, change) {
      const label = document.createElement("label"), text = document.createElement("span"), input = document.createElement("input"), out = document.createElement("output");
      text.textContent = name; text.title = name;
      input.type = "range"; input.min = low; input.max = high; input.step = (high - low) / 400 || 1; input.value = value;
      out.textContent = show(+input.value);
      input.addEventListener("input", () => { out.textContent = show(+input.value); change(+input.value); draw(); });
      label.append(text, input, out); box.append(label);
      return { set: (v) => { input.value = v; out.textContent = show(v); }, input };
    }
    if (d.motion) {
      const last = d.motion.length - 1;
      const go = (k) => { q = d.motion[Math.round(k)].slice(); rows.forEach((row, i) => row.set(q[i])); };
      const way = control("motion", 0, last, 0, (k) => (d.seconds * k / last).toFixed(2) + " s", (k) => go(k));
      const play = document.createElement("button");
      play.textContent = "play the sample motion"; play.id = "play";
      play.addEventListener("click", () => {
        if (timer) { clearInterval(timer); timer = null; play.textContent = "play the sample motion"; return; }
        let k = 0, step = 1;
        play.textContent = "stop";
        timer = setInterval(() => {
          way.set(k); go(k); draw();
          k += step;
          if (k >= last) step = -1;
          if (k < 0) { clearInterval(timer); timer = null; play.textContent = "play the sample motion"; }
        }, 1000 * d.seconds / last);
      });
      box.append(play);
    }
    if (d.free && d.links.length <= 12) d.links.forEach((l, i) => {
      const show = l.slides ? (v) => v.toFixed(3) + " m" : (v) => (v * 180 / Math.PI).toFixed(0) + "°";
      rows.push(control(l.name, d.ranges[i][0], d.ranges[i][1], q[i], show, (v) => { q[i] = v; }));
    });
    window.addEventListener("resize", draw);
    draw();
  }

  function slider(levels) {
    const input = document.getElementById("level"), name = document.getElementById("level-name"), words = document.getElementById("level-text");
    const terms = Array.from(document.querySelectorAll(".t[data-goes]"));
    const sums = Array.from(document.querySelectorAll(".entry"));
    function show() {
      const k = +input.value, level = levels[k], all = levels[0];
      terms.forEach((t) => t.classList.toggle("gone", k >= +t.dataset.goes));
      sums.forEach((entry) => {
        const kept = entry.querySelectorAll(".t:not(.gone)"), count = entry.querySelector(".count");
        const total = entry.querySelectorAll(".t").length;
        const sum = entry.querySelector(".sum") || entry;
        sum.classList.toggle("empty", kept.length === 0);
        if (count) count.textContent = (kept.length === total ? "" : kept.length + " of ") + total + " term" + (total === 1 ? "" : "s");
      });
      name.textContent = level.threshold ? level.threshold_text + " of the greatest" : "nothing";
      const operations = level.mul + level.add;
      words.textContent = level.terms + " of " + all.terms + " terms, " + operations + " operations"
        + (level.terms < all.terms ? " (" + Math.round(100 * level.saved) + " % fewer). Error certified below " + level.certified_text + " of the largest effort (" + level.joint + "); largest found " + level.found_text + "." : ": the exact model.");
    }
    input.addEventListener("input", show);
    show();
  }

  const d = data("scene-data");
  if (d) scene(d);
  const levels = data("level-data");
  if (levels) slider(levels);
  document.querySelectorAll(".buttons").forEach((row) => {
    const entries = () => row.parentNode.querySelectorAll("details.entry");
    row.querySelector(".all").addEventListener("click", () => entries().forEach((e) => { e.open = true; }));
    row.querySelector(".none").addEventListener("click", () => entries().forEach((e) => { e.open = false; }));
  });
  document.querySelectorAll(".same a").forEach((a) => a.addEventListener("click", () => {
    const e = document.getElementById(a.getAttribute("href").slice(1));
    if (e && e.tagName === "DETAILS") e.open = true;
  }));
  let opened = [];
  window.addEventListener("beforeprint", () => { opened = Array.from(document.querySelectorAll("details:not([open])")); opened.forEach((e) => { e.open = true; }); });
  window.addEventListener("afterprint", () => { opened.forEach((e) => { e.open = false; }); });
})();
