"use strict";
// Equations on a page: every term shaded by its size at the present state, what it is made of, where its constant works.
const sheets = (function () {
  const made = emdeg.made, LEAST = [0.3, 0.1, 0.03, 0.01, 0.001, 0];

  // `host` says what the page looks like now: q(), inSight(), byNow() (or by the largest size), and hears of `chosen`.
  function sheet(box, host) {
    const me = { shown: [], entries: new Map(), constants: {}, values: null, terms: null }, seen = new Set();
    let kinds = [], last = null, pending = false, pause = 30;
    const sight = new IntersectionObserver((list) => { list.forEach((one) => { if (one.isIntersecting) seen.add(one.target); else seen.delete(one.target); }); me.shade(host.q()); }, { rootMargin: "200px" });

    me.clear = (...instead) => { me.terms = me.values = null; me.shown = []; me.entries = new Map(); me.constants = {}; seen.clear(); sight.disconnect(); box.replaceChildren(...instead); };
    me.fill = (html, module, constants, count) => {
      me.clear();
      // Markup of the report's writer, which escapes every name.
      box.innerHTML = html;
      me.constants = constants; me.terms = module ? module.terms : null;
      const every = Array.from(box.querySelectorAll(".t"));
      me.shown = every.length === count ? every : [];
      me.shown.forEach((t) => { t.dataset.most = Array.from(t.classList).find((c) => /^s\d$/.test(c)) || ""; t.dataset.share = t.title; t.tabIndex = 0; if (t.dataset.constant) t.setAttribute("role", "button"); });
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
        const began = performance.now(), here = host.byNow(), T = me.values = me.terms(last, host.qd());
        seen.forEach((entry) => {
          const places = me.entries.get(entry);
          if (!places || (entry.tagName === "DETAILS" && !entry.open)) return;
          let most = 0;
          for (const k of places) most = Math.max(most, Math.abs(T[k]));
          for (const k of places) {
            const t = me.shown[k], share = Math.abs(T[k]) / (most || 1), kind = here || !t.dataset.most ? "s" + LEAST.findIndex((v) => share >= v) : t.dataset.most;
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
    me.mark = (name) => me.shown.forEach((t) => t.classList.toggle("chosen", !!name && t.dataset.constant === name));

    const found = (e) => { const t = e.target.closest(".t"); return t && box.contains(t) ? t : null; };
    function told(t) {
      const name = t.dataset.constant, c = me.constants[name], k = me.shown.indexOf(t);
      if (!me.values || k < 0) return;
      const words = ["value here " + emdeg.digits(me.values[k]) + (c ? " " + c.unit : "")];
      if (c && c.value !== null) words.push(name + " = " + emdeg.digits(c.value) + " " + c.unit + (c.tolerance ? " ± " + emdeg.digits(c.tolerance) : ""));
      if (c) words.push("made of " + c.made_of.slice(0, 6).map((one) => trail(one)).join(", ") + (c.made_of.length > 6 ? " and " + (c.made_of.length - 6) + " more" : ""));
      if (t.dataset.share) words.push("at most " + t.dataset.share);
      t.title = words.join("\n"); t.setAttribute("aria-description", words.join("; "));
    }
    box.addEventListener("pointerover", (e) => { const t = found(e); if (t) told(t); });
    box.addEventListener("focusin", (e) => { const t = found(e); if (t) told(t); });
    box.addEventListener("click", (e) => { const t = found(e); if (t && t.dataset.constant) { told(t); host.chosen(t.dataset.constant, me); } });
    box.addEventListener("keydown", (e) => { const t = found(e); if (t && t.dataset.constant && (e.key === "Enter" || e.key === " ")) { e.preventDefault(); host.chosen(t.dataset.constant, me); } });
    return me;
  }
  const trail = (one) => one.letter + (one.path ? " (" + one.path + (one.source ? ", " + one.source : "") + ")" : "");

  // What a constant is and is made of; `enter` leads to an entry of the table by its path.
  function constant(box, name, c, enter) {
    const list = made("ul", undefined, "made");
    c.made_of.forEach((one) => {
      const item = made("li", one.letter + ": "), leads = one.path && enter.knows(one.path);
      if (leads) { const go = made("button", one.path); go.addEventListener("click", () => enter.go(one.path)); item.append(go); } else if (one.path) item.append(one.path);
      if (one.value !== undefined && one.value !== null) item.append(" = " + emdeg.digits(one.value));
      if (one.source) item.append(" (" + one.source + ")");
      list.append(item);
    });
    box.replaceChildren(made("p", name + (c.value === null ? "" : " = " + emdeg.digits(c.value) + (c.tolerance ? " ± " + emdeg.digits(c.tolerance) : "") + " " + c.unit) + "; it works in " + c.uses.length + (c.uses.length === 1 ? " entry: " : " entries: ") + c.uses.join(", ")), made("p", "It is made of"), list);
    box.hidden = false;
  }
  return { sheet, constant };
})();
