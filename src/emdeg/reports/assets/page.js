(function () {
  const data = (id) => { const e = document.getElementById(id); return e ? JSON.parse(e.textContent) : null; };

  function scene(d) {
    const box = document.getElementById("joints"), figures = document.getElementById("live");
    const view = emdeg.view(document.getElementById("canvas"), d), rows = [];
    let timer = null, numbers = null, moving = false;
    const show = () => { view.draw(); if (numbers) numbers.update(d.coordinates.map((k) => view.q[k])); };
    if (d.motion) {
      const last = d.motion.length - 1;
      const go = (k) => {
        const frame = Math.round(k);
        view.q = d.motion[frame].slice(); rows.forEach((row, i) => row.set(view.q[i]));
        moving = true;
        if (numbers) { d.speeds[frame].forEach((v, i) => { numbers.qd[i] = v; }); d.accelerations[frame].forEach((v, i) => { numbers.qdd[i] = v; }); }
        show();
      };
      const way = emdeg.control(box, "sample motion", 0, last, 0, (k) => (d.seconds * k / last).toFixed(2) + " s", go);
      const play = emdeg.made("button", "play the sample motion");
      play.id = "play";
      const stop = () => { clearInterval(timer); timer = null; play.textContent = "play the sample motion"; };
      play.addEventListener("click", () => {
        if (timer) return stop();
        let k = 0;
        play.textContent = "stop";
        timer = setInterval(() => { way.set(k); go(k); if (++k > last) stop(); }, 1000 * d.seconds / last);
      });
      box.append(play);
    }
    if (d.free) d.links.forEach((l, i) => {
      rows.push(emdeg.control(box, l.name, d.ranges[i][0], d.ranges[i][1], view.q[i], emdeg.position(l.slides), (v) => {
        view.q[i] = v;
        if (moving && numbers) { numbers.qd.fill(0); numbers.qdd.fill(0); }
        moving = false;
        show();
      }));
    });
    document.querySelectorAll(".zoom").forEach((b) => b.addEventListener("click", () => view.zoom(+b.dataset.by)));
    document.querySelectorAll("[data-show]").forEach((b) => b.addEventListener("change", () => { view.show[b.dataset.show] = b.checked; view.draw(); }));
    const start = () => {
      numbers = emdeg.live(figures, d, window.emdegPrograms, show);
      document.getElementById("live-box").hidden = false;
      show();
    };
    if (window.emdegPrograms) start();
    else window.addEventListener("emdeg-programs", start, { once: true });
    return view;
  }

  // Below an entry: what is hidden of it, the largest first.
  const beside = new Map();
  function leftOut(entry, gone) {
    if (beside.has(entry)) beside.get(entry).remove();
    beside.delete(entry);
    if (!gone.length) return;
    const size = (t) => parseFloat(t.title) || 0, shown = (t) => { const copy = t.cloneNode(true); copy.className = "l"; return copy; };
    const box = document.createElement("div");
    box.className = "left";
    box.append("left out, largest first: ", ...gone.sort((a, b) => size(b) - size(a)).flatMap((t) => [shown(t), " "]));
    if (entry.tagName === "DETAILS") entry.append(box);
    else entry.after(box);
    beside.set(entry, box);
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
        leftOut(entry, Array.from(entry.querySelectorAll(".t.gone")));
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

  const d = data("scene-data"), view = d ? scene(d) : null;
  const levels = data("level-data");
  if (levels) slider(levels);
  document.getElementById("theme").addEventListener("click", () => {
    const root = document.documentElement, system = matchMedia("(prefers-color-scheme: dark)").matches;
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : system;
    root.dataset.theme = dark ? "light" : "dark";
    if (view) view.restyle();
  });
  document.querySelectorAll(".buttons").forEach((row) => {
    const entries = () => row.parentNode.querySelectorAll("details.entry");
    row.querySelector(".all").addEventListener("click", () => entries().forEach((e) => { e.open = true; }));
    row.querySelector(".none").addEventListener("click", () => entries().forEach((e) => { e.open = false; }));
  });
  document.querySelectorAll(".same a").forEach((a) => a.addEventListener("click", () => {
    const e = document.getElementById(a.getAttribute("href").slice(1));
    if (e && e.tagName === "DETAILS") e.open = true;
  }));
  // A file's text stands on the page once, in the link that saves it; it is shown from there.
  document.querySelectorAll(".files li").forEach((item) => {
    const link = item.querySelector("a[download]"), fold = item.querySelector("details"), text = item.querySelector("pre code");
    const content = () => new TextDecoder().decode(Uint8Array.from(atob(link.href.slice(link.href.indexOf(",") + 1)), (c) => c.charCodeAt(0)));
    fold.addEventListener("toggle", () => { if (fold.open && !text.textContent) text.textContent = content(); });
    item.querySelector("button").addEventListener("click", (e) => {
      if (!text.textContent) text.textContent = content();
      const told = (words) => { e.target.textContent = words; };
      const chosen = () => { fold.open = true; getSelection().selectAllChildren(text); told("selected: copy with Ctrl+C"); };
      if (navigator.clipboard) navigator.clipboard.writeText(text.textContent).then(() => told("copied"), chosen);
      else chosen();
    });
  });
  let opened = [];
  window.addEventListener("beforeprint", () => { opened = Array.from(document.querySelectorAll("details:not([open])")).filter((e) => !e.closest(".files")); opened.forEach((e) => { e.open = true; }); });
  window.addEventListener("afterprint", () => { opened.forEach((e) => { e.open = false; }); });
})();
