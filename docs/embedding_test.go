package docs_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ralph-sdk/ralph/examples"
	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/loop/looptest"
	"github.com/ralph-sdk/ralph/rules"
)

// server decides by policies that its tenants wrote.
type server struct {
	store    loop.Store
	policies map[string]*rules.Program // by tenant
}

// load takes the policy of a tenant, or says what is wrong with it.
func (s *server) load(ctx context.Context, tenant string, policy []byte) error {
	program, diags := rules.LoadBytes(ctx, "policy.yaml", policy, rules.Config{
		Sources: []rules.SourceKind{{Name: "request", Doc: "A value of the request.", Schema: true}},
		Allow:   &rules.Capabilities{Sources: []string{"request"}, Names: []string{"session_id"}},
		Limits:  rules.LoadLimits{Bytes: 64 << 10, Nodes: 10_000, Patterns: 20_000},
	})
	if program == nil {
		return diags.Err()
	}
	s.policies[tenant] = program
	return nil
}

// decide answers one request within a time, a number of steps and a size.
func (s *server) decide(ctx context.Context, tenant, session string, values map[string]any) (*rules.Verdict, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	program := s.policies[tenant]
	if program == nil {
		return nil, errors.New("the tenant has no policy")
	}
	for {
		entries, err := s.store.Load(ctx,
			loop.Key{Root: tenant, Policy: program.Name, Session: session},
			loop.Key{Root: tenant, Policy: program.Name, Project: true}, // for unless_repeated: {per: project}
		)
		if err != nil {
			return nil, err
		}
		v := program.Eval(ctx, rules.Values(values), rules.Options{
			Time:    time.Now(),
			Memory:  entries[0].Memory,
			Project: entries[1].Memory,
			Budget:  rules.Budget{Steps: 100_000, Bytes: 1 << 20},
		})
		if !v.Changed {
			return v, nil
		}
		entries[0].Memory, entries[1].Memory = v.Memory, v.Project
		if err := s.store.Save(ctx, entries...); !errors.Is(err, loop.ErrConflict) {
			return v, err
		}
		// Another request of the session was counted meanwhile: decide again.
	}
}

// Tenants bring their own policies, and the server trusts none of them.
func Example_server() {
	ctx := context.Background()
	s := &server{store: loop.InMemory(), policies: map[string]*rules.Program{}}
	for tenant, policy := range map[string]string{
		"acme": `ralph: 1
facts:
  build: {request: build, schema: {properties: {left: {type: integer, default: 0}}}}
limits: {continuations: 2}
rules:
  - name: left
    when: build.left > 0
    continue: ${session_id} has ${build.left} targets left.
`,
		"evil": `ralph: 1
facts:
  list: {text: /etc/passwd}
rules:
  - name: leak
    continue: ${list}
`,
		"busy": `ralph: 1
rules:
  - name: spin
    when: any(1..9000, count(1..9000, true) < 0)
    continue: go on
`,
	} {
		if err := s.load(ctx, tenant, []byte(policy)); err != nil {
			fmt.Println(err)
		}
	}
	for range 3 {
		v, err := s.decide(ctx, "acme", "s1", map[string]any{"session_id": "s1", "build": map[string]int{"left": 4}})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(v.Action, v.Reason)
	}
	v, err := s.decide(ctx, "busy", "s1", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(v.Action, v.Fault)
	// Output:
	// policy.yaml:3:3: the policy may not use the source "text"
	// policy.yaml:3:16: the policy may not use the path "/etc/passwd"
	// continue s1 has 4 targets left.
	// continue s1 has 4 targets left.
	// stop the limit of 2 continuations in a streak is reached
	// stop budget
}

const todoPolicy = `ralph: 1
facts:
  todo: {checklist: TODO.md}
rules:
  - name: open
    when: any(todo, not .done)
    continue: Do the next item of TODO.md.
`

// Several policies answer one hook; the agent goes on if any of them says so.
func Example_gate() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "ralph-example-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "TODO.md"), []byte("- [x] one\n- [ ] two\n"), 0o644); err != nil {
		fmt.Println(err)
		return
	}
	policies := fstest.MapFS{"todo.yaml": {Data: []byte(todoPolicy)}}
	todo, _ := rules.Load(ctx, policies, "todo.yaml", loop.Config())
	speckit, _ := rules.Load(ctx, examples.FS, "speckit/speckit.yaml", loop.Config())

	var loops []*loop.Loop
	for _, program := range []*rules.Program{todo, speckit} {
		l, err := loop.New(program, loop.WithRoot(dir))
		if err != nil {
			fmt.Println(err)
			return
		}
		loops = append(loops, l)
	}
	answer := loops[0].Hook(ctx, nil, []byte(`{"hook_event_name": "Stop", "session_id": "s1"}`), loops[1:]...)
	fmt.Printf("%sstatus %d\n", answer.Stdout, answer.Status)
	// Output:
	// {"decision":"block","reason":"[todo.yaml]\nDo the next item of TODO.md."}
	// status 0
}

// Findings have a place, a check's name and help.
func Example_diagnostics() {
	policy := []byte("ralph: 1\nrules:\n  - name: again\n    whenn: stop_hook_active\n    stop: once\n")
	program, diags := rules.LoadBytes(context.Background(), "bad.yaml", policy, loop.Config())
	fmt.Println(program == nil)
	for _, d := range diags {
		fmt.Printf("%s [%s] %s\n", d.Pos, d.Check, d.Help)
	}
	// Output:
	// true
	// bad.yaml:4:5 [unknown-key] did you mean "when"?
}

// The page names every option of a loop.
func TestOptionsAreDocumented(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root(t), "loop", "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var options []string
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^func ([A-Z]\w*)\(.*\) Option \{`).FindAllSubmatch(src, -1) {
			options = append(options, string(m[1]))
		}
	}
	if len(options) < 10 {
		t.Fatalf("only %q were found", options)
	}
	lacks(t, "docs/embedding.md", options)
}

// The JSON forms that the page shows are those of the decision that it shows: a
// verdict, the memory after it, and the record.
func TestJSONForms(t *testing.T) {
	var shown []string
	for _, b := range readDocument(t, "docs/embedding.md").blocks {
		if b.lang == "json" {
			shown = append(shown, b.text)
		}
	}
	if len(shown) != 3 {
		t.Fatalf("the page shows %d JSON forms, expected verdict, memory and record", len(shown))
	}
	program, diags := rules.LoadBytes(t.Context(), "build.yaml", []byte(`ralph: 1
facts:
  build: {json: build.json, schema: {properties: {left: {type: integer}}}}
limits: {repeats: 3}
progress: build.left
rules:
  - name: left
    when: build.left > 0
    continue: ${build.left} targets are left.
`), loop.Config())
	if program == nil {
		t.Fatal(diags.Err())
	}
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	values := map[string]any{"build": map[string]any{"left": 2}}

	v := program.Eval(t.Context(), rules.Values(values), rules.Options{Time: now, Turn: "t1"})
	same(t, shown[0], v)
	same(t, shown[1], &v.Memory)

	records := &looptest.Records{}
	l, err := loop.New(program, loop.WithValues(values), loop.WithRecorder(records), loop.WithClock(func() time.Time { return now }))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Run(t.Context(), host.Event{SessionID: "s1", Turn: "t1"}); err != nil {
		t.Fatal(err)
	}
	same(t, shown[2], records.All()[0])
}

// same compares JSON that a page shows with a value, but for what differs from run
// to run and from release to release.
func same[T any](t *testing.T, shown string, got *T) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader([]byte(shown)))
	d.DisallowUnknownFields()
	want, back := new(T), new(T)
	if err := d.Decode(want); err != nil {
		t.Fatalf("%v in\n%s", err, shown)
	}
	b, err := json.MarshalIndent(got, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, back,
		cmpopts.IgnoreTypes(rules.Budget{}),
		cmpopts.IgnoreFields(loop.Record{}, "ID", "Digest", "Took"),
		cmpopts.IgnoreFields(rules.Step{}, "Start", "Took"),
		cmpopts.IgnoreFields(rules.FactRead{}, "Start", "Took"),
	); diff != "" {
		t.Errorf("(-page +got)\n%s\nit is\n%s", diff, b)
	}
}
