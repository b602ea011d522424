// The playground: what is written on the left is decided on the right, by the engine in a Worker. Nothing leaves the page.
import { bdi, el, markup, outcome, quiet, section, text, visible } from "../../../view/page/text.js";
import { reasons } from "../../../view/page/decision.js";
import { Engine, Runaway } from "./ask.js";
import { Editor } from "./editor.js";
import { Words } from "./words.js";
import { complete, most, pack, unpack } from "./share.js";

const engine = new Engine();
const words = new Words(engine, () => input.files, (name, list) => {
  findings.set(name, list);
  showFindings();
});
const id = (name) => document.getElementById(name);

let input; // as a link has it
const findings = new Map(); // of the files by their names

// The page

const tabs = el("div", { class: "tabs", role: "group", "aria-label": "Files" });
const policyBox = el("div", { class: "edit policy" }), stateBox = el("div", { class: "edit given" });
const event = el("input", { id: "event", list: "events", autocomplete: "off", spellcheck: "false", oninput: () => edit(false, { event: event.value }) });
const message = el("textarea", { id: "message", rows: 3, spellcheck: "false", oninput: () => edit(false, { message: message.value }) });
const examples = el("select", { id: "example", "aria-label": "Example", onchange: () => choose(examples.value) });
const note = el("p", { id: "note", role: "status", class: "quiet" });
const verdict = el("div", { id: "verdict", class: "answer", "aria-live": "polite" });
const found = el("div", { id: "findings" }), why = el("div", { id: "why" }), tests = el("div", { id: "tests", class: "tests" });
const picture = el("div", { id: "graph", class: "picture", tabindex: 0, role: "region", "aria-label": "The graph" });

const share = el("button", { type: "button", onclick: async () => {
  const fragment = await pack(input);
  if (fragment.length > most) return text(note, `The input is too long for a link: it takes ${fragment.length} bytes, and a link has at most ${most}.`);
  history.replaceState(null, "", "#" + fragment);
  try {
    await navigator.clipboard.writeText(location.href);
    text(note, "The link is copied. It has all of the input after its #, which no browser sends.");
  } catch {
    text(note, "The link is in the address bar. It has all of the input after its #, which no browser sends.");
  }
} }, "Link to this");

id("app").append(
  el("a", { class: "skip", href: "#app", onclick: (e) => { e.preventDefault(); id("answer").focus(); } }, "Skip to the answer"),
  el("header", { id: "top" }, el("h1", {}, "ralph playground"), examples, share, el("span", { class: "quiet" }, "Everything runs in this page; nothing is sent.")),
  el("main", { class: "playground" },
    el("section", { class: "side input", "aria-label": "Input" },
      tabs, policyBox,
      el("div", { class: "field" }, el("span", { class: "label" }, "State, as ", el("code", {}, "given"), " in a test: ", el("code", {}, "facts"), ", ", el("code", {}, "files"), ", …"), stateBox),
      el("div", { class: "two" },
        el("div", { class: "field" }, el("label", { for: "event" }, "Event"), event),
        el("div", { class: "field" }, el("label", { for: "message" }, "Last message of the agent"), message)),
      note),
    el("section", { class: "side", id: "answer", tabindex: -1, "aria-label": "Answer" },
      verdict, found, why, section("The graph", picture), section("Tests", tests))));
const events = el("datalist", { id: "events" });
document.body.append(events);

// edit takes what the user changed: the state, or also what is loaded.
function edit(loaded, to) {
  Object.assign(input, to);
  for (const step of loaded || !usable ? ["load", "decide", "find", "draw", "tests"] : ["decide", "draw"]) todo.add(step);
  verdict.classList.add("old");
  paused = false;
  clearTimeout(timer);
  timer = setTimeout(() => {
    paused = true;
    work();
  }, pause);
  work();
}

const policyEditor = new Editor(policyBox, (name) => `File ${name}`, (name, s) => {
  input.files[name] = s;
  edit(true);
}, (name) => words.extensions(name));
const stateEditor = new Editor(stateBox, () => "State", (_, s) => edit(false, { state: s }));
const testsName = () => input.policy.replace(/\.yaml$/, "_test.yaml");

function showTabs() {
  tabs.replaceChildren(...Object.keys(input.files).map((name) => el("button", { type: "button", "aria-pressed": String(name === policyEditor.shown), onclick: () => {
    policyEditor.show(name);
    policyEditor.mark(findings);
    showTabs();
  } }, bdi(name))));
}

// put replaces the input.
function put(next) {
  input = complete(next);
  input.files = { [input.policy]: input.files[input.policy], ...input.files };
  input.files[testsName()] ??= "";
  findings.clear();
  policyEditor.put(input.files);
  putSituation();
  showTabs();
  edit(true);
}

function putSituation() {
  stateEditor.put({ state: input.state });
  event.value = input.event;
  message.value = input.message;
}

// The engine

const pause = 400; // ms: longer than between two keys
const todo = new Set(); // steps
let working = false, usable = false; // the engine has the policy
let paused = false, timer; // the user changes nothing
let drawn = "", testing;

// What the engine does for an answer, in this order. A change meanwhile begins with the first step that it needs. While the user
// types, only the verdict follows: the engine does one thing at a time, and the other steps can take longer than a key.
const steps = {
  async load() {
    usable = false;
    testing = undefined;
    const { policy, files } = input;
    const answer = await engine.ask("load", { policy, files });
    usable = true;
    events.replaceChildren(...answer.events.map((value) => el("option", { value })));
  },
  async decide() {
    const { state, event: name, message: last } = input;
    showDecision(await engine.ask("decide", { state, event: name, message: last }));
  },
  async find() {
    await words.update();
  },
  async draw() {
    const { svg } = await engine.ask("draw");
    if (svg !== drawn) markup(picture, drawn = svg);
  },
  async tests() {
    testing = { ...await engine.ask("tests"), results: [] };
    if (testing.names) todo.add("test");
    else showTests();
  },
  async test() {
    testing.results.push(await engine.ask("test", testing.results.length));
    if (testing.results.length < testing.names.length) todo.add("test");
    else showTests();
  },
};

async function work() {
  if (working) return;
  working = true;
  for (let step; (step = Object.keys(steps).find((s) => todo.has(s) && (paused || s === "load" || s === "decide")));) {
    todo.delete(step);
    try {
      await steps[step]();
    } catch (error) {
      todo.clear();
      failed(error);
    }
  }
  working = false;
}

function failed(error) {
  usable = false;
  verdict.classList.remove("old");
  verdict.replaceChildren(el("p", { class: "banner k-error", role: "alert" }, visible(error.message), error instanceof Runaway && " Change the policy or the state to try again."));
  for (const part of [found, why, tests]) part.replaceChildren();
}

function showFindings() {
  policyEditor.mark(findings);
  const kinds = [, ["error", "error"], ["warning", "note"], ["info", "none"]];
  const all = Object.keys(input.files).flatMap((name) => (findings.get(name) ?? []).map((f) => [name, f.range.start.line + 1, f]));
  found.replaceChildren(...[section("Findings", all.length > 0 && el("ul", { class: "findings" }, all.map(([name, line, f]) => el("li", { class: "finding" },
    el("strong", { class: "k-" + kinds[f.severity][1] }, kinds[f.severity][0]), " ",
    el("button", { type: "button", onclick: () => { policyEditor.to(name, line); showTabs(); policyEditor.mark(findings); } }, name !== input.policy && [bdi(name), ", "], `line ${line}`), " ",
    bdi(f.message), " ", quiet(bdi(`[${f.code}]`))))))].filter(Boolean));
}

function showDecision({ record, outcome: word, problem }) {
  verdict.classList.remove("old");
  if (!record) {
    verdict.replaceChildren(el("p", { class: "banner k-note" }, bdi(problem)));
    why.replaceChildren();
    return;
  }
  const reason = record.reason;
  verdict.replaceChildren(
    el("p", { class: "verdict" }, outcome(word), " ", record.rule ? [quiet("by the rule "), bdi(record.rule, "name")] : quiet("no rule decided")),
    el("p", { class: "reason" }, bdi(reason || "no reason")));
  why.replaceChildren(...reasons(record).filter(Boolean));
}

function showTests() {
  const { bad: invalid, results } = testing;
  const one = (r, i) => el("li", {}, outcome(r.failures ? "failed" : "ok"), " ",
    el("button", { type: "button", title: "Use the situation of this test", onclick: () => use(i) }, bdi(r.name)),
    r.rule && quiet("rule ", bdi(r.rule)), r.failures && el("pre", { class: "said" }, bdi(r.failures.join("\n"))));
  const bad = results.filter((r) => r.failures).length;
  if (invalid) tests.replaceChildren(el("p", { class: "problem" }, "The tests cannot run: see the findings."));
  else if (results.length === 0) tests.replaceChildren(el("p", { class: "quiet" }, "There are no tests."));
  else tests.replaceChildren(el("p", {}, bad ? `${bad} of ${results.length} tests fail` : `${results.length} tests pass`), el("ul", {}, results.map(one)));
}

// use takes the situation of a test.
async function use(i) {
  try {
    const s = await engine.ask("situation", i);
    Object.assign(input, s);
    putSituation();
    edit(false);
  } catch (error) {
    text(note, error.message);
  }
}

// Examples and links

let shipped = [];

function choose(name) {
  const example = shipped.find((e) => e.name === name);
  if (!example) return;
  history.replaceState(null, "", location.pathname + location.search);
  text(note, "");
  put(structuredClone(example));
}

async function fromLink() {
  const fragment = location.hash.slice(1);
  if (!fragment) return false;
  const example = shipped.find((e) => "example=" + encodeURIComponent(e.name) === fragment);
  if (example) {
    examples.value = example.name;
    put(structuredClone(example));
    return true;
  }
  try {
    put(await unpack(fragment));
    examples.value = "";
    return true;
  } catch (error) {
    text(note, "This link cannot be read: " + error.message);
    return false;
  }
}

async function start() {
  const starting = engine.started().catch(failed);
  const answer = await fetch("examples.json");
  shipped = answer.ok ? await answer.json() : [];
  const groups = [...new Set(shipped.map((e) => e.group))];
  examples.append(el("option", { value: "" }, "Your own"), ...groups.map((g) => el("optgroup", { label: g }, shipped.filter((e) => e.group === g).map((e) => el("option", { value: e.name }, visible(e.title))))));
  if (!await fromLink()) {
    examples.value = shipped[0]?.name ?? "";
    put(structuredClone(shipped[0] ?? {}));
  }
  addEventListener("hashchange", fromLink);
  await starting;
}

start();
