import { ago, badge, bar, bdi, code, command, count, day, dollars, duration, el, hour, plural, short, table, terms, text, thousands, value, visible } from "./text.js";
import { href } from "./route.js";
import { known, watchRows } from "./rows.js";

const outcomes = { holds: "done", no: "none", unknown: "note", error: "error", "stepped aside": "pause" };

// place reads the position of a rule, FILE:LINE:COLUMN.
export function place(at) {
  const found = /^(.*):(\d+):\d+$/.exec(typeof at === "string" ? at : at?.file ? `${at.file}:${at.line}:${at.col ?? 1}` : "");
  return found ? { file: found[1], line: found[2] } : null;
}

export function sourceLink(digest, at, ...content) {
  const p = place(at);
  return digest && p ? el("a", { href: href("policy", digest, p) }, content) : el("span", {}, content);
}

function operand(step, o) {
  const failed = step.outcome !== "holds" && (o.text === step.because || o.unknown);
  const reads = (o.reads ?? []).filter((r) => r.name !== o.text);
  return el("li", { class: failed ? "failed" : "" },
    el("span", { class: "mark", "aria-hidden": "true" }, failed ? "▸" : ""), failed && el("span", { class: "hear" }, "this decided: "),
    code(o.text), " = ", code(o.unknown ? "unknown" : value(o.value)), o.problem && [" ", bdi(o.problem, "problem")],
    reads.length > 0 && el("ul", { class: "reads" }, reads.map((r) => el("li", {}, code(r.name), " = ", r.state ? bdi(r.state, "quiet") : code(value(r.value))))));
}

function rule(record, step, name) {
  const decided = step.rule && step.rule === record.rule;
  return el("li", { class: "rule" + (decided ? " decided" : "") },
    el("div", { class: "head" }, badge(outcomes[step.outcome] ?? "none", step.outcome), " ", sourceLink(record.digest, step.pos, bdi(name ?? step.rule, "name")),
      step.repeated > 0 && el("span", { class: "quiet" }, ` decided ${step.repeated}× before`), decided && el("strong", {}, " decided")),
    step.operands?.length ? el("ul", { class: "operands" }, step.operands.map((o) => operand(step, o))) : step.because && el("p", { class: "operands" }, bdi(step.because)));
}

function ruleList(record) {
  const { when, on, steps } = record.trace ?? {};
  const head = [when && rule(record, when, "when"), on && rule(record, on, "on")].filter(Boolean);
  if (head.length === 0 && !steps?.length) return el("p", { class: "quiet" }, bdi(record.skipped || "No rule was tried."));
  return el("ol", { class: "rules" }, head, (steps ?? []).map((s) => rule(record, s)));
}

function factTable(record) {
  const inputs = record.trace?.inputs ?? [];
  const shown = (input) => (input.cut ? el("span", { class: "quiet" }, "not kept") : code(value(input.value)));
  const of = (name) => inputs.filter((i) => i.name.startsWith(name + "#"));
  const values = (name) => el("ul", { class: "values" }, of(name).map((i) => el("li", {}, code(i.name.slice(name.length + 1).replace(/^\//, "") || "all of it"), " = ", shown(i))));
  const facts = record.trace?.facts ?? [];
  const names = new Set(facts.map((f) => f.name));
  const rest = inputs.filter((i) => !names.has(i.name.split("#")[0]));
  const age = (f) => {
    const modified = f.modified ?? f.meta?.modified;
    return modified ? el("span", { title: visible(modified) }, duration(Date.parse(record.time) - Date.parse(modified)) + " before") : "–";
  };
  if (facts.length + rest.length === 0) return el("p", { class: "quiet" }, "No fact was read.");
  return table("Facts as they were read", ["fact", "source", "changed", "values that were read"], [
    ...facts.map((f) => [bdi(f.name, "name"), [bdi(f.source), " ", f.path && code(f.path), f.status && [" ", badge("note", f.status)], f.defaulted && " default used", f.problem && [" ", bdi(f.problem, "problem")]], age(f), values(f.name)]),
    ...rest.map((i) => [bdi(i.name, "name"), "ralph", "–", shown(i)]),
  ]);
}

function effects(record) {
  const all = [...(record.effects ?? []).map((e) => [e, ""]), ...(record.finally ?? []).map((e) => [e, "finally"])];
  if (all.length === 0) return null;
  return table("Effects", ["effect", "on", "old → new"], all.map(([e, then]) => [
    [bdi(e.kind, "name"), then && el("span", { class: "quiet" }, " " + then), e.create && el("span", { class: "quiet" }, " new file")],
    [code(e.file ?? e.glob ?? e.name ?? e.verb ?? (e.args ?? []).join(" ") ?? ""), e.path && [" ", code(e.path.join("."))]],
    e.to ? ["moved to ", code(e.to)] : e.text ? bdi(e.text) : e.older_ns ? "older than " + duration(e.older_ns / 1e6)
      : "new" in e || "old" in e ? [code(value(e.old)), " → ", code(value(e.new))] : "–",
  ]));
}

// amount writes what a limit counts: times in nanoseconds, cost in millionths of a dollar.
const amount = (name, n) => name === "elapsed" ? duration(n / 1e6) : name === "cost" ? dollars(n / 1e6) : count(n);

function limits(record) {
  if (!record.limits?.length) return null;
  return table("Limits as they stood", ["limit", "at", "of", "left"], record.limits.map((l) => [
    [bdi(l.name, "name"), record.bound === l.name && el("strong", {}, " reached")], amount(l.name, l.at), amount(l.name, l.of),
    [bar(l.at, l.of, l.at >= l.of ? "stop" : "continue"), amount(l.name, Math.max(0, l.of - l.at))],
  ]));
}

const texts = (title, list) => list?.length ? el("section", {}, el("h2", {}, title), list.map((t) => el("pre", { class: "said" }, bdi(t)))) : null;

function verdictOf(record, row) {
  return badge(row?.kind ?? (record.error ? "error" : record.command ? "command" : record.success ? "done" : record.bound ? "limit" : record.action ?? "none"));
}

const raw = (record, open) => el("details", { class: "raw", open }, el("summary", {}, "The record as the log keeps it"), text(el("pre", { tabindex: 0 }), JSON.stringify(record, null, 2)));

function explained(record, several) {
  if (record.v !== 1) return el("article", { class: "decision" }, el("p", {}, "A newer version of ralph made this decision."), raw(record, true));
  const row = known.rows.find((r) => r.id === record.id && r.policy === record.policy);
  const streak = record.streak ?? {};
  return el("article", { class: "decision" },
    el("header", { class: "verdict" }, verdictOf(record, row), " by ", record.rule ? sourceLink(record.digest, record.at, bdi(record.rule, "name")) : bdi(record.command || "no rule"),
      several && [" of ", bdi(record.policy)],
      el("p", { class: "reason" }, bdi(record.error || record.reason || record.skipped || row?.said || "no reason"),
        /^\(\d+ bytes\)$/.test(record.reason) && el("span", { class: "quiet" }, " of text for the agent, of which the log keeps the size"))),
    terms(
      ["policy", record.digest ? el("a", { href: href("policy", record.digest) }, bdi(record.policy)) : bdi(record.policy), record.shadows && " (replaces the shipped one)"],
      ["time", `${day(record.time)} ${hour(record.time)}, ${ago(record.time)}`],
      ["event", bdi(record.event), record.host && [" of ", bdi(record.host)], record.agent && [", subagent ", bdi(record.agent)]],
      ["session", record.session && el("a", { href: href("timeline", "", { session: record.session }) }, bdi(record.session))],
      ["run", record.run && el("a", { href: href("run", record.run) }, bdi(record.run))],
      ["loop", record.loop && [bdi(record.loop.name), record.loop.owner && [", owner ", bdi(short(record.loop.owner))], record.loop.gone && ", its file is gone"]],
      ["streak", streak.continuations != null && `${plural(streak.continuations, "continuation")} before this one, ${count(streak.total ?? 0)} in the session`, streak.same > 1 && `, ${streak.same} without progress`],
      ["progress", streak.progress && code(streak.progress), streak.before && [" before ", code(streak.before)]],
      ["measure", record.measure && [bar(record.measure.done, record.measure.total, "done"), ` ${record.measure.done} of ${record.measure.total} done`]],
      ["limit", record.bound && [bdi(record.bound), " turned continue into stop"]],
      ["tokens", record.tokens && thousands(record.tokens)],
      ["cost", record.usd && dollars(record.usd)],
      ["hint", record.hint && bdi(record.hint)],
      ["decided in", record.took_ns && duration(Math.max(1, record.took_ns / 1e6)), record.retries > 0 && `, after ${plural(record.retries, "retry").replace("retrys", "retries")}`],
      ["not applied", record.applied === false && !record.command && "its effects were not made"],
    ),
    el("section", {}, el("h2", {}, "Rules in order"), ruleList(record)),
    el("section", {}, el("h2", {}, "Facts"), factTable(record)),
    record.effects?.length || record.finally?.length ? el("section", {}, el("h2", {}, "Effects"), effects(record)) : null,
    record.limits?.length ? el("section", {}, el("h2", {}, "Limits"), limits(record)) : null,
    texts("Notices", record.notices), texts("Notes", record.notes), texts("Log", record.log), texts("Warnings", record.trace?.warnings),
    raw(record),
    el("p", {}, "In a terminal: ", command(["ralph", "explain", record.id])));
}

// decisionView explains a decision. Policies of one event share its ID.
export async function decisionView({ id, query }, { source }) {
  const { records } = await source.decision(id);
  const first = records.find((r) => r.policy === query.policy) ?? records[0];
  const ways = el("nav", { class: "ways", "aria-label": "Decisions of this session" });
  const drawWays = () => {
    const same = known.rows.filter((r) => r.session === first.session && (!r.root || r.root === first.root));
    const at = same.findIndex((r) => r.id === id && r.policy === first.policy);
    const way = (row, words) => (row ? el("a", { class: "button", href: href("decision", row.id, { policy: row.policy }) }, words) : el("span", { class: "button off" }, words));
    ways.replaceChildren(way(at >= 0 ? same[at - 1] : null, "← Previous"), way(at >= 0 ? same[at + 1] : null, "Next →"),
      el("a", { class: "button", href: href("timeline", "", { session: first.session }) }, at >= 0 ? `${count(at + 1)} of ${count(same.length)} in the session` : "All of the session"));
  };
  drawWays();
  const unwatch = watchRows(drawWays);
  const ordered = [first, ...records.filter((r) => r !== first)];
  return { title: "Decision", note: [bdi(first.policy), " ", first.time && day(first.time) + " " + hour(first.time)], content: [ways, ordered.map((r) => explained(r, records.length > 1))], close: unwatch };
}
