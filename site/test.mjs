// The built site in headless Chromium. Run npm run build before.
import assert from 'node:assert/strict'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { createServer } from 'node:http'
import { delimiter, extname, join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'
import { createMarkdownRenderer } from 'vitepress'
import config from './.vitepress/config.mjs'

const dist = fileURLToPath(new URL('.vitepress/dist', import.meta.url))
const types = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml', '.json': 'application/json' }
const programs = ['chromium', 'chromium-browser', 'google-chrome'].flatMap((name) => process.env.PATH.split(delimiter).map((dir) => join(dir, name)))
const executablePath = programs.find((file) => existsSync(file))
const skip = executablePath ? false : 'Chromium is not installed'
if (skip) console.log(`skipped: the tests of the site: ${skip}`)

let server, browser, base
before(async () => {
  if (skip) return
  server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url, 'http://site').pathname)
    const file = join(dist, path.endsWith('/') ? path + 'index.html' : path)
    if (!existsSync(file)) return response.writeHead(404).end()
    response.writeHead(200, { 'Content-Type': types[extname(file)] ?? 'application/octet-stream' }).end(readFileSync(file))
  })
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening))
  base = `http://127.0.0.1:${server.address().port}`
  browser = await chromium.launch({ executablePath })
})
after(async () => {
  await browser?.close()
  server?.close()
})

// open opens a page of the site, and fails the test at its end if the browser reported a problem.
async function open(t, path, options) {
  const context = await browser.newContext(options)
  const page = await context.newPage()
  const problems = []
  page.on('console', (m) => ['error', 'warning'].includes(m.type()) && problems.push(m.text()))
  page.on('pageerror', (e) => problems.push(e.message))
  page.on('requestfailed', (r) => problems.push(`${r.url()}: ${r.failure().errorText}`))
  page.on('request', (r) => /^(data|blob):/.test(r.url()) || r.url().startsWith(base) || problems.push(`the page asks for ${r.url()}`))
  t.after(async () => {
    await context.close()
    assert.deepEqual(problems, [])
  })
  await page.goto(base + path, { waitUntil: 'networkidle' })
  return page
}

test('Markdown is read as GitHub reads it', async () => {
  const md = await createMarkdownRenderer('.', config.markdown)
  const render = (text) => md.render(text, { path: join(config.srcDir, 'docs/concepts.md') })
  for (const [text, want] of [
    ['a {{ b }} `{{ c }}` {.d}', '<p>a &#123;&#123; b }} <code>&#123;&#123; c }}</code> {.d}</p>\n'],
    ['<!-- file: a\nb -->\nc <!-- d --> e', 'c  e'],
    ['[a](run.md#b)', 'href="/docs/run.html#b"'],
    ['[a](../README.md)', 'href="/"'],
    ['[a](reference)', 'href="/docs/reference/"'],
    ['[a](../loop)', 'href="https://github.com/ralph-sdk/ralph/tree/main/loop"'],
    ['[a](../go.mod)', 'href="https://github.com/ralph-sdk/ralph/blob/main/go.mod"'],
    ['## `a.b`: it_is – A "Test"', 'id="ab-it_is--a-test"'],
    ['run.md and :smile:', '<p>run.md and :smile:</p>\n'],
  ]) assert.ok(render(text).includes(want), `${text}\n${render(text)}`)
  assert.throws(() => render('a <promise> b'), /docs\/concepts.md: write <promise> as code/)
  assert.throws(() => render('[a](missing.md)'), /docs\/concepts.md: the link to missing.md leads to no file/)
})

test('the home page loads', { skip }, async (t) => {
  const page = await open(t, '/')
  assert.equal(await page.title(), 'ralph')
  assert.ok(await page.locator('.vp-doc img').evaluateAll((images) => images.length > 0 && images.every((i) => i.naturalWidth > 0)))
  await page.locator('.VPSidebar a', { hasText: 'Cookbook' }).click()
  await page.waitForFunction(() => document.title.startsWith('Cookbook'))
})

test('a search finds pages', { skip }, async (t) => {
  const page = await open(t, '/', { viewport: { width: 360, height: 740 } })
  await page.locator('.VPNavBarSearch button').click()
  await page.locator('#localsearch-input').fill('streak')
  await page.locator('.VPLocalSearchBox .result', { hasText: 'Glossary' }).first().click()
  await page.waitForFunction(() => document.title.startsWith('Glossary'))
  assert.match(await page.locator('.vp-doc').innerText(), /streak/)
})

test('the theme is dark or light', { skip }, async (t) => {
  const page = await open(t, '/docs/concepts.html', { colorScheme: 'dark' })
  const light = () => page.evaluate(() => {
    const [r, g, b] = getComputedStyle(document.body).backgroundColor.match(/\d+/g).map(Number)
    return (r + g + b) / 3
  })
  assert.ok(await light() < 64)
  await page.locator('.VPNavBarAppearance button').click()
  await page.waitForFunction(() => !document.documentElement.classList.contains('dark'))
  assert.ok(await light() > 192)
  await page.reload({ waitUntil: 'networkidle' })
  assert.ok(await light() > 192)
})

// look reads a page of the site into an open one: what it links to, its headings, and what is wider than the window.
async function look(address) {
  const response = await fetch(address)
  const html = await response.text()
  const other = new DOMParser().parseFromString(html, 'text/html')
  const content = document.querySelector('.vp-doc')
  content.replaceChildren(...other.cloneNode(true).querySelector('.vp-doc')?.children ?? [])
  const scrolls = (e) => e !== content && (getComputedStyle(e).overflowX !== 'visible' || scrolls(e.parentElement))
  return {
    problems: [
      ...response.ok ? [] : [`status ${response.status}`],
      ...html.match(/<!--\s*(file|from|with)\b/g) ?? [], // what only tests read
      ...document.documentElement.scrollWidth > innerWidth ? ['is wider than the window'] : [],
      ...[...content.querySelectorAll('*')].filter((e) => e.getBoundingClientRect().right > innerWidth && !scrolls(e)).map((e) => `is too wide: ${e.outerHTML.slice(0, 100)}`)
    ],
    links: [...other.querySelectorAll('a[href]')].map((a) => new URL(a.getAttribute('href'), address).href),
    ids: [...other.querySelectorAll('[id]')].map((e) => e.id)
  }
}

test('all pages fit a phone, and all links lead to a page', { skip }, async (t) => {
  const page = await open(t, '/', { viewport: { width: 360, height: 740 } })
  const pages = new Map()
  const played = (link) => link.startsWith(base + '/playground/')
  const todo = [base + '/']
  for (const address of todo) {
    pages.set(address, await page.evaluate(look, address))
    for (const link of pages.get(address).links.filter((l) => !played(l)).map((l) => l.replace(/#.*/, ''))) if (link.startsWith(base) && !todo.includes(link)) todo.push(link)
  }
  const problems = []
  for (const [address, found] of pages) {
    problems.push(...found.problems.map((p) => `${address}: ${p}`))
    for (const link of found.links.filter((l) => l.startsWith(base) && !played(l) && l.includes('#'))) {
      const [to, id] = link.split('#')
      if (!pages.get(to).ids.includes(decodeURIComponent(id))) problems.push(`${address}: no heading for ${link}`)
    }
  }
  for (const file of readdirSync(dist, { recursive: true }).filter((f) => f.endsWith('.html') && f !== '404.html')) {
    const address = `${base}/${file.replaceAll('\\', '/').replace(/(^|\/)index\.html$/, '$1')}`
    if (!pages.has(address) && !played(address)) problems.push(`no link leads to ${address}`)
  }
  assert.deepEqual(problems, [])
})

test('each example of the playground has a link, which opens it', { skip }, async (t) => {
  const page = await open(t, '/docs/cookbook.html')
  const names = JSON.parse(readFileSync(join(dist, 'playground', 'examples.json'))).map((e) => e.name)
  const linked = new Set()
  for (const file of readdirSync(join(dist, 'docs'), { recursive: true }).filter((f) => f.endsWith('.html'))) {
    for (const [, name] of readFileSync(join(dist, 'docs', file), 'utf8').matchAll(/href="\/playground\/#example=([^"]+)"/g)) linked.add(decodeURIComponent(name))
  }
  assert.deepEqual([...linked].sort(), names.sort())
  await page.locator('a', { hasText: 'Try it in the playground' }).first().click()
  await page.locator('#verdict .badge').waitFor()
})
