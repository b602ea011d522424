// Writes dist/licenses.txt: the licenses of the packages that esbuild put into dist/extension.js.
'use strict'
const { existsSync, readFileSync, writeFileSync } = require('node:fs')

const { inputs } = JSON.parse(readFileSync('dist/bundled.json'))
const packages = new Set(Object.keys(inputs).map((file) => /^node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0]).filter(Boolean))
const texts = [...packages].sort().map((dir) => {
  const file = ['LICENSE', 'License.txt', 'LICENSE.md', 'LICENSE.txt', 'license.txt'].map((name) => `${dir}/${name}`).find(existsSync)
  if (!file) throw new Error(`${dir} has no license`)
  return `${dir.slice('node_modules/'.length)}\n\n${readFileSync(file, 'utf8').trim()}\n`
})
writeFileSync('dist/licenses.txt', texts.join('\n'))
