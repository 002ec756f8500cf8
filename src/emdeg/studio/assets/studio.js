"use strict";
// The studio's page: asks the server for what takes a while, computes by itself what follows a joint.
const studio = (function () {
  const $ = (id) => document.getElementById(id), made = emdeg.made, waiting = new Map();
  let number = 0, view = null, numbers = null, model = null, programs = {}, terms = null, shown = [], rows = [], run = null;
  let levels = null, beside = null, from = null, to = null, timer = null, generation = 0, constants = {}, keeping = null, search = null;

  // ---- questions and answers
  function ask(verb, data, told) {
    const id = ++number;
    return new Promise((resolve, reject) => { waiting.set(id, { resolve, reject, told }); emitEvent("studio", { id, verb, data: data || {} }); });
  }
  const settled = (id, how, value) => { const one = waiting.get(id); if (one) { waiting.delete(id); one[how](value); } };
  const answer = (id, data) => settled(id, "resolve", data), refused = (id, why) => settled(id, "reject", new Error(why));
  const told = (id, data) => { const one = waiting.get(id); if (one && one.told) one.told(data); };
  const busy = new Map();
  function say(key, text) {
    if (text) busy.set(key, text); else busy.delete(key);
    $("status").textContent = Array.from(busy.values()).join("; ");
    $("status").classList.toggle("busy", busy.size > 0);
  }
  function complain(problem) {
    const text = problem && problem.message ? problem.message : "";
    $("problem").textContent = text === "stopped" ? "" : text; $("problem").hidden = !$("problem").textContent;
  }
  // Asks, says what is being done meanwhile, and shows what went wrong.
  async function doing(key, text, verb, data, hear) {
    say(key, text);
    try { return await ask(verb, data, (one) => { if (one.doing) say(key, text + ": " + one.doing); if (hear) hear(one); }); } finally { say(key, ""); }
  }
  const guarded = (call) => async (...args) => { complain(); try { await call(...args); } catch (problem) { complain(problem); } };

  // ---- the robot
  async function fresh(about, keep) {
    const mine = ++generation;
    shownPast(about);
    say("page", "preparing the page");
    try { await prepare(mine, about, keep); } finally { if (mine === generation) say("page", ""); }
  }
  async function prepare(mine, about, keep) {
    const derived = doing("equations", "deriving the equations", "equations").catch((problem) => ({ problem })); // beside the model
    const found = await doing("model", "working out the robot", "model");
    if (mine !== generation) return;
    model = found;
    programs = found.functions.length ? await import(found.modules) : {};
    if (mine !== generation) return;
    $("robot-title").textContent = found.title; $("robot-kind").textContent = found.name + ": " + found.kind;
    if (!view) { view = emdeg.view($("canvas"), found.scene); wire(); } else view.replace(found.scene, keep);
    if (!keep) view.q = found.scene.start.slice();
    if (about.state && about.state.q && about.state.q.length === view.q.length && !keep) view.q = about.state.q.slice();
    view.pull = found.scene.free && found.scene.tool.link >= 0 ? () => { rows.forEach((row, i) => row.set(view.q[i])); moved(); } : null;
    sliders(); notes(found.notes); editable(found.tables); choices(found);
    $("live").replaceChildren();
    numbers = emdeg.live($("live"), found.scene, programs, moved);
    run = null; from = to = null; $("play").disabled = $("scrub").disabled = true; $("curves").replaceChildren(); $("outcome").textContent = "";
    stopPlaying(); way(); moved(); formulas(mine, derived);
  }
  function shownPast(about) {
    $("undo").disabled = !about.undo; $("redo").disabled = !about.redo;
    $("text").value = about.text; $("difference").textContent = about.difference || "nothing";
    $("save-name").value = $("save-name").value === "robot.toml" && about.name ? about.name + "_changed.toml" : $("save-name").value;
  }
  function sliders() {
    const box = $("joints"), d = model.scene;
    box.replaceChildren(); rows = [];
    if (!d.free) {
      if (!d.motion) return;
      const last = d.motion.length - 1;
      emdeg.control(box, "sample motion", 0, last, 0, (k) => (d.seconds * k / last).toFixed(2) + " s", (k) => { view.q = d.motion[Math.round(k)].slice(); moved(); });
      return;
    }
    d.links.forEach((l, i) => rows.push(emdeg.control(box, l.name, d.ranges[i][0], d.ranges[i][1], view.q[i], emdeg.position(l.slides), (v) => { view.q[i] = v; moved(); })));
  }
  function notes(list) {
    const box = $("notes");
    box.replaceChildren();
    if (!list.length) return;
    const fold = made("details", undefined, "part"), head = made("summary", list.length + (list.length === 1 ? " note" : " notes") + " on its file");
    fold.append(head); list.forEach((text) => fold.append(made("p", text, "note"))); box.append(fold);
  }
  const coordinates = () => model.scene.coordinates.map((k) => view.q[k]);

  // Everything that follows the configuration: the picture and what is in sight, at once.
  function moved() {
    view.draw();
    const q = coordinates();
    if (!$("numbers-panel").hidden && numbers) { numbers.update(q); measures(q); }
    if (!$("equations-panel").hidden) shade(q);
    clearTimeout(keeping);
    keeping = setTimeout(() => ask("keep", { state: { q: view.q, tab: document.querySelector("[role=tab][aria-selected=true]").id } }).catch(() => {}), 800);
  }

  // ---- numbers
  function gram(J, rowCount, n) { // det of J J' or J' J, whichever is smaller
    const m = Math.min(rowCount, n), A = [];
    for (let i = 0; i < m; i++) { A.push([]); for (let j = 0; j < m; j++) { let s = 0;
      for (let k = 0; k < (rowCount <= n ? n : rowCount); k++) s += rowCount <= n ? J[i * n + k] * J[j * n + k] : J[k * n + i] * J[k * n + j];
      A[i].push(s); } }
    let det = 1;
    for (let i = 0; i < m; i++) {
      let p = i;
      for (let r = i + 1; r < m; r++) if (Math.abs(A[r][i]) > Math.abs(A[p][i])) p = r;
      if (!A[p][i]) return 0;
      if (p !== i) { [A[p], A[i]] = [A[i], A[p]]; det = -det; }
      det *= A[i][i];
      for (let r = i + 1; r < m; r++) { const f = A[r][i] / A[i][i]; for (let c = i; c < m; c++) A[r][c] -= f * A[i][c]; }
    }
    return Math.sqrt(Math.max(0, det));
  }
  function measures(q) {
    const box = $("measures"), n = q.length, lines = [];
    const fact = (name, value) => { const r = made("tr"); r.append(made("th", name), typeof value === "string" ? made("td", value, "n") : value); lines.push(r); };
    if (programs.jacobian && model.scene.free) fact("manipulability √det(J Jᵀ), 0 where singular", emdeg.digits(gram(programs.jacobian(q), 6, n)));
    if (programs.mass_matrix) {
      const M = programs.mass_matrix(q);
      let most = 0, at = "";
      for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) if (i !== j && M[i * n + i] > 0) { const r = Math.abs(M[i * n + j]) / M[i * n + i]; if (r > most) { most = r; at = " (" + (i + 1) + ", " + (j + 1) + ")"; } }
      if (n > 1) fact("largest coupling |M_ij| / M_ii", emdeg.digits(most) + at);
    }
    if (programs.inverse_dynamics) {
      const tau = programs.inverse_dynamics(q, numbers.qd, numbers.qdd);
      model.limits.forEach((limit, k) => {
        if (limit === null) return;
        const share = Math.abs(tau[k]) / limit, c = made("td"), bar = made("span", undefined, share > 1 ? "load over" : "load");
        bar.style.width = Math.min(8, 8 * share) + "rem"; c.append(bar, made("span", " " + (100 * share).toFixed(0) + " %")); fact("share of the limit, " + model.scene.driven[k].name, c);
      });
    }
    const table = made("table"), body = made("tbody"); body.append(...lines); table.append(body); box.replaceChildren(table);
    if (beside) compare(q);
  }
  function compare(q) {
    const box = $("beside"), d = beside.scene;
    if (d.coordinates.length !== q.length) { box.textContent = beside.name + " has other coordinates: its numbers are those where it was remembered."; }
    const same = d.coordinates.length === q.length, at = same ? q : beside.q;
    const table = made("table"), body = made("tbody"), head = made("tr");
    head.append(made("th", ""), made("th", "gravity here"), made("th", "gravity of " + beside.name), made("th", "M_ii here"), made("th", "M_ii of " + beside.name));
    const g = programs.gravity(q), M = programs.mass_matrix(q), h = beside.programs.gravity(at), N = beside.programs.mass_matrix(at), n = q.length, m = at.length;
    for (let k = 0; k < Math.max(n, m); k++) {
      const r = made("tr");
      r.append(made("th", k < n ? model.scene.links[model.scene.coordinates[k]].name : d.links[d.coordinates[k]].name));
      [k < n ? g[k] : null, k < m ? h[k] : null, k < n ? M[k * n + k] : null, k < m ? N[k * m + k] : null].forEach((v) => r.append(made("td", v === null ? "" : emdeg.digits(v), "n")));
      body.append(r);
    }
    const top = made("thead"); top.append(head); table.append(top, body); box.replaceChildren(table);
  }

  // ---- equations
  async function formulas(mine, derived) {
    $("equations-body").replaceChildren(made("p", "The equations are being derived."));
    terms = null; shown = []; levels = null; $("threshold-bar").hidden = true; $("thresholds").hidden = true; $("constant").hidden = true;
    const found = await derived;
    if (mine !== generation) return;
    if (found.problem) { $("equations-body").replaceChildren(made("p", found.problem.message, "note warn")); return; }
    const text = await (await fetch(found.html)).text();
    const module = found.module ? await import(found.module) : null;
    if (mine !== generation) return;
    // Markup of the report's writer, which escapes every name.
    $("equations-body").innerHTML = text;
    const table = $("equations-body").querySelector(".block:has(table.told)");
    if (table) { // what is read first are the equations
      const fold = made("details", undefined, "part"), head = table.querySelector("h3");
      fold.append(made("summary", head.textContent)); head.remove(); table.replaceWith(fold); fold.append(table);
    }
    constants = found.constants; terms = module ? module.terms : null;
    shown = Array.from($("equations-body").querySelectorAll(".t[data-constant]"));
    shown.forEach((t) => { t.dataset.most = Array.from(t.classList).find((c) => /^s\d$/.test(c)) || ""; t.dataset.share = t.title; t.tabIndex = 0; t.setAttribute("role", "button"); });
    const every = $("equations-body").querySelectorAll(".t").length;
    if (every !== found.terms || shown.length !== every) terms = null;
    const entries = new Map();
    shown.forEach((t, k) => { const e = t.closest(".entry"); if (!entries.has(e)) entries.set(e, []); entries.get(e).push(k); });
    shown.entries_ = entries; kinds = shown.map((t) => t.dataset.most); values = null;
    seen.clear(); sight.disconnect(); entries.forEach((places, e) => sight.observe(e));
    $("thresholds").hidden = !(terms && found.terms <= 700);
    $("shading").disabled = !terms;
    if (!terms && shown.length) $("equations-body").prepend(made("p", "There are " + found.terms + " terms: they are shaded by their largest size over the workspace alone.", "note"));
    $("equations-body").querySelectorAll(".buttons").forEach((row) => {
      const all = () => row.parentNode.querySelectorAll("details.entry");
      row.querySelector(".all").addEventListener("click", () => { all().forEach((e) => { e.open = true; }); shade(coordinates()); });
      row.querySelector(".none").addEventListener("click", () => all().forEach((e) => { e.open = false; }));
    });
    $("equations-body").querySelectorAll("details").forEach((e) => e.addEventListener("toggle", () => shade(coordinates())));
    shade(coordinates(), true);
  }
  const LEAST = [0.3, 0.1, 0.03, 0.01, 0.001, 0];
  let last = null, pending = false, kinds = [], values = null;
  const seen = new Set();
  const sight = new IntersectionObserver((list) => { list.forEach((one) => { if (one.isIntersecting) seen.add(one.target); else seen.delete(one.target); }); if (view) shade(coordinates()); }, { rootMargin: "200px" });
  // Shades what is open and near the window; the rest when it comes into sight.
  function shade(q, now) {
    if (!terms || !shown.length) return;
    last = q;
    if (pending && !now) return;
    pending = true;
    // Some times a second, between frames: the picture goes first.
    setTimeout(() => {
      pending = false;
      if (!terms || $("equations-panel").hidden) return;
      const here = $("shading").value === "now", T = values = terms(last);
      seen.forEach((entry) => {
        const places = shown.entries_.get(entry);
        if (!places || (entry.tagName === "DETAILS" && !entry.open)) return;
        let most = 0;
        for (const k of places) most = Math.max(most, Math.abs(T[k]));
        for (const k of places) {
          const t = shown[k], share = Math.abs(T[k]) / (most || 1), kind = here ? "s" + LEAST.findIndex((v) => share >= v) : t.dataset.most;
          if (kinds[k] === kind && t.dataset.kind) continue;
          if (kinds[k]) t.classList.remove(kinds[k]);
          if (kind) t.classList.add(kind);
          t.dataset.kind = kinds[k] = kind;
        }
      });
    }, now ? 0 : 80);
  }
  function hovered(t) {
    const c = constants[t.dataset.constant], k = shown.indexOf(t);
    if (!c || !values || k < 0) return;
    t.title = "value here " + emdeg.digits(values[k]) + "; " + t.dataset.constant + " = " + emdeg.digits(c.value) + " " + c.unit + (t.dataset.share ? "; at most " + t.dataset.share : "");
  }
  function chosen(name) {
    const c = constants[name], box = $("constant");
    shown.forEach((t) => t.classList.toggle("chosen", t.dataset.constant === name));
    if (!c) return;
    const list = made("ul", undefined, "made");
    c.made_of.forEach((one) => list.append(made("li", one.letter + (one.path ? ": " + one.path : "") + (one.source ? " (" + one.source + ")" : ""))));
    box.replaceChildren(made("p", name + (c.value === null ? "" : " = " + emdeg.digits(c.value) + (c.tolerance ? " ± " + emdeg.digits(c.tolerance) : "") + " " + c.unit) + "; it works in " + c.uses.length + (c.uses.length === 1 ? " entry: " : " entries: ") + c.uses.join(", ")), made("p", "It is made of"), list);
    box.hidden = false;
  }
  async function thresholds() {
    const mine = generation, found = await doing("levels", "short models and their errors", "significance");
    if (mine !== generation) return;
    levels = found.levels;
    shown.forEach((t, k) => { if (found.goes[k] !== null) t.dataset.goes = found.goes[k]; });
    $("level").max = levels.length - 1; $("level").value = 0; $("threshold-bar").hidden = false; $("thresholds").hidden = true;
    level();
  }
  function level() {
    const k = +$("level").value, one = levels[k], all = levels[0];
    shown.forEach((t) => t.classList.toggle("gone", t.dataset.goes !== undefined && k >= +t.dataset.goes));
    shown.entries_.forEach((places, entry) => {
      const kept = places.filter((p) => !shown[p].classList.contains("gone")).length;
      (entry.querySelector(".sum") || entry).classList.toggle("empty", kept === 0);
    });
    $("level-name").textContent = one.threshold ? one.threshold_text + " of the greatest" : "nothing";
    $("level-text").textContent = one.terms + " of " + all.terms + " terms, " + (one.mul + one.add) + " operations" + (one.terms < all.terms ? " (" + Math.round(100 * one.saved) + " % fewer). Error certified below " + one.certified_text + " of the largest effort (" + one.joint + "); largest found " + one.found_text + "." : ": the exact model.");
  }

  // ---- the table
  function editable(tables) {
    const box = $("tables");
    box.replaceChildren();
    tables.forEach((one) => {
      const frame = made("div", undefined, "scroll"), table = made("table", undefined, "editable"), head = made("tr"), top = made("thead"), body = made("tbody");
      head.append(made("th", "")); one.heads.forEach((h) => head.append(made("th", h)));
      one.rows.forEach(([name, cells]) => {
        const row = made("tr");
        row.append(made("th", name));
        cells.forEach((cell, k) => {
          const c = made("td"), input = made("input");
          input.value = cell.text; input.dataset.before = cell.text; input.setAttribute("aria-label", one.heads[k] + " of " + name); input.title = cell.source;
          input.dataset.place = JSON.stringify(cell.place);
          input.addEventListener("change", () => edit(cell.place, input, row));
          c.append(input);
          if (cell.tolerance) c.append(made("span", "± " + cell.tolerance, "tolerance"));
          row.append(c);
        });
        body.append(row);
      });
      top.append(head); table.append(top, body); frame.append(table); box.append(made("h3", one.title), frame);
    });
  }
  async function edit(place, input, row) {
    const cell = input.parentNode, after = row.nextSibling;
    if (after && after.classList.contains("message-row")) after.remove();
    cell.classList.remove("wrong"); input.removeAttribute("aria-invalid"); complain();
    try {
      const focus = input.dataset.place;
      const about = await doing("edit", "reading the change", "edit", { place, entry: input.value });
      await fresh(about, true);
      const again = Array.from(document.querySelectorAll("#tables input")).find((i) => i.dataset.place === focus);
      if (again && document.activeElement === document.body) again.focus();
    } catch (problem) {
      cell.classList.add("wrong"); input.setAttribute("aria-invalid", "true");
      const line = made("tr", undefined, "message-row"), told = made("td", problem.message, "message");
      told.colSpan = 20; told.setAttribute("role", "alert"); line.append(told); row.after(line);
    }
  }

  // ---- code
  const options = (select, names, keep) => { const was = select.value; select.replaceChildren(...names.map((n) => { const o = made("option", n); o.value = n; return o; })); if (keep && names.includes(was)) select.value = was; };
  function choices(found) {
    options($("function"), found.emitted, true);
    if (!$("function").dataset.set && found.emitted.includes("inverse_dynamics")) $("function").value = "inverse_dynamics";
    $("function").dataset.set = "1";
    options($("target"), found.targets, true);
    options($("graph-joint"), found.scene.coordinates.map((k) => found.scene.links[k].name), true);
    $("friction").disabled = !found.rubbing.length;
    $("graph-body").replaceChildren();
  }
  const counted = (o) => Object.entries(o).filter(([, v]) => v).map(([k, v]) => v + " " + k).join(", ");
  const download = (link, file, text, kind) => { if (link.href) URL.revokeObjectURL(link.href); link.href = URL.createObjectURL(new Blob([text], { type: kind })); link.download = file; link.textContent = file; link.hidden = false; };
  function emitted(found) {
    $("code").textContent = found.code; $("code-box").hidden = $("copy").hidden = false;
    $("proof").textContent = counted(found.operations) + ". Proved: " + found.formulations.join(" equals ") + " at random points modulo random primes; a wrong program passes with probability " + found.false_pass.toExponential(0) + "." + (found.found === undefined ? "" : found.found < found.on_file ? " Found just now." : " The search found " + found.found + " operations; the " + found.on_file + " on file stay.") + (found.interrupted ? " It was stopped: this is the best so far." : "");
    download($("save-code"), found.file, found.code, "text/plain"); download($("save-certificate"), found.file + ".certificate.json", found.certificate, "application/json");
  }
  const asked = () => ({ function: $("function").value, target: $("target").value, friction: $("friction").checked });
  async function searched() {
    $("stop").disabled = false; search = [];
    const began = performance.now();
    try {
      emitted(await doing("search", "searching", "search", { ...asked(), seconds: +$("seconds").value }, (one) => { if (one.best !== undefined) { search.push([(performance.now() - began) / 1000, one.best]); chart($("falling"), [search], "operations of the best program", "time [s]"); } }));
    } finally { $("stop").disabled = true; }
  }

  // A chart of lines, each a list of points.
  function chart(box, lines, title, across, names) {
    const W = 470, H = 220, left = 52, right = W - 10, top = 26, bottom = H - 36, ns = "http://www.w3.org/2000/svg";
    const xs = lines.flat().map((p) => p[0]), ys = lines.flat().map((p) => p[1]);
    let x0 = Math.min(...xs), x1 = Math.max(...xs), y0 = Math.min(...ys), y1 = Math.max(...ys);
    if (x1 - x0 < 1e-12) x1 = x0 + 1;
    if (y1 - y0 < 1e-12) { y0 -= 1; y1 += 1; }
    const svg = document.createElementNS(ns, "svg"), put = (tag, at, text) => { const e = document.createElementNS(ns, tag); Object.entries(at).forEach(([k, v]) => e.setAttribute(k, v)); if (text !== undefined) e.textContent = text; svg.append(e); };
    const X = (v) => left + (right - left) * (v - x0) / (x1 - x0), Y = (v) => bottom - (bottom - top) * (v - y0) / (y1 - y0);
    svg.setAttribute("viewBox", "0 0 " + W + " " + H); svg.setAttribute("role", "img"); svg.setAttribute("aria-label", title);
    put("text", { x: left, y: 14, "font-size": 12, fill: "#1c2733" }, title);
    for (let k = 0; k <= 4; k++) { const v = y0 + (y1 - y0) * k / 4; put("polyline", { points: left + "," + Y(v) + " " + right + "," + Y(v), stroke: "#d9dfe5", fill: "none" }); put("text", { x: left - 5, y: Y(v) + 4, "font-size": 10, "text-anchor": "end", fill: "#5b6875" }, emdeg.digits(+v.toPrecision(3))); }
    for (let k = 0; k <= 4; k++) { const v = x0 + (x1 - x0) * k / 4; put("text", { x: X(v), y: bottom + 14, "font-size": 10, "text-anchor": "middle", fill: "#5b6875" }, emdeg.digits(+v.toPrecision(3))); }
    put("text", { x: (left + right) / 2, y: H - 6, "font-size": 10, "text-anchor": "middle", fill: "#5b6875" }, across);
    const colours = ["#0072B2", "#D55E00", "#009E73", "#1c2733"], dash = ["", "6 3", "2 3", "8 3 2 3"];
    lines.forEach((line, k) => put("polyline", { points: line.map((p) => X(p[0]).toFixed(1) + "," + Y(p[1]).toFixed(1)).join(" "), fill: "none", stroke: colours[k % 4], "stroke-width": 2, "stroke-dasharray": dash[Math.floor(k / 4) % 4] }));
    box.replaceChildren(svg);
    if (names) { const key = made("p", undefined, "caption"); names.forEach((n, k) => { const one = made("span", "— " + n + "  "); one.className = "axis " + ["z", "x", "y", ""][k % 4]; key.append(one); }); box.append(key); }
  }
  async function graph() {
    const k = $("graph-joint").selectedIndex, d = model.scene, link = d.links[d.coordinates[k]], what = $("graph-what").value;
    const range = d.free ? d.ranges[d.coordinates[k]] : [coordinates()[k] - 0.05, coordinates()[k] + 0.05];
    const found = await doing("graph", "drawing", "graph", { joint: k, what, q: coordinates(), range });
    chart($("graph-body"), found.y.map((line) => line.map((v, i) => [found.x[i], v])), $("graph-what").selectedOptions[0].textContent, link.name + (link.slides ? " [m]" : " [rad]"), d.coordinates.map((c) => d.links[c].name));
  }

  // ---- motion
  const rounded = (q) => "(" + q.map((v) => v.toFixed(2)).join(", ") + ")";
  function way() { $("way").textContent = (from ? "from " + rounded(from) : "from the start position") + (to ? " to " + rounded(to) : " to the end of the sample motion"); }
  async function simulated() {
    const d = model.scene, pick = (row) => d.coordinates.map((k) => row[k]);
    if (!d.motion) throw new Error("its parameters are symbols: a motion needs numbers");
    const found = await doing("motion", "simulating", "motion", { start: from || pick(d.start), goal: to || pick(d.motion[d.motion.length - 1]), seconds: +$("duration").value, gain: +$("gain").value, controller: $("controller").value });
    run = found;
    $("scrub").max = found.t.length - 1; $("scrub").value = 0; $("scrub").disabled = $("play").disabled = false;
    $("curves").innerHTML = found.figures.map((one) => "<figure>" + one + "</figure>").join("");
    $("outcome").textContent = (found.errors.length ? "Largest tracking error " + found.errors.map(emdeg.digits).join(" with the exact model, with the short one (dashed) ") + ". " : "") + "Drift of " + Object.entries(found.drift).map(([k, v]) => k + " " + emdeg.digits(v)).join(", ") + ". " + found.events.concat(found.warnings).join("; ");
    scrub(0);
  }
  function scrub(k) {
    view.q = run.q[k].slice(); rows.forEach((row, i) => row.set(view.q[i]));
    run.qd[k].forEach((v, i) => { numbers.qd[i] = v; });
    $("time").textContent = run.t[k].toFixed(2) + " s"; $("scrub").value = k; moved();
  }
  function stopPlaying() { cancelAnimationFrame(timer); timer = null; $("play").textContent = "play"; }
  function play() {
    if (timer) return stopPlaying();
    $("play").textContent = "stop";
    const began = performance.now(), end = run.t[run.t.length - 1];
    const step = (now) => {
      const t = (now - began) / 1000, k = run.t.findIndex((v) => v >= t);
      scrub(k < 0 ? run.t.length - 1 : k);
      if (t < end) timer = requestAnimationFrame(step); else stopPlaying();
    };
    timer = requestAnimationFrame(step);
  }

  // ---- wiring
  const save = (file, text, kind) => { const a = made("a"); download(a, file, text, kind); a.click(); };
  function show(tab) {
    document.querySelectorAll("[role=tab]").forEach((t) => { const on = t === tab; t.setAttribute("aria-selected", on); t.tabIndex = on ? 0 : -1; $(t.getAttribute("aria-controls")).hidden = !on; });
    if (view) moved();
  }
  function tabs() {
    const all = Array.from(document.querySelectorAll("[role=tab]"));
    all.forEach((tab, k) => {
      tab.addEventListener("click", () => show(tab));
      tab.addEventListener("keydown", (e) => { const to = { ArrowRight: k + 1, ArrowLeft: k - 1, Home: 0, End: all.length - 1 }[e.key]; if (to === undefined) return; e.preventDefault(); const next = all[(to + all.length) % all.length]; show(next); next.focus(); });
    });
  }
  function wire() {
    document.querySelectorAll(".zoom").forEach((b) => b.addEventListener("click", () => view.zoom(+b.dataset.by)));
    document.querySelectorAll("[data-show]").forEach((b) => b.addEventListener("change", () => { view.show[b.dataset.show] = b.checked; view.draw(); }));
    $("home").addEventListener("click", () => { view.q = model.scene.start.slice(); rows.forEach((row, i) => row.set(view.q[i])); moved(); });
  }
  const click = (id, call) => $(id).addEventListener("click", guarded(call));
  const opened = async (data) => { $("save-name").value = "robot.toml"; await fresh(await doing("open", "reading the robot", "open", data), false); };
  async function start(first) {
    if (start.done) return; // a socket that came back
    start.done = true;
    const about = await ask("hello");
    const pick = $("robot"), group = (name, list) => { const g = made("optgroup"); g.label = name; list.forEach((n) => { const o = made("option", n); o.value = n; g.append(o); }); if (list.length) pick.append(g); };
    group("library", about.library); group("this folder", about.files);
    tabs();
    pick.addEventListener("change", guarded(() => opened({ name: pick.value })));
    $("upload").addEventListener("change", guarded(async () => { const file = $("upload").files[0]; if (!file) return; if (file.size > 32e6) throw new Error("the file is too large"); const content = await file.text(); $("upload").value = ""; await opened({ file: file.name, content }); }));
    click("undo", async () => fresh(await ask("undo"), true)); click("redo", async () => fresh(await ask("redo"), true));
    click("apply", async () => fresh(await doing("edit", "reading the text", "replace", { text: $("text").value }), true));
    click("load", async () => fresh(await doing("edit", "adding a load", "load"), true));
    click("save", async () => { const found = await ask("save", { file: $("save-name").value }); say("saved", "saved as " + found.saved); $("status").classList.remove("busy"); setTimeout(() => say("saved", ""), 4000); });
    click("emit", async () => emitted(await doing("code", "emitting and proving", "code", asked()))); click("search", searched); click("stop", () => ask("stop", { task: "search" }));
    click("copy", async () => { await navigator.clipboard.writeText($("code").textContent); $("copy").textContent = "copied"; });
    click("graph", graph); click("simulate", simulated); click("play", play); $("scrub").addEventListener("input", () => scrub(+$("scrub").value));
    click("take-start", () => { from = coordinates(); way(); }); click("take-goal", () => { to = coordinates(); way(); });
    click("remember", () => { beside = { scene: model.scene, programs, q: coordinates(), name: model.name }; $("forget").disabled = false; moved(); });
    click("forget", () => { beside = null; $("forget").disabled = true; $("beside").replaceChildren(); });
    click("thresholds", thresholds); $("level").addEventListener("input", level); $("shading").addEventListener("change", () => shade(coordinates(), true));
    const body = $("equations-body");
    body.addEventListener("pointerover", (e) => { const t = e.target.closest(".t[data-constant]"); if (t) hovered(t); });
    body.addEventListener("focusin", (e) => { const t = e.target.closest(".t[data-constant]"); if (t) hovered(t); });
    body.addEventListener("click", (e) => { const t = e.target.closest(".t[data-constant]"); if (t) { hovered(t); chosen(t.dataset.constant); } });
    body.addEventListener("keydown", (e) => { const t = e.target.closest(".t[data-constant]"); if (t && (e.key === "Enter" || e.key === " ")) { e.preventDefault(); chosen(t.dataset.constant); } });
    click("share", async () => { await ask("keep", { state: { q: view.q, tab: document.querySelector("[role=tab][aria-selected=true]").id } }); const found = await ask("share"); save(found.file, found.content, "application/json"); });
    click("report", async () => { $("stop-report").disabled = false; try { const found = await doing("report", "making the report", "report"); for (const [id, file, key] of [["report-html", "report.html", "html"], ["report-latex", "report.tex", "latex"]]) download($(id), file, await (await fetch(found[key])).text(), "text/plain"); } finally { $("stop-report").disabled = true; } });
    click("stop-report", () => ask("stop", { task: "report" }));
    $("theme").addEventListener("click", () => {
      const root = document.documentElement, dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
      root.dataset.theme = dark ? "light" : "dark"; if (window.Quasar) Quasar.Dark.set(!dark); if (view) view.restyle();
    });
    await guarded(async () => {
      if (about.opened) { await fresh(about, false); } else { pick.value = first; await opened({ name: first }); }
      const tab = about.state && about.state.tab && $(about.state.tab);
      if (tab) show(tab);
    })();
    document.documentElement.dataset.ready = "1";
  }
  return { answer, refused, told, start };
})();
