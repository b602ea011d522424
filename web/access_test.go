package web_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/web"
)

// busy makes a world in which every view has something: decisions of several kinds, a loop, a run with output, a pause, a hint, and a
// policy that cannot be used.
func busy(t *testing.T, w *web.World) {
	t.Helper()
	ok(t, w.Fill(t.Context(), 40, 4))
	must(w.Ralph(t.Context(), "", "start", "ralph-wiggum", "Make all tests pass", "--promise", "DONE", "--max", "5"))(t)
	must(w.Eval(t.Context(), "s1", "working", "--policy", "ralph-wiggum"))(t)
	must(w.Ralph(t.Context(), "", "hint", "Try the smaller test first"))(t)
	_, err := w.Ralph(t.Context(), "", "run", "--policy", ".ralph/policy.yaml", "--max", "2", "--client", "generic", "--", "sh", "-c", "echo the agent works")
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.ExitCode() != 10 {
		t.Fatal(err) // it ends by its limit
	}
	ok(t, w.Write(".ralph/broken.yaml", "ralph: 1\nrules:\n  - stop: [\n"))
	must(w.Eval(t.Context(), "s2", "x", "--policy", ".ralph/broken.yaml"))(t)
	must(w.Ralph(t.Context(), "", "pause", "--session", "session-1"))(t)
	must(w.Eval(t.Context(), "session-1", "paused"))(t)
}

// addresses returns an address of each view, found as a reader finds it.
func (p *page) addresses() map[string]string {
	p.t.Helper()
	found := map[string]string{
		"overview": "#/",
		"timeline": "#/timeline",
		"filtered": web.Hash("timeline", "action", "continue", "session", "session-2", "q", "next"),
		"charts":   web.Hash("timeline", "show", "charts"),
		"none":     web.Hash("timeline", "q", "nothing is like this"),
	}
	p.view("#/timeline")
	p.wait("document.querySelectorAll('.list a').length > 20")
	var links []string
	p.eval("[...document.querySelectorAll('.list a')].map((a) => a.getAttribute('href'))", &links)
	for i, link := range links {
		if i%7 == 0 {
			found[fmt.Sprint("decision ", i)] = link
		}
	}
	p.eval("location.hash = '#/'", nil)
	p.wait("document.querySelector('main a[href^=\"#/policy/\"]')")
	p.eval("[...new Set([...document.querySelectorAll('main a')].map((a) => a.getAttribute('href')))].filter((h) => h.startsWith('#/policy/') || h.startsWith('#/run/'))", &links)
	for _, link := range links {
		found[strings.SplitN(link, "/", 3)[1]+" "+link] = link
	}
	return found
}

// axe returns the source of axe-core.
func axe(t *testing.T) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Skip(err)
	}
	src, err := os.ReadFile(filepath.Join(cache, "ralph-npm", "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		t.Skip("axe-core is not installed; .ci/run installs it from npm")
	}
	return string(src)
}

// Every view can be used without eyes or a mouse, in both themes.
func TestAccessible(t *testing.T) {
	src := axe(t)
	w := world(t)
	busy(t, w)
	file := filepath.Join(t.TempDir(), "out.html")
	must(w.Ralph(t.Context(), "", "view", "--out", file))(t)
	p, empty := serve(t, w), serve(t, must(newWorld(w.Program, "empty"))(t))
	check := func(p *page, theme, name string) {
		t.Helper()
		var problems []string
		p.eval(`axe.run(document, { resultTypes: ['violations'] }).then((r) => r.violations
			.flatMap((v) => v.nodes.map((n) => v.id + ': ' + n.target.join(' ') + ' ' + n.html.slice(0, 150) + ' ' + [...n.any, ...n.all, ...n.none].map((c) => c.message).join(' '))))`, &problems)
		for _, problem := range problems {
			t.Errorf("%s, %s: %s", name, theme, problem)
		}
	}
	addresses := p.addresses()
	for _, theme := range []string{"light", "dark"} {
		ok(t, p.Theme(theme))
		p.open(p.server.Base + "/#/timeline?q=first")
		ok(t, p.Eval(src, nil))
		for name, hash := range addresses {
			p.view(hash)
			p.wait("!document.querySelector('.space') || document.querySelector('.list').hidden || document.querySelector('.space').children.length > 0")
			check(p, theme, name)
		}
		ok(t, empty.Theme(theme))
		ok(t, empty.Eval(src, nil))
		check(empty, theme, "an empty project")
		f := openFile(t, p.browser, file)
		ok(t, f.Theme(theme))
		ok(t, f.Eval(src, nil))
		check(f, theme, "a file")
	}
}

// An address shows the same in a tab where it is opened first.
func TestAddresses(t *testing.T) {
	w := world(t)
	busy(t, w)
	p := serve(t, w)
	q := &page{must(p.browser.Tab())(t), t, p.server, p.browser}
	defer q.Close()
	ages := regexp.MustCompile(`just now|[0-9]+ (ms|s|min) ago`)
	shown := func(p *page) string {
		p.wait("document.querySelector('#state').textContent === 'live' && (location.hash !== '#/' || document.querySelector('.card')) && !document.querySelector('.found')?.textContent.includes('reading')")
		p.wait("!document.querySelector('.pictures')?.open || document.querySelector('.charts figure')")
		p.eval("document.querySelector('.list')?.scrollTo(0, 0)", nil) // a view that is opened again is where it was left
		p.wait("!document.querySelector('.space') || document.querySelector('.list').hidden || document.querySelector('[aria-posinset=\"1\"]')")
		var text string
		p.eval(`[...document.querySelectorAll('main > :not(.list)')].map((e) => e.innerText)
			.concat([...document.querySelectorAll('.list [role=listitem]')].filter((e) => e.getAttribute('aria-posinset') <= 10).sort((a, b) => a.getAttribute('aria-posinset') - b.getAttribute('aria-posinset')).map((e) => e.innerText)).join('\n')`, &text)
		return ages.ReplaceAllString(text, "AGE")
	}
	for name, hash := range p.addresses() {
		if hash == p.hash() {
			p.view("#/timeline?q=other")
		}
		p.view(hash)
		want, address := shown(p), p.server.Base+"/"+p.hash()
		p.eval("window.before = true", nil)
		ok(t, p.Call("Page.reload", nil, nil))
		p.wait("!window.before && document.querySelector('main h1')")
		if diff := cmp.Diff(want, shown(p)); diff != "" {
			t.Errorf("%s, loaded again (-before +after)\n%s", name, diff)
		}
		q.open(address)
		if diff := cmp.Diff(want, shown(q)); diff != "" {
			t.Errorf("%s, copied (-before +after)\n%s", name, diff)
		}
	}
}

// With the keyboard alone everything is reached, and what has the focus is seen.
func TestKeyboard(t *testing.T) {
	w := world(t)
	busy(t, w)
	p := serve(t, w)
	for name, hash := range p.addresses() {
		p.open(p.server.Base + "/" + hash)
		if hash == "#/" {
			p.wait("document.querySelector('.card')")
		} else if strings.HasPrefix(hash, "#/timeline") {
			p.wait("!document.querySelector('.found').textContent.includes('reading')")
		}
		p.wait("!document.querySelector('.pictures')?.open || document.querySelector('.charts figure')")
		p.eval("document.activeElement.blur(), window.reached = new Set(), window.unseen = [], window.firstOne = undefined, window.nameOf = (e) => [e.localName, e.getAttribute('href'), e.getAttribute('aria-label'), e.getAttribute('name'), e.closest('section, details, figure')?.querySelector('h2, summary')?.textContent, e.getAttribute('aria-label') ? '' : e.textContent.slice(0, 50)].join()", nil)
		var most int
		p.eval("document.querySelectorAll('*').length", &most)
		done := false
		for range most {
			ok(t, p.Key("Tab", 0))
			p.eval(`(() => { const e = document.activeElement;
				if (!e || e === document.body || e === window.firstOne) return true;
				window.firstOne ??= e;
				reached.add(nameOf(e));
				const s = getComputedStyle(e), box = e.getBoundingClientRect();
				if ((s.outlineStyle === 'none' || parseFloat(s.outlineWidth) === 0) && s.boxShadow === 'none') unseen.push('no outline: ' + e.outerHTML.slice(0, 120));
				if (box.width < 1 || box.height < 1) unseen.push('no size: ' + e.outerHTML.slice(0, 120));
				return false; })()`, &done)
			if done {
				break
			}
		}
		var missed []string
		p.eval(`unseen.concat([...document.querySelectorAll('a[href], button, input, select, summary, [tabindex="0"]')].filter((e) => e.checkVisibility() && e.tabIndex >= 0 && !reached.has(nameOf(e))).map((e) => 'not reached: ' + e.outerHTML.slice(0, 150)))`, &missed)
		for _, m := range missed {
			t.Errorf("%s: %s", name, m)
		}
	}

	// The list is one stop: the arrow keys go through it, to its end and back, and Enter opens a decision.
	p.open(p.server.Base + "/#/timeline")
	p.wait("!document.querySelector('.found').textContent.includes('reading')")
	p.eval("document.querySelector('input[type=search]').focus()", nil)
	ok(t, p.Key("ArrowDown", 0))
	position := func() (n int) {
		p.eval("Number(document.activeElement.closest('[role=listitem]')?.getAttribute('aria-posinset') ?? 0)", &n)
		return n
	}
	var size int
	p.eval("Number(document.querySelector('[role=listitem]').getAttribute('aria-setsize'))", &size)
	for _, step := range []struct {
		key  string
		want func(n int) bool
	}{
		{"ArrowDown", func(n int) bool { return n == 2 }}, {"ArrowDown", func(n int) bool { return n == 3 }}, {"End", func(n int) bool { return n == size }},
		{"PageUp", func(n int) bool { return n < size }}, {"Home", func(n int) bool { return n <= 2 }},
	} {
		ok(t, p.Key(step.key, 0))
		if n := position(); !step.want(n) {
			t.Errorf("after %s the row %d has the focus, of %d", step.key, n, size)
		}
	}
	ok(t, p.Key("Enter", 0))
	p.wait("location.hash.startsWith('#/decision/')")
}

// A narrow window scrolls down only.
func TestNarrow(t *testing.T) {
	w := world(t)
	busy(t, w)
	p := serve(t, w)
	addresses := p.addresses()
	ok(t, p.Size(360, 740))
	for name, hash := range addresses {
		p.open(p.server.Base + "/" + hash)
		var wide []string
		p.eval(`(() => { const d = document.documentElement; if (d.scrollWidth <= 360 && d.clientWidth === 360) return [];
			return ['the document is ' + d.scrollWidth].concat([...document.querySelectorAll('body *')].filter((e) => e.getBoundingClientRect().right > 361 && !e.closest('.scroll, pre, .list')).map((e) => e.outerHTML.slice(0, 120)).slice(0, 5)); })()`, &wide)
		for _, e := range wide {
			t.Errorf("%s: %s", name, e)
		}
	}
}
