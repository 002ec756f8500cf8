"use strict";
// What was chosen on the page, as its file keeps it; what comes from a file is looked at before it is believed.
const memory = (function () {
  const $ = (id) => document.getElementById(id);
  const CHOSEN = ["shading", "part", "function", "target", "friction", "seconds", "graph-what", "graph-entry", "graph-joint", "graph-second", "controller", "duration", "gain"];

  function read() {
    const fields = {}, shown = {};
    CHOSEN.forEach((id) => { fields[id] = $(id).type === "checkbox" ? $(id).checked : $(id).value; });
    document.querySelectorAll("[data-show]").forEach((b) => { shown[b.dataset.show] = b.checked; });
    return { fields, shown, tab: document.querySelector("[role=tab][aria-selected=true]").id };
  }
  const offers = (select, value) => typeof value === "string" && Array.from(select.options).some((o) => o.value === value);
  // `chosen` hears of each field that is set, as others may depend on it.
  function put(kept, chosen) {
    const fields = kept.fields || {}, shown = kept.shown || {};
    document.querySelectorAll("[data-show]").forEach((b) => { const on = shown[b.dataset.show]; if (typeof on === "boolean" && on !== b.checked) b.click(); });
    CHOSEN.forEach((id) => {
      const field = $(id), to = fields[id];
      if (typeof to === "boolean" && field.type === "checkbox") field.checked = to;
      else if (typeof to === "string" && (field.tagName !== "SELECT" || offers(field, to))) field.value = to;
      chosen(id);
    });
    const tab = typeof kept.tab === "string" && $(kept.tab);
    return tab && tab.getAttribute("role") === "tab" ? tab : null;
  }
  const numeric = (list, n) => Array.isArray(list) && list.length === n && list.every(Number.isFinite);
  return { read, put, offers, numeric };
})();
