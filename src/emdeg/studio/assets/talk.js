"use strict";
// Questions to the server and its answers; what is being done meanwhile, and what went wrong, in words on the page.
const talk = (function () {
  const $ = (id) => document.getElementById(id), waiting = new Map();
  let number = 0;

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
  return { answer, ask, complain, doing, guarded, refused, say, told };
})();
