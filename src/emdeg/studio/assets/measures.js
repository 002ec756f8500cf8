"use strict";
// Measures of a state in a table, and another robot's numbers beside them.
const measures = (function () {
  const made = emdeg.made;

  function products(J, rowCount, n) { // J J' or J' J, whichever is smaller
    const m = Math.min(rowCount, n), A = [];
    for (let i = 0; i < m; i++) { A.push([]); for (let j = 0; j < m; j++) { let s = 0;
      for (let k = 0; k < (rowCount <= n ? n : rowCount); k++) s += rowCount <= n ? J[i * n + k] * J[j * n + k] : J[k * n + i] * J[k * n + j];
      A[i].push(s); } }
    return A;
  }
  const gram = (J, rowCount, n) => Math.sqrt(Math.max(0, eliminated(products(J, rowCount, n))));
  function singular(J, rowCount, n) { // singular values, greatest first, by Jacobi's rotations
    const A = products(J, rowCount, n), m = A.length, size = A.reduce((s, row, i) => s + row[i], 0);
    for (let sweep = 0; sweep < 30; sweep++) {
      let off = 0;
      for (let p = 0; p < m; p++) for (let r = p + 1; r < m; r++) {
        off = Math.max(off, Math.abs(A[p][r]));
        if (!A[p][r]) continue;
        const theta = (A[r][r] - A[p][p]) / (2 * A[p][r]), t = (theta < 0 ? -1 : 1) / (Math.abs(theta) + Math.hypot(1, theta)), c = 1 / Math.hypot(1, t), s = t * c;
        for (let k = 0; k < m; k++) { const a = A[k][p], b = A[k][r]; A[k][p] = c * a - s * b; A[k][r] = s * a + c * b; }
        for (let k = 0; k < m; k++) { const a = A[p][k], b = A[r][k]; A[p][k] = c * a - s * b; A[r][k] = s * a + c * b; }
      }
      if (off <= 1e-16 * size) break;
    }
    return A.map((row, i) => Math.sqrt(Math.max(0, row[i]))).sort((a, b) => b - a);
  }
  const determinant = (J, n) => (J.length === n * n ? eliminated(Array.from({ length: n }, (_, i) => Array.from(J.slice(i * n, i * n + n)))) : gram(J, J.length / n, n));
  function eliminated(A) {
    const m = A.length;
    let det = 1;
    for (let i = 0; i < m; i++) {
      let p = i;
      for (let r = i + 1; r < m; r++) if (Math.abs(A[r][i]) > Math.abs(A[p][i])) p = r;
      if (!A[p][i]) return 0;
      if (p !== i) { [A[p], A[i]] = [A[i], A[p]]; det = -det; }
      det *= A[i][i];
      for (let r = i + 1; r < m; r++) { const f = A[r][i] / A[i][i]; for (let c = i; c < m; c++) A[r][c] -= f * A[i][c]; }
    }
    return det;
  }
  // What the state `at` {q, model, programs, numbers} says of the robot: singularity, couplings, drives' shares.
  function show(box, { q, model, programs, numbers }) {
    const n = q.length, lines = [];
    const fact = (name, value) => { const r = made("tr"); r.append(made("th", name), typeof value === "string" ? made("td", value, "n") : value); lines.push(r); };
    const spread = (J, rowCount) => {
      const values = singular(J, rowCount, n), least = values[values.length - 1], far = least > 1e-9 * values[0];
      fact("least singular value of it", far ? emdeg.digits(least) : "0"); fact("condition, greatest over least", far ? emdeg.digits(values[0] / least) : "∞: it is singular");
    };
    if (programs.jacobian && model.scene.free) { const J = programs.jacobian(q); fact(n < 6 ? "manipulability √det(Jᵀ J) of the Jacobian, 0 where singular" : "manipulability √det(J Jᵀ) of the Jacobian, 0 where singular", emdeg.digits(gram(J, 6, n))); spread(J, 6); }
    if (programs.drive_jacobian && !model.scene.free) { const J = programs.drive_jacobian(q); fact("det of the drives' Jacobian, 0 at a dead point of the second kind", emdeg.digits(determinant(J, n))); spread(J, J.length / n); }
    const M = programs.mass_matrix ? programs.mass_matrix(q) : null, names = model.scene.coordinates.map((k) => model.scene.links[k].name);
    if (programs.inverse_dynamics) {
      const tau = programs.inverse_dynamics(q, numbers.qd, numbers.qdd);
      model.limits.forEach((limit, k) => {
        if (limit === null) return;
        const share = Math.abs(tau[k]) / limit, c = made("td"), bar = made("span", undefined, share > 1 ? "load over" : "load");
        bar.style.width = Math.min(8, 8 * share) + "rem"; c.append(bar, made("span", " " + (100 * share).toFixed(0) + " %")); fact("share of the limit, " + model.scene.driven[k].name, c);
      });
    }
    if (model.scene.free && programs.gravity && programs.mass_matrix) { // from rest, the others held still by their drives
      const g = programs.gravity(q);
      model.limits.forEach((limit, k) => { if (limit !== null && M[k * n + k] > 0) fact("acceleration it can give alone, " + model.scene.driven[k].name, emdeg.digits((-limit - g[k]) / M[k * n + k]) + " to " + emdeg.digits((limit - g[k]) / M[k * n + k]) + (model.scene.driven[k].slides ? " m/s²" : " rad/s²")); });
    }
    const table = made("table"), body = made("tbody"); body.append(...lines); table.append(body); box.replaceChildren(table, ...(M && n > 1 && n <= 30 ? [couplings(M, names)] : []));
  }
  // How strongly a joint's acceleration acts on another's drive, over that one's own inertia.
  function couplings(M, names) {
    const n = names.length, frame = made("div", undefined, "scroll"), table = made("table"), top = made("thead"), head = made("tr"), body = made("tbody");
    head.append(made("th", "coupling |M_ij| / M_ii"), ...names.map((_, k) => made("th", String(k + 1), "n")));
    names.forEach((name, i) => { const r = made("tr"); r.append(made("th", i + 1 + " " + name)); for (let j = 0; j < n; j++) r.append(made("td", i === j ? "" : M[i * n + i] > 0 ? emdeg.digits(Math.abs(M[i * n + j]) / M[i * n + i]) : "∞", "n")); body.append(r); });
    top.append(head); table.append(top, body); frame.append(table);
    return frame;
  }
  // The numbers of another robot or load beside these, where it has as many coordinates at the same q.
  function compare(box, { q, model, programs }, beside) {
    const d = beside.scene;
    if (![programs, beside.programs].every((own) => own.gravity && own.mass_matrix)) { box.textContent = "One of the two has no numbers to compare."; return; }
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
    const top = made("thead"), frame = made("div", undefined, "scroll");
    top.append(head); table.append(top, body); frame.append(table);
    box.replaceChildren(...(same ? [] : [made("p", beside.name + " has other coordinates: its numbers are those where it was remembered.", "caption")]), frame);
  }
  return { gram, singular, show, compare };
})();
