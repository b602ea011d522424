package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/web"
)

// What all tests share is made once, when the first needs it, and removed at the end.
var shared struct {
	dir     string
	program func() (string, error)
	browser func() (*web.Browser, error)
	full    func() (*web.World, error) // 10,000 decisions of 50 sessions
}

const (
	decisions = 10_000
	sessions  = 50
)

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "ralph-web")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		shared.dir = dir
		shared.program = sync.OnceValues(func() (string, error) { return web.Build(ctx, dir) })
		shared.browser = sync.OnceValues(func() (*web.Browser, error) { return web.OpenBrowser(ctx, "evil.test") })
		shared.full = sync.OnceValues(func() (*web.World, error) {
			program, err := shared.program()
			if err != nil {
				return nil, err
			}
			w, err := newWorld(program, "full")
			if err != nil {
				return nil, err
			}
			return w, w.Fill(ctx, decisions, sessions)
		})
		defer func() {
			if b, err := shared.browser(); err == nil && used {
				b.Close()
			}
		}()
		return m.Run()
	}())
}

var used bool // the browser was started

func newWorld(program, name string) (*web.World, error) {
	dir := filepath.Join(shared.dir, name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	return web.NewWorld(program, dir)
}

// must returns a value, or fails the test: must(f())(t).
func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// world makes a project without decisions.
func world(t testing.TB) *web.World {
	t.Helper()
	program := must(shared.program())(t)
	return must(newWorld(program, strings.ReplaceAll(t.Name(), "/", "-")))(t)
}

// eval makes a decision.
func eval(t testing.TB, w *web.World, session, message string) {
	t.Helper()
	must(w.Eval(t.Context(), session, message))(t)
}

// browser returns one with cookies of its own.
func browser(t testing.TB) *web.Browser {
	t.Helper()
	if _, err := web.FindChromium(); err != nil {
		t.Skip(err)
	}
	used = true
	b := must(must(shared.browser())(t).Private())(t)
	t.Cleanup(b.Close)
	return b
}

// page is a tab with the page of a server.
type page struct {
	*web.Tab
	t       testing.TB
	server  *web.Server
	browser *web.Browser
}

// serve shows a world in a browser.
func serve(t testing.TB, w *web.World, args ...string) *page {
	t.Helper()
	b := browser(t)
	s := must(w.View(context.Background(), args...))(t)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return open(t, b, s)
}

// open opens the page of a server in a tab of a browser.
func open(t testing.TB, b *web.Browser, s *web.Server) *page {
	t.Helper()
	p := &page{must(b.Tab())(t), t, s, b}
	t.Cleanup(p.Close)
	p.open(s.URL)
	return p
}

// open loads an address.
func (p *page) open(address string) {
	p.t.Helper()
	ok(p.t, p.Go("about:blank")) // another fragment alone loads nothing
	ok(p.t, p.Go(address))
	p.wait("document.querySelector('main h1')")
}

// view opens a view by its address and waits until it is shown.
func (p *page) view(hash string) {
	p.t.Helper()
	p.eval("window.before = document.querySelector('main h1')", nil)
	p.eval("location.hash = "+web.Quote(hash), nil)
	p.wait("document.querySelector('main h1') && document.querySelector('main h1') !== window.before")
}

func (p *page) eval(expression string, result any) {
	p.t.Helper()
	if result == nil {
		expression = "void (" + expression + ")"
	}
	ok(p.t, p.Eval(expression, result))
}

func (p *page) wait(condition string) {
	p.t.Helper()
	ok(p.t, p.Wait(condition))
}

func (p *page) hash() (h string) {
	p.t.Helper()
	p.eval("location.hash", &h)
	return h
}

// text returns what a reader sees of an element.
func (p *page) text(selector string) (s string) {
	p.t.Helper()
	p.eval("document.querySelector("+web.Quote(selector)+").innerText", &s)
	return s
}

// calm fails the test if the console has an error, a dialog opened, or something was loaded from elsewhere.
func (p *page) calm() {
	p.t.Helper()
	if diff := cmp.Diff([]string(nil), p.Problems()); diff != "" {
		p.t.Errorf("the console (-want +got)\n%s", diff)
	}
	for _, r := range p.Requests() {
		if !strings.HasPrefix(r, p.server.Base+"/") && !strings.HasPrefix(r, "data:,") {
			p.t.Errorf("it asked for %s", r)
		}
	}
}

// ids collects the IDs of the decisions that a timeline has, from its first row to its last. It fails if the document ever has
// more rows than a page may have.
func (p *page) ids() (list []string) {
	p.t.Helper()
	const most = 500
	var got struct {
		IDs  []string
		Rows int
	}
	p.eval(`(async () => {
		const frame = () => new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r)));
		const list = document.querySelector('.list'), seen = new Map(), rows = () => document.querySelectorAll('.row, li, tr').length;
		let most = 0;
		list.scrollTop = 0;
		for (;;) {
			await frame();
			most = Math.max(most, rows());
			for (const row of list.querySelectorAll('[role=listitem]')) {
				const link = row.querySelector('a');
				if (link) seen.set(Number(row.getAttribute('aria-posinset')), decodeURIComponent(link.getAttribute('href').split('/')[2].split('?')[0]));
			}
			const top = list.scrollTop;
			list.scrollTop += list.clientHeight;
			if (list.scrollTop === top) break;
		}
		return { ids: [...seen.entries()].sort((a, b) => a[0] - b[0]).map((e) => e[1]), rows: most };
	})()`, &got)
	if got.Rows > most {
		p.t.Errorf("the document has %d rows", got.Rows)
	}
	return got.IDs
}

// logged returns the IDs of the decisions of the log, the latest first.
func logged(t testing.TB, w *web.World) (list []string) {
	t.Helper()
	out := must(w.Ralph(t.Context(), "", "log", "--last", "0", "--format", "json"))(t)
	for line := range strings.Lines(out) {
		var record struct{ ID string }
		ok(t, json.Unmarshal([]byte(line), &record))
		list = append(list, record.ID)
	}
	slices.Reverse(list)
	return list
}
