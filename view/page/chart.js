import { count, date, day, dollars, duration, el, quiet, svg, table } from "./text.js";

const chartHeight = 150, mostPoints = 400, tableRows = 60;

// thin keeps the last point of each of so many equal parts, and both ends.
function thin(points, most) {
  if (points.length <= most) return points;
  const step = points.length / most;
  return Array.from({ length: most }, (_, i) => points[Math.min(points.length - 1, Math.ceil((i + 1) * step) - 1)]);
}

// niceTop is the first round number that holds a value.
function niceTop(value) {
  const power = 10 ** Math.floor(Math.log10(value || 1));
  return [1, 2, 4, 6, 8, 10].map((n) => n * power).find((n) => n >= value) ?? value;
}

// chart draws series of {name, kind, at: row → number} over rows.
function chart(title, rows, series, width, overTime, unit) {
  const left = 48, right = 12, low = 22, top = 10;
  const points = (at) => thin(rows.map((row, i) => [overTime ? Date.parse(row.time) : i + 1, at(row), row]).filter((p) => p[1] != null), mostPoints);
  const used = series.map((s) => ({ ...s, points: points(s.at), look: `k-${s.kind}${s.dashed ? " dashed" : ""}` })).filter((s) => s.points.length);
  if (used.length === 0) return null;
  const all = used.flatMap((s) => s.points);
  const [x0, x1] = [Math.min(...all.map((p) => p[0])), Math.max(...all.map((p) => p[0]))];
  const most = niceTop(Math.max(...all.map((p) => p[1])));
  const x = (v) => left + (x1 > x0 ? (v - x0) / (x1 - x0) : 0.5) * (width - left - right);
  const y = (v) => top + (1 - v / (most || 1)) * (chartHeight - top - low);
  const f = (n) => n.toFixed(1);
  const grid = [0, 0.5, 1].map((share) => [
    svg("path", { class: "grid", d: `M${left} ${f(y(most * share))}H${width - right}` }),
    svg("text", { x: left - 6, y: f(y(most * share) + 4), "text-anchor": "end" }, unit(most * share)),
  ]);
  const label = (v) => (overTime ? date(v).slice(day(x0) === day(x1) ? 11 : 5, 16) : count(v));
  const end = (v, x, anchor) => svg("text", { x, y: chartHeight - 5, "text-anchor": anchor }, label(v));
  const lines = used.map((s) => {
    let d = "";
    s.points.forEach((p, i) => { d += i === 0 ? `M${f(x(p[0]))} ${f(y(p[1]))}` : `H${f(x(p[0]))}V${f(y(p[1]))}`; });
    const [lastX, lastY] = s.points.at(-1);
    return [svg("path", { class: "series " + s.look, d }), !s.dashed && svg("circle", { class: "dot " + s.look, cx: f(x(lastX)), cy: f(y(lastY)), r: 3 })];
  });
  const words = used.map((s) => `${s.name} ${unit(s.points.at(-1)[1])}`);
  const numbers = thin(used[0].points, tableRows).map(([v, , row]) => [
    overTime ? date(v) : count(v), ...used.map((s) => (s.at(row) == null ? "–" : unit(s.at(row)))),
  ]);
  return el("figure", {},
    el("figcaption", {}, el("h2", {}, title), used.map((s, i) => el("span", { class: "key " + s.look }, words[i]))),
    svg("svg", { class: "chart", viewBox: `0 0 ${width} ${chartHeight}`, width, height: chartHeight, role: "img", "aria-label": `${title}: ${words.join(", ")}` },
      grid, end(x0, left, "start"), end(x1, width - right, "end"), lines),
    el("details", {}, el("summary", {}, "As a table"), table(title, [overTime ? "time" : "decision", ...used.map((s) => s.name)], numbers)));
}

// charts draws what the rows, oldest first, say of the work left, the streak and the cost.
export function charts(rows, width, overTime) {
  width = Math.max(280, Math.round(width || 720));
  const whole = (n) => count(Math.round(n * 10) / 10);
  const runs = new Map(), sums = new Map(); // what a row says is the cost of its run so far
  let spent = 0;
  for (const row of rows) {
    if (!row.usd) continue;
    spent += row.usd - (runs.get(row.run) ?? 0);
    runs.set(row.run, row.usd);
    sums.set(row, spent);
  }
  const several = new Set(rows.filter((r) => r.measure).map((r) => r.policy + "\n" + (r.loop ?? r.session))).size > 1;
  const limit = { name: "limit", kind: "stop", dashed: true, at: (r) => r.limit };
  const near = rows.some((r) => r.limit && r.limit <= 5 * Math.max(4, r.continuations ?? 0)); // else the line would be flat
  const drawn = [
    chart("Work left", rows, [
      { name: "left", kind: "done", at: (r) => r.measure && r.measure.total - r.measure.done },
      { name: "total", kind: "none", dashed: true, at: (r) => r.measure?.total },
    ], width, overTime, whole),
    chart("Streak", rows, [
      { name: "continuations", kind: "continue", at: (r) => (r.limit ? r.continuations ?? 0 : null) },
      ...(near ? [limit] : []),
    ], width, overTime, whole),
    spent > 0 && chart("Cost", rows, [{ name: "dollars", kind: "accent", at: (r) => sums.get(r) }], width, overTime, dollars),
    chart("Context", rows, [{ name: "tokens", kind: "note", at: (r) => r.tokens }], width, overTime, whole),
  ].filter(Boolean);
  if (drawn.length === 0) return [quiet("None of these decisions says how far the work is or what it costs. A policy says how far under measure.")];
  const span = duration(Date.parse(rows.at(-1).time) - Date.parse(rows[0].time));
  return [quiet(`${count(rows.length)} decisions in ${span}. `, several && "They are of several loops: choose a policy or a session to see one."), ...drawn];
}
