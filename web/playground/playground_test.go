package playground_test

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ralph-sdk/ralph/policytest"
	"github.com/ralph-sdk/ralph/project"
	"github.com/ralph-sdk/ralph/view"
	"github.com/ralph-sdk/ralph/web"
	"github.com/ralph-sdk/ralph/web/playground"
	"github.com/ralph-sdk/ralph/web/playground/engine"
)

// What all tests share is made once, when the first needs it, and removed at the end.
var shared struct {
	dir     string
	build   func() error
	browser func() (*web.Browser, error)
	used    bool
}

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "ralph-playground")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		shared.dir = dir
		shared.build = sync.OnceValue(func() error { return playground.Build(ctx, dir) })
		shared.browser = sync.OnceValues(func() (*web.Browser, error) { return web.OpenBrowser(ctx) })
		defer func() {
			if b, err := shared.browser(); err == nil && shared.used {
				b.Close()
			}
		}()
		return m.Run()
	}())
}

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// page is a tab with the playground.
type page struct {
	*web.Tab
	t    testing.TB
	base string
}

// patient returns the page, on which an answer may take longer: the machine can have other work.
func patient(t testing.TB) string {
	t.Helper()
	index, err := os.ReadFile(filepath.Join(shared.dir, "index.html"))
	ok(t, err)
	page := strings.Replace(string(index), `name="limit" content="2000"`, `name="limit" content="10000"`, 1)
	if page == string(index) {
		t.Fatal("the page does not end what takes 2 s")
	}
	return page
}

// open serves the playground, with other files instead of some, and opens a page of it.
func open(t testing.TB, path string, others map[string]string) *page {
	t.Helper()
	if _, err := web.FindChromium(); err != nil {
		t.Skip(err)
	}
	if err := shared.build(); errors.Is(err, playground.ErrTools) {
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{"/": patient(t)}
	maps.Copy(all, others)
	files := http.FileServer(http.Dir(shared.dir))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if text, other := all[r.URL.Path]; other {
			w.Header().Set("Content-Type", map[string]string{".js": "text/javascript", "": "text/html"}[filepath.Ext(r.URL.Path)])
			_, _ = io.WriteString(w, text)
			return
		}
		files.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	shared.used = true
	b, err := shared.browser()
	ok(t, err)
	b, err = b.Private()
	ok(t, err)
	t.Cleanup(b.Close)
	tab, err := b.Tab()
	ok(t, err)
	t.Cleanup(tab.Close)
	p := &page{tab, t, server.URL}
	ok(t, p.Go(p.base+path))
	return p
}

func (p *page) wait(condition string) {
	p.t.Helper()
	if err := p.Wait(condition); err != nil {
		var answer string
		_ = p.Eval("document.querySelector('#note')?.innerText + '\\n' + document.querySelector('#answer')?.innerText", &answer)
		p.t.Fatalf("the answer is %.1000q; %v", answer, err)
	}
}

func (p *page) eval(expression string, result any) {
	p.t.Helper()
	ok(p.t, p.Eval(expression, result))
}

// put gives the page an input, by a link.
func (p *page) put(policy, state, message string) {
	p.t.Helper()
	input, err := json.Marshal(map[string]any{"policy": "p.yaml", "files": map[string]string{"p.yaml": policy}, "state": state, "message": message})
	ok(p.t, err)
	p.eval(`(async () => {
		const bytes = new Uint8Array(await new Response(new Blob([`+web.Quote(string(input))+`]).stream().pipeThrough(new CompressionStream("deflate-raw"))).arrayBuffer());
		let s = ""; for (const b of bytes) s += String.fromCharCode(b);
		location.hash = btoa(s).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
	})()`, nil)
}

const decided = "document.querySelector('#verdict:not(.old) .badge')"

// quiet fails the test if the console has something, or if the page asked another host.
func (p *page) quiet() {
	p.t.Helper()
	if found := p.Problems(); len(found) > 0 {
		p.t.Errorf("the console has %q", found)
	}
	for _, address := range p.Requests() {
		if !strings.HasPrefix(address, p.base+"/") && !strings.HasPrefix(address, "data:") {
			p.t.Errorf("the page asked for %s", address)
		}
	}
}

// The situation of each test of the examples is decided in the browser as it is here.
func TestSameVerdict(t *testing.T) {
	p := open(t, "/worker.html", map[string]string{"/worker.html": `<!doctype html><link rel="icon" href="data:,"><script>
		const worker = new Worker("worker.js"), waiting = new Map();
		let last = 0;
		worker.onmessage = ({ data }) => { window.ready ||= data.ready; waiting.get(data.id)?.(data); };
		worker.postMessage({});
		window.ask = (name, question) => new Promise((done) => { waiting.set(++last, done); worker.postMessage({ id: last, name, question: JSON.stringify(question) }); });
	</script>`})
	p.wait("window.ready")
	all, err := playground.Examples(t.Context(), filepath.Join("..", "..", "docs", "cookbook.md"))
	ok(t, err)
	if len(all) < 19 {
		t.Errorf("there are %d examples, want the shipped policies and the recipes of the cookbook", len(all))
	}
	cases := 0
	for _, example := range all {
		tests := strings.TrimSuffix(example.Policy, ".yaml") + policytest.Suffix
		file, diags := policytest.Parse(tests, []byte(example.Files.Files[tests]))
		ok(t, diags.Err())
		for _, test := range file.Tests[:min(4, len(file.Tests))] {
			s, err := engine.SituationOf(test)
			ok(t, err)
			var e engine.Engine
			load := e.Load(example.Files)
			want := e.Decide(t.Context(), s)
			var got struct {
				Load, Decide struct{ Answer, Problem string }
			}
			question := func(v any) string { b, _ := json.Marshal(v); return string(b) }
			p.eval(fmt.Sprintf(`(async () => ({ load: await ask("load", %s), decide: await ask("decide", %s) }))()`, question(example.Files), question(s)), &got)
			var found engine.Loaded
			var decision engine.Decision
			ok(t, json.Unmarshal([]byte(got.Load.Answer), &found))
			ok(t, json.Unmarshal([]byte(got.Decide.Answer), &decision))
			if diff := cmp.Diff(plain(t, load), plain(t, found)); diff != "" {
				t.Errorf("%s, %s: events (-native +browser):\n%s", example.Name, test.Name, diff)
			}
			verdict := func(d engine.Decision) any {
				if d.Record == nil {
					return d.Problem
				}
				r := *d.Record
				return plain(t, []any{d.Outcome, r.Rule, r.Action, r.Reason, r.Notices, r.Effects, r.Trace})
			}
			if diff := cmp.Diff(verdict(want), verdict(decision), cmpopts.IgnoreMapEntries(func(k string, _ any) bool { return strings.HasSuffix(k, "_ns") })); diff != "" {
				t.Errorf("%s, %s (-native +browser):\n%s", example.Name, test.Name, diff)
			}
			if want.Record == nil {
				t.Errorf("%s, %s: %s", example.Name, test.Name, want.Problem)
			}
			cases++
		}
	}
	if cases < 50 {
		t.Errorf("there were %d cases, want 50 or more", cases)
	}
	t.Logf("%d cases", cases)
	if found := p.Problems(); len(found) > 0 {
		t.Errorf("the console has %q", found)
	}
}

var directory = regexp.MustCompile(`[/\w.-]*/ralph-test-\d+`) // of one decision

// plain returns a value as JSON has it.
func plain(t testing.TB, v any) (out any) {
	t.Helper()
	b, err := json.Marshal(v)
	ok(t, err)
	ok(t, json.Unmarshal(directory.ReplaceAll(b, []byte("DIR")), &out))
	return out
}

// The page opens with an example: verdict, graph and tests. It asks no other host.
func TestPage(t *testing.T) {
	p := open(t, "/", nil)
	p.wait(decided)
	p.wait("document.querySelector('#graph svg')")
	p.wait("/^\\d+ tests pass$/.test(document.querySelector('#tests p')?.textContent)")
	p.quiet()
}

const checklist = "ralph: 1\nfacts: {todo: {checklist: TODO.md}}\nrules:\n  - name: next\n    when: any(todo, not .done)\n    continue: \"Next: ${filter(todo, not .done)[0].text}\"\n  - name: done\n    stop: all is done\n    success: true\n"

// Each part of the input changes the verdict, and a finding leads to its line.
func TestEdit(t *testing.T) {
	p := open(t, "/", nil)
	p.wait(decided)
	p.put(checklist, "files: {TODO.md: \"- [x] one\\n- [ ] two\\n\"}", "")
	p.wait("document.querySelector('#verdict .reason')?.textContent === 'Next: two'")
	p.put(checklist, "facts: {todo: [{text: one, done: true}]}", "")
	p.wait("document.querySelector('#verdict .reason')?.textContent === 'all is done'")
	p.put(strings.Replace(checklist, "any(todo", "any(toddo", 1), "", "")
	p.wait("[...document.querySelectorAll('#findings li')].some((n) => n.textContent.includes('toddo'))")
	p.eval("document.querySelector('#findings button').click()", nil)
	p.wait("document.activeElement.closest('.policy') && document.querySelector('.policy .cm-activeLine').textContent.includes('toddo')")
	p.put("ralph: 1\nrules:\n  - {name: a, when: last_assistant_message == \"hello\", stop: said it}\n  - {name: b, continue: go on}\n", "", "")
	p.wait("document.querySelector('#verdict .reason')?.textContent === 'go on'")
	p.eval("document.querySelector('#message').focus()", nil)
	ok(t, p.Type("hello"))
	p.wait("document.querySelector('#verdict .reason')?.textContent === 'said it'")
	p.put(checklist, "facts: {todo: [", "")
	p.wait("document.querySelector('#verdict .banner')?.textContent.includes(':')")
	p.quiet()
}

// A test gives its situation, and a test that fails says why.
func TestTests(t *testing.T) {
	p := open(t, "/#example=todo-reminder", nil)
	p.wait("document.querySelectorAll('#tests li').length > 1")
	p.eval("document.querySelector('#tests li:nth-child(2) button').click()", nil)
	p.wait(decided)
	p.quiet()
}

// The language server completes words of the policy, and explains them, with texts of the policy as text.
func TestWords(t *testing.T) {
	p := open(t, "/", nil)
	p.wait(decided)
	p.put("ralph: 1\nfacts:\n  # <img src=x onerror=alert(1)>\n  todo: {checklist: TODO.md}\nrules:\n  - name: next\n    when: len(tod\n    stop: all is done\n", "", "")
	p.wait("document.querySelector('#findings li')")
	p.eval(`(() => {
		const line = [...document.querySelectorAll('.policy .cm-line')].find((n) => n.textContent.includes('len(tod'));
		document.querySelector('.policy .cm-content').focus();
		getSelection().selectAllChildren(line);
		getSelection().collapseToEnd();
	})()`, nil)
	ok(t, p.Type("o"))
	p.wait("[...document.querySelectorAll('.cm-tooltip-autocomplete li')].some((n) => n.textContent.startsWith('todo'))")
	ok(t, p.Key("Escape", 0))
	p.wait("!document.querySelector('.cm-tooltip-autocomplete')")
	var at struct{ X, Y float64 }
	p.eval(`(() => {
		const line = [...document.querySelectorAll('.policy .cm-line')].find((n) => n.textContent.includes('checklist'));
		const walk = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
		let text = walk.nextNode();
		while (!text.data.includes('checklist')) text = walk.nextNode();
		const range = document.createRange();
		range.setStart(text, text.data.indexOf('checklist') + 2);
		range.setEnd(text, text.data.indexOf('checklist') + 4);
		const box = range.getBoundingClientRect();
		return { x: box.x + 2, y: box.y + box.height / 2 };
	})()`, &at)
	for range 2 {
		ok(t, p.Call("Input.dispatchMouseEvent", map[string]any{"type": "mouseMoved", "x": at.X, "y": at.Y}, nil))
		at.X++
	}
	p.wait("document.querySelector('.cm-tooltip-hover .doc')?.textContent.length > 20")
	p.quiet()
}

// A link has the whole input, and is no longer than it may be.
func TestLink(t *testing.T) {
	p := open(t, "/", nil)
	p.wait(decided)
	p.put(checklist, "files: {TODO.md: \"- [ ] from a link\"}", "words")
	p.wait("document.querySelector('#verdict .reason')?.textContent === 'Next: from a link'")
	p.eval("history.replaceState(null, '', '/'); [...document.querySelectorAll('button')].find((b) => b.textContent === 'Link to this').click()", nil)
	p.wait("location.hash.length > 100")
	var address string
	p.eval("location.href", &address)
	ok(t, p.Go("about:blank"))
	ok(t, p.Go(address))
	p.wait("document.querySelector('#verdict:not(.old) .reason')?.textContent === 'Next: from a link' && document.querySelector('#message').value === 'words'")
	for _, r := range p.Requests() {
		if strings.Contains(r, address[len(p.base)+10:]) {
			t.Errorf("the input was sent: %s", r)
		}
	}
	for _, bad := range []string{"x", strings.Repeat("A", 40<<10), "%%%"} {
		p.eval("document.querySelector('#note').textContent = ''; location.hash = "+web.Quote(bad), nil)
		p.wait("document.querySelector('#note').textContent.startsWith('This link cannot be read')")
	}
	p.quiet()
}

// An engine that does not answer is stopped, which the page shows, and the next change gets an answer.
func TestRunaway(t *testing.T) {
	open(t, "/", nil)
	worker, err := os.ReadFile(filepath.Join(shared.dir, "worker.js"))
	ok(t, err)
	p := open(t, "/", map[string]string{"/worker.js": "addEventListener('message', ({ data }) => { while (data.question?.includes('for ever')); });\n" + string(worker)})
	p.wait(decided)
	p.put("ralph: 1 # for ever\n", "", "")
	p.wait("document.querySelector('#verdict [role=alert]')?.textContent.includes('did not answer within 10 seconds')")
	p.put(checklist, "files: {TODO.md: \"- [ ] after it\"}", "")
	p.wait("document.querySelector('#verdict .reason')?.textContent === 'Next: after it'")
	p.quiet()
}

// ralph view has the playground, with what its own page allows and no more.
func TestInView(t *testing.T) {
	p := open(t, "/", nil)
	dir := t.TempDir()
	ok(t, os.CopyFS(dir, os.DirFS(shared.dir)))
	ok(t, os.WriteFile(filepath.Join(dir, "index.html"), []byte(patient(t)), 0o644))
	none, err := project.Open(project.Config{State: t.TempDir(), Env: func(string) string { return "" }})
	ok(t, err)
	t.Cleanup(func() { none.Close() })
	server, err := view.New(view.Config{Project: none, Playground: os.DirFS(dir)})
	ok(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- server.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		ok(t, <-done)
	})
	ok(t, p.Go(server.URL()))
	p.wait("document.querySelector('nav a[href=\"/playground/\"]')")
	p.eval("document.querySelector('nav a[href=\"/playground/\"]').click()", nil)
	p.wait(decided)
	p.wait("document.querySelector('#graph svg')")
	if found := p.Problems(); len(found) > 0 {
		t.Errorf("the console has %q", found)
	}
}

// Whatever a policy, a state or a link has is shown as text.
func TestHostile(t *testing.T) {
	attacks := []string{
		`<script>window.executed=1;alert(1)</script>`, `</script></style></title><img src=x onerror=alert(2)>`, `" autofocus onfocus="alert(4)`,
		`<svg/onload=alert(5)><iframe src=//evil.test></iframe>`, `{{constructor.constructor('alert(6)')()}}`, "safe\u202Egnp.exe\u2066 \u200b",
	}
	p := open(t, "/", nil)
	p.wait(decided)
	for i, a := range attacks {
		text, err := json.Marshal(a)
		ok(t, err)
		policy := "ralph: 1\ndescription: " + string(text) + "\nfacts: {todo: {checklist: TODO.md}}\nrules:\n  - name: r\n    when: any(todo, .text == " + string(text) +
			")\n    continue: " + strings.ReplaceAll(string(text), "${", "$${") + "\n    notice: " + string(text) + "\n  - {name: s, when: undeclared, stop: x}\n"
		state := "facts: {todo: [{text: " + string(text) + ", done: false}]}"
		for _, broken := range []bool{true, false} {
			if !broken {
				policy = strings.Replace(policy, "  - {name: s, when: undeclared, stop: x}\n", "", 1)
			}
			p.put(policy, state, a)
			p.wait(map[bool]string{
				true:  "document.querySelector('#findings')?.textContent.includes('undeclared')",
				false: fmt.Sprintf("document.querySelector('#verdict:not(.old) .reason') && document.querySelector('#graph svg') && document.querySelector('#message').value === %s", web.Quote(strings.ReplaceAll(a, "\r", ""))),
			}[broken])
			var found []string
			p.eval(`[...document.querySelectorAll('main script, main img:not(.cm-widgetBuffer), main iframe, main [onfocus], main [onload], main [onerror], main [autofocus]')].map((n) => n.outerHTML.slice(0, 200)).concat(window.executed ? ['executed'] : [])`, &found)
			if len(found) > 0 {
				t.Errorf("attack %d: %q", i, found)
			}
		}
	}
	p.quiet()
}

// The page can be used without eyes or a mouse, in both themes.
func TestAccessible(t *testing.T) {
	cache, err := os.UserCacheDir()
	ok(t, err)
	axe, err := os.ReadFile(filepath.Join(cache, "ralph-npm", "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		t.Skip("axe-core is not installed; .ci/run installs it from npm")
	}
	p := open(t, "/", nil)
	for _, theme := range []string{"light", "dark"} {
		ok(t, p.Theme(theme))
		ok(t, p.Go(p.base+"/"))
		p.wait(decided)
		p.wait("document.querySelector('#tests li')")
		ok(t, p.Eval(string(axe), nil))
		for _, broken := range []bool{false, true} {
			if broken {
				p.put(strings.Replace(checklist, "any(todo", "any(toddo", 1), "", "")
				p.wait("document.querySelector('#findings li')")
			}
			var problems []string
			p.eval(`axe.run(document, { resultTypes: ['violations'] }).then((r) => r.violations
				.flatMap((v) => v.nodes.map((n) => v.id + ': ' + n.target.join(' ') + ' ' + n.html.slice(0, 150) + ' ' + [...n.any, ...n.all, ...n.none].map((c) => c.message).join(' '))))`, &problems)
			for _, problem := range problems {
				t.Errorf("%s: %s", theme, problem)
			}
		}
	}
	// By keyboard: every field is reached, also from within an editor.
	p.eval("document.activeElement.blur()", nil)
	var reached []string
	for range 40 {
		ok(t, p.Key("Tab", 0))
		var at string
		p.eval("document.activeElement.getAttribute('aria-label') || document.activeElement.id || document.activeElement.textContent.slice(0, 20)", &at)
		reached = append(reached, at)
	}
	for _, want := range []string{"Example", "Link to this", "File p.yaml", "State", "event", "message", "The graph"} {
		if !slices.Contains(reached, want) {
			t.Errorf("the keyboard does not reach %s; it reaches %q", want, reached)
		}
	}
	p.quiet()
}

// The engine and the scripts have the sizes that the page promises.
func TestSizes(t *testing.T) {
	open(t, "/", nil)
	size := func(names ...string) (n int) {
		for _, name := range names {
			b, err := os.ReadFile(filepath.Join(shared.dir, name))
			ok(t, err)
			if filepath.Ext(name) == ".gz" {
				n += len(b)
				continue
			}
			var packed strings.Builder
			w := gzip.NewWriter(&packed)
			_, err = w.Write(b)
			ok(t, errors.Join(err, w.Close()))
			n += packed.Len()
		}
		return n
	}
	if n := size("engine.wasm.gz"); n > 4<<20 {
		t.Errorf("the engine has %d bytes, more than 4 MiB", n)
	}
	if n := size("app.js", "worker.js"); n > 200_000 {
		t.Errorf("the scripts have %d bytes, more than 200 KB", n)
	}
}

// BenchmarkFirst is a visit: from the address to the first verdict.
func BenchmarkFirst(b *testing.B) {
	p := open(b, "/", nil)
	p.wait(decided)
	for b.Loop() {
		b.StopTimer()
		ok(b, p.Go("about:blank"))
		b.StartTimer()
		ok(b, p.Go(p.base+"/"))
		p.wait(decided)
	}
}

// BenchmarkEdit has the medians, in the page, from a change to the verdict that is shown.
func BenchmarkEdit(b *testing.B) {
	p := open(b, "/#example=specum", nil)
	p.wait(decided)
	p.wait("document.querySelector('#tests li')")
	for what, editor := range map[string]string{"policy": ".policy", "state": ".given"} {
		b.Run(what, func(b *testing.B) {
			var took []float64
			for b.Loop() {
				var ms float64
				p.eval(`new Promise((done) => {
					const node = document.querySelector('`+editor+` .cm-content'), verdict = document.querySelector('#verdict');
					let from;
					const seen = new MutationObserver(() => { if (from && !verdict.classList.contains('old')) { seen.disconnect(); done(performance.now() - from); } });
					seen.observe(verdict, { attributes: true, childList: true, subtree: true });
					node.focus();
					getSelection().setPosition(node, 0);
					from = performance.now();
					document.execCommand('insertText', false, '#');
				})`, &ms)
				took = append(took, ms)
				p.wait("document.querySelector('#verdict:not(.old)')")
			}
			slices.Sort(took)
			b.ReportMetric(took[len(took)/2], "median-ms")
		})
	}
}
