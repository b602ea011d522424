import { ago, badge, bar, bdi, code, command, count, date, dollars, duration, el, link, policyName, quiet, section, short, stacked, terms, text, thousands, value, verdict } from "./text.js";
import { href } from "./route.js";
import { known, watchRows } from "./rows.js";
import { ofLimit } from "./timeline.js";

const outcomes = { holds: "done", no: "none", unknown: "note", error: "error", "stepped aside": "pause" };

// place reads the position of a rule, FILE:LINE:COLUMN or {file, line}.
export function place(at) {
  const found = /^(.*):(\d+):\d+$/.exec(at?.file ? `${at.file}:${at.line}:0` : at);
  return found && { file: found[1], line: found[2] };
}

function sourceLink(digest, at, name) {
  const p = place(at);
  return digest && p ? link(href("policy", digest, p), bdi(name, "name")) : bdi(name, "name");
}

function operand(step, o) {
  const failed = step.outcome !== "holds" && (o.text === step.because || o.unknown);
  const reads = (o.reads ?? []).filter((r) => r.name !== o.text);
  return el("li", { class: failed ? "failed" : "" },
    failed && [el("span", { class: "mark", "aria-hidden": "true" }, "▸"), el("span", { class: "hear" }, "this decided: ")],
    code(o.text), " = ", code(o.unknown ? "unknown" : value(o.value)), o.problem && [" ", bdi(o.problem, "problem")],
    reads.length > 0 && el("ul", { class: "reads" },
      reads.map((r) => el("li", {}, code(r.name), " = ", r.state ? bdi(r.state, "quiet") : code(value(r.value))))));
}

function ruleItem(record, step, name = step.rule) {
  const decided = step.rule && step.rule === record.rule;
  return el("li", { class: "rule" + (decided ? " decided" : "") },
    badge(outcomes[step.outcome], step.outcome), " ", sourceLink(record.digest, step.pos, name),
    step.repeated > 0 && quiet(` decided ${step.repeated}× before`), decided && el("strong", {}, " decided"),
    step.operands?.length ? el("ul", { class: "operands" }, step.operands.map((o) => operand(step, o)))
      : step.because && el("p", { class: "operands" }, bdi(step.because)));
}

function ruleList(record) {
  const { when, on, steps } = record.trace ?? {};
  if (!when && !on && !steps?.length) return el("p", {}, bdi(record.reason || "No rule was tried.", "quiet"));
  return el("ol", { class: "rules" }, when && ruleItem(record, when, "when"), on && ruleItem(record, on, "on"), (steps ?? []).map((s) => ruleItem(record, s)));
}

function factTable(record) {
  const { inputs = [], facts = [] } = record.trace ?? {};
  const read = (input) => (input.cut ? quiet("not kept") : code(value(input.value)));
  const field = (input) => input.name.slice(input.name.indexOf("#") + 1).replace(/^\//, "") || "all of it";
  const values = (fact) => inputs.filter((i) => i.name.startsWith(fact + "#")).map((i) => el("li", {}, code(field(i)), " = ", read(i)));
  const rest = inputs.filter((i) => !facts.some((f) => i.name.startsWith(f.name + "#")));
  const age = (f) => (f.modified ? el("span", { title: date(f.modified) }, duration(Date.parse(record.time) - Date.parse(f.modified)) + " before") : "–");
  const source = (f) => [
    bdi(f.source), " ", f.path && code(f.path), f.status && [" ", badge("note", f.status)], f.defaulted && " default used", f.problem && [" ", bdi(f.problem, "problem")],
  ];
  return facts.length + rest.length > 0 && stacked("Facts as they were read", ["fact", ["values that were read", "text"], "changed", "source"], [
    ...facts.map((f) => [bdi(f.name, "name"), el("ul", {}, values(f.name)), age(f), source(f)]),
    ...rest.map((i) => [bdi(i.name, "name"), read(i), "–", "ralph"]),
  ]);
}

function effectTable(record) {
  const change = (e) => {
    if (e.to) return ["moved to ", code(e.to)];
    if (e.older_ns) return "older than " + duration(e.older_ns / 1e6);
    return e.text ? bdi(e.text) : "new" in e || "old" in e ? [code(value(e.old)), " → ", code(value(e.new))] : "–";
  };
  const row = (after) => (e) => [
    [bdi(e.kind, "name"), quiet(after, e.create && " new file")],
    [code(e.file ?? e.glob ?? e.name ?? e.verb ?? (e.args ?? []).join(" ")), e.path && [" ", code(e.path.join("."))]], change(e),
  ];
  const all = [...(record.effects ?? []).map(row("")), ...(record.finally ?? []).map(row(" finally"))];
  return all.length > 0 && stacked("Effects", ["effect", "on", ["old → new", "text"]], all);
}

// amount writes what a limit counts: times in nanoseconds, cost in millionths of a dollar.
const amount = (name, n) => (name === "elapsed" ? duration(n / 1e6) : name === "cost" ? dollars(n / 1e6) : count(n));

function limitTable(record) {
  return record.limits?.length > 0 && stacked("Limits before this decision", ["limit", ["at", "number"], ["of", "number"], ["left", "number"]], record.limits.map((l) => [
    [bdi(l.name, "name"), record.bound === l.name && el("strong", {}, " reached")], amount(l.name, l.at), amount(l.name, l.of),
    [bar(l.at, l.of, l.at >= l.of ? "stop" : "continue"), amount(l.name, Math.max(0, l.of - l.at))],
  ]));
}

const said = (title, texts) => section(title, (texts ?? []).map((t) => el("pre", { class: "said" }, bdi(t))));

function rawRecord(record, open) {
  const json = text(el("pre", { tabindex: 0, role: "region", "aria-label": "Record" }), JSON.stringify(record, null, 2));
  return el("details", { class: "raw", open }, el("summary", {}, "The record as the log keeps it"), json);
}

function recordTerms(r, row) {
  const { streak = {}, measure, loop } = r;
  return terms(
    ["policy", r.digest ? link(href("policy", r.digest), bdi(r.policy)) : bdi(r.policy), r.shadows && " (replaces the shipped one)"],
    ["time", `${date(r.time)}, ${ago(r.time)}`],
    ["event", bdi(r.event), r.host && [" of ", bdi(r.host)], r.agent && [", subagent ", bdi(r.agent)]],
    ["session", r.session && link(href("timeline", "", { session: r.session }), bdi(r.session))],
    ["run", r.run && [link(href("run", r.run), bdi(r.run)), r.iteration ? `, after iteration ${r.iteration}` : ", before its first iteration"]],
    ["loop", loop && [bdi(loop.name), loop.owner && [", owner ", bdi(short(loop.owner))], loop.gone && ", its file is gone"]],
    ["streak", streak.continuations != null && [ofLimit(row), ofLimit(row) && " with this decision, ", `${count(streak.total ?? 0)} in the session before it`],
      streak.same > 1 && `, ${streak.same} without progress`],
    ["progress", streak.progress && code(streak.progress), streak.before && [" before ", code(streak.before)]],
    ["measure", measure && [bar(measure.done, measure.total, "done"), ` ${measure.done} of ${measure.total} done`]],
    ["limit", r.bound && [bdi(r.bound), " turned continue into stop"]],
    ["tokens", r.tokens && thousands(r.tokens)],
    ["cost", r.usd && dollars(r.usd) + " of the run so far"],
    ["hint", r.hint && bdi(r.hint)],
    ["decided in", r.took_ns && duration(Math.max(1, r.took_ns / 1e6)), r.retries > 0 && `, tried again ${r.retries}×`],
    ["not kept", r.kept === false && !r.command && "its memory was not saved, or its effects on facts were not made"]);
}

// reasons is why a decision was made: the rules in order, what they read, and what follows.
export const reasons = (record) => [
  section("Rules in order", ruleList(record)), section("Facts", factTable(record)),
  section("Effects", effectTable(record)), section("Limits before this decision", limitTable(record)),
  said("Notices", record.notices), said("Notes", record.notes), said("Log", record.log), said("Warnings", record.trace?.warnings),
  rawRecord(record),
];

function explained(record, row) {
  if (record.v !== 1) return el("article", { class: "decision" }, el("p", {}, "A newer version of ralph made this decision."), rawRecord(record, true));
  const why = record.reason || row.said || "no reason";
  return el("article", { class: "decision" },
    el("p", { class: "verdict" }, verdict(row), " ", bdi(policyName(record.policy)), quiet(" › "),
      record.rule ? sourceLink(record.digest, record.at, record.rule) : bdi(record.command || "no rule")),
    el("p", { class: "reason" }, bdi(why), /^\(\d+ bytes\)$/.test(why) && quiet(" of private text, of which the log keeps the size")),
    recordTerms(record, row), reasons(record), el("p", {}, "In a terminal: ", command(["ralph", "explain", record.id])));
}

// decisionView explains a decision. Policies of one event share its ID.
export async function decisionView({ id, query }, { source }) {
  const { records, rows } = await source.decision(id);
  const first = records.find((r) => r.policy === query.policy) ?? records[0];
  const ways = el("nav", { class: "ways", "aria-label": "Decisions of this session" });
  const drawWays = () => {
    const same = known.rows.filter((r) => r.session === first.session && (!r.root || r.root === first.root));
    const at = same.findIndex((r) => r.id === id && r.policy === first.policy);
    const way = (row, words) => (row ? el("a", { class: "button", href: href("decision", row.id, { policy: row.policy }) }, words)
      : el("span", { class: "button off" }, words));
    ways.replaceChildren(way(at < 0 ? null : same[at - 1], "← Previous"), way(at < 0 ? null : same[at + 1], "Next →"),
      el("a", { class: "button", href: href("timeline", "", { session: first.session }) },
        at < 0 ? "All of the session" : `${count(at + 1)} of ${count(same.length)} in the session`));
  };
  drawWays();
  const ordered = [first, ...records.filter((r) => r !== first)];
  return {
    title: "Decision", note: [bdi(first.policy), " ", first.time && date(first.time)],
    content: [ways, ordered.map((r) => explained(r, rows.find((row) => row.policy === r.policy) ?? rows[0]))], close: watchRows(drawWays),
  };
}
