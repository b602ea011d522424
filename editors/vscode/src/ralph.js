// When the language server runs: once a policy is open, or a file below .ralph. What is given makes tests possible without an editor.
'use strict'

// isPolicy reports whether ralph has something to do with a document: its first key is ralph:, or it is below .ralph.
function isPolicy(document) {
  const { languageId, uri } = document
  if (languageId !== 'yaml') return false
  if (/(^|\/)\.ralph\//.test(uri.path)) return true
  for (const line of document.getText().slice(0, 16384).replace(/^\ufeff/, '').split(/\r?\n/)) {
    if (/^\s*(#.*)?$/.test(line) || /^(---|%)/.test(line)) continue
    return /^(ralph|"ralph"|'ralph')\s*:(\s|$)/.test(line)
  }
  return false
}

// Ralph starts the server when the first policy opens, and again when the setting changes.
class Ralph {
  #client; #starting; #warned

  // client returns a client of the program at a path, found whether it can be started, and warn shows that it is not.
  constructor({ path, client, found, warn }) {
    Object.assign(this, { path, client, found, warn })
  }

  async open(document) {
    if (!this.#starting && isPolicy(document)) await (this.#starting = this.#start())
  }

  async #start() {
    const path = this.path()
    if (!await this.found(path)) {
      if (!this.#warned) this.warn(path)
      this.#warned = true
      return
    }
    this.#warned = false
    this.#client = this.client(path)
    await this.#client.start()
  }

  // changed takes another path, with the documents that are open.
  async changed(documents) {
    await this.stop()
    for (const document of documents) await this.open(document)
  }

  async stop() {
    await this.#starting
    const client = this.#client
    this.#starting = this.#client = undefined
    await client?.stop()
  }
}

module.exports = { Ralph, isPolicy }
