package loop_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing/fstest"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

// A Stop hook in one call: from the bytes that the host wrote to the bytes that it expects.
func ExampleLoop_Hook() {
	project, _ := os.MkdirTemp("", "example")
	own, _ := os.MkdirTemp("", "state")
	defer os.RemoveAll(project)
	defer os.RemoveAll(own)

	policy := fstest.MapFS{"policy.yaml": {Data: []byte(`
ralph: 1
rules:
  - name: done
    when: said("DONE")
    stop: the agent said DONE
    success: true
  - name: go-on
    continue: Continue until everything is done, then write DONE alone on a line.
`)}}
	program, findings := rules.Load(context.Background(), policy, "policy.yaml", loop.Config())
	if program == nil {
		fmt.Print(findings.Format())
		return
	}
	l, err := loop.New(program, loop.WithRoot(project), loop.WithState(own))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, message := range []string{"The first half works.", "All of it works.\\n\\nDONE"} {
		stdin := `{"hook_event_name": "Stop", "session_id": "1", "last_assistant_message": "` + message + `"}`
		answer := l.Hook(context.Background(), nil, []byte(stdin))
		fmt.Printf("status %d: %s\n", answer.Status, answer.Stdout)
	}
	// Output:
	// status 0: {"decision":"block","reason":"Continue until everything is done, then write DONE alone on a line."}
	//
	// status 0:
}

// Preview shows what would be done and changes nothing; Apply does it.
func ExampleLoop_Preview() {
	project, _ := os.MkdirTemp("", "example")
	own, _ := os.MkdirTemp("", "state")
	defer os.RemoveAll(project)
	defer os.RemoveAll(own)
	state := filepath.Join(project, "state.json")
	os.WriteFile(state, []byte(`{"n": 1}`), 0o644)

	policy := fstest.MapFS{"policy.yaml": {Data: []byte(`
ralph: 1
facts:
  state:
    json: state.json
    inline: true
    schema: {properties: {n: {type: integer, default: 0}}}
rules:
  - name: count
    when: n < 3
    continue: ${n} of 3
    then:
      - set: state.n = n + 1
`)}}
	program, findings := rules.Load(context.Background(), policy, "policy.yaml", loop.Config())
	if program == nil {
		fmt.Print(findings.Format())
		return
	}
	l, err := loop.New(program, loop.Local(), loop.WithState(own))
	if err != nil {
		fmt.Println(err)
		return
	}
	show := func(d *loop.Decision) {
		content, _ := os.ReadFile(state)
		fmt.Printf("%s by rule %s: %s; the file has %s\n", d.Verdict.Action, d.Verdict.Rule, d.Verdict.Reason, content)
	}
	ctx := context.Background()
	d := l.Preview(ctx, host.Event{Name: host.Stop, SessionID: "1", Cwd: project})
	show(d)
	if d, err = l.Apply(ctx, d); err != nil {
		fmt.Println(err)
	}
	show(d)
	// Output:
	// continue by rule count: 1 of 3; the file has {"n": 1}
	// continue by rule count: 1 of 3; the file has {"n": 2}
}

// Each decision is a message for the logger of the program.
func ExampleSlogRecorder() {
	plain := func(_ []string, a slog.Attr) slog.Attr {
		switch a.Key {
		case slog.TimeKey, "id", "took_ns": // differ each time
			return slog.Attr{}
		}
		return a
	}
	logger := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: plain}))
	program, findings := rules.LoadBytes(context.Background(), "nightly.yaml", []byte(`
ralph: 1
limits: {continuations: 1}
rules:
  - name: go-on
    continue: Go on.
`), loop.Config())
	if program == nil {
		fmt.Print(findings.Format())
		return
	}
	l, err := loop.New(program, loop.WithRecorder(loop.SlogRecorder(logger)))
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	for range 2 {
		if _, err := l.Run(ctx, host.Event{SessionID: "1"}); err != nil {
			fmt.Println(err)
		}
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	l.Run(cancelled, host.Event{SessionID: "1"})
	// Output:
	// level=INFO msg=decision policy=nightly.yaml event=Stop action=continue outcome=continued rule=go-on streak=0 session=1 reason="Go on."
	// level=INFO msg=decision policy=nightly.yaml event=Stop action=stop outcome=limit rule=limits.continuations streak=1 cause=continuations session=1 reason="the limit of 1 continuations per prompt is reached"
	// level=ERROR msg=decision policy=nightly.yaml event=Stop action=stop outcome=failed rule="" streak=0 cause=context session=1 reason="the decision was interrupted: context canceled"
}

// Memories may be kept anywhere that knows compare-and-set. Package looptest tests
// that a Store does.
func ExampleWithStore() {
	program, findings := rules.LoadBytes(context.Background(), "p.yaml", []byte(`
ralph: 1
rules:
  - name: go-on
    continue: ${loop.continuations} so far
`), loop.Config())
	if program == nil {
		fmt.Print(findings.Format())
		return
	}
	store := loop.InMemory() // one for all loops of the program
	ctx := context.Background()
	for range 2 {
		l, err := loop.New(program, loop.WithStore(store))
		if err != nil {
			fmt.Println(err)
			return
		}
		d, err := l.Run(ctx, host.Event{SessionID: "1"})
		fmt.Println(d.Verdict.Reason, err)
	}
	// Output:
	// 0 so far <nil>
	// 1 so far <nil>
}
