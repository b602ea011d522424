// Text and elements. Whatever comes from a policy, an agent or a user is set as text, and what would steer a
// terminal or turn the direction of a line is shown as a visible mark, as ralph log shows it.

const hiddenCharacters =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u115f\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;
const mark = (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0");

export const visible = (s) => String(s ?? "").replace(hiddenCharacters, mark);

export const shown = (children) => children.flat(Infinity).filter((c) => c != null && c !== false && c !== "");

// el makes an element. Children are elements or own words; foreign text comes through bdi.
export function el(name, attributes, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes ?? {})) {
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (value === true) node.setAttribute(key, "");
    else if (value !== false && value != null) node.setAttribute(key, visible(value));
  }
  node.append(...shown(children));
  return node;
}

export function svg(name, attributes, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...shown(children));
  return node;
}

// text replaces the content of an element by foreign text.
export function text(node, s) {
  node.textContent = visible(s);
  return node;
}

export const link = (to, ...children) => el("a", { href: to }, children);
export const quiet = (...children) => el("span", { class: "quiet" }, children);
export const bdi = (s, kind) => text(el("bdi", { class: kind }), s);
export const code = (s) => el("code", {}, bdi(s));

// The one policy of trusted types: it lets through what Go drew, and nothing else uses it.
let trusted;

export function markup(node, html) {
  const rules = { createHTML: (s) => s };
  trusted ??= window.trustedTypes ? window.trustedTypes.createPolicy("ralph", rules) : rules;
  node.innerHTML = trusted.createHTML(html);
  return node;
}

// value writes a JSON value on one line.
export const value = (v) => (v === undefined ? "–" : typeof v === "string" ? JSON.stringify(v) : JSON.stringify(v, null, 1).replace(/\n\s*/g, " "));
export const plural = (n, word) => `${count(n)} ${word}${n === 1 ? "" : "s"}`;
export const count = (n) => Number(n).toLocaleString("en-US");
export const cut = (s, most) => (s.length > most ? s.slice(0, most) + "…" : s);
export const short = (id) => cut(id, 13);
export const policyName = (policy = "") => policy.replace(/^\.ralph\/([^/]+)\.yaml$/, "$1");
export const dollars = (usd) => "$" + usd.toFixed(usd < 1 ? 3 : 2);
export const thousands = (n) => (n < 1000 ? String(n) : n < 1e6 ? (n / 1000).toFixed(n < 1e4 ? 1 : 0) + "k" : (n / 1e6).toFixed(1) + "M");

// duration uses the two largest units, and ago the largest.
export function duration(ms) {
  if (ms < 1000) return Math.max(0, Math.round(ms)) + " ms";
  const s = Math.round(ms / 1000), h = Math.floor(s / 3600), m = Math.floor((s % 3600) / 60);
  if (s < 60) return s + " s";
  if (s < 3600) return m + " min" + (s < 600 && s % 60 ? ` ${s % 60} s` : "");
  return h < 48 ? h + " h" + (h < 10 && m ? ` ${m} min` : "") : Math.floor(h / 24) + " d";
}

export const clock = { now: () => Date.now() };

export function ago(time) {
  const ms = clock.now() - Date.parse(time);
  return ms < 2000 ? "just now" : duration(ms).replace(/(min|h) .*/, "$1") + " ago";
}

// date is a time here, as the log shows it.
export function date(time) {
  const d = new Date(time);
  return Number.isNaN(+d) ? "" : new Date(d - d.getTimezoneOffset() * 60000).toISOString().slice(0, 19).replace("T", " ");
}

export const day = (time) => date(time).slice(0, 10);
export const hour = (time) => date(time).slice(11);

// when shows how long ago a time is.
export const when = (time) => el("time", { datetime: time, title: date(time), class: "age" }, ago(time));

// What is coloured has a shape, too: a reader without colours sees it.
const shapes = {
  continue: "M2 3h7l5 5-5 5H2z",
  stop: "M5 2h6l3 3v6l-3 3H5l-3-3V5z",
  done: "M8 2a6 6 0 1 0 0 12A6 6 0 1 0 8 2M5 8l2 2 4-4",
  note: "M3 2h7l3 3v9H3zM10 2v3h3",
  limit: "M8 1l7 7-7 7-7-7zM5 8h6",
  error: "M8 2l6.5 12h-13zM8 6v4M8 11.5v1",
  pause: "M4 2h2.5v12H4zM9.5 2H12v12H9.5z",
  command: "M2 3h12v10H2zM4.5 6l2 2-2 2M8.5 10h3",
  newer: "M8 13V3M4 7l4-4 4 4",
  none: "M8 4a4 4 0 1 0 0 8A4 4 0 1 0 8 4",
};

// badge is a word with a colour and a shape.
export function badge(kind, word = kind) {
  const known = Object.hasOwn(shapes, kind) ? kind : "none";
  const shape = svg("svg", { class: "shape", viewBox: "0 0 16 16", width: 16, height: 16, "aria-hidden": "true" }, svg("path", { d: shapes[known] }));
  return el("span", { class: "badge k-" + known }, shape, el("span", {}, visible(word)));
}

// The colour and shape of each word: outcomes of decisions, loops and runs, states, and how agents ended.
const looks = {
  continued: "continue", running: "continue", "in a run": "continue", ready: "continue", done: "done", stopped: "stop", limit: "limit", "at its limit": "limit",
  asked: "command", "stopped by you": "command", "waits for you": "command", "no hook": "command", "not heard of": "pause",
  waiting: "pause", paused: "pause", idle: "pause", skipped: "pause", off: "pause", failed: "error", lost: "error", unusable: "error",
  ok: "none", interrupted: "command", rate_limited: "limit", turn_limit: "limit", context_overflow: "limit", budget: "limit", timeout: "limit",
  auth: "error", billing: "error", crashed: "error",
};
export const look = (word) => (Object.hasOwn(looks, word) ? looks[word] : "none");

// outcome shows one of these words.
export const outcome = (word) => badge(look(word), String(word).replaceAll("_", " "));

// verdict is how the decision of a row ended; a prompt, for one, has no end.
export const verdict = (row) => (row.v !== 1 ? badge("newer", "newer ralph") : row.outcome ? outcome(row.outcome) : badge("none", "no decision"));

// by names what decided: the policy, and its rule, limit or command.
export const by = (row) => [bdi(policyName(row.policy)), row.by !== "-" && [el("span", { class: "quiet" }, " › "), bdi(row.by, "name")]];

// bar shows a share; its words stand beside it.
export function bar(part, whole, kind) {
  const share = whole > 0 ? Math.min(1, Math.max(0, part / whole)) : 0;
  return svg("svg", { class: "bar k-" + kind, viewBox: "0 0 100 6", preserveAspectRatio: "none", "aria-hidden": "true" },
    svg("rect", { class: "track", width: 100, height: 6 }), svg("rect", { class: "part", width: (share * 100).toFixed(2), height: 6 }));
}

// terms is a list of names and what they are; what has no value is left out.
export function terms(...pairs) {
  const list = el("dl", { class: "terms" });
  for (const [name, ...content] of pairs) {
    if (shown(content).length) list.append(el("dt", {}, name), el("dd", {}, content));
  }
  return list;
}

// section is a part with a heading, or nothing.
export const section = (title, ...content) => shown(content).length > 0 && el("section", {}, el("h2", {}, title), content);

// table makes one that a narrow screen can scroll sideways.
export function table(caption, heads, rows) {
  return el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": caption },
    el("table", {}, el("caption", { class: "hear" }, visible(caption)),
      el("thead", {}, el("tr", {}, heads.map((h) => el("th", { scope: "col" }, h)))),
      el("tbody", {}, rows.map((cells) => (cells instanceof Node ? cells : el("tr", {}, cells.map((c) => el("td", {}, c))))))));
}

// stacked makes a table whose rows are blocks on a narrow screen, each value with its head. A head is a word, or a word and
// the class of its column. Roles are named, since blocks lose their own.
export function stacked(caption, heads, rows) {
  const column = heads.map((h) => [h].flat());
  const cell = (content, i) => el("td", { role: "cell", class: column[i][1], "data-head": column[i][0] }, shown([content]).length > 0 && el("div", {}, content));
  return el("table", { class: "stacked", role: "table" }, el("caption", { class: "hear" }, visible(caption)),
    el("thead", { role: "rowgroup" }, el("tr", { role: "row" }, column.map(([h, kind]) => el("th", { role: "columnheader", class: kind }, h)))),
    el("tbody", { role: "rowgroup" }, rows.map((cells) => el("tr", { role: "row" }, cells.map(cell)))));
}

// command shows a command with a button that copies it. Text with hidden characters is no command to paste.
export function command(words, label) {
  const plain = words.map((w) => (/^[\w./:@%+=,-]+$/.test(w) ? w : "'" + w.replaceAll("'", "'\\''") + "'")).join(" ");
  const line = el("code", { class: "line" }, bdi(plain));
  if (visible(plain) !== plain || plain.includes("\n")) return el("span", { class: "command" }, line);
  const button = el("button", { type: "button", title: plain, "aria-label": `${label ?? "Copy"}: ${plain}` }, label ?? "Copy");
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(plain);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(line);
      button.textContent = "Selected";
    }
    setTimeout(() => { button.textContent = label ?? "Copy"; }, 1500);
  });
  return el("span", { class: "command" }, line, button);
}
