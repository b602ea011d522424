// Editors of YAML: CodeMirror with colours of the page.
import { closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { HighlightStyle, bracketMatching, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { Annotation, EditorState } from "@codemirror/state";
import { EditorView, drawSelection, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { visible } from "../../../view/page/text.js";
import { offset } from "./words.js";

const colours = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--continue-text)" },
  { tag: tags.string, color: "var(--done-text)" },
  { tag: [tags.comment, tags.lineComment], color: "var(--quiet)" },
  { tag: [tags.keyword, tags.labelName, tags.typeName, tags.attributeValue], color: "var(--accent)" },
]);

const theme = EditorView.theme({
  "&": { color: "var(--text)", backgroundColor: "var(--background)", fontSize: "0.86rem" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.45" },
  ".cm-gutters": { color: "var(--quiet)", backgroundColor: "var(--fill)", border: "0" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "color-mix(in srgb, var(--accent) 7%, transparent)" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "color-mix(in srgb, var(--accent) 28%, transparent)" },
  ".cm-matchingBracket": { backgroundColor: "var(--soft) !important" },
  ".cm-tooltip": { color: "var(--text)", backgroundColor: "var(--fill)", border: "1px solid var(--stroke)" },
  ".cm-tooltip-autocomplete > ul > li[aria-selected]": { color: "var(--text)", backgroundColor: "var(--soft)" },
  ".cm-panels": { color: "var(--text)", backgroundColor: "var(--fill)" },
});

const quiet = Annotation.define(); // a text that the user did not write

// An Editor shows one of several texts.
export class Editor {
  #view; #states = new Map(); #name; #label; #change; #extensions;

  constructor(parent, label, change, extensions = () => []) {
    this.#label = label;
    this.#change = change;
    this.#extensions = extensions;
    this.#view = new EditorView({ parent, state: this.#state("") });
  }

  #state(text, name) {
    const label = name === undefined ? "" : visible(this.#label(name));
    return EditorState.create({
      doc: text,
      extensions: [
        lineNumbers(), history(), drawSelection(), indentOnInput(), bracketMatching(), closeBrackets(), highlightActiveLine(), lintGutter(),
        keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...historyKeymap, ...completionKeymap, ...lintKeymap]),
        yaml(), indentUnit.of("  "), EditorState.tabSize.of(2), EditorView.lineWrapping, syntaxHighlighting(colours), theme,
        EditorView.cspNonce.of(document.querySelector("meta[name=nonce]")?.content ?? ""),
        EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0" }),
        EditorView.updateListener.of((u) => {
          if (u.docChanged && !u.transactions.some((t) => t.annotation(quiet))) this.#change(this.#name, u.state.doc.toString());
        }),
        name === undefined ? [] : this.#extensions(name),
      ],
    });
  }

  // put replaces all texts, and shows the first.
  put(texts) {
    this.#states = new Map(Object.entries(texts).map(([name, text]) => [name, this.#state(text, name)]));
    this.#name = undefined;
    this.show(Object.keys(texts)[0]);
  }

  show(name) {
    if (this.#name !== undefined) this.#states.set(this.#name, this.#view.state);
    this.#name = name;
    this.#view.setState(this.#states.get(name));
  }

  get shown() { return this.#name; }

  // to shows a line.
  to(name, line) {
    if (name !== this.#name) this.show(name);
    const { doc } = this.#view.state;
    const at = doc.line(Math.min(Math.max(1, line), doc.lines)).from;
    this.#view.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at, { y: "center" }) });
    this.#view.focus();
  }

  // mark shows the findings of all texts by their names.
  mark(findings) {
    const { state } = this.#view, severities = ["", "error", "warning", "info"];
    const marks = (findings.get(this.#name) ?? []).map((f) => ({
      from: offset(state, f.range.start), to: offset(state, f.range.end), severity: severities[f.severity], source: f.code, message: visible(f.message),
    }));
    this.#view.dispatch(setDiagnostics(state, marks), { annotations: quiet.of(true) });
  }
}
