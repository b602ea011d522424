import { bdi, code, count, cut, el, link, markup, plural, quiet, section, table, visible } from "./text.js";
import { href, replaceRoute } from "./route.js";
import { known } from "./rows.js";
import { place } from "./decision.js";

// policyView shows a policy as a graph, as a table and as it was written, each lighting up what the others show.
export async function policyView({ id, query }, { source }) {
  const policy = await source.policy(id);
  const { files = [], graph = {} } = policy;
  const { nodes = [], edges = [] } = graph, counts = graph.counts ?? policy.counts;
  const at = { file: query.file ?? files[0]?.name, line: query.line };
  const verdictOf = new Map(edges.filter((e) => e.kind === "verdict").map((e) => [e.from, nodes.find((n) => n.id === e.to)]));
  const boxes = new Map(), rows = new Map(); // by the ID of a node

  // The source
  const body = el("pre", { class: "source", tabindex: 0, role: "region", "aria-label": "The source" });
  const showFile = (name) => {
    const number = Math.max(0, files.findIndex((f) => f.name === name));
    at.file = files[number]?.name;
    markup(body, files[number]?.html ?? "");
    [...tabs.children].forEach((tab, i) => tab.setAttribute("aria-pressed", i === number));
  };
  const openFile = (file) => {
    delete at.line;
    showFile(file);
    replaceRoute("policy", id, { file });
  };
  const tabs = el("div", { class: "tabs", role: "group", "aria-label": "Files" },
    files.length > 1 && files.map((f) => el("button", { type: "button", onclick: () => openFile(f.name) }, bdi(f.name))));
  const toLine = (line, lasting) => {
    body.querySelector(".here")?.classList.remove("here");
    const node = document.getElementById(`f${files.findIndex((f) => f.name === at.file)}-L${line}`);
    if (!node) return;
    node.classList.add("here");
    const top = node.offsetTop, hidden = top < body.scrollTop || top > body.scrollTop + body.clientHeight - 40;
    if (lasting || hidden) body.scrollTop = Math.max(0, top - body.clientHeight / 3);
  };

  // light shows what belongs to a rule, and nothing without one. A lasting choice is kept in the address.
  const light = (node, lasting) => {
    for (const lit of [...boxes.values(), ...rows.values()]) lit.classList.remove("lit");
    if (!node) return toLine(at.line);
    for (const lit of [boxes.get(node.id), boxes.get(verdictOf.get(node.id)?.id), rows.get(node.id)]) lit?.classList.add("lit");
    const p = place(node.pos);
    if (!p) return;
    if (p.file !== at.file && files.some((f) => f.name === p.file)) showFile(p.file);
    toLine(p.line, lasting);
    if (lasting) replaceRoute("policy", id, Object.assign(at, p));
  };
  const bind = (target, node) => {
    target.addEventListener("mouseenter", () => light(node));
    target.addEventListener("mouseleave", () => light(chosen));
  };

  // The graph: its boxes are in the order of the nodes.
  const picture = markup(el("div", { class: "picture", tabindex: 0, role: "region", "aria-label": "The graph" }), policy.svg ?? "");
  const groups = picture.querySelectorAll("svg > g:not(.include):not(.fact):not(.edge)");
  nodes.filter((n) => n.kind !== "include" && n.kind !== "fact").forEach((n, i) => groups[i] && boxes.set(n.id, groups[i]));

  // The table
  const deciding = nodes.filter((n) => /rule|head|limits/.test(n.kind) || n.name === "default");
  const reads = (n) => edges.filter((e) => e.to === n.id && /reads|shows/.test(e.kind)).map((e) => nodes.find((m) => m.id === e.from)?.name);
  const choose = (n) => light(chosen = n, true);
  const onLink = (n) => ({ onfocus: () => light(n), onblur: () => light(chosen), onclick: (e) => { e.preventDefault(); choose(n); } });
  for (const n of deciding) {
    const p = place(n.pos), v = n.kind === "end" ? n : verdictOf.get(n.id);
    const says = v?.parts?.map((part) => (part.when ? `when ${part.when}: ` : "") + part.text).join(" ") ?? v?.text ?? "";
    const cells = [
      p ? el("a", { href: href("policy", id, p), ...onLink(n) }, bdi(n.name, "name")) : bdi(n.name, "name"),
      n.when || n.text ? [n.when && code(n.when), " ", n !== v && n.text && bdi(n.text)] : "always",
      v && [el("strong", { class: "k-" + v.verb }, visible(v.verb)), " ", bdi(cut(says, 160))], bdi([...new Set(reads(n))].join(", ")),
      ...(counts ? ["reached", "held", "decided"].map((of) => n.count && count(n.count[of])) : []),
    ];
    rows.set(n.id, el("tr", {}, cells.map((c) => el("td", {}, c))));
    for (const target of [boxes.get(n.id), boxes.get(v?.id), rows.get(n.id)]) if (target) bind(target, n);
    for (const box of [boxes.get(n.id), boxes.get(v?.id)]) if (p) box?.addEventListener("click", () => choose(n));
  }
  let chosen = deciding.find((n) => at.line && place(n.pos)?.file === at.file && place(n.pos).line === at.line);

  const name = known.rows.find((r) => r.digest === id)?.policy ?? policy.policy;
  const older = counts?.older ? `, ${count(counts.older)} of an older one are not counted` : "";
  showFile(at.file);
  return {
    title: "Policy", wide: true, note: [bdi(name), " ", quiet(visible(id.slice(0, 12)))],
    content: [
      policy.why && el("p", { class: "banner k-note" }, bdi(policy.why)), graph.description && el("p", {}, bdi(graph.description)),
      el("p", {}, counts && quiet(`${plural(counts.total, "decision")} of this version${older}. `), link(href("timeline", "", { policy: name }), "Decisions")),
      el("div", { class: "both" }, policy.svg && picture, files.length > 0 && el("div", { class: "files" }, tabs, body)),
      deciding.length > 0 && section("The graph as a table",
        table("In the order in which they are tried", ["name", "when", "decides", "reads", ...(counts ? ["tried", "held", "decided"] : [])], [...rows.values()])),
    ],
    shown() {
      toLine(at.line, true);
      if (chosen) light(chosen, true);
      const box = chosen && boxes.get(chosen.id);
      if (box) picture.scrollTop = box.getBoundingClientRect().top - picture.getBoundingClientRect().top - 40;
    },
  };
}
