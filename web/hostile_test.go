package web_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-sdk/ralph/web"
)

// attacks are texts that a browser could take for something else.
var attacks = []string{
	`<script>window.executed=1;alert(1)</script>`,
	`</script></style></title><img src=x onerror=alert(2)>`,
	`<!--<script>`,
	`javascript:alert(3)`,
	`" autofocus onfocus="alert(4)`,
	`<svg/onload=alert(5)><iframe src=//evil.test></iframe>`,
	`<link rel=stylesheet href=//evil.test/x.css><style>@import '//evil.test'</style>`,
	`{{constructor.constructor('alert(6)')()}}${alert(7)}`,
	"safe\u202Egnp.exe\u2066 \u200b",
	strings.Repeat("<b>", 20<<10),
}

// marks are the same texts as the page shows them: what steers the direction of a line is visible. Texts of rows are cut.
func mark(s string) string {
	s = strings.NewReplacer("\u202e", `\u202e`, "\u2066", `\u2066`, "\u200b", `\u200b`).Replace(s)
	return s[:min(len(s), 100)]
}

// hostile makes a world whose names and texts are attacks, and returns the name of its policy.
func hostile(t *testing.T, w *web.World) string {
	t.Helper()
	const name = `.ralph/<img src=x onerror=alert(8)>"'&.yaml`
	var policy strings.Builder
	policy.WriteString("ralph: 1\ndescription: " + quoted(attacks[1]) + "\nfacts:\n  todo: {checklist: TODO.md}\nlimits: {continuations: 300, repeats: 100}\nrules:\n")
	var todo strings.Builder
	for i, a := range attacks {
		fmt.Fprintf(&policy, "  - name: r%d\n    when: 'last_assistant_message == \"attack %d\" and not any(todo, .text == %s)'\n    stop: %s\n", i, i,
			strings.ReplaceAll(quoted(a[:min(len(a), 200)]+"!"), "'", "''"), strings.ReplaceAll(quoted(a), "${", "$${"))
		fmt.Fprintf(&todo, "- [ ] %s\n", a)
	}
	policy.WriteString("  - name: echo\n    when: not any(todo, .done)\n    stop: \"said: ${last_assistant_message}\"\n")
	ok(t, w.Write(name, policy.String()))
	ok(t, w.Write("TODO.md", todo.String()))
	for i, a := range attacks {
		must(w.Eval(t.Context(), "session "+a[:min(len(a), 2000)], fmt.Sprint("attack ", i), "--policy", name))(t)
		must(w.Eval(t.Context(), "s1", a, "--policy", name))(t)
	}
	return name
}

func quoted(s string) string {
	b, _ := json.Marshal(s) // as YAML
	return string(b)
}

// harmless fails the test if one of the texts became an element or was executed.
func (p *page) harmless(where string) {
	p.t.Helper()
	var found []string
	p.eval(`[...document.querySelectorAll('main script, main img, main iframe, main link, main style, main [onfocus], main [onload], main [onerror], main b, main object, body > :not(#app, noscript, script, #contents)')]
		.filter((n) => !n.closest('svg > style')).map((n) => n.outerHTML.slice(0, 200))
		.concat([...document.querySelectorAll('a')].filter((a) => !['http:', 'file:'].includes(a.protocol)).map((a) => a.href))
		.concat(window.executed ? ['executed'] : []).concat(document.title.includes('<') && document.querySelector('title').children.length ? ['title'] : [])`, &found)
	for _, f := range found {
		p.t.Errorf("%s: %s", where, f)
	}
	if t := p.Problems(); len(t) > 0 {
		p.t.Errorf("%s: the console has %q", where, t)
	}
}

// has fails the test if the page does not have the texts.
func (p *page) has(where string, texts ...string) {
	p.t.Helper()
	var all string
	p.eval("document.body.textContent", &all)
	for _, s := range texts {
		if !strings.Contains(all, s) {
			p.t.Errorf("%s does not have %.80q", where, s)
		}
	}
}

// visit opens every view that a timeline leads to, and looks at each.
func (p *page) visit(policy string) {
	p.t.Helper()
	p.view("#/timeline")
	p.wait("document.querySelectorAll('.list a').length >= 20")
	var marks, decisions, digests []string
	for _, a := range attacks {
		marks = append(marks, mark(a))
	}
	p.has("the timeline", marks...)
	p.harmless("the timeline")
	p.eval("[...document.querySelectorAll('.list a')].map((a) => a.getAttribute('href'))", &decisions)
	all := ""
	for _, d := range decisions {
		p.view(d)
		p.wait("document.querySelector('main .rules')")
		p.harmless(d)
		var text string
		p.eval("document.body.textContent", &text)
		all += text
		p.eval("[...document.querySelectorAll('a')].map((a) => a.getAttribute('href')).filter((h) => h.startsWith('#/policy/')).map((h) => h.split('?')[0])", &digests)
	}
	for _, m := range marks {
		if !strings.Contains(all, m) {
			p.t.Errorf("no decision shows %.80q", m)
		}
	}
	if len(digests) == 0 {
		p.t.Fatal("no decision leads to its policy")
	}
	p.view(digests[0])
	p.wait("document.querySelector('main svg') && document.querySelector('main .source')")
	p.has("the policy", policy, mark(attacks[0]), mark(attacks[3]))
	p.harmless("the policy")
	for _, hash := range []string{
		"#/", web.Hash("timeline", "q", "<script>"), web.Hash("timeline", "session", attacks[0], "policy", attacks[1], "rule", attacks[3], "action", attacks[4]),
		"#/decision/" + url.PathEscape(attacks[1]), "#/policy/" + url.PathEscape(attacks[0]), "#/run/" + url.PathEscape(attacks[5]), "#/" + url.PathEscape(attacks[0]), "#/__proto__", "#/%",
	} {
		p.view(hash)
		got := p.Problems() // what is not found is an error of the network in the console
		for _, g := range got {
			if !strings.Contains(g, "404") {
				p.t.Errorf("%s: %s", hash, g)
			}
		}
		p.harmless(hash)
	}
}

// Whatever names and texts are, they are shown as text: in the page, in the file that it writes, and in graphs.
func TestHostile(t *testing.T) {
	w := world(t)
	policy := hostile(t, w)
	p := serve(t, w)
	short := strings.TrimSuffix(strings.TrimPrefix(policy, ".ralph/"), ".yaml")
	p.has("the overview", short, "session "+mark(attacks[0]))
	p.harmless("the overview")
	p.visit(policy)
	for _, r := range p.Requests() {
		if !strings.HasPrefix(r, p.server.Base+"/") && r != "data:," {
			t.Errorf("it asked for %s", r)
		}
	}

	t.Run("file", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "out.html")
		must(w.Ralph(t.Context(), "", "view", "--out", file))(t)
		f := openFile(t, p.browser, file)
		f.wait("document.querySelector('main h2') && !document.querySelector('main').textContent.includes('Reading the loops')") // there is no run
		f.harmless("the file")
		f.visit(policy)
		f.alone(file)
	})
	t.Run("graphs", func(t *testing.T) {
		dir := t.TempDir()
		for _, format := range []string{"svg", "mermaid", "text"} {
			file := filepath.Join(dir, "graph."+format)
			must(w.Ralph(t.Context(), "", "graph", policy, "--out", file, "--format", format))(t)
			text := string(must(os.ReadFile(file))(t))
			if format != "svg" {
				for _, bad := range []string{"\u202e", "\u200b", "\nclick "} {
					if strings.Contains(text, bad) {
						t.Errorf("%s has %q", format, bad)
					}
				}
				if format == "mermaid" && strings.Contains(text, "<script") {
					t.Error("mermaid has a script")
				}
			}
		}
		f := &page{must(p.browser.Tab())(t), t, p.server, p.browser}
		defer f.Close()
		file := "file://" + filepath.Join(dir, "graph.svg")
		ok(t, f.Go(file))
		var text string
		f.eval("document.documentElement.textContent", &text)
		for _, a := range []string{attacks[0], attacks[3]} {
			if !strings.Contains(text, a) {
				t.Errorf("the picture does not have %q", a)
			}
		}
		var elements []string
		f.eval("[...new Set([...document.querySelectorAll('*')].map((e) => e.localName))].filter((n) => !['svg', 'style', 'title', 'g', 'path', 'rect', 'circle', 'text', 'tspan'].includes(n))", &elements)
		if len(elements) > 0 {
			t.Errorf("the picture has %q", elements)
		}
		f.alone(strings.TrimPrefix(file, "file://"))
	})
}
