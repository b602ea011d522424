import { badge, bar, bdi, code, count, dollars, el, plural, policyName, short, terms, thousands, visible, when } from "./text.js";
import { href } from "./route.js";
import { known, watchRows } from "./rows.js";
import { decisionLink, streak } from "./timeline.js";
import { budget, runState } from "./run.js";

const mostSessions = 100;
const loopStates = { running: "continue", "in a run": "continue", done: "done", stopped: "stop", paused: "pause", "switched off": "pause", unreadable: "error" };

const kindOf = (last) => last.action === "stop" && last.success ? "done" : last.by?.startsWith("limits.") ? "limit" : last.action;

function lastWords(last, row) {
  return [badge(row?.kind ?? kindOf(last)), " by ", row ? decisionLink(row, bdi(last.by)) : bdi(last.by), ", ", when(last.at), last.reason && el("span", { class: "why" }, bdi(last.reason))];
}

function findRow(last, policy) {
  for (let i = known.rows.length - 1; i >= 0 && i > known.rows.length - 3000; i--) {
    const row = known.rows[i];
    if (row.policy === policy && row.session === last.session && Date.parse(row.time) === Date.parse(last.at)) return row;
  }
}

function policyLink(policy) {
  const digest = known.policies.get(policy)?.last.digest;
  return digest ? el("a", { href: href("policy", digest) }, bdi(policy)) : bdi(policy);
}

const progress = (measure) => measure && [bar(measure.done, measure.total, "done"), `${count(measure.done)} of ${count(measure.total)} done`];

function loopCard(loop, inProject, paused) {
  const row = loop.last && findRow(loop.last, loop.policy);
  return el("article", { class: "card k-" + (loopStates[loop.state] ?? "none") },
    el("header", {}, el("h3", {}, bdi(loop.name)), badge(loopStates[loop.state] ?? "none", loop.state)),
    loop.goal && el("p", { class: "goal" }, bdi(loop.goal)), loop.why && el("p", {}, bdi(loop.why)),
    (loop.problems ?? []).map((p) => el("p", { class: "problem" }, bdi(p))),
    terms(
      ["progress", progress(loop.measure)],
      ["streak", loop.limit > 0 && [bar(loop.continuations, loop.limit, loop.continuations >= loop.limit ? "stop" : "continue"), `${count(loop.continuations)} of ${count(loop.limit)}, ${count(Math.max(0, loop.limit - loop.continuations))} left`]],
      ["last", loop.last && lastWords(loop.last, row)],
      ["policy", policyLink(loop.policy)],
      ["owner", loop.owner ? el("a", { href: href("timeline", "", { session: loop.owner }) }, bdi(short(loop.owner))) : "none, every session"],
      ["file", code(loop.file), loop.changed && [", ", when(loop.changed)]],
    ),
    el("p", { class: "commands" }, loop.state === "stopped" ? inProject(["ralph", "start", loop.policy], "Copy start")
      : inProject(["ralph", paused ? "resume" : "pause", loop.policy], paused ? "Copy resume" : "Copy pause"), loop.state !== "stopped" && inProject(["ralph", "stop", loop.policy], "Copy stop")));
}

function runCard(info, inProject) {
  return el("article", { class: "card k-continue" },
    el("header", {}, el("h3", {}, el("a", { href: href("run", info.id) }, "Run ", bdi(short(info.id)))), runState(info)),
    info.waiting && el("p", {}, bdi(info.waiting)),
    terms(["policy", policyLink(info.policy)], ["agent", code((info.args ?? []).join(" "))], ...budget(info), ["started", when(info.started)], ["latest", when(info.latest)]),
    el("p", { class: "commands" }, info.running ? inProject(["ralph", "stop", info.policy], "Copy stop") : inProject(["ralph", "run", "--resume=" + info.id], "Copy resume")));
}

function sessionRows(all) {
  const sessions = [...known.sessions.values()].filter((s) => s.last.session).sort((a, b) => b.last.n - a.last.n);
  const list = el("ul", { class: "sessions" }, sessions.slice(0, mostSessions).map(({ n, last }) => el("li", {},
    el("a", { class: "id", href: href("timeline", "", { session: last.session, root: all ? last.root : "" }), title: visible(last.session) }, bdi(last.session)),
    el("span", { class: "what" }, badge(last.kind), " ", decisionLink(last, bdi(policyName(last.policy)), " ", last.by !== "-" && bdi(last.by)), " ", el("span", { class: "why" }, bdi(last.said))),
    el("span", { class: "figures" },
      el("span", {}, last.measure && [bar(last.measure.done, last.measure.total, "done"), `${last.measure.done}/${last.measure.total}`]),
      el("span", { title: "streak, and its limit" }, streak(last)),
      el("span", { title: "tokens and cost" }, [last.tokens && thousands(last.tokens), last.usd && dollars(last.usd)].filter(Boolean).join(", ")),
      el("span", {}, plural(n, "decision")), el("span", {}, when(last.time))),
    last.run && el("a", { class: "more", href: href("run", last.run) }, "Run ", bdi(last.run)), all && el("span", { class: "more" }, code(last.root)))));
  const more = sessions.length - mostSessions;
  return [list, more > 0 && el("p", { class: "quiet" }, `${count(more)} older sessions are in the `, el("a", { href: href("timeline") }, "timeline"), ".")];
}

// firstSteps is what a project without anything sees.
function firstSteps(inProject) {
  const step = (title, words, line) => el("li", {}, el("h3", {}, title), el("p", {}, words), inProject(line));
  return el("section", { class: "first" }, el("h2", {}, "Nothing has happened here yet"),
    el("p", {}, "ralph decides, each time a coding agent is about to stop, whether it may. Three steps lead to the first decision:"),
    el("ol", {}, step("Write a policy", "It starts with a task list, and has its tests beside it.", ["ralph", "init"]),
      step("Add ralph to your agent", "This adds a Stop hook to the settings of Claude Code; other hosts are listed by ralph install --help.", ["ralph", "install", "claude-code"]),
      step("Or start a loop of a shipped policy", "It repeats a prompt until the agent keeps its promise.", ["ralph", "start", "ralph-wiggum", "Make all tests pass", "--promise", "DONE", "--max", "20"])),
    el("p", { class: "quiet" }, "If an agent has stopped here and you see nothing, run ralph doctor. This page shows the first decision as soon as it is made."));
}

function section(title, ...content) {
  const shown = content.flat(2).filter(Boolean);
  return shown.length ? el("section", {}, el("h2", {}, title), shown) : null;
}

function draw(status, page, inProject, live) {
  const commands = live ? inProject : () => null;
  const s = status ?? {};
  const off = new Set((s.paused ?? []).filter((p) => !p.session).map((p) => p.policy ?? ""));
  const nothing = status !== undefined && known.rows.length === 0 && !s.loops?.length && !s.runs?.length && !s.others?.length && !s.finished?.length;
  const policies = [...known.policies].sort((a, b) => b[1].last.n - a[1].last.n);
  return [
    status === undefined && el("p", { class: "quiet" }, "Reading the loops …"),
    s.off && el("p", { class: "banner k-pause" }, badge("pause", "all loops are off"), " ", bdi(s.off), " ", commands(["ralph", "resume"], "Copy resume")),
    (s.paused ?? []).filter((p) => p.policy || p.session).map((p) => el("p", { class: "banner k-pause" }, badge("pause", "paused"), " ",
      p.policy && bdi(p.policy), p.session && [" session ", bdi(p.session)], ", ", when(p.at), " ", commands(["ralph", "resume", ...(p.policy ? [p.policy] : []), ...(p.session ? ["--session", p.session] : [])], "Copy resume"))),
    (s.unusable ?? []).map((u) => el("div", { class: "banner k-error" }, badge("error", "cannot be used"), " ", bdi(u.policy), " ", commands(["ralph", "check", u.policy], "Copy check"), el("pre", { tabindex: 0, "aria-label": "Problem" }, bdi(u.problem)))),
    nothing && live && firstSteps(inProject),
    section("Loops", s.loops?.length > 0 && el("div", { class: "cards" }, s.loops.map((l) => loopCard(l, commands, off.has(l.policy) || l.state === "paused")))),
    section("Runs", s.runs?.length > 0 && el("div", { class: "cards" }, s.runs.map((r) => runCard(r, commands)))),
    section("Hints", (s.hints ?? []).map((h) => el("p", { class: "banner k-note" }, badge("note", "hint"), " ", bdi(h.text), el("span", { class: "quiet" }, " for the next continuation", h.policy && [" by ", bdi(h.policy)], h.session && [" of ", bdi(h.session)], ", ", when(h.at))))),
    section("Sessions", known.sessions.size > 0 && sessionRows(page.all)),
    section("Policies", policies.length > 0 && el("ul", { class: "sessions" }, policies.slice(0, 50).map(([name, p]) => el("li", {},
      el("span", { class: "id" }, policyLink(name)), el("span", { class: "what" }, badge(p.last.kind), " ", decisionLink(p.last, bdi(p.last.by)), " ", el("span", { class: "why" }, bdi(p.last.said))),
      el("span", { class: "figures two" }, el("a", { href: href("timeline", "", { policy: name }) }, plural(p.n, "decision")), (s.shadows ?? []).includes(name) && el("span", {}, "replaces the shipped one"), when(p.last.time)))))),
    section("Ended", (s.finished ?? []).map((f) => el("p", { class: "ended" }, badge({ done: "done", limit: "limit", ended: "command" }[f.result] ?? "stop", f.result), " ",
      f.run ? el("a", { href: href("run", f.run) }, bdi(f.name || f.policy)) : bdi(f.name || f.policy), ", ", when(f.at), " by ", bdi(f.by), f.reason && [": ", bdi(f.reason)], f.goal && el("span", { class: "why" }, bdi(f.goal)), f.file && [" ", code(f.file)]))),
  ].flat(2).filter(Boolean);
}

// overviewView shows loops, runs and sessions, and stays true while decisions are made.
export function overviewView(route, { source, page, inProject, onStatus }) {
  let status, timer; // the status takes longer than the rows
  const body = el("div", { class: "overview" });
  const fill = () => {
    timer = undefined;
    if (!getSelection().isCollapsed && getSelection().containsNode(body, true)) {
      timer = setTimeout(fill, 1000); // not while the reader selects something
      return;
    }
    const name = (node) => node.getAttribute("aria-label") ?? node.getAttribute("href");
    const held = body.contains(document.activeElement) && name(document.activeElement);
    body.replaceChildren(...draw(status, page, inProject, source.live));
    if (held) [...body.querySelectorAll("a, button")].find((node) => name(node) === held)?.focus({ preventScroll: true });
  };
  const soon = () => { timer ??= setTimeout(fill, 150); };
  const ask = async () => {
    status = await source.status().catch(() => status ?? null);
    soon();
  };
  body.replaceChildren(...draw(status, page, inProject, source.live));
  ask();
  const unwatch = watchRows(soon), unhook = onStatus(ask);
  return { title: page.all ? "All projects" : "Overview", content: [body], close() { unwatch(); unhook(); clearTimeout(timer); } };
}
