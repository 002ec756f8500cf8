"use strict";
// Equations on a page: every term shaded by its size at the present state, what it is made of, where its constant works.
const sheets = (function () {
  const made = emdeg.made, LEAST = [0.3, 0.1, 0.03, 0.01, 0.001, 0];

  // `host` says what the page looks like now: q(), motion("qd" or "qdd"), inSight(), byNow() (or by the largest size), and hears of `chosen`.
  function sheet(box, host) {
    const me = { shown: [], entries: new Map(), constants: {}, letters: {}, units: [], inputs: [], values: null, terms: null }, seen = new Set();
    let kinds = [], lower = [], last = null, pending = false, pause = 30;
    const sight = new IntersectionObserver((list) => { list.forEach((one) => { if (one.isIntersecting) seen.add(one.target); else seen.delete(one.target); }); me.shade(host.q()); }, { rootMargin: "200px" });

    me.clear = (...instead) => { me.terms = me.values = null; me.shown = []; me.entries = new Map(); me.constants = me.letters = {}; me.units = []; seen.clear(); sight.disconnect(); box.replaceChildren(...instead); };
    me.fill = (html, module, found) => {
      me.clear();
      // Markup of the report's writer, which escapes every name.
      box.innerHTML = html;
      me.constants = found.constants; me.letters = found.letters; me.units = found.units; me.inputs = found.inputs; me.terms = module ? module.terms : null;
      const every = Array.from(box.querySelectorAll(".t"));
      me.shown = every.length === found.terms ? every : [];
      me.shown.forEach((t) => { t.dataset.most = Array.from(t.classList).find((c) => /^s\d$/.test(c)) || ""; t.dataset.share = t.title; t.tabIndex = -1; t.setAttribute("role", "button"); });
      if (me.shown.length) me.shown[0].tabIndex = 0; // one stop of the Tab key; arrows lead from term to term
      lower = me.shown.map((t) => !!t.closest(".below"));
      if (!me.shown.length) me.terms = null;
      me.shown.forEach((t, k) => { const e = t.closest(".entry"); if (!me.entries.has(e)) me.entries.set(e, []); me.entries.get(e).push(k); });
      kinds = me.shown.map((t) => t.dataset.most);
      me.entries.forEach((places, e) => sight.observe(e));
      box.querySelectorAll(".buttons").forEach((row) => {
        const all = () => row.parentNode.querySelectorAll("details.entry");
        row.querySelector(".all").addEventListener("click", () => { all().forEach((e) => { e.open = true; }); me.shade(host.q()); });
        row.querySelector(".none").addEventListener("click", () => all().forEach((e) => { e.open = false; }));
      });
      box.querySelectorAll("details").forEach((e) => e.addEventListener("toggle", () => me.shade(host.q())));
      me.shade(host.q(), true);
    };
    // Shades what is open and near the window; the rest when it comes into sight. The picture goes first, and terms
    // without end leave it three quarters of the time.
    me.shade = (q, now) => {
      if (!me.terms || !me.shown.length || !q) return;
      last = q;
      if (pending && !now) return;
      pending = true;
      setTimeout(() => {
        pending = false;
        if (!me.terms || !host.inSight()) return;
        const began = performance.now(), here = host.byNow(), T = me.values = me.terms(...me.inputs.map((name) => (name === "q" ? last : host.motion(name)))); // more arguments would be written to
        seen.forEach((entry) => {
          const places = me.entries.get(entry);
          if (!places || (entry.tagName === "DETAILS" && !entry.open)) return;
          const most = [0, 0]; // of the sum, and of the one below the line
          for (const k of places) most[+lower[k]] = Math.max(most[+lower[k]], Math.abs(T[k]));
          for (const k of places) {
            const t = me.shown[k], share = Math.abs(T[k]) / (most[+lower[k]] || 1), kind = here || !t.dataset.most ? "s" + LEAST.findIndex((v) => share >= v) : t.dataset.most;
            if (kinds[k] === kind && t.dataset.kind) continue;
            if (kinds[k]) t.classList.remove(kinds[k]);
            if (kind) t.classList.add(kind);
            t.dataset.kind = kinds[k] = kind;
          }
        });
        pause = Math.max(30, 4 * (performance.now() - began));
      }, now ? 0 : pause);
    };
    // At a position of the threshold slider: `goes` says at which each term does.
    me.hide = (position, goes) => {
      me.shown.forEach((t, k) => t.classList.toggle("gone", goes[k] !== null && goes[k] !== undefined && position >= goes[k]));
      me.entries.forEach((places, entry) => {
        const kept = places.filter((p) => !me.shown[p].classList.contains("gone")).length, count = entry.querySelector(".count");
        (entry.querySelector(".sum") || entry).classList.toggle("empty", kept === 0);
        if (count) count.textContent = (kept === places.length ? "" : kept + " of ") + places.length + " term" + (places.length === 1 ? "" : "s");
      });
    };
    me.mark = (names) => me.shown.forEach((t) => t.classList.toggle("chosen", namesIn(t).some((name) => names.includes(name))));

    const found = (e) => { const t = e.target.closest(".t"); return t && box.contains(t) ? t : null; };
    function told(t) {
      const k = me.shown.indexOf(t), words = [];
      if (me.values && k >= 0) words.push("value here " + emdeg.digits(me.values[k]) + (me.units[k] ? " " + me.units[k] : ""));
      namesIn(t).filter((name) => me.constants[name]).slice(0, 4).forEach((name) => {
        const c = me.constants[name], self = c.made_of.length === 1 && c.made_of[0] === name;
        words.push(name + valued(c) + (self ? trail(name).slice(name.length) : ", made of " + c.made_of.slice(0, 6).map(trail).join(", ") + (c.made_of.length > 6 ? " and " + (c.made_of.length - 6) + " more" : "")));
      });
      if (t.dataset.share) words.push("at most " + t.dataset.share + " in its sum");
      t.title = words.join("\n"); t.setAttribute("aria-description", words.join("; "));
    }
    const trail = (letter) => { const one = me.letters[letter]; return letter + (one && one.path ? " (" + one.path + (one.source ? ", " + one.source : "") + ")" : ""); };
    const pick = (t) => { told(t); host.chosen(t, me); };
    function walk(t, key) {
      const shown = me.shown.filter((one) => one === t || one.checkVisibility()), k = shown.indexOf(t);
      const to = shown[{ ArrowRight: k + 1, ArrowLeft: k - 1, Home: 0, End: shown.length - 1 }[key]];
      if (!to) return;
      t.tabIndex = -1; to.tabIndex = 0; to.focus();
    }
    box.addEventListener("pointerover", (e) => { const t = found(e); if (t) told(t); });
    box.addEventListener("focusin", (e) => { const t = found(e); if (t) told(t); });
    box.addEventListener("click", (e) => { const t = found(e); if (t) { me.shown.forEach((one) => { one.tabIndex = one === t ? 0 : -1; }); pick(t); } });
    box.addEventListener("keydown", (e) => {
      const t = found(e);
      if (!t) return;
      if (e.key === "Enter" || e.key === " ") { e.preventDefault(); pick(t); }
      if (/^(Arrow(Left|Right)|Home|End)$/.test(e.key)) { e.preventDefault(); walk(t, e.key); }
    });
    return me;
  }
  const namesIn = (t) => (t.dataset.constant || "").split(" ").filter(Boolean);
  const valued = (c) => (c.value === null ? "" : " = " + emdeg.digits(c.value) + (c.tolerance ? " ± " + emdeg.digits(c.tolerance) : "") + (c.unit ? " " + c.unit : ""));

  // What a term is, and what the names in it stand for; `enter` leads to an entry of the table by its path.
  function constant(box, t, paper, enter) {
    const parts = [];
    if (!namesIn(t).length) parts.push(made("p", t.title.split("\n").join("; ")));
    namesIn(t).filter((name) => paper.constants[name]).forEach((name) => {
      const c = paper.constants[name], list = made("ul", undefined, "made"), head = made("p", name + valued(c) + "; it works in " + c.uses.length + (c.uses.length === 1 ? " entry: " : " entries: ") + c.uses.slice(0, 40).join(", ") + (c.uses.length > 40 ? " and more" : ""));
      c.made_of.forEach((letter) => {
        const one = paper.letters[letter] || {}, item = made("li", letter + ": ");
        if (one.path && enter.knows(one.path)) { const go = made("button", one.path); go.addEventListener("click", () => enter.go(one.path)); item.append(go); } else if (one.path) item.append(one.path);
        if (one.value !== undefined) item.append(" = " + emdeg.digits(one.value));
        if (one.source) item.append(" (" + one.source + ")");
        list.append(item);
      });
      const formula = document.getElementById("eq-" + name);
      if (formula) { const go = made("button", "its formula"); go.addEventListener("click", () => { formula.open = true; formula.scrollIntoView({ block: "center" }); formula.querySelector("summary, .t").focus(); }); head.append(" ", go); }
      parts.push(head, made("p", "It is made of"), list);
    });
    const shut = made("button", "close");
    shut.addEventListener("click", () => { box.hidden = true; t.focus(); });
    box.replaceChildren(...parts, shut);
    box.hidden = false;
  }
  return { sheet, constant, namesIn };
})();
