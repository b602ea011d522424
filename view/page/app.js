import { ago, bdi, clock, command, el, plural, shown, visible } from "./text.js";
import { href, readRoute, replaceRoute } from "./route.js";
import { gone, openSource } from "./source.js";
import { addRows, known, loadOlder } from "./rows.js";
import { overviewView } from "./overview.js";
import { timelineView } from "./timeline.js";
import { decisionView } from "./decision.js";
import { policyView } from "./policy.js";
import { runView } from "./run.js";

const views = { overview: overviewView, timeline: timelineView, decision: decisionView, policy: policyView, run: runView };
const states = {
  live: "live", hidden: "resting", lost: "connection lost, trying again", file: "saved file", wait: "connecting",
  gone: "ralph view has ended or this page is of an earlier one. Run ralph view again.",
};

const parts = {
  top: el("header", { id: "top" }), main: el("main", { id: "main", tabindex: -1 }),
  news: el("p", { class: "hear", role: "status" }), foot: el("footer", { id: "foot" }),
};
const notFound = ({ view }) => ({ title: "No such page", content: [el("p", {}, "There is no view ", bdi(view), ".")] });

// frame draws what all views share.
function frame(page, source) {
  const view = (name, words) => el("a", { href: href(name), "data-view": name }, words);
  const state = el("span", { id: "state", class: "state", role: "status" });
  parts.top.append(el("a", { class: "brand", href: href("overview") }, "ralph"),
    el("nav", { "aria-label": "Views" }, view("overview", page.all ? "Projects" : "Overview"), view("timeline", "Timeline")),
    el("span", { class: "project", title: page.project }, bdi(page.all ? "all projects" : page.project)), state);
  parts.foot.append(visible(page.version), ". ", source.live ? "This page only reads: to change something, copy a command into a terminal."
    : "This file loads and sends nothing.");
  return (name) => {
    state.className = "state is-" + name;
    state.textContent = states[name];
  };
}

// announcer says what is new to a screen reader, at most once in five seconds.
function announcer() {
  let waiting = [], timer;
  const say = () => {
    timer = undefined;
    const last = waiting.at(-1);
    parts.news.textContent = visible(`${plural(waiting.length, "new decision")}: ${last.outcome ?? "no decision"}, ${last.policy} › ${last.by}`);
    waiting = [];
  };
  return { tell(rows) { waiting = waiting.concat(rows); timer ??= setTimeout(say, 5000); } };
}

async function start() {
  const skip = el("a", { class: "skip", href: "#main", onclick: (e) => { e.preventDefault(); parts.main.focus(); } }, "To the content");
  document.getElementById("app").replaceChildren(skip, parts.top, parts.main, parts.news, parts.foot);
  const source = await openSource();
  let page;
  try {
    page = await source.page();
  } catch (error) {
    return void parts.main.replaceChildren(failure(error));
  }
  const ahead = Date.parse(page.now) - Date.now();
  if (page.now) clock.now = source.live ? () => Date.now() + ahead : () => Date.parse(page.now);
  const show = frame(page, source);
  const news = announcer();
  const listeners = new Set();
  const context = {
    source, page, news,
    inProject: (words, label) => command(page.all || !page.project ? words : [...words, "--project", page.project], label),
    onStatus(call) { listeners.add(call); return () => listeners.delete(call); },
  };
  show(source.live ? "wait" : "file");

  let current, turn = 0, first = true;
  const open = async () => {
    const mine = ++turn, route = readRoute(), main = parts.main;
    let view;
    try {
      view = await (Object.hasOwn(views, route.view) ? views[route.view] : notFound)(route, context);
    } catch (error) {
      view = { title: "This cannot be shown", content: [failure(error)] };
    }
    if (mine !== turn) return view.close?.();
    current?.close?.();
    current = view;
    document.title = visible(view.title) + " – ralph";
    const title = el("h1", { tabindex: -1 }, visible(view.title), view.note && el("span", { class: "note" }, view.note));
    main.className = view.wide ? "wide v-" + route.view : "v-" + route.view;
    main.replaceChildren(title, ...shown(view.content));
    for (const link of parts.top.querySelectorAll("nav a")) {
      if (link.dataset.view === route.view) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    if (!first) {
      scrollTo(0, 0);
      title.focus({ preventScroll: true });
    }
    first = false;
    view.shown?.();
  };

  try {
    const latest = await source.decisions();
    Object.assign(known, { first: latest.first, reading: latest.reading });
    addRows(latest.rows);
    if (!location.hash && page.run) replaceRoute("run", page.run);
    else if (!location.hash && page.session) replaceRoute("timeline", "", { session: page.session });
    addEventListener("hashchange", open);
    await open();
    setInterval(() => document.querySelectorAll("time.age").forEach((node) => { node.textContent = ago(node.dateTime); }), 10000);
    let asked;
    source.follow(latest.last ?? 0, {
      rows(rows) { addRows(rows); news.tell(rows); },
      status() { asked ??= setTimeout(() => { asked = undefined; for (const call of listeners) call(); }, 300); },
      state: show,
    });
    await loadOlder(source);
    addRows([]);
  } catch (error) {
    if (!current) parts.main.replaceChildren(failure(error));
    show(gone(error) ? "gone" : "lost");
  }
}

const failure = (error) => el("div", { class: "banner k-error" }, el("p", {}, bdi(error.message)),
  gone(error) && el("p", {}, "Run ", el("code", {}, "ralph view"), " again and open the address that it prints."));

queueMicrotask(start);
