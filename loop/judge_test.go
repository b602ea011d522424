package loop_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/ralph-sdk/ralph/internal/approval"
	"github.com/ralph-sdk/ralph/internal/store"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/internal/inputs"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

// model is a model's service on a loopback port. It answers with a text, or as
// answer says, and keeps what it was asked.
type model struct {
	*httptest.Server
	mu     sync.Mutex
	asked  []string // bodies of requests
	text   string
	answer http.HandlerFunc
}

// model starts a service and points the project's environment at it.
func (p *project) model(text string) *model {
	p.t.Helper()
	m := &model{text: text}
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		m.mu.Lock()
		m.asked = append(m.asked, string(body))
		m.mu.Unlock()
		if m.answer != nil {
			m.answer(w, r)
			return
		}
		json.NewEncoder(w).Encode(map[string]any{
			"model": "m", "content": []any{map[string]any{"type": "text", "text": m.text}},
			"usage": map[string]any{"input_tokens": 900, "output_tokens": 30},
		})
	}))
	p.t.Cleanup(m.Close)
	p.t.Cleanup(m.CloseClientConnections)
	p.env["ANTHROPIC_BASE_URL"], p.env["ANTHROPIC_API_KEY"] = m.URL, "key"
	return m
}

func (m *model) calls() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.asked)
}

// talk returns an event whose session file holds these lines.
func (p *project) talk(lines ...string) host.Event {
	p.t.Helper()
	p.write("session.jsonl", strings.Join(lines, "\n")+"\n")
	ev := p.stop()
	ev.TranscriptPath = p.path("session.jsonl")
	return ev
}

func human(text string) string {
	b, _ := json.Marshal(map[string]any{"type": "user", "message": map[string]any{"role": "user", "content": text}})
	return string(b)
}

func agent(text string) string {
	b, _ := json.Marshal(map[string]any{"type": "assistant", "message": map[string]any{"role": "assistant", "content": []any{map[string]any{"type": "text", "text": text}}}})
	return string(b)
}

const judged = `
ralph: 1
limits: {continuations: 100}
facts:
  state: {json: state.json, schema: {properties: {n: {type: integer}}}}
  verdict:
    judge: Is there more to do than ${state.n} things for ${env.WHO}?
    model: small
    system: You judge ${env.WHO}.
    turns: 2
    timeout: 5s
    returns:
      properties:
        go: {type: boolean}
        why: {type: string, default: nothing said}
        kind: {enum: [bug, chore], default: chore}
        count: {type: integer, default: 0}
      required: [go]
rules:
  - name: more
    when: verdict.go
    continue: ${verdict.why}, ${verdict.kind}, ${verdict.count}
`

func TestJudge(t *testing.T) {
	p := newProject(t, nil)
	p.env["WHO"] = "${env.WHO}"
	m := p.model("```json\n{\"go\": true, \"why\": \"tests fail\", \"count\": 2.0}\n```")
	d := p.run(p.loop(judged, trusted()), p.talk(human("one"), agent("shown to nobody"), human("two"), agent("last")))
	if diff := cmp.Diff("tests fail, chore, 2", said(d)); diff != "" {
		t.Error(diff)
	}
	var sent struct {
		Model, System string
		Messages      []struct{ Content string }
		Output        struct {
			Format struct{ Schema map[string]any }
		} `json:"output_config"`
	}
	decode(t, []byte(m.asked[0]), &sent)
	content := sent.Messages[0].Content
	// A placeholder that fails shows as (?), and a value is never read as a template.
	if !strings.HasPrefix(content, "Is there more to do than (?) things for ${env.WHO}?") || !strings.HasPrefix(sent.System, "You judge ${env.WHO}.") {
		t.Errorf("the question is %q, the system %q", content, sent.System)
	}
	if !strings.Contains(content, "two") || !strings.Contains(content, "last") || strings.Contains(content, "shown to nobody") {
		t.Errorf("the last two turns are shown as %q", content)
	}
	want := map[string]any{
		"type": "object", "additionalProperties": false, "required": []any{"count", "go", "kind", "why"},
		"properties": map[string]any{
			"go": map[string]any{"type": "boolean"}, "why": map[string]any{"type": "string"}, "count": map[string]any{"type": "integer"},
			"kind": map[string]any{"type": "string", "enum": []any{"bug", "chore"}},
		},
	}
	if diff := cmp.Diff(want, sent.Output.Format.Schema); diff != "" {
		t.Error(diff)
	}
	record := p.records()[0]
	read, _ := inputs.Gathered(&record, "verdict")
	if diff := cmp.Diff(map[string]any{"model": "small", "input_tokens": 900.0, "output_tokens": 30.0}, read.Meta); diff != "" {
		t.Error(diff)
	}
}

// An answer that does not match the request in every part does not count: no rule goes by
// it, and the user sees why.
func TestJudgeAnswersThatAreNone(t *testing.T) {
	for text, says := range map[string]string{
		``:                                      "empty",
		`It should go on.`:                      "prose",
		`{"why": "no verdict"}`:                 "/go",
		`{"go": "true"}`:                        "/go",
		`{"go": "false"}`:                       "/go",
		`{"go": 1}`:                             "/go",
		`{"go": null}`:                          "/go",
		`{"go": true, "why": 7}`:                "/why",
		`{"go": true, "count": "3"}`:            "/count",
		`{"go": true, "why": "bec`:              "breaks off",
		`{"go": true} or {"go": false}`:         "more than one",
		`[true]`:                                "prose",
		`{"verdict": {"go": true}}`:             "/go",
		`{"go": ` + strings.Repeat("[", 20_000): "not a JSON object",
	} {
		p := newProject(t, nil)
		p.model(text)
		d := p.run(p.loop(judged, trusted()), p.talk(human("go"), agent("Done.")))
		if d.Continue() {
			t.Errorf("%.60s: the agent goes on", text)
		}
		if told := strings.Join(d.Notices, "\n"); !strings.Contains(told, "verdict:") || !strings.Contains(told, says) {
			t.Errorf("%.60s: the person is told %q, want a word on %q", text, told, says)
		}
		if read, _ := inputs.Gathered(&p.records()[0], "verdict"); read.Problem == "" || read.Meta["input_tokens"] != 900.0 {
			t.Errorf("%.60s: the log says %+v", text, read)
		}
	}
}

// A value that is missing as expected shows only in the trace, and no model is asked.
func TestJudgeThatCannotBeAsked(t *testing.T) {
	for name, change := range map[string]func(p *project, ev *host.Event) string{
		"no key": func(p *project, _ *host.Event) string {
			delete(p.env, "ANTHROPIC_API_KEY")
			return "ANTHROPIC_API_KEY is not set"
		},
		"no session file": func(_ *project, ev *host.Event) string { ev.TranscriptPath += ".none"; return "no conversation" },
		"no turns": func(p *project, _ *host.Event) string {
			p.write("session.jsonl", `{"type":"system","content":"x"}`+"\n")
			return "no conversation"
		},
		"a judge itself": func(p *project, _ *host.Event) string {
			p.env["CLAUDE_HOOK_JUDGE_MODE"] = "true"
			return "CLAUDE_HOOK_JUDGE_MODE"
		},
		"a judge of ralph's": func(p *project, _ *host.Event) string { p.env["RALPH_JUDGE"] = "1"; return "RALPH_JUDGE" },
	} {
		p := newProject(t, nil)
		m := p.model(`{"go": true}`)
		ev := p.talk(human("go"), agent("Done."))
		says := change(p, &ev)
		d := p.run(p.loop(judged, trusted()), ev)
		if d.Continue() || m.calls() != 0 || len(d.Notices) > 0 {
			t.Errorf("%s: it goes on: %v, the model was asked %d times, the person is told %q", name, d.Continue(), m.calls(), d.Notices)
		}
		facts := d.Verdict.Trace.Facts
		if len(facts) == 0 || !strings.Contains(facts[len(facts)-1].Problem, says) {
			t.Errorf("%s: the trace says %+v, want %q", name, facts, says)
		}
	}
}

// The model sees tool results only if the policy enables that, also by a param.
func TestJudgeSeesToolResults(t *testing.T) {
	for _, c := range []struct {
		option, params string
		want           bool
	}{
		{"", "", false},
		{"tool_results: false", "", false},
		{"tool_results: true", "", true},
		{"tool_results: '${shown}'", "params: {shown: {type: boolean, default: false}}", false},
		{"tool_results: '${shown}'", "params: {shown: {type: boolean, default: true}}", true},
	} {
		p := newProject(t, nil)
		m := p.model(`{"go": false}`)
		policy := strings.Replace(judged, "model: small", "model: small\n    "+c.option, 1) + c.params
		lines := append([]string{human("Show me.")}, ran("cat .env", false)...)
		p.run(p.loop(policy, trusted()), p.talk(append(lines, agent("Done."))...))
		if m.calls() != 1 || !strings.Contains(m.asked[0], "[used Bash: ") || strings.Contains(m.asked[0], "[result: ") != c.want {
			t.Errorf("%s %s: the model is shown %s", c.option, c.params, m.asked)
		}
	}
	p := newProject(t, nil)
	m := p.model(`{"go": true}`)
	policy := strings.Replace(judged, "model: small", "model: small\n    tool_results: ${env.WHO}", 1)
	p.env["WHO"] = "some"
	d := p.run(p.loop(policy, trusted()), p.talk(human("Show me."), agent("Done.")))
	if notice := strings.Join(d.Notices, "\n"); m.calls() != 0 || !strings.Contains(notice, `tool_results must be true or false; got "some"`) {
		t.Errorf("with another word it reports %q after %d questions", notice, m.calls())
	}
}

// The user's own model server has OpenAI's format and needs no key.
func TestJudgeOfOnesOwn(t *testing.T) {
	p := newProject(t, nil)
	m := p.model("")
	p.env = map[string]string{"OPENAI_BASE_URL": m.URL + "/v1"}
	m.answer = func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/chat/completions" || r.Header.Get("Authorization") != "" {
			t.Errorf("the request goes to %s with %v", r.URL.Path, r.Header)
		}
		io.WriteString(w, `{"choices":[{"message":{"content":"{\"go\": true}"}}]}`)
	}
	policy := strings.Replace(judged, "model: small", "model: small\n    api: openai", 1)
	if got := said(p.run(p.loop(policy, trusted()), p.talk(human("go"), agent("Done.")))); got != "nothing said, chore, 0" {
		t.Errorf("it says %q", got)
	}
}

// The session file may lag behind the agent: its last words come from the event.
func TestJudgeSeesTheLastWords(t *testing.T) {
	p := newProject(t, nil)
	m := p.model(`{"go": false}`)
	ev := p.talk(human("go"), agent("I begin."))
	ev.LastAssistantMessage = "And now I am done."
	p.run(p.loop(judged, trusted()), ev)
	if m.calls() != 1 || strings.Count(m.asked[0], "And now I am done.") != 1 {
		t.Errorf("the model is shown %q", m.asked)
	}
}

// A decision that is made again under locks does not ask again.
func TestJudgeIsAskedOnce(t *testing.T) {
	p := newProject(t, map[string]string{"count.json": `{"n": 0}`})
	m := p.model(`{"go": true}`)
	policy := strings.Replace(judged, "facts:\n", "facts:\n  turns: {json: count.json, schema: {properties: {n: {type: integer, default: 0}}}}\n", 1) +
		"    then:\n      - set: turns.n = turns.n + 1\n"
	l := p.loop(policy, trusted())
	d := l.Preview(t.Context(), p.talk(human("go"), agent("Done.")))
	p.write("count.json", `{"n": 41}`) // another writer, meanwhile
	if _, err := l.Apply(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	if got := p.read("count.json"); got != `{"n": 42}` {
		t.Errorf("the count is %s", got)
	}
	if m.calls() != 1 {
		t.Errorf("the model was asked %d times", m.calls())
	}
}

// The key of a record names exactly this content.
func TestKey(t *testing.T) {
	files := func(src, included string) []rules.File {
		return []rules.File{{Name: ".ralph/policy.yaml", Src: []byte(src)}, {Name: ".ralph/part.yaml", Src: []byte(included)}}
	}
	key := approval.Key(files("a", "b"))
	for name, other := range map[string][]rules.File{
		"another policy": files("A", "b"), "another include": files("a", "B"), "bytes moved between them": files("ab", ""),
		"an include more":         append(files("a", "b"), rules.File{Name: ".ralph/c.yaml"}),
		"an include less":         files("a", "b")[:1],
		"another include's name":  {{Name: ".ralph/policy.yaml", Src: []byte("a")}, {Name: ".ralph/x.yaml", Src: []byte("b")}},
		"a shipped one's instead": {{Name: ".ralph/policy.yaml", Src: []byte("a")}, {Name: "ralph:part.yaml", Src: []byte("b")}},
	} {
		if approval.Key(other) == key {
			t.Errorf("%s has the key of the policy", name)
		}
	}
	moved := []rules.File{{Name: "policy.yaml", Src: []byte("a")}, {Name: "part.yaml", Src: []byte("b")}}
	if approval.Key(moved) != key {
		t.Error("the policy has another key when it is loaded from its own folder")
	}
}

func TestUntrustedPolicies(t *testing.T) {
	needsShell(t)
	policy := strings.Replace(judged, "facts:\n", "facts:\n  ran: {exec: [sh, -c, echo >ran]}\n", 1) + `
  - name: ran
    when: ran.code == 0
    continue: It ran.
`
	p := newProject(t, nil)
	m := p.model(`{"go": true}`)
	ev := p.talk(human("go"), agent("Done."))
	d := p.run(p.loop(policy, loop.WithName(".ralph/mine.yaml")), ev)
	told := strings.Join(d.Notices, "\n")
	if d.Continue() || m.calls() != 0 || len(entries(t, p.path("ran"))) > 0 {
		t.Errorf("the policy ran a program or asked a model: %s", said(d))
	}
	for _, what := range []string{"the rule more needs your approval", "verdict", "to a model", "ralph trust .ralph/mine.yaml"} {
		if !strings.Contains(told, what) {
			t.Errorf("the person is told %q, want %q in it", told, what)
		}
	}
	if d := p.run(p.loop(policy, trusted()), ev); !d.Continue() || m.calls() != 1 {
		t.Errorf("with trust it says %s", said(d))
	}

	// An approval of the state directory is for one project.
	p.store = t.TempDir()
	approvedIn := func(root string) *loop.Decision {
		l := p.loop(policy, loop.WithName(".ralph/mine.yaml"))
		a, err := approval.Policy{Root: root, Name: ".ralph/mine.yaml", Files: l.Program().Files()}.Approval(l.Program().Facts())
		if err == nil {
			err = store.Open(p.store).Approve(a)
		}
		if err != nil {
			t.Fatal(err)
		}
		return p.run(l, ev)
	}
	if d := approvedIn(t.TempDir()); d.Continue() || m.calls() != 1 {
		t.Errorf("approved in another project, it says %s", said(d))
	}
	if d := approvedIn(p.dir); !d.Continue() || m.calls() != 2 {
		t.Errorf("approved, it says %s: %q", said(d), d.Notices)
	}
}
