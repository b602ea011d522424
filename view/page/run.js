import { badge, bdi, code, count, day, dollars, duration, el, hour, plural, short, terms, text, thousands, when } from "./text.js";
import { href } from "./route.js";
import { watchRows } from "./rows.js";

const ends = {
  success: ["done", "done"], stopped: ["stop", "stopped"], limit: ["limit", "a limit was reached"], no_progress: ["limit", "no progress"], rate_limit: ["limit", "rate limit"],
  auth: ["error", "cannot sign in"], crashes: ["error", "the agent failed"], interrupted: ["stop", "interrupted"], failed: ["error", "failed"],
};

// runState is the state of a run in words, and its shape.
export function runState(info) {
  if (info.ended) return badge(...(ends[info.ended] ?? ["stop", info.ended]));
  if (!info.running) return badge("error", "killed");
  return info.waiting ? badge("pause", "waiting") : badge("continue", "running");
}

// budget says how much of each limit of a run is used.
export function budget({ limits = {}, totals = {} }) {
  const of = (used, limit, unit) => (limit ? `${unit(used ?? 0)} of ${unit(limit)}` : used ? unit(used) : null);
  return [
    ["iterations", of(totals.iterations, limits.iterations, count)],
    ["time", of((totals.elapsed_ns ?? 0) / 1e6, (limits.elapsed_ns ?? 0) / 1e6, duration)],
    ["tokens", of(totals.tokens, limits.tokens, thousands)],
    ["cost", of(totals.cost_usd, limits.cost_usd, dollars)],
  ];
}

export async function runView({ id }, { source, inProject }) {
  const terminal = el("pre", { class: "output", tabindex: 0, "aria-label": "The end of the agent's output" });
  const above = el("p", { class: "quiet" }), summary = el("div");
  const fill = ({ info, output }) => {
    const outcomes = Object.entries(info.totals?.outcomes ?? {}).map(([name, n]) => `${n} ${name}`).join(", ");
    summary.replaceChildren(
      el("p", { class: "verdict" }, runState(info), info.why && [" ", bdi(info.why)], info.waiting && [" ", bdi(info.waiting), info.until && ` until ${hour(info.until)}`]),
      terms(["policy", bdi(info.policy)], ["agent", code((info.args ?? []).join(" ")), info.client && [" ", bdi(info.client, "quiet")]], ["directory", code(info.root)],
        ["started", `${day(info.started)} ${hour(info.started)}, `, when(info.started)], ["latest", when(info.latest)], ...budget(info), ["outcomes", outcomes],
        ["decisions", el("a", { href: href("timeline", "", { run: id }) }, "Timeline of this run")]),
      ...(source.live ? [el("p", { class: "commands" }, !info.ended && info.running ? inProject(["ralph", "stop", info.policy]) : info.ended !== "success" && inProject(["ralph", "run", "--resume=" + id]))] : []));
    const end = terminal.scrollTop + terminal.clientHeight >= terminal.scrollHeight - 20;
    text(terminal, output?.text || "");
    above.textContent = output?.text ? `Iteration ${output.iteration}` + (output.cut ? `; ${plural(output.cut, "byte")} before this are left out` : "") : "No output is kept.";
    terminal.hidden = !output?.text;
    if (end) terminal.scrollTop = terminal.scrollHeight;
  };
  fill(await source.run(id));
  let timer;
  const renew = async () => {
    if (!document.hidden) await source.run(id).then(fill, () => {});
    if (timer !== null) timer = setTimeout(renew, 3000);
  };
  if (source.live) timer = setTimeout(renew, 3000);
  const unwatch = watchRows((rows) => { if (rows.some((r) => r.run === id)) source.run(id).then(fill, () => {}); });
  return {
    title: "Run", note: [bdi(short(id))], content: [summary, el("h2", {}, "The end of the agent's output"), above, terminal],
    shown: () => { terminal.scrollTop = terminal.scrollHeight; },
    close() { unwatch(); clearTimeout(timer); timer = null; },
  };
}
