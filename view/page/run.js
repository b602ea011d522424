import { badge, bdi, code, count, date, dollars, duration, el, hour, link, plural, terms, text, thousands, when } from "./text.js";
import { href } from "./route.js";
import { watchRows } from "./rows.js";

const ends = {
  success: ["done", "done"], stopped: ["stop", "stopped"], limit: ["limit", "a limit was reached"], no_progress: ["limit", "no progress"],
  rate_limit: ["limit", "rate limit"], auth: ["error", "cannot sign in"], crashes: ["error", "the agent failed"],
  interrupted: ["stop", "interrupted"], failed: ["error", "failed"],
};

// runState is the state of a run in words, and its shape.
export function runState(info) {
  if (info.ended) return badge(...(ends[info.ended] ?? ["stop", info.ended]));
  if (!info.running) return badge("error", "killed");
  return info.waiting ? badge("pause", "waiting") : badge("continue", "running");
}

// budget says how much of each limit of a run is used.
export function budget({ limits = {}, totals = {} }) {
  const of = (name, unit, used = 0, limit = 0) => [name, limit ? `${unit(used)} of ${unit(limit)}, ${unit(Math.max(0, limit - used))} left` : used > 0 && unit(used)];
  const time = (ns) => duration(ns / 1e6);
  return [
    of("iterations", count, totals.iterations, limits.iterations), of("time", time, totals.elapsed_ns, limits.elapsed_ns),
    of("tokens", thousands, totals.tokens, limits.tokens), of("cost", dollars, totals.cost_usd, limits.cost_usd),
  ];
}

function runSummary(info, advice, live, inProject) {
  const command = /`(ralph [^`]+)`/.exec(advice ?? "")?.[1].split(" ");
  const outcomes = Object.entries(info.totals?.outcomes ?? {}).map(([name, n]) => `${n} ${name}`).join(", ");
  return el("div", {},
    el("p", { class: "verdict" }, runState(info), " ", info.why && bdi(info.why), info.waiting && [bdi(info.waiting), info.until && ` until ${hour(info.until)}`]),
    terms(["policy", bdi(info.policy)], ["agent", code((info.args ?? []).join(" ")), info.client && [" ", bdi(info.client, "quiet")]],
      ["directory", code(info.root)], ["started", `${date(info.started)}, `, when(info.started)], ["latest", when(info.latest)],
      ...budget(info), ["outcomes", outcomes], ["decisions", link(href("timeline", "", { run: info.id }), "Timeline of this run")]),
    live && info.running && inProject(["ralph", "stop", info.policy], "Copy stop"),
    advice && el("p", { class: "quiet" }, bdi(advice)),
    live && command && inProject(command, `Copy ${command[1]}`));
}

export async function runView({ id }, { source, inProject }) {
  const terminal = el("pre", { class: "output", tabindex: 0, role: "region", "aria-label": "The end of the agent's output" });
  const above = el("p", { class: "quiet" }), summary = el("div");
  const fill = ({ info, output, advice }) => {
    if (!summary.contains(document.activeElement)) summary.replaceChildren(runSummary(info, advice, source.live, inProject));
    const atEnd = terminal.scrollTop + terminal.clientHeight >= terminal.scrollHeight - 20;
    const left = output?.cut ? `; ${plural(output.cut, "byte")} before this are left out` : "";
    above.textContent = output?.text ? `Iteration ${output.iteration}${left}` : "No output is kept.";
    text(terminal, output?.text).hidden = !output?.text;
    if (atEnd) terminal.scrollTop = terminal.scrollHeight;
  };
  const renew = () => document.hidden || source.run(id).then(fill, () => {});
  fill(await source.run(id));
  const timer = source.live && setInterval(renew, 3000);
  const unwatch = watchRows((rows) => rows.some((r) => r.run === id) && renew());
  return {
    title: "Run", note: [bdi(id)], content: [summary, el("h2", {}, "The end of the agent's output"), above, terminal],
    shown() { terminal.scrollTop = terminal.scrollHeight; },
    close() {
      unwatch();
      clearInterval(timer);
    },
  };
}
