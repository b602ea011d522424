"use strict";
// Whatever comes from a policy, an agent or a log becomes text by el, and no text becomes HTML. What turns the direction of a line, or is
// not seen, is shown as its escape.

const $ = (id) => document.getElementById(id);
const unseen = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u115f\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;
const clean = (s) => String(s ?? "").replace(unseen, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));

function el(name, props, ...children) {
  const node = document.createElement(name);
  for (const [k, v] of Object.entries(props ?? {})) {
    if (k.startsWith("on")) node.addEventListener(k.slice(2), v);
    else if (v != null && v !== false) node.setAttribute(k, v === true ? "" : clean(v));
  }
  node.append(...children.flat().filter((c) => c != null && c !== false && c !== "").map((c) => (c instanceof Node ? c : clean(c))));
  return node;
}
const span = (kind, ...children) => el("span", { class: kind }, ...children);
const count = (n, word) => `${n.toLocaleString("en-US")} ${word}${n === 1 ? "" : "s"}`;
const two = (n) => String(n).padStart(2, "0");

function stamp(at) {
  const d = new Date(at);
  return `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())} ${two(d.getHours())}:${two(d.getMinutes())}:${two(d.getSeconds())}`;
}

function time(at) {
  const s = stamp(at);
  return el("time", { datetime: at, title: s }, s.slice(0, 10) === stamp(Date.now()).slice(0, 10) ? s.slice(11) : s.slice(5, 16));
}

// What is coloured has a sign too: a reader without colours sees it.
const signs = {
  running: "●", continued: "→", done: "✓", stopped: "■", limit: "◆", idle: "–", off: "○", ready: "✓", "no hook": "○",
  failed: "!", crashed: "!", lost: "!", killed: "!", unusable: "!", interrupted: "■",
  true: "✓", false: "✗", unknown: "?", skipped: "–", ok: "✓", missing: "–", invalid: "!",
};
const kind = (word) => (Object.hasOwn(signs, word) ? "is-" + word.replace(" ", "-") : "");
const sign = (word) => el("span", { class: "sign " + kind(word), "aria-hidden": "true" }, kind(word) ? signs[word] : "·");
const badge = (word) => span("badge " + kind(word), sign(word), " ", word);

function bar(progress) {
  if (!progress) return null;
  const { done, total } = progress, words = `${done} of ${total}`;
  return span("measure", el("progress", { value: Math.max(0, Math.min(done, total)), max: total, "aria-label": words }), span("of", words));
}

// sync makes the children of a list those of items. An element of which the item did not change stays, with its focus and open or closed.
function sync(list, items, key, make) {
  const had = new Map([...list.children].map((n) => [n.key, n])), focus = list.contains(document.activeElement) && document.activeElement.closest("#" + list.id + " > *").key;
  let at = list.firstChild;
  for (const item of items) {
    const json = JSON.stringify(item);
    let node = had.get(key(item));
    if (node?.json !== json) node = Object.assign(make(item), { key: key(item), json });
    if (node === at) at = at.nextSibling;
    else list.insertBefore(node, at);
  }
  while (at) {
    const next = at.nextSibling;
    at.remove();
    at = next;
  }
  if (focus && !list.contains(document.activeElement)) [...list.children].find((n) => n.key === focus)?.querySelector("button, summary")?.focus();
}

const keyOf = (d) => JSON.stringify([d.time, d.session, d.scope, d.policy, d.event]);
const loopOf = (d) => JSON.stringify([d.session, d.scope, d.policy]);
let data, chosen = null, whole = false;

// loops are the runs, and the sessions of the decisions: one for each policy, since each has counts and progress of its own.
function loops() {
  const all = new Map();
  for (const r of data.runs ?? []) {
    const of = (data.policies ?? []).find((p) => p.run?.plan.id === r.plan.id), last = r.last ?? {};
    all.set(loopOf({ session: "run:" + r.plan.id, policy: r.plan.name }), {
      name: (r.plan.args ?? []).join(" "), policy: r.plan.name, state: r.end?.outcome ?? of?.state ?? (data.problem ? "unknown" : "killed"), at: r.at,
      facts: [`iteration ${r.iteration} of ${r.plan.limits.max}`], more: [r.phase === "resting" && !r.end && `rests until ${stamp(r.until).slice(11)}`,
        r.spent?.tokens && r.spent.tokens.toLocaleString("en-US", { notation: "compact", maximumFractionDigits: 1 }) + " tokens", r.spent?.cost && "$" + r.spent.cost.toFixed(2)].filter(Boolean),
      why: r.end && !r.end.decided && r.end.reason, problems: [last.problem, last.denied && "not allowed: " + last.denied.join(", ")].filter(Boolean), fix: of?.problems?.[0]?.fix,
    });
  }
  for (const d of data.decisions ?? []) {
    const id = loopOf(d), l = all.get(id) ?? { name: d.session || "no session", session: true, policy: d.policy, state: d.outcome, at: d.time };
    all.set(id, l);
    l.progress ??= d.progress;
    l.facts ??= [count(d.counts?.continuations ?? 0, "continuation")];
  }
  return [...all].map(([id, l]) => ({ id, ...l })).sort((a, b) => (b.state === "running") - (a.state === "running") || Date.parse(b.at) - Date.parse(a.at));
}

// A repair may be a command, which breaks between its words only.
const command = (s) => (s.startsWith("ralph ") ? el("code", {}, s.split(" ").flatMap((w) => [el("span", {}, w), " "])) : s);

function drawLoop(l) {
  const choose = () => {
    chosen = chosen === l.id ? null : l.id;
    draw();
  };
  return el("li", {}, el("button", { type: "button", class: "loop", "aria-pressed": String(l.chosen), onclick: choose },
    span("line", badge(l.state), time(l.at)),
    l.session ? span("id", span("quiet", "session "), el("code", {}, l.name)) : span("clamp name", l.name),
    span("quiet", [l.policy, ...l.facts].join(" · ")), l.more?.length > 0 && span("quiet", l.more.join(" · ")),
    bar(l.progress), l.why && span("clamp", l.why), (l.problems ?? []).map((p) => span("clamp alarm", p)), l.fix && span("quiet", "go on with: ", command(l.fix))));
}

function drawPolicy(p) {
  return el("li", { class: "policy" }, el("p", { class: "line" }, span("name", p.policy), badge(p.state)),
    p.host && el("p", { class: "quiet", title: p.settings }, "hook of ", p.host), p.bound && el("p", { class: "quiet" }, p.bound),
    (p.problems ?? []).map((x) => el("p", { class: p.state === "no hook" ? "quiet" : "alarm" }, x.what, el("br"), "repair it: ", command(x.fix))));
}

const value = (v) => (typeof v === "string" ? v : JSON.stringify(v));

function drawOperand(o) {
  const read = Object.entries(o.values ?? {}).sort(([a], [b]) => (a < b ? -1 : 1)).map(([k, v]) => `${k} = ${value(v)}`).join(", ");
  return el("li", {}, sign(o.truth), span("hear", o.truth, " "), el("code", {}, o.text),
    (o.why || read) && span("quiet read", o.why ? "unknown because " + o.why : "with " + read));
}

function drawRule(d, r) {
  return el("li", { class: r.name === d.rule ? "rule decided" : "rule" }, el("p", {}, sign(r.truth), span("name", r.name), " ", span("quiet", r.truth, r.line ? `, line ${r.line}` : "")),
    r.operands?.length > 0 && el("ul", {}, r.operands.map(drawOperand)));
}

const part = (title, ...content) => [el("h3", {}, title), ...content];

function why(d) {
  const c = d.counts ?? {};
  const terms = [["session", d.session], ["scope", d.scope], ["event", d.event], ["time", stamp(d.time)], ["decided in", d.took_ns && (d.took_ns / 1e6).toFixed(1) + " ms"],
    ["counts", `${count(c.continuations ?? 0, "continuation")} of this prompt, ${c.repeats ?? 0} without progress`]].filter(([, v]) => v);
  return el("div", { class: "why" },
    d.reason && el("p", { class: "reason" }, d.reason),
    d.notice && d.notice !== d.reason && part("Notice to you", el("p", { class: "reason" }, d.notice)),
    d.rules?.length > 0 && part("Rules, in order", el("ol", {}, d.rules.map((r) => drawRule(d, r)))),
    d.facts?.length > 0 && part("Facts", el("ul", { class: "facts" }, d.facts.map((f) => el("li", {}, el("p", {}, sign(f.status), span("name", f.name), " ", span("quiet", f.status),
      f.path && [" ", el("code", {}, f.path)]), f.problem && el("p", { class: "alarm" }, f.problem))))),
    part("Record", el("dl", {}, terms.map(([k, v]) => [el("dt", {}, k), el("dd", {}, v)]).flat())));
}

function drawDecision(d) {
  const node = el("details", {}, el("summary", {}, time(d.time), badge(d.outcome),
    span("what", span("line", span("by", span("name", d.rule || "no rule"), span("quiet", " · ", d.policy)), bar(d.progress)), span("said quiet", d.reason || d.notice || "no reason"))));
  node.addEventListener("toggle", () => node.open && node.children.length < 2 && node.append(why(d)));
  return node;
}

function draw() {
  const all = loops().map((l) => ({ ...l, chosen: l.id === chosen })), few = whole ? all : all.filter((l, i) => i < 6 || l.state === "running" || l.chosen);
  const decisions = [...new Map((data.decisions ?? []).map((d) => [keyOf(d), d])).values()].filter((d) => chosen === null || loopOf(d) === chosen);
  document.title = `ralph · ${clean(data.project.split(/[\\/]/).pop())}`;
  $("project").replaceChildren(clean(data.project));
  $("problem").replaceChildren(clean(data.problem));
  $("problem").hidden = !data.problem;
  sync($("loops"), few, (l) => l.id, drawLoop);
  $("no-loops").hidden = all.length > 0;
  $("more").hidden = all.length <= few.length && !whole;
  $("more").replaceChildren(whole ? "Show fewer" : `Show all ${all.length}`);
  const policies = (data.policies ?? []).filter((p) => !p.run);
  sync($("policies"), policies, (p) => JSON.stringify([p.policy, p.host, p.settings]), drawPolicy);
  $("policies-box").hidden = policies.length === 0;
  sync($("list"), decisions, keyOf, drawDecision);
  $("none").hidden = decisions.length > 0;
  const one = all.find((l) => l.chosen);
  $("which").replaceChildren(decisions.length > 0 ? `${decisions.length}${one ? ` in ${one.session ? "session" : "the run"} ${clean(one.name)}` : decisions.length > 1 ? ", the latest first" : ""}` : "");
  $("all").hidden = chosen === null;
}

function state(kind, words) {
  $("state").className = "is-" + kind;
  if ($("state").textContent !== words) $("state").textContent = words;
}

let seen = "", asking = false;

async function ask() {
  if (asking || document.hidden) return;
  asking = true;
  try {
    const answer = await fetch("/data", { cache: "no-store" }), text = await answer.text();
    if (!answer.ok) throw new Error(text);
    const next = JSON.parse(text), before = data?.decisions?.[0], { time: now, ...rest } = next;
    if (JSON.stringify(rest) !== seen) {
      [data, seen] = [next, JSON.stringify(rest)];
      draw();
      const first = data.decisions?.[0];
      if (before && first && keyOf(first) !== keyOf(before)) $("news").textContent = clean(`${first.outcome} by ${first.rule || "no rule"}, ${first.policy}`);
    }
    state("live", "live");
  } catch (error) {
    state("gone", "ralph view does not answer: type it again");
  }
  asking = false;
}

$("more").addEventListener("click", () => {
  whole = !whole;
  draw();
});
$("all").addEventListener("click", () => {
  chosen = null;
  draw();
  $("decisions").focus({ preventScroll: true });
});
data = JSON.parse($("data").textContent);
if (data) {
  draw();
  state("saved", "saved " + stamp(data.time).slice(0, 16));
} else {
  ask();
  setInterval(ask, 2000);
  document.addEventListener("visibilitychange", ask);
}
