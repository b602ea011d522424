import { badge, bar, bdi, by, code, count, dollars, duration, el, link, look, outcome, policyName, quiet, section, short, stacked, terms, thousands, verdict, when } from "./text.js";
import { href } from "./route.js";
import { known, watchRows } from "./rows.js";
import { decisionLink, ofLimit } from "./timeline.js";
import { budget } from "./run.js";

const mostSessions = 100;

function findRow(last, policy) {
  const oldest = Math.max(0, known.rows.length - 3000);
  for (let i = known.rows.length - 1; i >= oldest; i--) {
    const row = known.rows[i];
    if (row.policy === policy && row.session === last.session && Date.parse(row.time) === Date.parse(last.at)) return row;
  }
}

function policyLink(policy) {
  const digest = known.policies.get(policy)?.last.digest;
  const name = bdi(policyName(policy));
  return digest ? link(href("policy", digest), name) : name;
}

const sessionLink = (session) => link(href("timeline", "", { session }), bdi(short(session)));
const why = (s) => s && el("span", { class: "why" }, bdi(s));

function lastDecision(last, policy) {
  const row = findRow(last, policy);
  return [row && [verdict(row), " "], row ? decisionLink(row, by(row)) : bdi(last.by), ", ", when(last.at), why(last.reason)];
}

function loopStreak({ limits = [] }) {
  const { at, of } = limits.find((l) => l.name === "continuations") ?? {};
  const left = Math.max(0, of - at);
  return of > 0 && [bar(at, of, left ? "continue" : "stop"), `${count(at)} of ${count(of)}, ${count(left)} left`];
}

function loopCommands({ state, policy: file }, commands) {
  const policy = policyName(file);
  if (state === "stopped by you") return commands(["ralph", "start", policy], "Copy start");
  if (state === "unusable") return commands(["ralph", "check", policy], "Copy check");
  const word = state === "paused" ? "resume" : "pause";
  return [commands(["ralph", word, policy], "Copy " + word), commands(["ralph", "stop", policy], "Copy stop")];
}

function loopCard(loop, commands) {
  const { measure, state } = loop;
  const [first, ...rest] = (loop.why ?? "").split("\n");
  return el("article", { class: "card k-" + look(state) },
    el("header", {}, el("h3", {}, bdi(loop.name ?? policyName(loop.policy))), outcome(state)),
    loop.goal && el("p", {}, bdi(loop.goal, "quiet")), first && el("p", {}, bdi(first)),
    rest.length > 0 && el("pre", { tabindex: 0, role: "region", "aria-label": "Problem" }, bdi(rest.join("\n"))),
    (loop.problems ?? []).map((p) => el("p", { class: "problem" }, bdi(p))),
    terms(
      ["progress", measure && [bar(measure.done, measure.total, "done"), `${count(measure.done)} of ${count(measure.total)} done`]],
      ["streak", loopStreak(loop)],
      ["last", loop.last && lastDecision(loop.last, loop.policy)],
      ["heard of", loop.heard && when(loop.heard)],
      ["policy", policyLink(loop.policy)],
      ["hooks", loop.hooks?.map((h, i) => [i > 0 && ", ", h.host, " ", code(h.file)])],
      ["owner", loop.file && (loop.owner ? sessionLink(loop.owner) : "none, every session")],
      ["file", loop.file && code(loop.file), loop.changed && [", ", when(loop.changed)]]),
    el("p", { class: "commands" }, loopCommands(loop, commands)));
}

const runLink = (id) => link(href("run", id), "Run ", bdi(id));

// runCard is a run that has not ended.
function runCard({ info, state, why: cause }, commands) {
  return el("article", { class: "card k-" + look(state) },
    el("header", {}, el("h3", {}, runLink(info.id)), outcome(state)),
    cause && el("p", {}, bdi(cause)),
    terms(["policy", policyLink(info.policy)], ["agent", code((info.args ?? []).join(" "))], ...budget(info),
      ["started", when(info.started)], ["latest", when(info.latest)]),
    el("p", { class: "commands" }, info.running ? commands(["ralph", "stop", info.policy], "Copy stop")
      : commands(["ralph", "run", "--resume=" + info.id], "Copy resume")));
}

const endedRuns = (runs) => runs.length > 0 && stacked("Runs that ended", [["run", "id"], "outcome", ["reason", "text brief"], "policy", ["iterations", "number"], ["time", "number"], ["cost", "number"], ["ended", "nowrap"]],
  runs.map(({ info, state, why: cause }) => [
    runLink(info.id), outcome(state), bdi(cause), policyLink(info.policy), count(info.totals.iterations), duration(info.totals.elapsed_ns / 1e6),
    info.totals.cost_usd && dollars(info.totals.cost_usd), when(info.latest),
  ]));

// latest is the latest decision of a session or policy: its outcome, and what decided and why.
const latest = (row) => [verdict(row), [decisionLink(row, by(row)), " ", why(row.said)]];

function sessionCells({ n, last }, all) {
  const { measure, session } = last;
  const decisions = href("timeline", "", { session, root: all && last.root });
  const spent = [last.tokens && thousands(last.tokens), last.usd && dollars(last.usd)].filter(Boolean).join(", ");
  return [
    [last.run ? runLink(last.run) : el("a", { href: decisions }, bdi(session)), all && [" ", code(last.root)]],
    ...latest(last), measure && [bar(measure.done, measure.total, "done"), `${measure.done}/${measure.total}`], ofLimit(last), spent, link(decisions, count(n)), when(last.time),
  ];
}

function sessionList(all) {
  const sessions = [...known.sessions.values()].filter((s) => s.last.session).sort((a, b) => b.last.n - a.last.n);
  const more = sessions.length - mostSessions;
  return sessions.length > 0 && [
    stacked("Sessions, the latest first", [["session", "id"], "outcome", ["policy › rule", "text brief"], ["done", "number"], ["streak", "number"], ["tokens, cost", "number"], ["decisions", "number"], ["last", "nowrap"]],
      sessions.slice(0, mostSessions).map((s) => sessionCells(s, all))),
    more > 0 && el("p", {}, quiet(`${count(more)} older sessions are in the `, link(href("timeline"), "timeline"), ".")),
  ];
}

function policyList(shadows = []) {
  const policies = [...known.policies].sort((a, b) => b[1].last.n - a[1].last.n).slice(0, mostSessions);
  return policies.length > 0 && stacked("Policies, the latest first", [["policy", "id"], "outcome", ["policy › rule", "text brief"], ["decisions", "number"], ["last", "nowrap"]], policies.map(([name, { n, last }]) => [
    [policyLink(name), shadows.includes(name) && quiet(" replaces the shipped policy")], ...latest(last), link(href("timeline", "", { policy: name }), count(n)), when(last.time),
  ]));
}

// firstSteps is what a project without anything sees.
function firstSteps(commands) {
  const step = (title, words, ...line) => el("li", {}, el("h3", {}, title), el("p", {}, words), commands(["ralph", ...line]));
  return section("Nothing has happened here yet",
    el("p", {}, "ralph decides, each time a coding agent is about to stop, whether it may. These steps lead to the first decision:"),
    el("ol", { class: "first" }, step("Write a policy", "It starts with a task list, and has its tests beside it.", "init"),
      step("Add ralph to your agent", "This adds a Stop hook to the settings of Claude Code; ralph install --help lists other hosts.", "install", "claude-code"),
      step("Or start a loop of a shipped policy", "It repeats a prompt until the agent keeps its promise.",
        "start", "ralph-wiggum", "Make all tests pass", "--promise", "DONE", "--max", "20")),
    el("p", {}, quiet("If an agent has stopped here and you see nothing, run ralph doctor. This page shows the first decision when it is made.")));
}

const banner = (kind, word, ...content) => el("div", { class: "banner k-" + kind }, badge(kind, word), " ", content);

function pauseBanner({ policy, session, at }, commands) {
  const which = [...(policy ? [policy] : []), ...(session ? ["--session", session] : [])];
  return banner("pause", "paused", policy ? bdi(policy) : "every policy", session && [" in session ", bdi(session)], ", ", when(at), " ",
    commands(["ralph", "resume", ...which], "Copy resume"));
}

const hintBanner = ({ text, policy, session, at }) => banner("note", "hint", bdi(text), " ",
  quiet("for the next continuation", policy && [" by ", bdi(policy)], session && [" of ", bdi(session)], ", ", when(at)));

const unreadBanner = ({ file, what }) => banner("error", "a hook that ralph cannot read", code(file), " ", bdi(what));

function endedItem(f) {
  const name = bdi(f.name || f.policy);
  return el("p", {}, outcome(f.result), " ", f.run ? link(href("run", f.run), name) : name, ", ", when(f.at), " by ", bdi(f.by),
    f.reason && [": ", bdi(f.reason)], why(f.goal), f.file && [" ", code(f.file)]);
}

function draw(status, page, inProject, live) {
  const commands = live ? inProject : () => null;
  const { off, paused = [], loops, runs = [], hints = [], unread = [], finished = [], shadows } = status ?? {};
  const empty = status !== undefined && ![known.rows, loops, runs, finished].some((list) => list?.length);
  const ended = runs.filter((r) => r.info.ended), endedLoops = finished.filter((f) => f.file || !f.run);
  const cards = (list, card) => list?.length > 0 && el("div", { class: "cards" }, list.map((one) => card(one, commands)));
  return el("div", {},
    status === undefined && el("p", {}, quiet("Reading the loops …")),
    off && banner("pause", "all loops are off", bdi(off), " ", commands(["ralph", "resume"], "Copy resume")),
    !off && paused.map((p) => pauseBanner(p, commands)), unread.map(unreadBanner),
    empty && live && firstSteps(inProject),
    section("Loops", cards(loops, loopCard)), section("Runs", cards(runs.filter((r) => !r.info.ended), runCard), endedRuns(ended)), section("Hints", hints.map(hintBanner)),
    section("Sessions", sessionList(page.all)), section("Policies", policyList(shadows)), section("Ended", endedLoops.map(endedItem)));
}

// overviewView shows loops, runs and sessions, and stays true while decisions are made.
export function overviewView(route, { source, page, inProject, onStatus }) {
  let status, timer; // the status takes longer than the rows
  const body = el("div");
  const fill = () => {
    timer = undefined;
    if (!getSelection().isCollapsed && getSelection().containsNode(body, true)) {
      timer = setTimeout(fill, 1000); // not while the reader selects something
      return;
    }
    const name = (node) => node.getAttribute("aria-label") ?? node.getAttribute("href");
    const held = document.activeElement;
    const alike = () => [...body.querySelectorAll("a, button, [tabindex]")].filter((node) => name(node) === name(held));
    const nth = alike().indexOf(held);
    body.replaceChildren(draw(status, page, inProject, source.live));
    if (nth >= 0) alike()[nth]?.focus({ preventScroll: true });
  };
  const soon = () => { timer ??= setTimeout(fill, 150); };
  const ask = async () => {
    status = await source.status().catch(() => status ?? null);
    soon();
  };
  body.replaceChildren(draw(status, page, inProject, source.live));
  ask();
  const unwatch = watchRows(soon), unhook = onStatus(ask);
  return { title: page.all ? "All projects" : "Overview", content: [body], close() { unwatch(); unhook(); clearTimeout(timer); } };
}
