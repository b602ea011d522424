// Command pictures makes the pictures of ralph view, of the playground and of a terminal in docs/pictures, from scripted runs with a
// fixed clock. Run it in the directory web: go run ./pictures
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"html"
	"image/png"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/project"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/run"
	"github.com/ralph-sdk/ralph/view"
	"github.com/ralph-sdk/ralph/web"
	"github.com/ralph-sdk/ralph/web/playground"
)

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	err := write(ctx, filepath.Join("..", "docs", "pictures"), "testdata")
	cancel()
	if err != nil {
		log.Fatal(err)
	}
}

// write makes all pictures, and what a test compares.
func write(ctx context.Context, dir, texts string) error {
	recording, err := terminal(ctx)
	if err != nil {
		return err
	}
	shots, err := pages(ctx)
	if err != nil {
		return err
	}
	play, err := playing(ctx)
	if err != nil {
		return err
	}
	shots = append(shots, play)
	err = errors.Join(os.MkdirAll(texts, 0o755), os.WriteFile(filepath.Join(dir, "terminal.svg"), recording, 0o644))
	for _, s := range shots {
		err = errors.Join(err, os.WriteFile(filepath.Join(texts, s.name+".html"), []byte(s.html), 0o644), os.WriteFile(filepath.Join(dir, s.name+".png"), s.png, 0o644))
	}
	return err
}

// begin is when the scripted work begins.
var begin = time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)

// tasks are the boxes of the scripted work.
var tasks = []string{
	"parse the date of an invoice", "reject an invoice without a date", "sum the lines of an invoice", "round to cents once", "print a total",
	"sort invoices by date", "read invoices from CSV", "report the line of a broken row", "skip empty rows", "document the columns",
}

// steps are the boxes of the scripted run.
var steps = []string{"raise the version", "write the changelog", "build the archives", "read the notes again"}

// release is the policy of the run.
var release = strings.NewReplacer("Works through TODO.md, one box", "Prepares a release, one step", "TODO.md", "RELEASE.md", "every box is ticked", "the release is ready").Replace(web.Checklist)

// checklist writes a list of boxes, of which so many are ticked.
func checklist(w *web.World, name string, list []string, done int, now time.Time) error {
	var text strings.Builder
	for i, task := range list {
		fmt.Fprintf(&text, "- [%s] %s\n", map[bool]string{true: "x", false: " "}[i < done], task)
	}
	return errors.Join(w.Write(name, text.String()), os.Chtimes(filepath.Join(w.Dir, name), now, now))
}

// iterate lets an agent prepare the release in a run that begins now, and returns the time after it and its ID.
func iterate(ctx context.Context, w *web.World, now time.Time) (time.Time, string, error) {
	program, findings := rules.LoadBytes(ctx, ".ralph/release.yaml", []byte(release), loop.Config())
	if program == nil {
		return now, "", findings.Err()
	}
	if err := errors.Join(w.Write(".ralph/release.yaml", release), checklist(w, "RELEASE.md", steps, 0, now)); err != nil {
		return now, "", err
	}
	results := []struct {
		outcome run.Outcome
		after   time.Duration
		tokens  int
		usd     float64
	}{{run.OK, 2 * time.Minute, 18_400, 0.21}, {run.OK, 5 * time.Minute, 41_900, 0.48}, {run.TurnLimit, 9 * time.Minute, 88_200, 0.97}, {run.OK, 4 * time.Minute, 35_100, 0.4}, {run.OK, 3 * time.Minute, 22_700, 0.26}}
	n, done := 0, 0
	agent := run.Func("release-agent", func(context.Context, run.Invocation) (run.Result, error) {
		r := results[n]
		n++
		now = now.Add(r.after)
		if r.outcome != run.OK {
			return run.Result{Outcome: r.outcome, Problem: "the client's limit of turns was reached", Tokens: r.tokens, Cost: &r.usd}, nil
		}
		done++
		return run.Result{Outcome: run.OK, Text: "A step is done.", Tokens: r.tokens, Cost: &r.usd}, checklist(w, "RELEASE.md", steps, done, now)
	})
	clock := func() time.Time { return now }
	r, err := run.New(program, agent, run.WithName(".ralph/release.yaml"), run.WithDir(w.Dir), run.WithStore(loop.LocalStore(w.State), ""), run.WithClock(clock), run.WithLimits(run.Limits{Iterations: 20, Cost: 5}),
		run.WithLoop(loop.Local(), loop.WithState(w.State), loop.WithClock(clock), loop.WithEnv(func(string) string { return "" })))
	if err != nil {
		return now, "", err
	}
	for ev := range r.Run(ctx) {
		if ev.Kind == run.IterationStart || ev.Kind == run.IterationEnd {
			now = now.Add(3 * time.Second)
		}
	}
	return now, r.ID(), nil
}

// script lets three sessions and a run work through the tasks, and returns the time after it and the ID of the run.
func script(ctx context.Context, w *web.World) (time.Time, string, error) {
	now := begin
	done := 0
	tick := func() error { return checklist(w, "TODO.md", tasks, done, now) }
	if err := errors.Join(w.Write(".ralph/policy.yaml", strings.NewReplacer("facts:", "loop: {state: todo}\nfacts:", "continuations: 300", "continuations: 12").Replace(web.Checklist)), tick()); err != nil {
		return now, "", err
	}
	l, findings := loop.Load(ctx, os.DirFS(w.Dir), ".ralph/policy.yaml", loop.WithName(".ralph/policy.yaml"), loop.WithRoot(w.Dir), loop.WithState(w.State),
		loop.WithClock(func() time.Time { return now }), loop.WithEnv(func(string) string { return "" }))
	if l == nil {
		return now, "", findings.Err()
	}
	for i, step := range []struct {
		session, says string
		after         time.Duration
		ticks         int
	}{
		{"refactor-4e1f", "I read the code.", 2 * time.Minute, 0}, {"refactor-4e1f", "The date is parsed.", 4 * time.Minute, 1}, {"refactor-4e1f", "Done.", 6 * time.Minute, 1},
		{"review-a07c", "QUESTION: is the time zone of an invoice known?", 3 * time.Minute, 0}, {"refactor-4e1f", "The sum is tested.", 5 * time.Minute, 1},
		{"review-a07c", "I reviewed the sum.", 4 * time.Minute, 0}, {"refactor-4e1f", "Rounding is in one place.", 7 * time.Minute, 1}, {"refactor-4e1f", "It prints a total.", 3 * time.Minute, 1},
		{"nightly-91d3", "I sorted the invoices.", 9 * time.Minute, 1}, {"nightly-91d3", "CSV is read.", 8 * time.Minute, 1}, {"nightly-91d3", "QUESTION: which rows are broken?", 11 * time.Minute, 0},
		{"nightly-91d3", "The line is reported.", 6 * time.Minute, 1}, {"nightly-91d3", "Empty rows are skipped.", 4 * time.Minute, 1}, {"review-a07c", "I reviewed CSV.", 2 * time.Minute, 0},
	} {
		now = now.Add(step.after)
		if done += step.ticks; step.ticks > 0 {
			if err := tick(); err != nil {
				return now, "", err
			}
		}
		now = now.Add(20 * time.Second)
		if _, err := l.Run(ctx, host.Event{Host: host.ClaudeCode, Name: host.Stop, ID: fmt.Sprintf("d%02d", i+1), SessionID: step.session, Cwd: w.Dir, LastAssistantMessage: step.says}); err != nil {
			return now, "", err
		}
	}
	now, id, err := iterate(ctx, w, now.Add(time.Minute))
	return now.Add(90 * time.Second), id, err
}

// shot is a view: what it is made of, and its picture.
type shot struct {
	name, html string
	png        []byte
}

// shown is the directory of the project, as pictures have it.
const (
	shown    = "/home/you/invoices"
	shownRun = "20261123-101940-000k7xq"
)

// pages opens views of the scripted work in a browser.
func pages(ctx context.Context) (shots []shot, err error) {
	dir, err := os.MkdirTemp("", "ralph-pictures")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	w, err := web.NewWorld("", dir)
	if err != nil {
		return nil, err
	}
	now, id, err := script(ctx, w)
	if err != nil {
		return nil, err
	}
	clock := func() time.Time { return now }
	p, err := project.Open(project.Config{Dir: w.Dir, State: w.State, Now: clock, Env: func(string) string { return "" }})
	if err != nil {
		return nil, err
	}
	defer p.Close()
	server, err := view.New(view.Config{Project: p, Version: "ralph", Now: clock})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ctx) }()
	defer func() {
		cancel()
		err = errors.Join(err, <-ended)
	}()
	browser, err := web.OpenBrowser(ctx)
	if err != nil {
		return nil, err
	}
	defer browser.Close()
	tab, err := browser.Tab()
	if err != nil {
		return nil, err
	}
	base, _, _ := strings.Cut(server.URL(), "/?")
	if err := errors.Join(tab.Theme("light"), tab.Go(server.URL()), tab.Wait("document.querySelector('main h1')")); err != nil {
		return nil, err
	}
	for _, v := range []struct {
		name, hash, ready string
		height            int
	}{
		{"view-overview", "#/", "document.querySelector('.card')", 820},
		{"view-run", "#/run/" + id, "document.querySelectorAll('.stacked tbody tr').length === 6", 690},
		{"view-timeline", "#/timeline?show=charts&policy=.ralph/policy.yaml", "document.querySelector('.charts figure') && document.querySelectorAll('.list a').length === 14", 900},
		{"view-decision", "#/decision/d07", "document.querySelector('main .rules li')", 900},
	} {
		s := shot{name: v.name}
		err := errors.Join(tab.Size(1100, v.height), tab.Go("about:blank"), tab.Go(base+"/"+v.hash), tab.Wait("document.querySelector('#state')?.textContent === 'live' && ("+v.ready+")"),
			tab.Eval(`(() => { const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT); while (walk.nextNode()) walk.currentNode.data = walk.currentNode.data.replaceAll(`+web.Quote(w.Dir)+", "+web.Quote(shown)+").replaceAll("+web.Quote(id)+", "+web.Quote(shownRun)+`); scrollTo(0, 0); })()`, nil),
			tab.Eval("new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(() => r(1))))", nil),
			tab.Eval("document.querySelector('#app').outerHTML", &s.html))
		if err != nil {
			return nil, err
		}
		if s.png, err = tab.Screenshot(); err != nil {
			return nil, err
		}
		if s.png, err = smaller(s.png); err != nil {
			return nil, err
		}
		s.html = strings.ReplaceAll(plain(s.html, w.Dir), id, shownRun)
		shots = append(shots, s)
	}
	return shots, nil
}

// playing opens the playground with an example, and lets the language server explain a word.
func playing(ctx context.Context) (s shot, err error) {
	dir, err := os.MkdirTemp("", "ralph-pictures")
	if err != nil {
		return s, err
	}
	defer os.RemoveAll(dir)
	if err := playground.Build(ctx, dir); err != nil {
		return s, err
	}
	server := httptest.NewServer(http.FileServer(http.Dir(dir)))
	defer server.Close()
	browser, err := web.OpenBrowser(ctx)
	if err != nil {
		return s, err
	}
	defer browser.Close()
	tab, err := browser.Tab()
	if err != nil {
		return s, err
	}
	var at struct{ X, Y float64 }
	err = errors.Join(tab.Theme("light"), tab.Size(1120, 690), tab.Go(server.URL+"/#example=sections"), tab.Wait("document.querySelector('#graph svg') && document.querySelector('#tests li')"),
		tab.Eval(`(() => {
			const walk = document.createTreeWalker(document.querySelector('.policy .cm-content'), NodeFilter.SHOW_TEXT);
			let text = walk.nextNode();
			while (!text.data.includes('checklist')) text = walk.nextNode();
			const range = document.createRange();
			range.setStart(text, text.data.indexOf('checklist') + 2);
			range.setEnd(text, text.data.indexOf('checklist') + 4);
			const box = range.getBoundingClientRect();
			return { x: box.x + 2, y: box.y + box.height / 2 };
		})()`, &at))
	for range 2 {
		err = errors.Join(err, tab.Call("Input.dispatchMouseEvent", map[string]any{"type": "mouseMoved", "x": at.X, "y": at.Y}, nil))
		at.X++
	}
	err = errors.Join(err, tab.Wait("document.querySelector('.cm-tooltip-hover .doc')"), tab.Eval(`(() => {
		const answer = document.querySelector('#answer').cloneNode(true);
		answer.querySelector('.raw').remove(); // each decision has its ID
		return answer.outerHTML;
	})()`, &s.html))
	if err != nil {
		return s, err
	}
	s.name, s.html = "playground", plain(s.html, dir)
	if s.png, err = tab.Screenshot(); err != nil {
		return s, err
	}
	s.png, err = smaller(s.png)
	return s, err
}

// plain makes of the HTML of a page what does not depend on the machine: no sizes, no directory, no time that was measured.
func plain(s, dir string) string {
	s = strings.NewReplacer(dir, shown, strings.ReplaceAll(dir, "/", "%2F"), "DIR").Replace(s)
	for _, r := range []struct{ old, new string }{
		{` style="[^"]*"`, ""}, {`\b[0-9.]+ (ms|µs)\b`, "N ms"}, {`"took_ns": [0-9]+`, `"took_ns": N`}, {`"start_ns": [0-9]+`, `"start_ns": N`}, {`\b[0-9a-f]{64}\b`, "DIGEST"}, {`decision/([0-9a-f]{24}|[0-9a-z-]+%2F[0-9]+%2F[0-9]+)`, "decision/ID"},
		{`<svg class="chart".*?</svg>`, "<svg></svg>"}, {`></`, ">\n</"}, {`(<(li|section|tr|article|div|header|p|h[1-3])\b)`, "\n$1"},
	} {
		s = regexp.MustCompile(r.old).ReplaceAllString(s, r.new)
	}
	return s + "\n"
}

// smaller compresses a picture as far as package png can.
func smaller(b []byte) ([]byte, error) {
	picture, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, picture)
	if out.Len() > len(b) {
		return b, err
	}
	return out.Bytes(), err
}

// agent is a scripted agent.
const agent = `#!/bin/sh
awk '!done && /^- \[ \]/ { sub(/\[ \]/, "[x]"); done = 1 } { print }' TODO.md > TODO.new && mv TODO.new TODO.md
echo "I ticked a box."
`

// terminal records commands of ralph in a project with two boxes.
func terminal(ctx context.Context) ([]byte, error) {
	dir, err := os.MkdirTemp("", "ralph-pictures")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	program, err := web.Build(ctx, dir)
	if err != nil {
		return nil, err
	}
	w, err := web.NewWorld(program, dir)
	if err != nil {
		return nil, err
	}
	err = errors.Join(os.Remove(filepath.Join(w.Dir, ".ralph", "policy.yaml")), w.Write("TODO.md", "- [ ] write hello.txt\n- [ ] add the date\n"), w.Write("agent", agent), os.Chmod(filepath.Join(w.Dir, "agent"), 0o755))
	if err != nil {
		return nil, err
	}
	if _, err := w.Ralph(ctx, "", "init"); err != nil {
		return nil, err
	}
	var frames []frame
	list, err := os.ReadFile(filepath.Join(w.Dir, "TODO.md"))
	if err != nil {
		return nil, err
	}
	frames = append(frames, frame{"cat TODO.md", string(list)})
	for _, args := range [][]string{{"run", "--client", "generic", "--", "./agent"}, {"explain"}} {
		cmd := w.Command(ctx, "", args...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			return nil, fmt.Errorf("ralph %s: %w\n%s", args[0], err, out)
		}
		frames = append(frames, frame{"ralph " + strings.Join(args, " "), fixed(string(out))})
	}
	return recorded(frames), nil
}

// fixed replaces what differs from run to run.
func fixed(s string) string {
	for _, r := range []struct{ old, new string }{
		{`[0-9]{8}-[0-9]{6}-[0-9a-z]+`, "20261123-090000-k3v9x2p"}, {`[0-9]{4}-[0-9]{2}-[0-9]{2}  ?[0-9:]{8}`, "2026-11-23 09:00:04"},
		{`\([0-9.a-z ]+ in all\)`, "(2s in all)"}, {`iterations; [0-9.a-zµ]+`, "iterations; 4s"}, {`decided in .*`, "decided in less than 1ms"},
	} {
		s = regexp.MustCompile(r.old).ReplaceAllString(s, r.new)
	}
	return s
}

// frame is a command and what it printed.
type frame struct{ command, output string }

// recorded draws a terminal in which frames appear line by line. For readers who prefer less motion, all is there at once.
func recorded(frames []frame) []byte {
	const left, line = 16, 19
	var body strings.Builder
	at, y, widest := 0.4, 34, 0
	write := func(class, text string) {
		fmt.Fprintf(&body, "<text class=\"%s\" x=\"%d\" y=\"%d\" style=\"animation-delay:%.2fs\">%s</text>\n", class, left, y, at, html.EscapeString(text))
		y += line
		widest = max(widest, len([]rune(text)))
	}
	for i, f := range frames {
		if i > 0 {
			y, at = y+line/2, at+1.2
		}
		write("command", "$ "+f.command)
		at += 0.8
		for text := range strings.Lines(f.output) {
			if text = strings.TrimRight(text, " \n"); text == "" {
				y += line / 2
				continue
			}
			write("output", text)
			at += 0.15
		}
	}
	width, height := 2*left+widest*42/5, y+4
	var out bytes.Buffer
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%[1]d" role="img" aria-label="A terminal: %[3]s">
<style>
rect { fill: #f6f8fa; stroke: #d0d7de; }
text { font: 13.5px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #1f2328; white-space: pre; opacity: 0; animation: show 0.01s forwards; }
.command { font-weight: bold; fill: #0550ae; }
@keyframes show { to { opacity: 1; } }
@media (prefers-color-scheme: dark) { rect { fill: #161b22; stroke: #30363d; } text { fill: #e6edf3; } .command { fill: #79c0ff; } }
@media (prefers-reduced-motion: reduce) { text { opacity: 1; animation: none; } }
</style>
<rect x="0.5" y="0.5" width="%d" height="%d" rx="6"/>
`, width, height, html.EscapeString(names(frames)), width-1, height-1)
	out.WriteString(body.String() + "</svg>\n")
	return out.Bytes()
}

// names lists the commands of frames.
func names(frames []frame) string {
	var list []string
	for _, f := range frames {
		list = append(list, f.command)
	}
	return strings.Join(list, ", then ")
}
