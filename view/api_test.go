package view_test

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ralph-sdk/ralph/internal/escape"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/project"
	"github.com/ralph-sdk/ralph/view"
)

// The page of loops whose store is elsewhere shows their decisions, and not those of another scope.
func TestStoreElsewhere(t *testing.T) {
	w := newWorld(t)
	w.decide("s1")
	w.decide("s1")
	for scope, want := range map[string]int{"": 2, "another": 0} {
		p, err := project.Open(project.Config{Dir: w.dir, State: t.TempDir(), Store: loop.LocalStore(w.state), Scope: scope, Env: func(string) string { return "" }})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		if rows := w.serve(view.Config{Project: p}).all(); len(rows) != want {
			t.Errorf("the page of the scope %q has %d decisions, want %d", scope, len(rows), want)
		}
	}
}

func TestRows(t *testing.T) {
	w := newWorld(t)
	w.decide("s1")
	w.write("TODO.md", "- [x] one\n")
	w.decide("s1")
	for _, more := range [][]string{
		{`"action":"stop"`, `"rule":"over"`, `"reason":"it is over"`},
		{`"action":"stop"`, `"rule":"limits.continuations"`, `"bound":"continuations"`, `"reason":"the limit"`, `"limits":[{"name":"continuations","at":3,"of":5}]`},
		{`"action":"stop"`, `"cause":"input","reason":"it is broken"`},
		{`"action":"stop"`, `"cause":"off","reason":"loops are off"`},
		{`"event":""`, `"command":"ralph stop"`},
		{`"noted":["hint"]`},
		{`"event":"UserPromptSubmit"`, `"noted":["hint"]`},
		{`"action":"stop"`, `"trace":{"steps":[null,{"rule":"a","outcome":"no"}]}`},
		{`"run":"r-1"`, `"rule":"` + strings.Repeat("r", 400) + `"`, `"action":"continue"`},
	} {
		w.append(w.line("x", more...))
	}
	b := w.serve(view.Config{})
	want := []row{
		{Outcome: "continued", By: "next", Session: "s1", Continuations: 1, Limit: 500},
		{Outcome: "done", By: "done", Said: "every item is done", Session: "s1", Continuations: 1, Limit: 500},
		{Outcome: "stopped", By: "over", Said: "it is over"},
		{Outcome: "limit", By: "limits.continuations", Said: "the limit", Continuations: 3, Limit: 5},
		{Outcome: "failed", By: "error", Said: "it is broken"},
		{Outcome: "skipped", By: "-", Said: "loops are off"},
		{Outcome: "asked", By: "ralph stop"},
		{Outcome: "stopped", By: "-", Said: "no rule decided, note by hint"},
		{By: "-", Said: "note by hint"},
		{Outcome: "stopped", By: "-", Said: "no rule held"},
		{Outcome: "continued", By: strings.Repeat("r", 299) + "…", Run: "r-1"},
	}
	got := b.all()
	got[0].Said = "" // a text for the agent, which the log has by its size
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(row{}, "N", "ID", "Policy", "Digest")); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestDecision(t *testing.T) {
	w := newWorld(t)
	id := w.decide("s1")
	long, odd := strings.Repeat("i", 400), `<script>"\`+"\u202e"
	w.append(w.line("both", `"policy":"a"`))
	w.append(w.line("both", `"policy":"b"`))
	w.append(w.line("both-not", `"policy":"c"`))
	w.append(w.line(long))
	w.append(w.line(odd))
	w.append(w.line("12"))
	b := w.serve(view.Config{})
	for _, tt := range []struct {
		id   string
		want int
	}{{id, 1}, {"both", 2}, {b.all()[4].ID, 1}, {odd, 1}, {"12", 1}} {
		var got struct {
			Records []struct{ ID, Policy string }
			Rows    []row
		}
		b.ask("/api/decision"+query("id", tt.id), &got)
		if len(got.Records) != tt.want || len(got.Rows) != tt.want {
			t.Errorf("%.20q: %d records, want %d", tt.id, len(got.Records), tt.want)
		}
		for _, r := range got.Records {
			if r.ID != escape.Person(tt.id) && !strings.HasPrefix(r.ID, strings.TrimSuffix(tt.id, "…")) {
				t.Errorf("%.20q: the record is %.20q", tt.id, r.ID)
			}
		}
	}
	for _, unknown := range []string{"", "bot", "1", "../../etc/passwd", "…", "both-"} {
		if r, body := b.get("/api/decision" + query("id", unknown)); r.StatusCode != http.StatusNotFound || !strings.Contains(body, "no such decision") {
			t.Errorf("%q: %s %s", unknown, r.Status, body)
		}
	}
}

type shownPolicy struct {
	Policy, SVG, Why string
	Files            []struct{ Name, HTML string }
	Counts           struct{ Total int }
	Graph            json.RawMessage
}

// A policy is shown as it was when it decided, from the copy beside the log, whatever its file is now.
func TestPolicy(t *testing.T) {
	w := newWorld(t)
	w.decide("s1")
	w.decide("s2")
	first := w.line("x", `"digest":"`+strings.Repeat("0", 64)+`"`)
	w.append(first)
	w.load(strings.ReplaceAll(policy, "in order", "later"))
	w.decide("s3")
	if err := os.RemoveAll(filepath.Join(w.dir, ".ralph")); err != nil {
		t.Fatal(err)
	}
	b := w.serve(view.Config{})
	list := b.all()
	var one, two, lost shownPolicy
	b.ask("/api/policy"+query("digest", list[0].Digest), &one)
	b.ask("/api/policy"+query("digest", list[3].Digest), &two)
	b.ask("/api/policy"+query("digest", list[2].Digest), &lost)
	if one.Counts.Total != 2 || two.Counts.Total != 1 || lost.Counts.Total != 1 {
		t.Errorf("counted %d, %d and %d", one.Counts.Total, two.Counts.Total, lost.Counts.Total)
	}
	if one.Policy != ".ralph/policy.yaml" || len(one.Files) != 2 || one.Files[1].Name != "ralph:guards/waiting.yaml" || !strings.Contains(one.Files[0].HTML, `<span class="c"># in order</span>`) {
		t.Errorf("the first version is %+v", one.Files)
	}
	if !strings.Contains(two.Files[0].HTML, `<span class="c"># later</span>`) {
		t.Errorf("the second version is %+v", two.Files)
	}
	for _, p := range []shownPolicy{one, two} {
		if !strings.HasPrefix(p.SVG, "<svg ") || strings.Contains(p.SVG, "<style") || p.Why != "" || !json.Valid(p.Graph) {
			t.Errorf("%q, drawn as %.100s", p.Why, p.SVG)
		}
	}
	if lost.Why == "" || lost.SVG != "" || lost.Files == nil {
		t.Errorf("without its texts a policy is %+v", lost)
	}
	for _, unknown := range []string{"", "x", "../policies"} {
		if r, _ := b.get("/api/policy" + query("digest", unknown)); r.StatusCode != http.StatusNotFound {
			t.Errorf("%q: %s", unknown, r.Status)
		}
	}
}

// A run is one of the listing. Nothing else of a project is read for it.
func TestRun(t *testing.T) {
	w := newWorld(t)
	w.write(".ralph/runs/r-1/0001.out", "secret")
	w.append(w.line("x", `"run":"r-1"`))
	b := w.serve(view.Config{})
	for _, unknown := range []string{"", "r-1", "../r-1", "..", "/etc"} {
		if r, body := b.get("/api/run" + query("id", unknown)); r.StatusCode != http.StatusNotFound || strings.Contains(body, "secret") {
			t.Errorf("%q: %s %s", unknown, r.Status, body)
		}
	}
	if _, err := view.New(view.Config{Project: w.project, Run: "r-1"}); err == nil || !strings.Contains(err.Error(), "ralph run --list") {
		t.Errorf("a page that begins with it: %v", err)
	}
}

// The end of an agent's output is shown with its run. A file has it only on request.
func TestRunOutput(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no shell: ", err)
	}
	w := newWorld(t)
	r, err := w.project.Run(t.Context(), project.RunRequest{
		Policy: "policy", Client: "generic", Agent: []string{shell, "-c", "printf '<script>%s-canary' output; echo '- [x] one' >TODO.md"},
	})
	if err != nil {
		t.Fatal(err)
	}
	for range r.Events(t.Context()) {
	}
	b := w.serve(view.Config{})
	id := b.all()[0].Run
	var got struct {
		Info       struct{ ID, Policy string }
		State, Why string
		Iterations []struct {
			N     int
			State string
		}
		Output struct {
			Iteration int
			Text      string
		}
	}
	if b.ask("/api/run"+query("id", id), &got); id == "" || got.Info.ID != id || got.Output.Iteration != 1 || got.Output.Text != "<script>output-canary" ||
		got.State != "done" || got.Why != "every item is done" || len(got.Iterations) != 1 || got.Iterations[0].N != 1 || got.Iterations[0].State != "ok" {
		t.Errorf("run %q is %+v", id, got)
	}
	for output, n := range map[bool]int{false: 0, true: 1} {
		for _, c := range []view.Config{{}, {Run: id}} {
			file := w.file(c, output)
			if data := opened(t, file); strings.Count(data, "output-canary") != n || !strings.Contains(data, `"client":"generic"`) || strings.Count(data, `"state":"done"`) != 2 || strings.Contains(data, `"labels"`) {
				t.Errorf("with output %t and %+v the data are %.2000s", output, c.Run, data)
			}
			if line := "No output of agents."; strings.Contains(file, line) == output {
				t.Errorf("with output %t the file says %q", output, line)
			}
		}
	}
	if err := os.RemoveAll(filepath.Join(w.dir, ".ralph", "runs")); err != nil {
		t.Fatal(err)
	}
	if r, body := b.get("/api/run" + query("id", id)); r.StatusCode != http.StatusOK || strings.Contains(body, "output-canary") {
		t.Errorf("without its output: %s %s", r.Status, body)
	}
}

// For all projects, only the log is shown.
func TestAll(t *testing.T) {
	w := newWorld(t)
	id := w.decide("s1")
	w.append(`{"v":1,"id":"elsewhere","root":"/elsewhere","policy":"p","time":"2027-01-01T00:00:00Z","event":"Stop"}`)
	all, err := project.Open(project.Config{State: w.state, Env: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	defer all.Close()
	b := w.serve(view.Config{Project: all})
	list := b.all()
	if diff := cmp.Diff([]string{id, "elsewhere"}, ids(list)); diff != "" || list[0].Root != w.dir || list[1].Root != "/elsewhere" {
		t.Errorf("%+v\n%s", list, diff)
	}
	var status any = 1
	if b.ask("/api/status", &status); status != nil {
		t.Errorf("the status is %v", status)
	}
	var page struct {
		V       int
		All     bool
		Project string
	}
	if b.ask("/api/page", &page); page.V != 1 || !page.All || page.Project != "" {
		t.Errorf("the page is %+v", page)
	}
	if r, body := b.get("/api/run" + query("id", "x")); r.StatusCode != http.StatusNotFound {
		t.Errorf("a run: %s %s", r.Status, body)
	}
}

// The page loads what the server has.
func TestPage(t *testing.T) {
	w := newWorld(t)
	b := w.serve(view.Config{})
	_, page := b.get("/")
	for _, part := range []string{"/page/app.js", "/page/style.css", "/page/graph.css"} {
		if r, body := b.get(part); !strings.Contains(page, `"`+part+`"`) || r.StatusCode != http.StatusOK || body == "" {
			t.Errorf("%s: %s", part, r.Status)
		}
	}
	for kind, part := range map[string]string{"text/html; charset=utf-8": "/", "text/javascript; charset=utf-8": "/page/app.js", "text/css; charset=utf-8": "/page/style.css"} {
		if r, _ := b.get(part); r.Header.Get("Content-Type") != kind {
			t.Errorf("%s is %s", part, r.Header.Get("Content-Type"))
		}
	}
	for _, inline := range []string{"<style", "style=", "<script>", " on"} {
		if strings.Contains(strings.ReplaceAll(page, "<noscript>", ""), inline) {
			t.Errorf("the page has %s, which its policy forbids", inline)
		}
	}
	var status project.Status
	if b.ask("/api/status", &status); status.Project != w.dir {
		t.Errorf("the status is of %q", status.Project)
	}
}
