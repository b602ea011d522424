// ralph in Visual Studio Code: the findings and more of the language server, for documents that stay YAML.
'use strict'
const { execFile } = require('node:child_process')
const vscode = require('vscode')
const { LanguageClient, RevealOutputChannelOn } = require('vscode-languageclient/node')
const { Ralph, isPolicy } = require('./ralph')

let ralph

exports.activate = async function (context) {
  const warn = async (path) => {
    const settings = 'Open the setting'
    const chosen = await vscode.window.showWarningMessage(`ralph cannot be started: ${path} is not found. Install it, or set ralph.path to where it is.`, settings)
    if (chosen === settings) await vscode.commands.executeCommand('workbench.action.openSettings', 'ralph.path')
  }
  ralph = new Ralph({
    path: () => vscode.workspace.getConfiguration('ralph').get('path') || 'ralph',
    found: (path) => new Promise((done) => execFile(path, ['--version'], { timeout: 10000 }, (error) => done(!error))),
    warn: (path) => void warn(path),
    client: (command) => new LanguageClient('ralph', 'ralph', { command, args: ['lsp'] }, {
      documentSelector: [{ scheme: 'file', language: 'yaml' }, { scheme: 'untitled', language: 'yaml' }],
      revealOutputChannelOn: RevealOutputChannelOn.Never
    })
  })
  context.subscriptions.push(
    vscode.workspace.onDidOpenTextDocument((document) => ralph.open(document)),
    vscode.workspace.onDidChangeTextDocument(({ document }) => ralph.open(document)),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration('ralph.path')) ralph.changed(vscode.workspace.textDocuments)
    }))
  await Promise.all(vscode.workspace.textDocuments.filter(isPolicy).map((document) => ralph.open(document)))
}

exports.deactivate = () => ralph?.stop()
