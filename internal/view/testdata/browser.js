// Opens the page in Chromium: node browser.js [DIRECTORY FOR PICTURES] < cases. Each problem is a line on stdout.
"use strict";
const fs = require("fs");
const { chromium } = require("playwright-core");
const axe = fs.readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const { program, cases } = JSON.parse(fs.readFileSync(0, "utf8")), pictures = process.argv[2];
const check = (held, words) => held || console.log(words);

async function look(page, name) {
  const found = await page.evaluate(`${axe}; axe.run({ resultTypes: ['violations'] }).then((r) => r.violations.map((v) => v.id + ": " + v.nodes.map((n) => n.target + " " + n.failureSummary).slice(0, 3).join("; ")))`);
  for (const f of found) console.log(`${name}: axe: ${f}`);
  const wide = await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
  check(wide <= 0, `${name}: it is ${wide} pixels too wide`);
  if (pictures) await page.screenshot({ path: `${pictures}/${name}.png`, fullPage: name.startsWith("hostile") });
}

const focused = (page) => page.evaluate("(document.activeElement.tagName + ' ' + (document.activeElement.id || document.activeElement.className)).trim().toLowerCase()");

async function keyboard(page, name) {
  await page.goto(new URL("/", page.url()).href);
  await page.locator("#state:not(:empty)").waitFor();
  await page.keyboard.press("Tab");
  check((await focused(page)) === "a skip", `${name}: Tab leads first to ${await focused(page)}`);
  await page.keyboard.press("Enter");
  await page.keyboard.press("Tab");
  check((await focused(page)) === "summary", `${name}: after the link, Tab leads to ${await focused(page)}`);
  for (const key of ["Enter", "Enter", "Space"]) await page.keyboard.press(key);
  await page.locator("details[open] .why").waitFor();
  await look(page, name + "-open");

  await page.evaluate("scrollTo(0, 0); document.querySelector('.loop').focus()");
  const of = await page.locator("details").count();
  await page.keyboard.press("Space");
  const few = await page.locator("details").count();
  check(few > 0 && few < of, `${name}: a run shows ${few} of ${of} decisions`);
  check((await page.evaluate("document.activeElement.getAttribute('aria-pressed')")) === "true", `${name}: the run that was chosen lost the focus`);
  await look(page, name + "-chosen");
  await page.locator("#all").focus();
  await page.keyboard.press("Enter");
  check((await page.locator("details").count()) === of && (await focused(page)) === "section decisions", `${name}: Show all leaves ${await focused(page)}`);
}

// What a person reads stays while new decisions come.
async function live(page, name) {
  const first = page.locator("details").first(), before = await first.locator(".said").textContent();
  if ((await first.getAttribute("open")) === null) await first.locator("summary").press("Enter");
  await first.locator("summary").focus();
  await page.route("**/data", async (route) => {
    const data = await (await route.fetch()).json();
    data.decisions.unshift({ ...data.decisions[0], time: "2026-11-28T06:00:00Z", reason: "one more" });
    await route.fulfill({ json: data });
  });
  await page.locator("#news:not(:empty)").waitFor({ state: "attached" });
  const open = page.locator("details[open]");
  check((await open.count()) === 1 && (await open.locator(".said").textContent()) === before, `${name}: the open decision did not stay`);
  check((await focused(page)) === "summary", `${name}: the focus went to ${await focused(page)}`);
}

(async () => {
  const browser = await chromium.launch({ executablePath: program, args: ["--no-sandbox"] });
  for (const { name, url } of cases) {
    const context = await browser.newContext({ locale: "en-US", timezoneId: "UTC" }), page = await context.newPage();
    page.setDefaultTimeout(20000);
    for (const event of ["console", "pageerror", "dialog"]) {
      page.on(event, (e) => {
        console.log(`${name}: ${event}: ${e.text?.() ?? e.message}`);
        if (event === "dialog") e.dismiss();
      });
    }
    const asked = [];
    page.on("request", (r) => asked.push(r.url()));
    await page.goto(url);
    await page.locator("#state:not(:empty)").waitFor();
    const sizes = name === "many" ? ["light 1280", "light 390", "dark 1280", "dark 390"] : name.endsWith("-file") ? ["light 1280"] : ["light 390", "dark 1280"];
    for (const size of sizes) {
      const [scheme, width] = size.split(" "), now = `${name}-${scheme}-${width}`;
      await page.emulateMedia({ colorScheme: scheme });
      await page.setViewportSize({ width: +width, height: 900 });
      await look(page, now);
      if (name.startsWith("hostile")) {
        await page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })");
        await page.locator("details:not(:has(.why))").waitFor({ state: "detached" });
        await look(page, now + "-open");
      }
      if (name === "many") await keyboard(page, now);
    }
    if (name === "many") {
      await live(page, name);
      await page.unroute("**/data");
      await page.route("**/data", (r) => r.fulfill({ body: "ended" }));
      await page.locator("#state.is-gone").waitFor();
      if (pictures) await page.screenshot({ path: `${pictures}/gone.png` });
    }
    const origin = new URL(url).origin;
    for (const a of asked) check(url.startsWith("file:") ? a === url : a.startsWith(origin), `${name}: it asked for ${a}`);
    check(url.startsWith("file:") || !page.url().includes("?"), `${name}: the token stays in the address bar`);
    await context.close();
  }
  await browser.close();
  console.log("end");
})();
