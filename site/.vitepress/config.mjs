// The site shows the Markdown files of the repository from where they are. They are written for GitHub, so this file makes VitePress
// read them as GitHub does: links are relative to the file, and text is never code of Vue.
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs'
import { dirname, join, posix, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitepress'

const root = fileURLToPath(new URL('../..', import.meta.url))
const repository = 'https://github.com/ralph-sdk/ralph'

const read = (file) => readFileSync(join(root, file), 'utf8')
const list = (dir) => (existsSync(join(root, dir)) ? readdirSync(join(root, dir)) : []).filter((f) => f.endsWith('.md')).map((f) => posix.join(dir, f))
const isPage = (file) => /^([^/]+|docs\/(?!testdata\/).+)\.md$/.test(file)
const asIndex = (file) => file.replace(/(^|\/)README\.md$/, '$1index.md')

// target returns the address that a link of a file has on the site: a page, or a file of the repository.
function target(from, href) {
  if (/^([a-z]+:|\/|#)/.test(href)) return href
  const [, path, hash] = /^([^#]*)(.*)$/.exec(href)
  let file = posix.join(posix.dirname(from), decodeURI(path)).replace(/\/$/, '')
  if (!existsSync(join(root, file))) throw new Error(`${from}: the link to ${href} leads to no file`)
  const isDir = statSync(join(root, file)).isDirectory()
  if (isDir && isPage(`${file}/README.md`) && existsSync(join(root, file, 'README.md'))) file += '/README.md'
  if (isPage(file)) return '/' + asIndex(file) + hash
  return `${repository}/${isDir ? 'tree' : 'blob'}/main/${file}${hash}`
}

// played returns the example of the playground that a token introduces, and how many tokens later it ends: a policy with tests in the
// cookbook, or a page about a policy that ships with ralph.
function played(from, { type, tag, content }) {
  const [, recipe] = /^<!-- file: \.ralph\/([^ ]+)\.yaml -->/.exec(content) ?? []
  if (type === 'html_block' && from === 'docs/cookbook.md' && read(from).includes(`<!-- file: .ralph/${recipe}_test.yaml -->`)) return [recipe, 2]
  const [, shipped] = /^docs\/policies\/(.+)\.md$/.exec(from) ?? []
  if (type === 'heading_close' && tag === 'h1' && existsSync(join(root, `examples/${shipped}/${shipped}_test.yaml`))) return [shipped, 1]
  return []
}

// github makes a Markdown renderer read a page as GitHub does.
function github(md) {
  md.core.ruler.after('inline', 'github', ({ tokens, env }) => {
    const from = relative(root, env.realPath ?? env.path).replaceAll('\\', '/')
    const links = tokens.map((token, at) => [at, ...played(from, token)]).filter(([, name]) => name)
    for (const token of tokens.flatMap((t) => [t, ...(t.children ?? [])])) {
      if (token.type === 'link_open') token.attrSet('href', target(from, token.attrGet('href')))
      if (!token.type.startsWith('html_')) continue
      token.content = token.content.replace(/<!--.*?-->/gs, '') // for tests: what completes the example below
      if (token.content.trim()) throw new Error(`${from}: write ${token.content.trim()} as code: the site shows no HTML`)
    }
    for (const [at, name, after] of links.reverse()) {
      const content = `<p><a href="/playground/#example=${encodeURIComponent(name)}" target="_self">Try it in the playground</a></p>\n` // no page of VitePress
      tokens.splice(at + after, 0, Object.assign(new tokens[at].constructor('html_block', '', 0), { content }))
    }
  })
  md.disable('emoji')
  const render = md.render.bind(md)
  md.render = (...args) => render(...args).replaceAll('{{', '&#123;&#123;') // for Vue, {{ begins an expression
}

// vue resolves what the code of a page imports, since no node_modules is in a directory above a page.
const vue = {
  name: 'vue-of-pages',
  enforce: 'pre',
  resolveId(id, importer, options) {
    if (/^vue($|\/)/.test(id) && importer?.endsWith('.md')) return this.resolve(id, fileURLToPath(import.meta.url), { ...options, skipSelf: true })
  }
}

// slug returns the anchor that GitHub gives to a heading.
const slug = (heading) => heading.trim().toLowerCase().replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '').replaceAll(' ', '-')

// entry returns the line of a page in the sidebar, with the pages that belong to it: those of its directory, or of the directory with its name.
function entry(file) {
  const below = file.endsWith('/README.md') ? dirname(file) : file.replace(/\.md$/, '')
  const items = list(below).filter((f) => f !== file).map(entry)
  const text = /^# (.*)/.exec(read(file))[1].replaceAll('`', '')
  return { text, link: '/' + asIndex(file).replace(/(index)?\.md$/, ''), ...(items.length > 0 && { items, collapsed: true }) }
}

// sidebar has the groups of docs/README.md: a paragraph that begins with bold text, and its links.
function sidebar() {
  const groups = []
  const listed = new Set(['docs/README.md'])
  for (const line of read('docs/README.md').split('## All pages')[1].split('\n')) {
    const [, name] = /^\*\*(.+?)\*\*/.exec(line) ?? []
    if (name) groups.push({ text: name, items: [] })
    for (const [, href] of line.matchAll(/\]\(([^)#]+\.md)\)/g)) {
      const file = posix.join('docs', href)
      listed.add(file)
      groups.at(-1).items.push(entry(file))
    }
  }
  const missing = list('docs').filter((file) => !listed.has(file))
  if (missing.length > 0) throw new Error(`docs/README.md does not list ${missing.join(', ')}`)
  return [{ text: 'Documentation', link: '/docs/' }, ...groups]
}

export default defineConfig({
  title: 'ralph',
  description: 'ralph decides whether a coding agent may stop',
  lang: 'en',
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  srcDir: root,
  srcExclude: ['!(docs)/**/*.md', 'docs/testdata/**'],
  rewrites: asIndex,
  ignoreDeadLinks: [/^\/playground\//], // npm run build adds it
  vite: { plugins: [vue] },
  markdown: {
    anchor: { slugify: slug },
    attrs: { disable: true },
    linkify: false,
    languageAlias: { console: 'shellsession', expr: 'js' },
    config: github
  },
  themeConfig: {
    nav: [
      { text: 'Docs', link: '/docs/' },
      { text: 'Reference', link: '/docs/reference/' },
      { text: 'Changelog', link: '/CHANGELOG' },
      { text: 'GitHub', link: repository }
    ],
    sidebar: sidebar(),
    outline: [2, 3],
    search: { provider: 'local' },
    editLink: { pattern: `${repository}/edit/main/:path` }
  }
})
