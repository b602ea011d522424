import { bdi, code, count, el, markup, plural, table, visible } from "./text.js";
import { href, replaceRoute } from "./route.js";
import { place } from "./decision.js";

const cut = (s, most) => s.length > most ? s.slice(0, most) + "…" : s;

// policyView shows a policy as a graph, as a table and as it was written, each lighting up what the others show.
export async function policyView({ id, query }, { source }) {
  const policy = await source.policy(id);
  const nodes = policy.graph?.nodes ?? [], edges = policy.graph?.edges ?? [];
  const picture = markup(el("div", { class: "picture scroll", tabindex: 0, role: "region", "aria-label": "The graph" }), policy.svg ?? "");
  const boxes = new Map(), rows = new Map();
  const flow = nodes.filter((n) => n.kind !== "include" && n.kind !== "fact");
  picture.querySelectorAll("svg > g:not(.include):not(.fact):not(.edge)").forEach((g, i) => { if (flow[i]) boxes.set(flow[i].id, g); });

  // The source
  const files = policy.files ?? [];
  const at = { file: query.file ?? files[0]?.name, line: query.line };
  const body = el("pre", { class: "source", tabindex: 0, "aria-label": "The source" });
  const tabs = el("div", { class: "tabs", role: "group", "aria-label": "Files" });
  const show = (name) => {
    const file = files.find((f) => f.name === name) ?? files[0];
    at.file = file?.name;
    markup(body, file?.html ?? "");
    for (const tab of tabs.children) tab.setAttribute("aria-pressed", tab.dataset.file === at.file);
  };
  tabs.append(...(files.length > 1 ? files.map((f) => el("button", { type: "button", "data-file": f.name, onclick: () => { show(f.name); replaceRoute("policy", id, { file: f.name }); } }, bdi(f.name))) : []));
  const toLine = (line, lasting) => {
    body.querySelectorAll(".here").forEach((n) => n.classList.remove("here"));
    const node = line && document.getElementById(`f${files.findIndex((f) => f.name === at.file)}-L${line}`);
    if (!node) return;
    node.classList.add("here");
    const top = node.offsetTop - body.offsetTop;
    if (lasting || top < body.scrollTop || top > body.scrollTop + body.clientHeight - 40) body.scrollTop = Math.max(0, top - body.clientHeight / 3);
  };

  // What belongs together
  const light = (node, lasting) => {
    for (const lit of [...boxes.values(), ...rows.values()]) lit.classList.remove("lit");
    if (!node) return toLine(at.line, false);
    boxes.get(node.id)?.classList.add("lit");
    const verdict = edges.find((e) => e.from === node.id && e.kind === "verdict");
    if (verdict) boxes.get(verdict.to)?.classList.add("lit");
    rows.get(node.id)?.classList.add("lit");
    const p = place(node.pos);
    if (!p) return;
    if (files.some((f) => f.name === p.file) && p.file !== at.file) show(p.file);
    toLine(p.line, lasting);
    if (lasting) {
      Object.assign(at, p);
      replaceRoute("policy", id, p);
    }
  };
  const bind = (target, node) => {
    target.addEventListener("mouseenter", () => light(node));
    target.addEventListener("mouseleave", () => light(null));
  };
  for (const node of flow) {
    const rule = node.kind === "verdict" ? nodes.find((n) => edges.some((e) => e.from === n.id && e.to === node.id && e.kind === "verdict")) : node;
    const box = boxes.get(node.id);
    if (!box || !rule?.pos) continue;
    bind(box, rule);
    box.classList.add("link");
    box.addEventListener("click", () => light(rule, true));
  }

  // The table
  const counted = policy.graph?.counts ?? policy.counts;
  const verdictOf = (n) => nodes.find((m) => m.kind === "verdict" && edges.some((e) => e.from === n.id && e.to === m.id));
  const reads = (n) => edges.filter((e) => e.to === n.id && (e.kind === "reads" || e.kind === "shows")).map((e) => nodes.find((m) => m.id === e.from)?.name).filter(Boolean);
  const lines = nodes.filter((n) => n.kind === "rule" || n.kind === "head").map((n) => {
    const v = verdictOf(n), p = place(n.pos);
    const name = p ? el("a", { href: href("policy", id, p), onfocus: () => light(n), onblur: () => light(null), onclick: (e) => { e.preventDefault(); light(n, true); } }, bdi(n.name, "name")) : bdi(n.name, "name");
    const cells = [name, n.when ? code(n.when) : "always", [v?.verb && el("strong", { class: "k-" + v.verb }, visible(v.verb)), " ", bdi(cut(v?.text ?? "", 160))], bdi([...new Set(reads(n))].join(", ")),
      ...(counted ? [n.count ? count(n.count.reached ?? 0) : "", n.count ? count(n.count.held ?? 0) : ""] : [])];
    const row = el("tr", {}, cells.map((c) => el("td", {}, c)));
    rows.set(n.id, row);
    bind(row, n);
    return row;
  });
  const words = counted && `${plural(counted.total, counted.of === "tests" ? "test" : "decision")} of this version` + (counted.older ? `, ${count(counted.older)} of an older one are not counted` : "");

  show(at.file);
  const chosen = nodes.find((n) => n.kind === "rule" && at.line && place(n.pos)?.file === at.file && place(n.pos)?.line === at.line);
  return {
    title: "Policy", note: [bdi(policy.policy ?? policy.graph?.policy ?? ""), " ", el("span", { class: "quiet" }, visible(id.slice(0, 12)))],
    wide: true,
    content: [policy.why && el("p", { class: "banner k-note" }, bdi(policy.why)), policy.graph?.description && el("p", {}, bdi(policy.graph.description)), words && el("p", { class: "quiet" }, words),
      el("p", {}, el("a", { href: href("timeline", "", { policy: policy.policy }) }, "Its decisions")),
      el("div", { class: "both" }, policy.svg && picture, files.length > 0 && el("section", { class: "files", "aria-label": "The source" }, tabs, body)),
      lines.length > 0 && [el("h2", {}, "The graph as a table"), table("Rules in order", ["rule", "when", "decides", "reads", ...(counted ? ["tried", "held"] : [])], lines)]],
    shown() {
      if (!chosen) return toLine(at.line, true);
      light(chosen, true);
      const box = boxes.get(chosen.id);
      if (box) picture.scrollTop = box.getBoundingClientRect().top - picture.getBoundingClientRect().top - 40;
    },
  };
}
