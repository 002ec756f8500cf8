"use strict";
// The robot in space and its numbers at the present state, for the report's page and for the studio.
const emdeg = (function () {
  const mul = (A, B) => { // 3 x 4 affine maps, row by row
    const C = new Array(12);
    for (let i = 0; i < 3; i++) for (let j = 0; j < 4; j++)
      C[4 * i + j] = A[4 * i] * B[j] + A[4 * i + 1] * B[4 + j] + A[4 * i + 2] * B[8 + j] + (j === 3 ? A[4 * i + 3] : 0);
    return C;
  };
  const apply = (T, p) => [0, 4, 8].map((k) => T[k] * p[0] + T[k + 1] * p[1] + T[k + 2] * p[2] + T[k + 3]);
  const turned = (T, v) => [0, 4, 8].map((k) => T[k] * v[0] + T[k + 1] * v[1] + T[k + 2] * v[2]);
  const I = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0];
  const origin = (T) => [T[3], T[7], T[11]];
  const axis = (T, k) => [T[k], T[4 + k], T[8 + k]];
  const add = (p, v, s) => [p[0] + s * v[0], p[1] + s * v[1], p[2] + s * v[2]];
  const bounded = (v, low, high) => Math.max(low, Math.min(high, v));

  function frames(d, q) {
    const F = [];
    d.links.forEach((l, i) => {
      const s = Math.sin(q[i]), c = Math.cos(q[i]);
      const own = l.slides ? [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, q[i]] : [c, -s, 0, 0, s, c, 0, 0, 0, 0, 1, 0];
      F.push(mul(mul(l.parent < 0 ? I : F[l.parent], l.T), own));
    });
    return F;
  }

  // Every joint's position from every link's frame (4 x 4 a link, row by row), as a mechanism's own program gives them.
  function joints(d, T) {
    const at = (k) => (k < 0 ? I : T.slice(16 * k, 16 * k + 12)), transposed = (A) => [A[0], A[4], A[8], 0, A[1], A[5], A[9], 0, A[2], A[6], A[10], 0];
    return d.links.map((l, i) => {
      const before = mul(at(l.parent), l.T), own = mul(transposed(before), at(i));
      return l.slides ? [2, 6, 10].reduce((s, k) => s + before[k] * (at(i)[k + 1] - before[k + 1]), 0) : Math.atan2(own[4], own[0]);
    });
  }

  // A link's mesh: corners and triangles in the link's frame, with each triangle's direction.
  function mesh({ link, points, faces }) {
    const normals = new Float32Array(faces.length), p = (k) => [points[3 * k], points[3 * k + 1], points[3 * k + 2]];
    for (let f = 0; f < faces.length; f += 3) {
      const [a, b, c] = [p(faces[f]), p(faces[f + 1]), p(faces[f + 2])], u = b.map((v, k) => v - a[k]), w = c.map((v, k) => v - a[k]);
      const n = [u[1] * w[2] - u[2] * w[1], u[2] * w[0] - u[0] * w[2], u[0] * w[1] - u[1] * w[0]], size = Math.hypot(...n) || 1;
      normals.set(n.map((v) => v / size), f);
    }
    return { link, points, faces, normals };
  }

  // Custom properties hold both themes' colours; only an element's own colour is resolved.
  function palette(host) {
    const probe = document.createElement("i"), found = {};
    host.append(probe);
    for (const name of ["ink", "soft", "link", "edge", "rod", "grid", "x", "y", "z", "slide", "mass"]) {
      probe.style.color = "var(--" + name + ")";
      found[name] = getComputedStyle(probe).color;
    }
    probe.remove();
    return found;
  }

  // A canvas that shows the robot; the wheel alone scrolls the page, with Ctrl (a pinch, too) it zooms.
  function view(canvas, d) {
    const box = canvas.parentNode, pen = canvas.getContext("2d");
    let azimuth = 0.9, elevation = 0.42, zoom = 1, fit = 1, colours = null, waiting = false, painted = null, target = null;
    const me = { d, q: d.start.slice(), ghosts: [], meshes: [], solver: null, show: { frames: true, names: true, com: false, ellipsoids: false, limits: false, meshes: true } };

    me.draw = () => {
      if (waiting) return;
      waiting = true;
      requestAnimationFrame((now) => { waiting = false; paint(); if (painted) painted(now); });
    };
    me.onpaint = (call) => { painted = call; };
    me.restyle = () => { colours = null; me.draw(); };
    me.replace = (data, keep) => { d = me.d = data; if (!keep || me.q.length !== data.start.length) { me.q = data.start.slice(); fit = 1; } me.ghosts = []; me.draw(); };
    me.zoom = (factor) => { zoom = bounded(zoom * factor, 0.3, 8); me.draw(); };
    me.turn = (a, e) => { azimuth += a; elevation = bounded(elevation + e, -1.5, 1.5); me.draw(); };

    function projection(w, h) {
      const r = d.extent.radius, m = d.extent.middle, scale = 0.5 * Math.min(w, h * 1.15) / r * zoom * fit;
      const ca = Math.cos(azimuth), sa = Math.sin(azimuth), ce = Math.cos(elevation), se = Math.sin(elevation);
      const at = (p) => {
        const x = p[0] - m[0], y = p[1] - m[1], z = p[2] - m[2];
        return [w / 2 + scale * (-sa * x + ca * y), h / 2 - scale * (-se * ca * x - se * sa * y + ce * z), ce * ca * x + ce * sa * y + se * z];
      };
      return { at, scale, right: [-sa, ca, 0], up: [-se * ca, -se * sa, ce] };
    }

    // Where the robot reaches out of the picture, that becomes wider, and stays so.
    function widen(F, w, h) {
      const { at } = projection(w, h);
      const ends = F.map(origin).concat(d.tool.link >= 0 ? [origin(mul(F[d.tool.link], d.tool.T))] : []);
      const out = Math.max(...ends.map(at).map((p) => Math.max(Math.abs(p[0] - w / 2) / (w / 2 - 14), Math.abs(p[1] - h / 2) / (h / 2 - 14))));
      if (Number.isFinite(out) && out > zoom) fit *= zoom / out; // as it is without the visitor's own zoom
    }

    function paint() {
      colours = colours || palette(box);
      const ratio = window.devicePixelRatio || 1, w = box.clientWidth, h = box.clientHeight;
      if (!w || !h) return;
      if (canvas.width !== Math.round(w * ratio) || canvas.height !== Math.round(h * ratio)) {
        canvas.width = Math.round(w * ratio); canvas.height = Math.round(h * ratio);
      }
      pen.setTransform(ratio, 0, 0, ratio, 0, 0);
      pen.clearRect(0, 0, w, h);
      const F = frames(d, me.q);
      widen(F, w, h);
      const r = d.extent.radius, { at } = projection(w, h), on = (k) => (k < 0 ? I : F[k]);
      const parts = [];
      const line = (points, colour, width, dash, alpha) => {
        for (let k = 1; k < points.length; k++) {
          const a = at(points[k - 1]), b = at(points[k]);
          if (Math.hypot(a[0] - b[0], a[1] - b[1]) > 0.3) parts.push({ z: (a[2] + b[2]) / 2, a, b, colour, width, dash, alpha });
        }
      };
      const floor = Math.min(0, ...F.map((T) => T[11]));
      for (let k = -2; k <= 2; k++) {
        const s = r / 2;
        [[[k * s, -2 * s, floor], [k * s, 2 * s, floor]], [[-2 * s, k * s, floor], [2 * s, k * s, floor]]].forEach((e) => {
          const a = at(e[0]), b = at(e[1]);
          pen.strokeStyle = colours.grid; pen.lineWidth = 1; pen.beginPath(); pen.moveTo(a[0], a[1]); pen.lineTo(b[0], b[1]); pen.stroke();
        });
      }
      const skeleton = (T, q, alpha) => {
        const here = (k) => (k < 0 ? I : T[k]);
        d.links.forEach((l, i) => {
          const P = here(l.parent), o = origin(T[i]), start = origin(P);
          const path = [start, add(start, axis(P, 2), l.b), add(o, axis(T[i], 2), -(l.d + (l.slides ? q[i] : 0))), o];
          if (l.virtual) line(path, colours.grid, 1.5, [4, 4]);
          else if (alpha) line(path, colours.link, 8, null, alpha);
          else { line(path, colours.edge, 11); line(path, colours.link, 8); }
        });
        d.rods.forEach((rod) => {
          const ends = [rod.a, rod.b].map((e) => apply(here(e.link), e.p));
          [rod.a, rod.b].forEach((e, k) => { if (e.link >= 0) line([origin(here(e.link)), ends[k]], colours.link, 6, null, alpha); });
          if (rod.rod) line(ends, colours.rod, 3, null, alpha);
        });
        if (d.tool.link >= 0) line([origin(here(d.tool.link)), origin(mul(here(d.tool.link), d.tool.T))], colours.rod, 4, null, alpha);
      };
      me.ghosts.forEach((q) => skeleton(frames(d, q), q, 0.25));
      if (me.show.limits) limits(F, line, r);
      const solid = me.show.meshes && me.meshes.length;
      if (solid) me.meshes.forEach((one) => bodies(one, on(one.link), at, parts));
      skeleton(F, me.q, solid ? 0.3 : 0);
      if (me.show.frames) [I].concat(F).forEach((T, i) => [colours.x, colours.y, colours.z].forEach((colour, k) =>
        line([origin(T), add(origin(T), axis(T, k), 0.15 * r)], colour, i ? 2 : 3)));
      d.links.forEach((l, i) => {
        const T = F[i];
        if (!l.virtual) line([add(origin(T), axis(T, 2), -0.05 * r), add(origin(T), axis(T, 2), 0.05 * r)], l.slides ? colours.slide : colours.ink, 13);
        if (l.ellipsoid && me.show.ellipsoids) ellipsoid(T, l, line);
      });
      parts.sort((a, b) => a.z - b.z);
      pen.lineCap = "round";
      parts.forEach((p) => {
        if (p.c) {
          pen.globalAlpha = 1; pen.fillStyle = pen.strokeStyle = p.colour; pen.lineWidth = 0.7; pen.setLineDash([]);
          pen.beginPath(); pen.moveTo(p.a[0], p.a[1]); pen.lineTo(p.b[0], p.b[1]); pen.lineTo(p.c[0], p.c[1]); pen.closePath(); pen.fill(); pen.stroke();
          return;
        }
        pen.globalAlpha = p.alpha || bounded(0.8 + 0.35 * p.z / r, 0.45, 1);
        pen.strokeStyle = p.colour; pen.lineWidth = p.width; pen.setLineDash(p.dash || []);
        pen.beginPath(); pen.moveTo(p.a[0], p.a[1]); pen.lineTo(p.b[0], p.b[1]); pen.stroke();
      });
      pen.globalAlpha = 1; pen.setLineDash([]);
      if (me.show.com) d.links.forEach((l, i) => {
        if (!l.com) return;
        const p = at(apply(F[i], l.com));
        pen.fillStyle = colours.mass; pen.beginPath(); pen.arc(p[0], p[1], 4 + 5 * Math.cbrt(l.mass / d.heaviest), 0, 7); pen.fill();
        pen.strokeStyle = colours.ink; pen.lineWidth = 1; pen.stroke();
      });
      if (me.pull) handle(F, at);
      if (me.show.names) names(F, at, w);
    }

    // A mesh's triangles, lighter the more they look at the eye.
    function bodies(one, T, at, parts) {
      const { points, faces, normals } = one, count = points.length / 3, X = new Float64Array(count), Y = new Float64Array(count), Z = new Float64Array(count);
      for (let k = 0; k < count; k++) { const p = at(apply(T, [points[3 * k], points[3 * k + 1], points[3 * k + 2]])); X[k] = p[0]; Y[k] = p[1]; Z[k] = p[2]; }
      const ce = Math.cos(elevation), eye = [ce * Math.cos(azimuth), ce * Math.sin(azimuth), Math.sin(elevation)];
      for (let f = 0; f < faces.length; f += 3) {
        const [a, b, c] = [faces[f], faces[f + 1], faces[f + 2]], n = turned(T, [normals[f], normals[f + 1], normals[f + 2]]);
        const light = Math.abs(n[0] * eye[0] + n[1] * eye[1] + n[2] * eye[2]), tone = Math.round(70 + 140 * light);
        parts.push({ z: (Z[a] + Z[b] + Z[c]) / 3, a: [X[a], Y[a]], b: [X[b], Y[b]], c: [X[c], Y[c]], colour: "rgb(" + tone + "," + (tone + 6) + "," + (tone + 14) + ")" });
      }
    }

    // Where the joint stops: a limb's line at either end of its range.
    function limits(F, line, r) {
      d.links.forEach((l, i) => {
        if (!d.bounded || !d.bounded[i] || l.virtual) return;
        const T = mul(l.parent < 0 ? I : F[l.parent], l.T), low = d.ranges[i][0], high = d.ranges[i][1];
        const points = [];
        if (l.slides) { line([add(origin(T), axis(T, 2), low), add(origin(T), axis(T, 2), high)], colours.slide, 3, [3, 5], 0.7); return; }
        for (let k = 0; k <= 24; k++) {
          const v = low + (high - low) * k / 24;
          points.push(add(add(origin(T), axis(T, 0), 0.22 * r * Math.cos(v)), axis(T, 1), 0.22 * r * Math.sin(v)));
        }
        line(points, colours.slide, 2, null, 0.7);
        [low, high].forEach((v) => line([origin(T), add(add(origin(T), axis(T, 0), 0.22 * r * Math.cos(v)), axis(T, 1), 0.22 * r * Math.sin(v))], colours.slide, 2, [3, 4], 0.7));
      });
    }

    function ellipsoid(T, l, line) {
      const middle = apply(T, l.com), half = [0, 1, 2].map((k) => turned(T, l.ellipsoid.slice(3 * k, 3 * k + 3)));
      [[0, 1], [1, 2], [2, 0]].forEach(([a, b]) => {
        const ring = [];
        for (let k = 0; k <= 24; k++) { const t = k * Math.PI / 12; ring.push(add(add(middle, half[a], Math.cos(t)), half[b], Math.sin(t))); }
        line(ring, colours.mass, 1.2, null, 0.8);
      });
    }

    function names(F, at, w) {
      pen.fillStyle = colours.ink; pen.font = "12px system-ui, sans-serif";
      const taken = []; // where names stand: none is written over another
      d.links.forEach((l, i) => {
        if (l.virtual) return;
        const p = at(origin(F[i])), wide = pen.measureText(l.name).width, x = Math.max(2, Math.min(p[0] + 11, w - wide - 4));
        let y = p[1] - 9;
        for (let k = 0; k <= taken.length; k++) { const hit = taken.find((b) => x < b.x + b.wide + 3 && b.x < x + wide + 3 && Math.abs(b.y - y) < 13); if (!hit) break; y = hit.y + 13; }
        taken.push({ x, y, wide });
        pen.fillText(l.name, x, y);
      });
    }

    // The tool's handle, and the damped step of its joints toward where it is pulled.
    const tip = (F) => (d.tool.link < 0 ? [0, 0, 0] : origin(mul(F[d.tool.link], d.tool.T)));
    function handle(F, at) {
      const p = at(tip(F));
      pen.strokeStyle = colours.x; pen.lineWidth = 3; pen.beginPath(); pen.arc(p[0], p[1], 9, 0, 7); pen.stroke();
    }
    me.tool = () => tip(frames(d, me.q));
    me.reach = (goal, rounds) => {
      const path = [];
      for (let k = d.tool.link; k >= 0; k = d.links[k].parent) path.push(k);
      for (let round = 0; round < (rounds || 8); round++) {
        const F = frames(d, me.q), p = tip(F), e = goal.map((v, k) => v - p[k]);
        if (Math.hypot(...e) < 1e-9) break;
        const J = path.map((k) => {
          const z = axis(F[k], 2), o = origin(F[k]), r = p.map((v, i) => v - o[i]);
          return d.links[k].slides ? z : [z[1] * r[2] - z[2] * r[1], z[2] * r[0] - z[0] * r[2], z[0] * r[1] - z[1] * r[0]];
        });
        const step = damped(J, e, (0.02 * d.extent.radius) ** 2);
        path.forEach((k, n) => { me.q[k] = bounded(me.q[k] + step[n], d.ranges[k][0], d.ranges[k][1]); });
      }
      me.draw();
    };

    const held = new Map();
    let gap = 0, pulling = null;
    const place = (e) => { const b = canvas.getBoundingClientRect(); return [e.clientX - b.left, e.clientY - b.top]; };
    canvas.addEventListener("pointerdown", (e) => {
      canvas.setPointerCapture(e.pointerId); held.set(e.pointerId, [e.clientX, e.clientY]); gap = 0;
      if (!me.pull) return;
      const { at } = projection(box.clientWidth, box.clientHeight), p = at(me.tool()), here = place(e);
      if (Math.hypot(p[0] - here[0], p[1] - here[1]) < 24) pulling = { goal: me.tool() };
    });
    canvas.addEventListener("pointermove", (e) => {
      const was = held.get(e.pointerId);
      if (!was) return;
      const now = [e.clientX, e.clientY];
      held.set(e.pointerId, now);
      if (pulling) {
        const { scale, right, up } = projection(box.clientWidth, box.clientHeight);
        pulling.goal = add(add(pulling.goal, right, (now[0] - was[0]) / scale), up, -(now[1] - was[1]) / scale);
        (me.solver || me.reach)(pulling.goal); me.pull();
      } else if (held.size === 1) me.turn(-(now[0] - was[0]) * 0.009, (now[1] - was[1]) * 0.009);
      else {
        const [a, b] = Array.from(held.values()), apart = Math.hypot(a[0] - b[0], a[1] - b[1]);
        if (gap) me.zoom(apart / gap);
        gap = apart;
      }
    });
    ["pointerup", "pointercancel"].forEach((name) => canvas.addEventListener(name, (e) => { held.delete(e.pointerId); gap = 0; pulling = null; }));
    canvas.addEventListener("wheel", (e) => { if (!e.ctrlKey && !e.metaKey) return; e.preventDefault(); me.zoom(Math.exp(-e.deltaY * 0.002)); }, { passive: false });
    canvas.addEventListener("keydown", (e) => {
      const step = { ArrowLeft: [0.1, 0], ArrowRight: [-0.1, 0], ArrowUp: [0, 0.1], ArrowDown: [0, -0.1] }[e.key];
      if (e.key === "+" || e.key === "-") me.zoom(e.key === "+" ? 1.15 : 1 / 1.15);
      else if (step) me.turn(step[0], step[1]);
      else return;
      e.preventDefault();
    });
    new ResizeObserver(me.draw).observe(box);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", me.restyle);
    box.classList.add("live");
    me.draw();
    return me;
  }

  // Steps of the joints whose columns move a point by e, damped (Wampler 1986).
  function damped(columns, e, damp) {
    const A = [[damp, 0, 0], [0, damp, 0], [0, 0, damp]];
    columns.forEach((c) => { for (let i = 0; i < 3; i++) for (let j = 0; j < 3; j++) A[i][j] += c[i] * c[j]; });
    const y = solved(A, e);
    return columns.map((c) => bounded(c[0] * y[0] + c[1] * y[1] + c[2] * y[2], -0.2, 0.2));
  }

  function solved(A, e) { // 3 x 3, symmetric positive definite
    const [[a, b, c], [, f, g], [, , k]] = A, p = f * k - g * g, r = c * g - b * k, s = b * g - c * f;
    const det = a * p + b * r + c * s, t = a * k - c * c, u = b * c - a * g, v = a * f - b * b;
    return [(p * e[0] + r * e[1] + s * e[2]) / det, (r * e[0] + t * e[1] + u * e[2]) / det, (s * e[0] + u * e[1] + v * e[2]) / det];
  }

  const made = (tag, text, kind) => {
    const e = document.createElement(tag);
    if (text !== undefined) e.textContent = text;
    if (kind) e.className = kind;
    return e;
  };

  // A slider with its name above it and its value beside the name.
  function control(box, name, low, high, value, show, change) {
    const label = made("label"), text = made("span", name), input = made("input"), out = made("output");
    input.type = "range"; input.min = low; input.max = high; input.step = (high - low) / 400 || 1; input.value = value;
    const told = (v) => { out.textContent = show(v); input.setAttribute("aria-valuetext", show(v)); };
    told(+input.value);
    input.addEventListener("input", () => { told(+input.value); change(+input.value); });
    label.append(text, out, input); box.append(label);
    return { set: (v) => { input.value = v; told(v); }, input };
  }

  const position = (slides) => (slides ? (v) => v.toFixed(3) + " m" : (v) => (v * 180 / Math.PI).toFixed(0) + "°");
  // Four digits, without the exponent where that is short.
  const digits = (v) => (v === 0 ? "0" : Math.abs(v) >= 1e-4 && Math.abs(v) < 1e6 ? String(+v.toPrecision(4)) : v.toExponential(2));

  // M(q), g(q) and the effort at a state, by the robot's own programs; `changed` is told of speeds typed in.
  function live(box, d, programs, changed) {
    const n = d.coordinates.length, me = { qd: new Array(n).fill(0), qdd: new Array(n).fill(0) };
    const kinds = d.coordinates.map((k) => d.links[k]), tell = [];
    const table = (heads) => {
      const frame = made("div", undefined, "scroll"), one = made("table"), head = made("tr"), body = made("tbody"), top = made("thead");
      heads.forEach((h) => head.append(made("th", h, "n"))); head.firstChild.className = "";
      top.append(head); one.append(top, body); frame.append(one); box.append(frame);
      return body;
    };
    const cell = (row) => { const c = made("td", "", "n"); row.append(c); return c; };
    const field = (row, name, store, k) => {
      const c = made("td"), input = made("input");
      input.type = "number"; input.step = "any"; input.value = 0; input.setAttribute("aria-label", name);
      input.addEventListener("input", () => { store[k] = Number.isFinite(input.valueAsNumber) ? input.valueAsNumber : 0; changed(); });
      c.append(input); row.append(c);
      tell.push(() => { if (document.activeElement !== input) input.value = +store[k].toPrecision(4); });
    };
    const own = n === d.driven.length && d.driven.every((x, k) => x.name === kinds[k].name);
    const sums = { q: [], g: [], tau: [], M: [] };
    const state = table(["", "position", "speed", "acceleration", "gravity", ...(own ? ["effort"] : []), ""]);
    kinds.forEach((l, k) => {
      const row = made("tr");
      row.append(made("th", l.name)); sums.q.push(cell(row));
      field(row, "speed of " + l.name, me.qd, k); field(row, "acceleration of " + l.name, me.qdd, k);
      sums.g.push(cell(row));
      if (own) sums.tau.push(cell(row));
      row.append(made("td", l.slides ? "N; m, m/s, m/s²" : "N m; rad, rad/s, rad/s²", "unit"));
      state.append(row);
    });
    if (!own && programs.inverse_dynamics) {
      const efforts = table(["driven joint", "effort", ""]);
      d.driven.forEach((x) => { const row = made("tr"); row.append(made("th", x.name)); sums.tau.push(cell(row)); row.append(made("td", x.slides ? "N" : "N m", "unit")); efforts.append(row); });
    }
    if (programs.mass_matrix && n <= 30) {
      const M = table(["mass matrix", ...kinds.map((l, k) => String(k + 1))]);
      kinds.forEach((l, i) => { const row = made("tr"); row.append(made("th", i + 1 + " " + l.name)); kinds.forEach(() => sums.M.push(cell(row))); M.append(row); });
    }
    // What is zero but for rounding is zero.
    const clean = (values) => { const most = values.reduce((m, v) => Math.max(m, Math.abs(v)), 0); return values.map((v) => (Math.abs(v) < 1e-14 * most ? 0 : v)); };
    const put = (cells, found) => { const values = clean(found); cells.forEach((c, k) => { const t = digits(values[k]); if (c.firstChild ? c.firstChild.data !== t : t) c.textContent = t; }); };
    me.update = (q) => {
      put(sums.q, q);
      if (programs.gravity) put(sums.g, programs.gravity(q));
      if (programs.inverse_dynamics) put(sums.tau, programs.inverse_dynamics(q, me.qd, me.qdd));
      if (programs.mass_matrix) put(sums.M, programs.mass_matrix(q));
      tell.forEach((call) => call());
    };
    return me;
  }

  return { view, live, control, position, digits, made, frames, joints, mesh, damped };
})();
