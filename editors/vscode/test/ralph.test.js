'use strict'
const assert = require('node:assert/strict')
const { spawn } = require('node:child_process')
const { readFileSync } = require('node:fs')
const { join } = require('node:path')
const { test } = require('node:test')
const { Ralph, isPolicy } = require('../src/ralph')

const document = (path, text = '', languageId = 'yaml') => ({ languageId, uri: { path }, getText: () => text })

test('policies are files whose first key is ralph:, and files below .ralph', () => {
  for (const [want, path, text, language] of [
    [true, '/p/loop.yaml', 'ralph: 1\n'],
    [true, '/p/loop.yaml', '\ufeff# a loop\n\n---\nralph: 1\r\n'],
    [true, '/p/loop.yaml', '"ralph": 1'],
    [true, '/p/.ralph/policy_test.yaml', 'tests: []'],
    [true, '/.ralph/config.yaml'],
    [false, '/p/compose.yaml', 'services: {}\nralph: 1\n'],
    [false, '/p/compose.yaml', 'ralphs: 1\n'],
    [false, '/p/compose.yaml', 'x: |\n  ralph: 1\n'],
    [false, '/p/my.ralph/x.yaml', 'a: 1'],
    [false, '/p/empty.yaml'],
    [false, '/p/.ralph/run.md', 'ralph: 1', 'markdown']
  ]) assert.equal(isPolicy(document(path, text, language)), want, `${path} ${text}`)
})

// editor returns a Ralph, and what happened.
function editor(found) {
  const events = []
  const ralph = new Ralph({
    path: () => '/bin/ralph',
    found: async () => found.shift(),
    warn: (path) => events.push('warn ' + path),
    client: (path) => ({ start: async () => events.push('start ' + path), stop: async () => events.push('stop') })
  })
  return { ralph, events }
}

test('the server starts with the first policy, once', async () => {
  const { ralph, events } = editor([true])
  await ralph.open(document('/p/other.yaml', 'a: 1'))
  assert.deepEqual(events, [])
  const policy = document('/p/loop.yaml', 'ralph: 1')
  await Promise.all([ralph.open(policy), ralph.open(policy)])
  await ralph.open(document('/p/.ralph/a.yaml'))
  assert.deepEqual(events, ['start /bin/ralph'])
  await ralph.stop()
  assert.deepEqual(events, ['start /bin/ralph', 'stop'])
})

test('a ralph that is missing is reported once, until it was found', async () => {
  const { ralph, events } = editor([false, false, true, false])
  const policies = [document('/p/loop.yaml', 'ralph: 1'), document('/p/.ralph/a.yaml')]
  for (const policy of policies) await ralph.open(policy)
  await ralph.changed(policies)
  assert.deepEqual(events, ['warn /bin/ralph'])
  await ralph.changed(policies)
  await ralph.changed(policies)
  assert.deepEqual(events.slice(1), ['start /bin/ralph', 'stop', 'warn /bin/ralph'])
})

test('a workspace cannot choose the program', () => {
  const { capabilities, contributes } = JSON.parse(readFileSync(join(__dirname, '..', 'package.json')))
  assert.equal(contributes.configuration.properties['ralph.path'].scope, 'machine')
  assert.deepEqual(capabilities.untrustedWorkspaces.restrictedConfigurations, ['ralph.path'])
  assert.equal(contributes.languages, undefined) // the language stays yaml
})

// With RALPH set to a program, the messages that the extension sends lead to findings.
test('ralph lsp answers', { skip: process.env.RALPH ? false : 'RALPH does not name a ralph' }, async () => {
  const server = spawn(process.env.RALPH, ['lsp'])
  const send = (message) => {
    const text = JSON.stringify({ jsonrpc: '2.0', ...message })
    server.stdin.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`)
  }
  let heard = ''
  const finding = new Promise((resolve, reject) => {
    server.stdout.on('data', (data) => {
      heard += data
      const found = /\{"diagnostics":\[\{.*?toddo/s.exec(heard) ?? /publishDiagnostics.*?toddo/s.exec(heard)
      if (found) resolve(found[0])
    })
    server.on('exit', () => reject(new Error('it ended: ' + heard)))
  })
  send({ id: 1, method: 'initialize', params: { processId: process.pid, rootUri: null, capabilities: {} } })
  send({ method: 'initialized', params: {} })
  send({ method: 'textDocument/didOpen', params: { textDocument: { uri: 'untitled:p.yaml', languageId: 'yaml', version: 1, text: 'ralph: 1\nfacts: {todo: {checklist: TODO.md}}\nrules: [{name: r, when: len(toddo) > 0, stop: s}]\n' } } })
  await finding
  server.kill()
})
