import { bar, bdi, by, code, count, date, day, dollars, duration, el, hour, link, outcome, plural, quiet, section, stacked, svg, terms, text, thousands, verdict, when } from "./text.js";
import { href } from "./route.js";
import { known, watchRows } from "./rows.js";
import { decisionLink } from "./timeline.js";

const time = (ns) => duration(ns / 1e6);

// budget says how much of each limit of a run is used.
export function budget({ limits = {}, totals = {} }) {
  const of = (name, unit, used = 0, limit = 0) => [name, limit ? [bar(used, limit, used < limit ? "continue" : "stop"), `${unit(used)} of ${unit(limit)}, ${unit(Math.max(0, limit - used))} left`] : used > 0 && unit(used)];
  return [
    of("iterations", count, totals.iterations, limits.iterations), of("time", time, totals.elapsed_ns, limits.elapsed_ns),
    of("tokens", thousands, totals.tokens, limits.tokens), of("cost", dollars, totals.cost_usd, limits.cost_usd),
  ];
}

function runSummary({ info, state, why, advice }, live, inProject) {
  const line = /`(ralph [^`]+)`/.exec(advice ?? "")?.[1].split(" ");
  const agents = Object.entries(info.totals?.outcomes ?? {}).map(([name, n]) => `${n} ${name.replaceAll("_", " ")}`).join(", ");
  return el("div", {},
    el("p", { class: "verdict" }, outcome(state), " ", why && bdi(why), info.running && info.until && ` until ${hour(info.until)}`),
    terms(["policy", bdi(info.policy)], ["agent", code((info.args ?? []).join(" ")), info.client !== info.args?.[0] && [" ", bdi(info.client, "quiet")]],
      ["directory", code(info.root)], ["started", `${date(info.started)}, `, when(info.started)], ["latest", when(info.latest)],
      ...budget(info), ["agents", agents], ["decisions", link(href("timeline", "", { run: info.id }), "Timeline of this run")]),
    live && info.running && inProject(["ralph", "stop", info.policy], "Copy stop"),
    advice && el("p", { class: "quiet" }, bdi(advice)),
    live && line && inProject(line, `Copy ${line[1]}`));
}

// span shows when an iteration was at work, as a part of all that are shown.
function span(from, to, first, end) {
  const share = (t) => (100 * (t - first)) / Math.max(1, end - first);
  return svg("svg", { class: "bar span k-accent", viewBox: "0 0 100 6", preserveAspectRatio: "none", "aria-hidden": "true" },
    svg("rect", { class: "track", width: 100, height: 6 }),
    svg("rect", { class: "part", x: share(from).toFixed(2), width: Math.max(0.8, share(to) - share(from)).toFixed(2), height: 6 }));
}

// iterationTable is what a run did, in order: each agent, what it used, and what the policy decided after it.
function iterationTable({ info, iterations = [] }) {
  const decisions = new Map(known.rows.filter((r) => r.run === info.id).map((r) => [r.iteration ?? 0, r])); // the last, after a resume
  if (iterations.length === 0 && decisions.size === 0) return quiet("No iteration has begun.");
  const at = iterations.map((i) => Date.parse(i.started));
  const to = iterations.map((i, n) => at[n] + (i.took_ns ?? 0) / 1e6);
  const [first, end] = [Math.min(...at), Math.max(...to, Date.parse(info.latest))];
  const decided = (n) => {
    const row = decisions.get(n);
    return row ? [verdict(row), [decisionLink(row, by(row)), " ", bdi(row.said)]] : ["", ""];
  };
  const start = decisions.has(0) && !(iterations[0]?.n > 1) ? [["start", date(decisions.get(0).time), "", "", "", "", "", ...decided(0)]] : [];
  return stacked("Iterations", [
    ["iteration", "number"], ["started", "nowrap"], ["took", "number"], ["when", "when"], ["agent", "agent"], ["tokens", "number"], ["cost", "number"], "outcome", ["policy › rule", "text"],
  ], start.concat(iterations.map((i, n) => [
    count(i.n), n > 0 && day(i.started) === day(iterations[n - 1].started) ? hour(i.started) : date(i.started), i.took_ns && time(i.took_ns),
    span(at[n], i.state === "running" ? end : to[n], first, end),
    [outcome(i.state), i.problem && [" ", bdi(i.problem, "problem")], (i.denied ?? []).map((d) => [" ", quiet("denied: ", bdi(d.tool + " " + (d.input ?? "")))]), i.waiting && [" ", quiet("then it waited: ", bdi(i.waiting))]],
    i.tokens && thousands(i.tokens), i.usd && dollars(i.usd), ...decided(i.n),
  ])));
}

export async function runView({ id }, { source, inProject }) {
  const terminal = el("pre", { class: "output", tabindex: 0, role: "region", "aria-label": "The end of the agent's output" });
  const above = el("p", { class: "quiet" }), summary = el("div");
  let run, drawn;
  const draw = () => {
    const left = run.iterations?.[0]?.n > 1 ? quiet(`The latest ${count(run.iterations.length)}.`) : null;
    const content = [runSummary(run, source.live, inProject), section("Iterations", left, iterationTable(run))];
    const html = content.map((node) => node.outerHTML).join("");
    if (html === drawn || summary.contains(document.activeElement)) return;
    drawn = html;
    summary.replaceChildren(...content);
  };
  const fill = (shownRun) => {
    run = shownRun;
    draw();
    const { output } = run;
    const atEnd = terminal.scrollTop + terminal.clientHeight >= terminal.scrollHeight - 20;
    const left = output?.cut ? `; ${plural(output.cut, "byte")} before this are left out` : "";
    above.textContent = output?.text ? `Iteration ${output.iteration}${left}` : "No output is kept.";
    text(terminal, output?.text).hidden = !output?.text;
    if (atEnd) terminal.scrollTop = terminal.scrollHeight;
  };
  const renew = () => document.hidden || source.run(id).then(fill, () => {});
  fill(await source.run(id));
  const timer = source.live && setInterval(renew, 3000);
  const unwatch = watchRows((rows, older) => rows.some((r) => r.run === id) && (older || !source.live ? draw() : renew()));
  return {
    title: "Run", note: [bdi(id)], wide: true, content: [summary, el("h2", {}, "The end of the agent's output"), above, terminal],
    shown() { terminal.scrollTop = terminal.scrollHeight; },
    close() {
      unwatch();
      clearInterval(timer);
    },
  };
}
