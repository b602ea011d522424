package loop_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/loop/judge"
	"github.com/ralph-sdk/ralph/rules"
)

// canary is a private value. What is stored must not hold it.
const canary = "CanarySecret"

// entrance is a way by which something private gets into a policy.
type entrance struct {
	name  string
	facts string // that it needs
	value string // the expression that reads it
	event func(*host.Event)
	said  string // by the user and the agent, in the session file
	error string // with which the turn failed, in the session file

	secret bool   // it stays private with WithPrivate
	params string // that it needs
}

// vault is a source with a secret: of a private kind, or one that marks its values as private.
type vault struct {
	kind  rules.SourceKind
	value rules.Value
}

func (s vault) Kind() rules.SourceKind { return s.kind }

func (s vault) Gather(_ context.Context, q loop.Query) rules.Value { return s.value }

func entrances() []entrance {
	name := func(name string, set func(*host.Event)) entrance {
		return entrance{name: name, value: name, event: set}
	}
	judged := "  verdict: {judge: What is left, returns: {properties: {go: {type: boolean}, why: {type: string}}, required: [go]}}\n"
	return []entrance{
		name("prompt", func(ev *host.Event) { ev.Prompt = canary }),
		name("custom_instructions", func(ev *host.Event) { ev.Instructions = canary }),
		name("task_subject", func(ev *host.Event) { ev.Task = canary }),
		name("task_description", func(ev *host.Event) { ev.TaskDetails = canary }),
		name("error_details", func(ev *host.Event) { ev.ErrorDetails = canary }),
		name("last_assistant_message", func(ev *host.Event) { ev.LastAssistantMessage = canary }),
		name("answer", func(ev *host.Event) { ev.Values = map[string]any{"answer": canary} }),
		{name: "env.SECRET", value: "env.SECRET", secret: true},
		{name: "hook.raw", value: "hook.raw.x", secret: true, event: func(ev *host.Event) { ev.Raw = map[string]any{"x": canary} }},
		{name: "transcript.last", value: "transcript.last", said: canary},
		{name: "transcript.texts", value: "transcript.texts[0]", said: canary},
		{name: "transcript.prompt", value: "transcript.prompt", said: canary},
		{name: "transcript.turns", value: "transcript.turns(1)[0].text", said: canary},
		{name: "transcript.failed", value: "transcript.failed.text", error: canary},
		{name: "session_crons", value: "session_crons[0].prompt", event: func(ev *host.Event) {
			ev.SessionCrons = []map[string]any{{"id": "c1", "prompt": canary}}
		}},
		{name: "background_tasks", value: "background_tasks[0].description", event: func(ev *host.Event) {
			ev.BackgroundTasks = []map[string]any{{"id": "b1", "description": canary}}
		}},
		{name: "an element that is found", value: "find(background_tasks, .id == `b1`).description", event: func(ev *host.Event) {
			ev.BackgroundTasks = []map[string]any{{"id": "b1", "description": canary}}
		}},
		{name: "an element of a list that is filtered", value: "map(filter(background_tasks, len(.id) > 0), .description)[0]", event: func(ev *host.Event) {
			ev.BackgroundTasks = []map[string]any{{"id": "b1", "description": canary}}
		}},
		{name: "a field that is not declared", value: "get(background_tasks[0], `command`)", event: func(ev *host.Event) {
			ev.BackgroundTasks = []map[string]any{{"id": "b1", "command": canary}}
		}},
		{name: "the text below front matter", facts: "  v: {frontmatter: loop.md, schema: {properties: {a: {type: integer}}}}\n", value: "trim(v.body)"},
		{name: "such a text without a schema", facts: "  v: {frontmatter: loop.md}\n", value: "v[`body`]"},
		{name: "a private source", secret: true, facts: "  v: {vault: x}\n", value: "v.key"},
		{name: "the problem of a private source", secret: true, facts: "  v: {broken: x}\n", value: "problem(v)"},
		{name: "a source that marks its value", secret: true, facts: "  v: {marked: x}\n", value: "v.key"},
		{name: "a private fact", secret: true, facts: "  v: {json: secret.json, private: true, schema: {properties: {key: {type: string}, n: {type: integer}}}}\n", value: "v.key"},
		{name: "a private file", secret: true, facts: "  v: {text: secret.json, private: true}\n", value: "v"},
		{name: "a value that a private fact cannot use", secret: true, facts: "  v: {json: secret.json, private: true, schema: {properties: {key: {type: integer}}}}\n", value: "string(v.key)"},
		{name: "a private param", secret: true, params: "  token: {type: string, default: " + canary + ", private: true}\n", value: "token"},
		{name: "a program that is private", secret: true, facts: "  v: {exec: [secret]}\n", value: "v.stdout"},
		{name: "the tasks of the host", facts: "  v: {tasks: claude}\n", value: "v[0].subject"},
		{name: "the answer of a model", facts: judged, value: "verdict.why", said: "Done."},
		{name: "the error of a model's service", facts: "  verdict: {judge: What is left, api: openai, model: m, returns: {properties: {go: {type: boolean}}}}\n", value: "problem(verdict)", said: "Done."},
	}
}

// exit is a way out: a policy without its facts, in which VALUE is the private one.
type exit struct {
	name, policy string
	facts        string
	program      string // it runs this program
	alike        bool   // as another way out: it is enough to try one entrance
	secret       bool   // it reads something secret itself
}

func exits() []exit {
	rule := func(body string) string {
		lines := strings.Split(body, "\n")
		for i, line := range lines {
			key, value, ok := strings.Cut(line, ": ")
			if ok && (strings.Contains(value, "VALUE") || strings.Contains(value, " #")) && !strings.HasPrefix(value, "'") && !strings.HasPrefix(value, "{") {
				lines[i] = key + ": '" + strings.ReplaceAll(value, "'", "''") + "'"
			}
		}
		return "rules:\n  - name: r\n    " + strings.Join(lines, "\n    ") + "\n"
	}
	const state = "  state: {json: state.json, schema: {properties: {key: {type: string, default: \"\"}, list: {type: array}, map: {type: object}}}}\n"
	all := []exit{
		{name: "an operand", policy: rule(`when: (VALUE) == "x"` + "\nstop: x")},
		{name: "an operand that is not compared", policy: rule("when: toJSON(VALUE) == VALUE + 'x'\nstop: x")},
		{name: "a let", policy: "let: {a: 'VALUE', b: 'a + \"!\"', c: '[b]', d: '{\"x\": c}'}\n" + rule("when: d.x[0] == 'x' or len(c) == 5\nstop: x")},
		{name: "elements", policy: rule(`when: any(map(["a", "b"], # + VALUE), # == "x") or reduce([1, 2], #acc + VALUE, "") == "x" or len(filter([VALUE], # == "x")) > 3 or (let z = VALUE; z + z) == ""` + "\nstop: x")},
		{name: "a choice", policy: "let: {a: 'stop_hook_active ? \"\" : VALUE', b: '(VALUE) ?? \"\"', c: 'first([VALUE])', d: 'sort([VALUE, \"a\"])'}\n" +
			rule("when: a == 'x' or b == 'x' or c == 'x' or d == []\nstop: x")},
		{name: "asked for", policy: rule(`when: exists(VALUE) or isdir(VALUE) or anyfile(VALUE) or which(VALUE) != "" or said("a" + VALUE) or promised(VALUE + "a") or mentions(VALUE + "a") or transcript.passed(VALUE) or transcript.passed_since_edit(VALUE)` + "\nstop: x")},
		{name: "a reason to stop", policy: rule("stop: it is ${VALUE}")},
		{name: "a question to a person", policy: rule("ask: is it ${VALUE}?\nnotice: look")},
		{name: "a reason to go on", policy: rule("continue: it is ${VALUE}")},
		{name: "notice, note and log", policy: rule("note: ${VALUE}\nnotice: ${VALUE}\nlog: |-\n  one\n  two ${VALUE}")},
		{name: "finally", policy: rule("stop: x") + "finally:\n  - log: '${VALUE}'\n  - prune: {glob: 'a/${VALUE}', older: 1h}\n"},
		{name: "set", facts: state, policy: rule("continue: x\nthen:\n  - set: state.key = VALUE\n  - set: 'state.map[VALUE] = 1'")},
		{name: "set without effect", facts: state, policy: rule("continue: x\nthen:\n  - set: 'state.list[VALUE] = 1'")},
		{name: "a value that cannot be set", facts: "  state: {json: state.json, schema: {properties: {map: {type: object}}}}\n", policy: rule("continue: x\nthen:\n  - set: 'state.map.x.y.z = VALUE'\n  - set: 'state.map[[VALUE]] = 1'")},
		{name: "a set that is left out", facts: "  s: {json: \"${VALUE}.json\"}\n", policy: rule("when: ok(s)\ncontinue: x\nthen:\n  - set: s.a.b = 1\n  - delete: s")},
		{name: "a set that fails", facts: "  s: {frontmatter: \"${VALUE}.md\"}\n", policy: rule("when: ok(s)\ncontinue: x\nthen:\n  - set: s.a = 2")},
		{name: "an archive", facts: "  s: {json: \"${VALUE}.json\"}\n", policy: rule("when: ok(s)\nstop: x\nthen:\n  - archive: s")},
		{name: "a path", facts: "  s: {text: \"a/${VALUE}\"}\n", policy: rule("when: s == 'x' or path(s) == 'x'\nstop: x\nnotice: '${path(s)} ${problem(s)}'")},
		{name: "a path that is wrong", facts: "  s: {text: \"a/${'/' + VALUE}\"}\n  t: {text: \"a/${'../' + VALUE}\"}\n  u: {text: \"~${'x' + VALUE}\"}\n  w: {text: \"x${[VALUE]}\"}\n  y: {json: \".${'.'}/${VALUE}\"}\n",
			policy: rule("when: s == 'x' or t == 'x' or u == 'x' or w == 'x' or y.x == 'x' or problem(s) == 'x'\nstop: x")},
		{name: "a path to a broken file", facts: "  s: {json: \"${VALUE}.bad\"}\n", policy: rule("when: s.x == 'x'\nstop: x")},
		{name: "a pattern", facts: "  s: {glob: \"${VALUE}.*\", parse: text}\n", policy: rule("when: s == [] or any(s, .value == 'x')\nstop: '${s}'")},
		{name: "git", facts: "  s: {git: \"${VALUE}\"}\n", policy: rule("when: s.branch == 'x' or any(s.changed, # == 'x') or path(s) == 'x'\nstop: x"), program: "git"},
		{name: "the list of tasks", facts: "  s: {tasks: claude, list: \"${VALUE}\"}\n", policy: rule("when: any(s, .status == 'x')\nstop: x")},
		{name: "arguments of a program", facts: "  s: {exec: [echo, \"${VALUE}\"]}\n", policy: rule("when: s.stdout == 'x' or s.lines == [] or s.json == 3\nstop: '${s.stdout}'"), program: "echo"},
		{name: "the input of a program", facts: "  s: {exec: [sh, -c, 'cat >&2'], stdin: \"${VALUE}\"}\n", policy: rule("when: s.stderr == 'x'\nstop: '${s.stderr}'"), program: "sh"},
		{name: "a question", facts: "  s: {judge: \"${VALUE}?\", model: \"${VALUE}\", system: \"${VALUE}\", tool_results: \"${VALUE}\", returns: {properties: {go: {type: boolean}}}}\n",
			policy: rule("when: s.go\nstop: x\nnotice: ${problem(s)}")},
		{name: "a schema", secret: true, facts: "  s: {vault: x, schema: {properties: {key: {type: integer}}}}\n", policy: rule("when: s.key == 3 or (VALUE) == 'x'\nstop: x")},
		{name: "progress", policy: "progress: 'VALUE'\nlimits: {repeats: 5}\n" + rule("continue: x")},
		{name: "progress in parts", policy: "progress: ['upper(VALUE)', 'len(VALUE)']\nlimits: {repeats: 5}\n" + rule("when: loop.repeats < 2\ncontinue: x")},
		{name: "progress that fails", policy: "progress: 'int(`no` + VALUE)'\nlimits: {repeats: 5}\n" + rule("when: loop.repeats < 9\ncontinue: x")},
		{name: "unless_repeated", policy: rule("unless_repeated: {times: 2, per: project}\ncontinue: ${VALUE}")},
		{name: "an include", policy: "rules:\n  - include: part.yaml\n    with: {given: 'VALUE'}\n"},
		{name: "the policy's own when", secret: true, policy: "when: int('no' + env.SECRET) > 0\n" + rule("stop: x")},
		{name: "effects", policy: rule("continue: x\nthen:\n  - page: {who: '${VALUE}', what: [x, '${VALUE}']}")},
		{name: "a fact that another one names", facts: "  s: {text: \"${VALUE}.txt\"}\n  t: {text: \"x/${path(s)}${problem(s)}\"}\n", policy: rule("when: t == 'x'\nstop: '${path(t)}'")},
	}
	for what, expression := range map[string]string{
		"int": `int(V) > 0`, "float": `float(V) > 0.5`, "date": `date(V).Year() == 3`, "duration": `duration(V) > duration("1s")`, "matches": `"x" matches ("(" + V)`,
		"fromJSON": `fromJSON(V) == 3`, "fromBase64": `fromBase64(V + "*") == ""`, "timezone": `now().In(timezone(V)) == now()`, "split": `split(V, "a")[7] == "x"`,
		"an own function": `check(V) == ""`, "an index": `[1, 2][fromJSON(toJSON(V))] == 3`,
	} {
		for i, body := range []string{"when: EXPR\nstop: x", "continue: go ${EXPR}", "when: EXPR\nnotice: x", "continue: x\nthen:\n  - set: 'state.key = (EXPR) ? \"a\" : \"b\"'"} {
			e := exit{name: "an error of " + what + strconv.Itoa(i), alike: i > 0, policy: rule(strings.ReplaceAll(strings.ReplaceAll(body, "EXPR", expression), "V", "(VALUE)"))}
			if i == 3 {
				e.facts = state
			}
			all = append(all, e)
		}
	}
	return all
}

// way is one policy of the matrix, with the loop that runs it.
type way struct {
	in    entrance
	out   exit
	value string // how the value is changed on its way
}

// loop makes the loop of a way; nil if this machine lacks its program.
func (w way) loop(t *testing.T, p *project, logged *bytes.Buffer, opts ...loop.Option) *loop.Loop {
	t.Helper()
	if _, err := exec.LookPath(w.out.program); w.out.program != "" && err != nil {
		return nil
	}
	kinds := []loop.Source{
		vault{rules.SourceKind{Name: "vault", Private: true, Schema: true}, rules.Value{
			V: map[string]any{"key": canary}, Path: "vault",
		}},
		vault{rules.SourceKind{Name: "broken", Private: true}, rules.Value{Status: rules.Missing, Problem: canary}},
		vault{rules.SourceKind{Name: "marked"}, rules.Value{V: map[string]any{"key": canary}, Private: true}},
	}
	functions := []rules.Function{{Name: "check", Doc: "Fails.", Func: func(s string) (string, error) { return "", os.NewSyscallError(s, fs.ErrInvalid) }}}
	value := strings.ReplaceAll(w.value, "VALUE", w.in.value)
	policy := "ralph: 1\n" + w.out.policy
	if facts := w.in.facts + w.out.facts; facts != "" {
		at := strings.Index(policy, "rules:")
		policy = policy[:at] + "facts:\n" + facts + policy[at:]
	}
	if w.in.params != "" {
		policy = strings.Replace(policy, "ralph: 1\n", "ralph: 1\nparams:\n"+w.in.params, 1)
	}
	policy = strings.ReplaceAll(policy, "VALUE", value)
	files := fstest.MapFS{
		"policy.yaml": {Data: []byte(policy)},
		"part.yaml":   {Data: []byte("ralph: 1\nparams: {given: {type: string}}\nrules:\n  - {name: a, when: int(given) > 3, notice: x}\n  - {name: b, when: given == \"x\", stop: x}\n  - {name: c, continue: '${given}'}\n")},
	}
	secret := vault{rules.SourceKind{Name: "exec", Private: true}, rules.Value{V: map[string]any{"code": 0, "stdout": canary, "lines": []any{canary}}}}
	slogs := loop.SlogRecorder(slog.New(slog.NewJSONHandler(logged, nil)))
	all := []loop.Option{
		loop.Local(), loop.WithState(p.store), loop.WithSource(judge.Source()), trusted(),
		loop.WithEnv(p.getenv),
		loop.WithRecorder(slogs, recorder(p.record)),
		loop.WithFunctions(functions...),
		effect("page", func(_ context.Context, c loop.Call) error {
			return os.NewSyscallError(c.Effect.Value.(map[string]any)["who"].(string), fs.ErrInvalid)
		}),
	}
	all = append(all, sourced(kinds)...)
	if strings.Contains(w.in.facts, "exec:") {
		all = append(all, loop.WithSource(secret))
	}
	l, diags := loop.Load(t.Context(), files, "policy.yaml", append(all, opts...)...)
	if l == nil {
		t.Fatalf("%s with %s:\n%s\n%s", w.out.name, w.in.name, diags.Format(), policy)
	}
	return l
}

// canaries is a project with all that the ways need.
func canaries(t *testing.T) *project {
	t.Helper()
	p := newProject(t, map[string]string{canary + ".json": "{}", canary + ".bad": `{"a`, canary + ".txt": "x", canary + ".md": "---\na: &shared 1\n---\n", "secret.json": `{"key": "` + canary + `"}`, "loop.md": "---\na: 1\n---\n" + canary})
	p.home(map[string]string{".claude/tasks/s/1.json": `{"id": "1", "subject": "` + canary + `", "description": "d", "status": "pending"}`})
	p.env["SECRET"] = canary
	return p
}

// run decides, twice if the memory counts, and returns all that is stored: records, lines of a logger, and
// ralph's own files.
func (w way) run(t *testing.T, p *project, opts ...loop.Option) (stored map[string]string, heard string) {
	t.Helper()
	p.store, p.lines = filepath.Join(t.TempDir(), "state"), nil
	if strings.Contains(w.out.policy, "then:") { // the way before may have changed it
		p.write("state.json", `{"key": "", "list": [], "map": {}}`)
		p.write(canary+".json", `{"a": 1}`)
	}
	if strings.Contains(w.in.facts+w.out.facts, "judge:") {
		service := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			if strings.Contains(r.URL.Path, "chat") {
				rw.WriteHeader(http.StatusBadRequest)
				_, _ = rw.Write([]byte(`{"error": {"message": "` + canary + `"}}`))
				return
			}
			_, _ = rw.Write([]byte(`{"content": [{"type": "text", "text": "{\"go\": true, \"why\": \"` + canary + `\"}"}]}`))
		}))
		defer service.Close()
		p.env["ANTHROPIC_API_KEY"], p.env["ANTHROPIC_BASE_URL"], p.env["OPENAI_API_KEY"], p.env["OPENAI_BASE_URL"] = "k", service.URL, "k", service.URL
	}
	ev := p.stop()
	ev.Host = host.ClaudeCode
	if w.in.error != "" {
		ev = p.talk(human("go"), fmt.Sprintf(`{"type":"assistant","isApiErrorMessage":true,"message":{"role":"assistant","content":[{"type":"text","text":%q}]}}`, w.in.error))
	}
	if w.in.said != "" {
		ev = p.talk(human(w.in.said), agent(w.in.said))
		ev.Host = host.ClaudeCode
	}
	if w.in.event != nil {
		w.in.event(&ev)
	}
	var logged bytes.Buffer
	l := w.loop(t, p, &logged, opts...)
	if l == nil {
		return nil, ""
	}
	var all []string
	times := 1
	if strings.Contains(w.out.policy, "progress") {
		times = 2
	}
	for range times {
		d := p.run(l, ev)
		all = append(all, d.Verdict.Reason, strings.Join(d.Notices, "\n"), strings.Join(d.Log, "\n"))
	}
	stored = map[string]string{"records": strings.Join(p.lines, "\n"), "logger": logged.String()}
	if err := filepath.WalkDir(p.store, func(name string, d fs.DirEntry, err error) error {
		if name == p.store && os.IsNotExist(err) { // nothing was kept
			return nil
		}
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(name)
		stored["the file "+name] = name + string(b)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return stored, strings.Join(all, "\n")
}

// Private values stay out of what is stored, whichever way they take: each entrance × each exit.
func TestPrivateStaysPrivate(t *testing.T) {
	needsShell(t)
	for _, in := range entrances() {
		t.Run(in.name, func(t *testing.T) {
			t.Parallel()
			p := canaries(t)
			for _, out := range exits() {
				if out.alike && in.name != "env.SECRET" {
					continue
				}
				for _, opts := range classes(in) {
					stored, _ := way{in: in, out: out, value: "(VALUE)"}.run(t, p, opts...)
					for where, text := range stored {
						if in.params != "" && strings.Contains(where, "policies") { // it has the text of the policy, and so the default
							continue
						}
						if i := strings.Index(text, canary); i >= 0 {
							t.Errorf("%s, %d options: %s has …%s…", out.name, len(opts), where, text[max(0, i-150):min(len(text), i+50)])
						}
					}
				}
			}
		})
	}
}

// In a file with front matter, only the text below it is private: fields, changes and errors are in the record.
func TestFieldsOfFrontMatterAreNotPrivate(t *testing.T) {
	p := newProject(t, map[string]string{"loop.md": "---\nround: 3\nspan: 45 min\n---\n" + canary})
	l := p.loop(`
ralph: 1
facts: {f: {frontmatter: loop.md, schema: {properties: {round: {type: integer}, span: {type: string}}}}}
memory: {seen: {type: string, default: ""}, text: {type: string, default: ""}}
rules:
  - {name: late, when: duration(f.span) > duration("1h"), notice: late}
  - {name: text, when: f.body != "", then: [{remember: text = f.body}]}
  - {name: go, when: f.round < 9, continue: "${f.body}", notice: "round ${f.round}", then: [{set: f.round = f.round + 1}, {remember: seen = digest(f.body)}]}
`)
	if d := p.run(l, p.stop()); said(d) != canary {
		t.Fatalf("it says %q", said(d))
	}
	r := p.records()[0]
	line, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`round 3`, `unknown unit \" min\"`, `{"name":"f#/round","value":3}`, `"old":3,"new":4`, `"new":"(32 bytes)","name":"seen","private":true`} {
		if !strings.Contains(string(line), want) {
			t.Errorf("the record lacks %s:\n%s", want, line)
		}
	}
	if strings.Contains(string(line), canary) {
		t.Errorf("the record has the text:\n%s", line)
	}
}

// What is computed from a private value is just as private.
func TestPrivateStaysPrivateWhenItIsChanged(t *testing.T) {
	needsShell(t)
	in := entrances()[slices.IndexFunc(entrances(), func(e entrance) bool { return e.name == "env.SECRET" })]
	for value, searched := range map[string]string{
		"upper(VALUE)":                         strings.ToUpper(canary),
		"split(VALUE, `ySe`)[0]":               "Canar",
		"VALUE[3:]":                            canary[3:],
		"cut(VALUE, 6)":                        canary[:5],
		"toBase64(VALUE)":                      base64.StdEncoding.EncodeToString([]byte(canary)),
		"replace(VALUE, `Secret`, `Fact`)":     "CanaryFact",
		"join(reverse(split(VALUE, ``)), ``)":  "terceSyranaC",
		"{`a`: [VALUE]}.a[0]":                  canary,
		"last(map([VALUE], trim(#)))":          canary,
		"string(fromJSON(toJSON([VALUE]))[0])": canary,
	} {
		t.Run(value, func(t *testing.T) {
			t.Parallel()
			p := canaries(t)
			for _, out := range exits() {
				if out.alike {
					continue
				}
				stored, _ := way{in: in, out: out, value: "(" + value + ")"}.run(t, p)
				for where, text := range stored {
					if i := strings.Index(text, searched); i >= 0 {
						t.Errorf("%s: %s has …%s…", out.name, where, text[max(0, i-150):min(len(text), i+50)])
					}
				}
			}
		})
	}
}

// The matrix looks where something would be: with WithPrivate each way out shows the words of the agent.
func TestPrivateMatrixLooksWhereItWouldBe(t *testing.T) {
	needsShell(t)
	in := entrances()[slices.IndexFunc(entrances(), func(e entrance) bool { return e.name == "last_assistant_message" })]
	p := canaries(t)
	for _, out := range exits() {
		if out.secret {
			continue
		}
		stored, heard := way{in: in, out: out, value: "(VALUE)"}.run(t, p, loop.WithPrivate())
		if stored != nil && !strings.Contains(stored["records"], canary) && !strings.Contains(heard, "(?)") { // its error quotes nothing
			t.Errorf("%s: nothing would show: it says %.200s, and the records are %.2000s", out.name, heard, stored["records"])
		}
	}
}

// Of private progress, the memory keeps a digest, which is enough to compare, and the record nothing. Other progress
// stays readable.
func TestPrivateProgress(t *testing.T) {
	p := newProject(t, nil)
	l := p.loop("ralph: 1\nprogress: [env.SECRET, loop.total > 99]\nlimits: {repeats: 2}\nrules: [{name: go, continue: on}]")
	var heard []string
	for _, secret := range []string{"a", "a", "b", "b", "b"} {
		p.env["SECRET"] = secret
		d := p.run(l, p.stop())
		heard = append(heard, said(d))
		if m := d.Verdict.Memory.Progress; len(m) != len("private:")+64 || !strings.HasPrefix(m, "private:") {
			t.Errorf("the memory keeps %q", m)
		}
	}
	if got := strings.Join(heard, ", "); got != "on, on, on, on, stop limits.repeats" {
		t.Errorf("it says %s", got)
	}
	for _, r := range p.records()[1:] {
		if r.Streak.Progress != "(private)" || r.Streak.Before != "(private)" {
			t.Errorf("the record has %q and %q", r.Streak.Progress, r.Streak.Before)
		}
	}
}

// Every private name is an entrance of the matrix.
func TestPrivateNamesAreInTheMatrix(t *testing.T) {
	page, err := os.ReadFile("../docs/reference/names.md")
	if err != nil {
		t.Fatal(err)
	}
	private := regexp.MustCompile("(?m)^\\| `([a-z_.]+).*\\*private\\*").FindAllStringSubmatch(string(page), -1)
	if len(private) < 8 {
		t.Fatalf("the page has only %d private names", len(private))
	}
	for _, name := range private {
		if name[1] != "env." && !slices.ContainsFunc(entrances(), func(e entrance) bool { return e.name == name[1] }) {
			t.Errorf("the matrix lacks %s", name[1])
		}
	}
}

// classes returns the options under which a value is private: a secret always is.
func classes(in entrance) [][]loop.Option {
	if in.secret {
		return [][]loop.Option{nil, {loop.WithPrivate()}}
	}
	return [][]loop.Option{nil}
}
