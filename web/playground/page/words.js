// What the language server in the engine knows of a text: findings, completion and hover. It sees all files of the input, and is
// given their texts before each question and by update, so it does nothing while only a verdict is needed.
import { autocompletion } from "@codemirror/autocomplete";
import { hoverTooltip } from "@codemirror/view";
import { bdi, el } from "../../../view/page/text.js";

const root = "file:///playground/";
const uriOf = (name) => root + name.split("/").map(encodeURIComponent).join("/");
const nameOf = (uri) => uri.slice(root.length).split("/").map(decodeURIComponent).join("/");
const patience = 2000;
const kinds = { 3: "function", 4: "function", 5: "property", 6: "variable", 7: "class", 9: "namespace", 10: "property", 12: "constant", 13: "enum", 14: "keyword", 20: "enum", 21: "constant" };

// offset returns where a position of the protocol is in an editor.
export function offset({ doc }, { line, character }) {
  const l = doc.line(Math.min(line + 1, doc.lines));
  return Math.min(l.from + character, l.to);
}

// marked writes the Markdown of a description: what the server makes bold, a block of code and a link.
const marked = (s) => s.split(/(\*\*.+?\*\*|```\n.*?\n```|\[[^\]]*\]\(https:[^)]*\))/s).map((part) => {
  const [, bold, code, label, address] = /^(?:\*\*(.+)\*\*|```\n(.*)\n```|\[(.*)\]\((.*)\))$/s.exec(part) ?? [];
  if (bold) return el("strong", {}, bdi(bold));
  if (code) return el("code", {}, bdi(code));
  return address ? el("a", { href: address, target: "_blank", rel: "noopener" }, label) : bdi(part);
});

export class Words {
  #engine; #files; #found; #waiting = new Map(); #last = 0; #worker; #sent = new Map();

  // files returns the texts of the input by their names, and found is called with the name of a file and its findings.
  constructor(engine, files, found) {
    this.#engine = engine;
    this.#files = files;
    this.#found = found;
    engine.words = (message) => this.#heard(JSON.parse(message));
  }

  #heard({ id, method, params, result }) {
    if (method === "textDocument/publishDiagnostics") this.#found(nameOf(params.uri), params.diagnostics);
    else if (method && id !== undefined) this.#send({ id, result: null }); // it asks for nothing that a page has
    else this.#waiting.get(id)?.(result);
  }

  #send(message) { this.#worker.postMessage({ words: JSON.stringify({ jsonrpc: "2.0", ...message }) }); }

  // request resolves with null if there is no answer in time.
  #request(method, params) {
    const id = ++this.#last;
    return new Promise((done) => {
      const end = (result = null) => {
        clearTimeout(timer);
        this.#waiting.delete(id);
        done(result);
      };
      const timer = setTimeout(end, patience);
      this.#waiting.set(id, end);
      this.#send({ id, method, params });
    });
  }

  // update sends the server all texts as they are now, for its findings.
  async update() {
    const worker = await this.#engine.started();
    if (worker !== this.#worker) {
      this.#worker = worker;
      this.#sent.clear();
      await this.#request("initialize", { processId: null, rootUri: root, capabilities: {} });
      this.#send({ method: "initialized", params: {} });
    }
    const files = this.#files();
    for (const [name, { version, text }] of this.#sent) {
      if (name in files && files[name] === text) continue;
      const textDocument = { uri: uriOf(name), version: version + 1 };
      if (name in files) this.#send({ method: "textDocument/didChange", params: { textDocument, contentChanges: [{ text: files[name] }] } });
      else this.#send({ method: "textDocument/didClose", params: { textDocument } });
      if (name in files) this.#sent.set(name, { version: version + 1, text: files[name] });
      else this.#sent.delete(name);
    }
    for (const [name, text] of Object.entries(files)) {
      if (this.#sent.has(name)) continue;
      this.#send({ method: "textDocument/didOpen", params: { textDocument: { uri: uriOf(name), languageId: "yaml", version: 1, text } } });
      this.#sent.set(name, { version: 1, text });
    }
  }

  async #ask(method, name, position) {
    await this.update();
    return this.#request(method, { textDocument: { uri: uriOf(name) }, position });
  }

  // extensions are those of an editor whose file has a name.
  extensions(name) {
    const position = ({ doc }, at) => { const line = doc.lineAt(at); return { line: line.number - 1, character: at - line.from }; };
    const complete = async (context) => {
      const { state, pos } = context;
      if (!context.explicit && !context.matchBefore(/[\w.:"{/-]$/)) return null;
      const answer = await this.#ask("textDocument/completion", name, position(state, pos));
      const items = (Array.isArray(answer) ? answer : answer?.items ?? []).filter((i) => i.textEdit);
      if (items.length === 0 || context.aborted) return null;
      return {
        from: offset(state, items[0].textEdit.range.start), validFor: /^[\w-]*$/,
        options: items.map((i, at) => ({
          label: i.label, apply: i.textEdit.newText, detail: i.detail, type: kinds[i.kind], boost: -Math.min(at, 98),
          info: i.documentation ? () => el("div", { class: "doc" }, bdi(i.documentation)) : undefined,
        })),
      };
    };
    const hover = async (view, at) => {
      const answer = await this.#ask("textDocument/hover", name, position(view.state, at));
      if (!answer?.contents?.value) return null;
      return {
        pos: answer.range ? offset(view.state, answer.range.start) : at, end: answer.range && offset(view.state, answer.range.end),
        create: () => ({ dom: el("div", { class: "doc" }, marked(answer.contents.value)) }),
      };
    };
    return [autocompletion({ override: [complete] }), hoverTooltip(hover)];
  }
}
