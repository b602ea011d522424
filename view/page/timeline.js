import { bdi, by, count, day, dollars, duration, el, hour, link, plural, quiet, short, text, thousands, verdict, visible } from "./text.js";
import { href, replaceRoute } from "./route.js";
import { known, matcher, watchRows } from "./rows.js";
import { windowedList } from "./list.js";
import { charts } from "./chart.js";

const batchSize = 2000;
const places = new Map(); // where the reader was, by address

export const decisionLink = (row, ...content) => link(href("decision", row.id, { policy: row.policy }), content);

// ofLimit is how far a streak is of its limit, with this decision.
export const ofLimit = (row) => (row.limit ? `${count(row.continuations ?? 0)} of ${count(row.limit)}` : "");

function drawRow(row, index, items) {
  if (row.day) return el("div", { class: "day", role: "listitem" }, el("span", {}, row.day));
  const older = items[index + 1]?.day ? items[index + 2] : items[index + 1];
  const gap = older && "+" + duration(Date.parse(row.time) - Date.parse(older.time));
  const cell = (name, content, title) => el("span", { class: "c-" + name, title }, content);
  const number = (name, head, content, title) => cell(name, content && [el("span", { class: "hear" }, ` ${head} `), content], title);
  return el("div", { role: "listitem" }, decisionLink(row,
    cell("time", hour(row.time)),
    cell("outcome", verdict(row)),
    cell("by", by(row), `${row.policy ?? ""} › ${row.by}`),
    cell("said", [bdi(row.said), row.notes && quiet(` + ${plural(row.notes, "note")}`)], row.said),
    cell("session", row.session && bdi(short(row.session)), row.session),
    number("streak", "streak", ofLimit(row), "continuations of the streak with this decision, of its limit"),
    number("measure", "done", row.measure && `${row.measure.done}/${row.measure.total}`, "done of total"),
    number("tokens", "tokens", row.tokens && thousands(row.tokens), "tokens of the context"),
    number("usd", "cost", row.usd && dollars(row.usd), "cost of the run so far"),
    number("gap", "after", gap, "since the decision below")));
}

// listHeads are above the columns. Readers that do not see them hear a word before each number.
const listHeads = () => el("div", { class: "heads", "aria-hidden": "true" }, [
  ["time", "time"], ["outcome", "outcome"], ["by", "policy › rule"], ["said", "reason"], ["session", "session"], ["streak", "streak"], ["measure", "done"],
  ["tokens", "tokens"], ["usd", "cost"], ["gap", "after"],
].map(([name, head]) => el("span", { class: "c-" + name }, head)));

// timelineView shows rows that filters choose, the latest first.
export function timelineView({ query }) {
  const filters = { ...query };
  let items = [], matches = matcher(filters), turn = 0, rows = 0, seen = 0;

  const list = windowedList("Decisions, the latest first. The arrow keys move.", drawRow, listHeads());
  const status = el("p", { class: "quiet found", role: "status" });
  const empty = el("p", { class: "empty", hidden: true });

  const addOlder = (row) => {
    const date = day(row.time);
    const last = items.at(-1);
    if (!last || day(last.time) !== date) items.push({ day: date });
    items.push(row);
    rows++;
  };
  const addNewer = (row) => {
    const date = day(row.time);
    rows++;
    if (items[0]?.day === date) {
      items.splice(1, 0, row);
      return 1;
    }
    items.unshift({ day: date }, row);
    return 2;
  };
  const report = () => {
    const all = known.rows.length;
    const loading = all > 0 && known.rows[0].n > known.first;
    const words = rows === all ? plural(rows, "decision") : `${count(rows)} of ${plural(all, "decision")}`;
    status.textContent = words + (seen < all || loading ? ", reading more …" : "");
    empty.hidden = rows > 0 || loading;
    list.node.hidden = rows === 0;
    text(empty, all ? "No decision is like that. Remove a filter." : "No decision yet. This page shows the first one as soon as it is made.");
  };

  // read goes on over the rows that it has not seen, in steps that leave time for the reader.
  const read = async () => {
    const mine = ++turn;
    do {
      const all = known.rows;
      for (const end = Math.min(all.length, seen + batchSize); seen < end; seen++) {
        const row = all[all.length - 1 - seen];
        if (matches(row)) addOlder(row);
      }
      list.update(items);
      report();
      if (seen < all.length) await new Promise((r) => setTimeout(r));
      if (mine !== turn) return;
    } while (seen < known.rows.length);
    drawCharts();
  };
  const again = () => {
    items = [];
    rows = seen = 0;
    matches = matcher(filters);
    return read();
  };
  const unwatch = watchRows((fresh, older) => {
    refill();
    if (older) return void read();
    let above = 0;
    for (const row of fresh) if (matches(row)) above += addNewer(row);
    seen += fresh.length;
    list.update(items, above);
    report();
    drawCharts();
  });

  // The filters
  const change = (key, value) => {
    if (value) filters[key] = value;
    else delete filters[key];
    replaceRoute("timeline", "", filters);
    return key === "x" || key === "show" ? drawCharts() : again();
  };
  const option = (value, words) => Object.assign(el("option", { value: "" }, words), { value });
  const selects = [["policy", known.policies, "All policies"], ["outcome", known.outcomes, "All outcomes"], ["rule", known.rules, "All rules"]]
    .map(([key, from, all]) => ({ key, from, all, node: el("select", { "aria-label": key, onchange: (e) => change(key, e.target.value) }) }));
  const refill = () => {
    for (const { key, from, all, node } of selects) {
      const names = [...from.keys()].sort().slice(0, 300);
      if (filters[key] && !from.has(filters[key])) names.unshift(filters[key]);
      if (node.options.length !== names.length + 1) node.replaceChildren(option("", all), ...names.map((n) => option(n, visible(n))));
      node.value = filters[key] ?? "";
    }
  };
  let typing;
  const search = el("input", {
    type: "search", name: "q", placeholder: "Search", "aria-label": "Search the decisions", autocomplete: "off", spellcheck: "false",
    oninput() {
      clearTimeout(typing);
      typing = setTimeout(() => change("q", search.value.trim()), 150);
    },
    onkeydown(e) { if (e.key === "ArrowDown" || e.key === "Enter") list.node.focus(); },
  });
  search.value = filters.q ?? "";
  const chips = ["session", "run", "root"].filter((key) => filters[key]).map((key) => {
    const name = bdi(filters[key]), close = () => { chip.remove(); change(key, ""); };
    const chip = el("span", { class: "chip" }, key + " ", key === "run" ? link(href("run", filters.run), name) : name,
      el("button", { type: "button", "aria-label": `Show every ${key}`, onclick: close }, "×"));
    return chip;
  });

  // The pictures over time
  const pictures = el("div", { class: "charts" });
  const overTime = el("input", { type: "checkbox", checked: filters.x === "time", onchange: () => change("x", overTime.checked ? "time" : "") });
  const details = el("details", { class: "pictures", open: filters.show === "charts", ontoggle: () => change("show", details.open ? "charts" : "") },
    el("summary", {}, "Burn-down, limits and cost"), el("label", {}, overTime, " over time instead of decisions"), pictures);
  let drawing;
  const drawCharts = () => {
    drawing ??= setTimeout(() => {
      drawing = undefined;
      if (details.open) pictures.replaceChildren(...charts(items.filter((i) => !i.day).reverse(), pictures.clientWidth, overTime.checked));
    }, 200);
  };
  const resized = new ResizeObserver(drawCharts);
  resized.observe(pictures);

  const form = el("form", { class: "filters", role: "search", onsubmit: (e) => e.preventDefault() }, chips, selects.map((s) => s.node), search, status);
  refill();
  const whole = again();
  const { session, run } = filters;
  return {
    title: session ? "Session " + short(session) : run ? "Run " + short(run) : "Timeline", wide: true,
    content: [form, details, empty, list.node],
    shown: () => whole.then(() => list.restore(places.get(location.hash))),
    close() {
      places.set(href("timeline", "", filters), list.place());
      unwatch();
      turn++;
      clearTimeout(drawing);
      resized.disconnect();
      list.close();
    },
  };
}
