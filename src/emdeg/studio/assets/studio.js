"use strict";
// The studio's page: asks the server for what takes a while, computes by itself what follows a joint.
const studio = (function () {
  const $ = (id) => document.getElementById(id), made = emdeg.made, { ask, complain, doing, guarded, say } = talk, { numeric, offers } = memory;
  let view = null, numbers = null, model = null, programs = {}, main = null, also = null, rows = [], run = null;
  let levels = null, beside = null, from = null, to = null, timer = null, generation = 0, keeping = null, search = null;

  // ---- the robot
  async function fresh(about, keep) {
    const mine = ++generation;
    shownPast(about);
    say("page", "preparing the page");
    try { await prepare(mine, about, keep); } finally { if (mine === generation) say("page", ""); }
  }
  async function prepare(mine, about, keep) {
    const derived = doing("equations", "deriving the equations", "equations").catch((problem) => ({ problem })); // beside the model
    if (keep) formulas(mine, derived); // an entry was changed: what is read first need not wait for the rest
    const found = await doing("model", "working out the robot", "model");
    if (mine !== generation) return;
    model = found;
    programs = found.functions.length ? await import(found.modules) : {};
    if (mine !== generation) return;
    $("robot-title").textContent = found.title; $("robot-kind").textContent = found.name + ": " + found.kind;
    if (!view) { view = emdeg.view($("canvas"), found.scene); wire(); } else view.replace(found.scene, keep);
    if (!keep) view.q = found.scene.start.slice();
    if (about.state && numeric(about.state.q, view.q.length) && !keep) view.q = about.state.q.slice();
    const held = found.scene.tool.link >= 0, solved = programs.link_transforms && programs.jacobian && programs.forward_kinematics;
    view.pull = held && (found.scene.free || solved) ? () => { placed(); moved(); } : null; view.solver = found.scene.free ? null : pulled;
    await shapes(found, mine);
    sliders(); notes(found.notes); editable(found.tables); choices(found);
    $("live").replaceChildren();
    numbers = emdeg.live($("live"), found.scene, programs, moved);
    run = null; from = to = null; $("play").disabled = $("scrub").disabled = true; $("curves").replaceChildren(); $("outcome").textContent = "";
    stopPlaying(); way(); moved();
    const part = keep ? "" : ((about.state || {}).fields || {}).part;
    if (!keep && about.state && Object.keys(about.state).length) restore(about.state);
    if (!keep) formulas(mine, derived, part);
  }
  // Meshes of the links, where the robot's file names some that are at hand.
  async function shapes(found, mine) {
    view.meshes = [];
    $("mesh-box").hidden = !found.meshes;
    if (!found.meshes) return;
    const all = await (await fetch(found.meshes)).json();
    if (mine !== generation) return;
    view.meshes = all.meshes.map(emdeg.mesh); view.draw();
    $("mesh-box").title = all.missing.length ? all.missing.length + " more are not at hand: " + all.missing.join(", ") : "all that the file names";
  }
  function shownPast(about) {
    $("undo").disabled = !about.undo; $("redo").disabled = !about.redo;
    $("text").value = about.text; $("difference").textContent = about.difference || "nothing";
    $("save-name").value = $("save-name").value === "robot.toml" && about.name ? about.name + "_changed.toml" : $("save-name").value;
  }
  function sliders() {
    const box = $("joints"), d = model.scene;
    box.replaceChildren(); rows = []; view.ghosts = [];
    const one = (link, range, value, change) => emdeg.control(box, link.name, range[0], range[1], value, emdeg.position(link.slides), change);
    if (d.free) {
      d.links.forEach((l, i) => rows.push(one(l, d.ranges[i], view.q[i], (v) => { view.q[i] = v; stops(i); moved(); })));
    } else if (programs.link_transforms) { // its own program says where every link is
      d.coordinates.forEach((k, i) => rows.push(one(d.links[k], d.reach[i], view.q[k], (v) => { const q = coordinates(); q[i] = v; place(q, true); })));
    } else if (d.motion) {
      const last = d.motion.length - 1;
      emdeg.control(box, "sample motion", 0, last, 0, (k) => (d.seconds * k / last).toFixed(2) + " s", (k) => { view.q = d.motion[Math.round(k)].slice(); moved(); });
    }
    $("dead-box").hidden = d.free || !d.reach; $("dead-list").replaceChildren();
  }
  // The robot with a joint at either end of its range.
  function stops(i) {
    const d = model.scene;
    view.ghosts = !view.show.limits || !d.bounded[i] ? [] : d.ranges[i].map((end) => view.q.map((v, k) => (k === i ? end : v)));
  }
  const placed = () => { const d = model.scene; rows.forEach((row, i) => row.set(view.q[d.free ? i : d.coordinates[i]])); };
  // To coordinates q; false where a mechanism's loops do not close.
  function place(q, quiet) {
    const d = model.scene;
    if (d.free) d.coordinates.forEach((k, i) => { view.q[k] = q[i]; });
    else {
      const T = programs.link_transforms(q);
      if (!T.every(Number.isFinite)) { $("out-of-reach").hidden = false; return false; }
      view.q = emdeg.joints(d, T);
    }
    $("out-of-reach").hidden = true;
    if (!quiet) placed();
    moved();
    return true;
  }
  // A mechanism's tool is pulled by its own programs: damped steps of the coordinates.
  function pulled(goal) {
    for (let round = 0; round < 8; round++) {
      const d = model.scene, q = coordinates(), n = q.length, T = programs.forward_kinematics(q), J = programs.jacobian(q), e = [0, 1, 2].map((k) => goal[k] - T[4 * k + 3]);
      if (!(Math.hypot(...e) > 1e-9)) return;
      const columns = q.map((_, k) => [J[k], J[n + k], J[2 * n + k]]), step = emdeg.damped(columns, e, (0.02 * d.extent.radius) ** 2);
      if (!place(q.map((v, k) => Math.max(d.reach[k][0], Math.min(d.reach[k][1], v + step[k]))))) return;
    }
  }
  let deadTimer = null;
  function deadLater() {
    clearTimeout(deadTimer);
    if (model.scene.free || !$("dead").checked) return;
    deadTimer = setTimeout(guarded(dead), 400);
  }
  // Where, along each coordinate from here, a loop locks or goes slack.
  async function dead() {
    const mine = generation, box = $("dead-list"), d = model.scene;
    if (!$("dead").checked) { box.replaceChildren(); view.ghosts = []; view.draw(); return; }
    const found = await doing("dead", "looking for dead points", "dead_points", { q: coordinates(), ranges: d.reach });
    if (mine !== generation || !$("dead").checked) return;
    box.replaceChildren(...(found.points.length ? [] : [made("li", "None along the coordinates from here.")]), ...found.points.map((one) => {
      const link = d.links[d.coordinates[one.coordinate]], item = made("li"), go = made("button", link.name + " = " + emdeg.digits(one.at) + (link.slides ? " m" : " rad"));
      go.addEventListener("click", () => { view.q = one.pose.slice(); placed(); moved(); });
      item.append(go, " " + one.words + (one.loop ? " (" + one.loop + ")" : "")); return item;
    }));
    view.ghosts = found.points.map((one) => one.pose); view.draw();
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
    if (!$("numbers-panel").hidden && numbers) { numbers.update(q); figures(q); redraw(); }
    if (inSight()) { main.shade(q); also.shade(q); }
    deadLater();
    keepLater();
  }
  function keepLater() {
    clearTimeout(keeping);
    keeping = setTimeout(() => { if (view) ask("keep", { state: state() }).catch(() => {}); }, 800);
  }

  // What the page is looking at, as a file keeps it.
  const state = () => ({ q: view.q, qd: numbers ? numbers.qd : [], qdd: numbers ? numbers.qdd : [], from, to, ...memory.read() });
  function restore(kept) {
    const n = model.scene.coordinates.length;
    ["qd", "qdd"].forEach((name) => { if (numeric(kept[name], n)) kept[name].forEach((v, k) => { numbers[name][k] = v; }); });
    if (numeric(kept.from, n)) from = kept.from;
    if (numeric(kept.to, n)) to = kept.to;
    const tab = memory.put(kept, (id) => { if (id === "graph-what") entries(); });
    way();
    if (tab) show(tab);
  }

  function figures(q) {
    const at = { q, model, programs, numbers };
    measures.show($("measures"), at);
    if (beside) measures.compare($("beside"), at, beside);
  }

  // ---- equations
  const inSight = () => !$("equations-panel").hidden, byNow = () => $("shading").value === "now", here = () => (view ? coordinates() : null);
  function papers() {
    const host = { q: here, motion: (which) => (numbers ? numbers[which] : here().map(() => 0)), inSight, byNow, chosen };
    main = sheets.sheet($("equations-body"), host); also = sheets.sheet($("part-body"), host);
  }
  async function formulas(mine, derived, beside) {
    main.clear(made("p", "The equations are being derived.")); also.clear(); $("part").value = "";
    levels = null; $("threshold-bar").hidden = $("thresholds").hidden = $("no-levels").hidden = $("constant").hidden = true;
    const found = await derived;
    if (mine !== generation) return;
    if (found.problem) { main.clear(made("p", found.problem.message, "note warn")); return; }
    const text = await (await fetch(found.html)).text();
    const module = found.module ? await import(found.module) : null;
    if (mine !== generation) return;
    main.fill(text, module, found);
    const table = $("equations-body").querySelector(".block:has(table.told)");
    if (table) { // what is read first are the equations
      const fold = made("details", undefined, "part"), head = table.querySelector("h3");
      fold.append(made("summary", head.textContent)); head.remove(); table.replaceWith(fold); fold.append(table);
    }
    $("thresholds").hidden = !(main.shown.length && found.shortened); $("no-levels").hidden = found.shortened !== false;
    $("shading").disabled = !main.terms || !main.shown.some((t) => t.dataset.most);
    if (beside && offers($("part"), beside)) { $("part").value = beside; guarded(part)(); }
    if (!main.terms && main.shown.length) $("equations-body").prepend(made("p", "There are " + found.terms + " terms: they are shaded by their largest size over the workspace alone.", "note"));
  }
  async function part() {
    const mine = generation, which = $("part").value;
    also.clear();
    if (!which) return;
    const found = await doing("part", "deriving", "part", { part: which }), text = await (await fetch(found.html)).text();
    const module = found.module ? await import(found.module) : null;
    if (mine !== generation || which !== $("part").value) return;
    also.fill(text, module, found);
    $("part-body").prepend(made("h3", $("part").selectedOptions[0].textContent)); $("part-body").scrollIntoView({ block: "nearest" });
  }
  const cellOf = (path) => Array.from(document.querySelectorAll("#tables input")).find((i) => i.dataset.path === path);
  const enter = { knows: (path) => !!cellOf(path), go: (path) => { show($("tab-table")); const cell = cellOf(path); cell.scrollIntoView({ block: "center" }); cell.focus(); } };
  function chosen(term, paper) {
    const names = sheets.namesIn(term);
    main.mark(paper === main ? names : []); also.mark(paper === also ? names : []);
    sheets.constant($("constant"), term, paper, enter);
  }
  async function thresholds() {
    const mine = generation, found = await doing("levels", "short models and their errors", "significance");
    if (mine !== generation) return;
    levels = found.levels; levels.goes = found.goes;
    $("level").max = levels.length - 1; $("level").value = 0; $("threshold-bar").hidden = false; $("thresholds").hidden = true;
    level();
  }
  function level() {
    const k = +$("level").value, one = levels[k], all = levels[0];
    main.hide(k, levels.goes);
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
          input.value = cell.text; input.dataset.before = cell.text; if (cell.text.length > 9) input.style.width = Math.min(cell.text.length + 2, 24) + "ch"; input.setAttribute("aria-label", one.heads[k] + " of " + name); input.title = cell.source;
          input.dataset.place = JSON.stringify(cell.place); input.dataset.path = cell.path;
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
    const joints = found.scene.coordinates.map((k) => found.scene.links[k].name);
    options($("graph-joint"), joints, true); options($("graph-second"), ["no other", ...joints], true); entries();
    $("part").replaceChildren(made("option", "nothing more"), ...Object.entries(found.parts).map(([name, title]) => { const o = made("option", title); o.value = name; return o; }));
    $("part").firstChild.value = "";
    $("friction").disabled = !found.rubbing.length;
    drawn = false; $("graph-body").replaceChildren();
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
      emitted(await doing("search", "searching", "search", { ...asked(), seconds: +$("seconds").value }, (one) => { if (one.best !== undefined) { search.push([(performance.now() - began) / 1000, one.best]); charts.lines($("falling"), [search], "operations of the best program", "time [s]"); } }));
    } finally { $("stop").disabled = true; }
  }

  // ---- curves over one joint, maps over two
  const CURVE = 121, SIDE = 49;
  const QUANTITIES = { // of a robot's programs at q: all values, the names of those to choose from, and which of them a curve shows
    gravity: { of: (own, q) => own.gravity(q), names: (d) => d.coordinates.map((k) => d.links[k].name), needs: "gravity" },
    mass_matrix: { of: (own, q) => own.mass_matrix(q), names: (d) => d.coordinates.flatMap((a, i) => d.coordinates.map((b, j) => "M " + (i + 1) + "," + (j + 1))), some: (n) => Array.from({ length: n }, (_, i) => i * n + i), needs: "mass_matrix" },
    effort: { of: (own, q) => own.inverse_dynamics(q, numbers.qd, numbers.qdd), names: (d) => d.driven.map((one) => one.name), needs: "inverse_dynamics" },
    manipulability: { of: (own, q) => [measures.gram(own.jacobian(q), 6, q.length)], names: () => ["√det(J Jᵀ)"], needs: "jacobian" },
  };
  let drawn = false, drawing = null;
  const rangeOf = (k) => (model.scene.free ? model.scene.ranges[model.scene.coordinates[k]] : model.scene.reach[k]);
  const unitOf = (k) => { const link = model.scene.links[model.scene.coordinates[k]]; return link.name + (link.slides ? " [m]" : " [rad]"); };
  function entries() {
    const one = QUANTITIES[$("graph-what").value], names = one.names(model.scene);
    options($("graph-entry"), ["all", ...names], true);
  }
  function graph() {
    const what = $("graph-what").value, one = QUANTITIES[what], names = one.names(model.scene), q = coordinates(), n = q.length;
    if (!programs[one.needs]) throw new Error("this robot has no numbers of that kind");
    const a = $("graph-joint").selectedIndex, b = $("graph-second").selectedIndex - 1, pick = $("graph-entry").selectedIndex - 1, title = $("graph-what").selectedOptions[0].textContent;
    const at = (x, y) => { const to = q.slice(); to[a] = x; if (b >= 0) to[b] = y; return to; };
    drawn = true;
    if (b >= 0 && b !== a) {
      const [x0, x1] = rangeOf(a), [y0, y1] = rangeOf(b), every = [];
      for (let j = 0; j < SIDE; j++) for (let i = 0; i < SIDE; i++) every.push(one.of(programs, at(x0 + (x1 - x0) * i / (SIDE - 1), y1 - (y1 - y0) * j / (SIDE - 1))));
      // Without a choice: the one that changes most.
      const spread = (e) => { let low = Infinity, high = -Infinity; every.forEach((v) => { if (v[e] < low) low = v[e]; if (v[e] > high) high = v[e]; }); return high - low; };
      const chosen = pick >= 0 ? pick : names.reduce((best, _, e) => (spread(e) > spread(best) ? e : best), 0), found = every.map((v) => v[chosen]);
      const axis = (k, low, high) => ({ name: unitOf(k), at: (t) => low + (high - low) * t, share: (q[k] - low) / (high - low) });
      charts.map($("graph-body"), found, SIDE, title + ", " + names[chosen], axis(a, x0, x1), axis(b, y0, y1), guarded((s, t) => { const to = q.slice(); to[a] = x0 + (x1 - x0) * s; to[b] = y0 + (y1 - y0) * t; place(to); }));
      return;
    }
    const [low, high] = rangeOf(a), which = pick >= 0 ? [pick] : one.some ? one.some(n) : names.map((_, k) => k);
    const lines = (own) => { const got = Array.from({ length: CURVE }, (_, k) => { const x = low + (high - low) * k / (CURVE - 1); return [x, one.of(own, at(x, 0))]; }); return which.map((e) => got.map(([x, v]) => [x, v[e]])); };
    const other = beside && beside.scene.coordinates.length === n && beside.programs[one.needs] ? lines(beside.programs) : [];
    charts.lines($("graph-body"), lines(programs), title + (other.length ? "; dotted: " + beside.name : ""), unitOf(a), which.map((e) => names[e]), other, q[a]);
  }
  function redraw() { // after the picture, at most some times a second
    if (!drawn || drawing) return;
    drawing = setTimeout(() => { drawing = null; if (!$("numbers-panel").hidden && drawn) guarded(graph)(); }, 150);
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
    $("outcome").textContent = (found.errors.length ? "Largest tracking error " + found.errors.map(emdeg.digits).join(" with the exact model, with the short one (dashed) ") + ". " : "") + "Drift of " + Object.entries(found.drift).map(([k, v]) => k.replaceAll("_", " ") + " " + emdeg.digits(v)).join(", ") + ". " + found.events.concat(found.warnings).join("; ");
    scrub(0);
  }
  function scrub(k) {
    view.q = run.q[k].slice(); placed();
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
    $("home").addEventListener("click", () => { view.q = model.scene.start.slice(); view.ghosts = []; placed(); moved(); });
    $("dead").addEventListener("change", guarded(dead));
  }
  const click = (id, call) => $(id).addEventListener("click", guarded(call));
  const opened = async (data) => { $("save-name").value = "robot.toml"; await fresh(await doing("open", "reading the robot", "open", data), false); };
  async function start(first) {
    if (start.done) return; // a socket that came back
    start.done = true;
    const about = await ask("hello");
    const pick = $("robot"), group = (name, list) => { const g = made("optgroup"); g.label = name; list.forEach((n) => { const o = made("option", n); o.value = n; g.append(o); }); if (list.length) pick.append(g); };
    group("library", about.library); group("this folder", about.files);
    tabs(); papers(); document.querySelector(".desk").addEventListener("change", keepLater);
    pick.addEventListener("change", guarded(() => opened({ name: pick.value })));
    $("upload").addEventListener("change", guarded(async () => { const file = $("upload").files[0]; if (!file) return; if (file.size > 32e6) throw new Error("the file is too large"); const content = await file.text(); $("upload").value = ""; await opened({ file: file.name, content }); pick.selectedIndex = -1; })); // none of the list; each can be chosen
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
    click("thresholds", thresholds); $("level").addEventListener("input", level); $("shading").addEventListener("change", () => { main.shade(here(), true); also.shade(here(), true); }); $("part").addEventListener("change", guarded(part)); $("graph-what").addEventListener("change", entries);
    click("share", async () => { await ask("keep", { state: state() }); const found = await ask("share"); save(found.file, found.content, "application/json"); });
    click("report", async () => { $("stop-report").disabled = false; try { const found = await doing("report", "making the report", "report"); for (const [id, file, key] of [["report-html", "report.html", "html"], ["report-latex", "report.tex", "latex"]]) download($(id), file, await (await fetch(found[key])).text(), "text/plain"); } finally { $("stop-report").disabled = true; } });
    click("stop-report", () => ask("stop", { task: "report" }));
    $("theme").addEventListener("click", () => {
      const root = document.documentElement, dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
      root.dataset.theme = dark ? "light" : "dark"; if (window.Quasar) Quasar.Dark.set(!dark); if (view) view.restyle();
    });
    await guarded(async () => {
      if (about.opened) { await fresh(about, false); } else { pick.value = first; await opened({ name: first }); }
    })();
    document.documentElement.dataset.ready = "1";
  }
  return { answer: talk.answer, refused: talk.refused, told: talk.told, start };
})();
