package loop_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing/fstest"

	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/loop/host"
	"github.com/ralph-sdk/ralph/rules"
)

// A Stop hook in one call: the bytes that the host wrote go in, what it wants to
// hear comes out.
func ExampleLoop_Hook() {
	project, _ := os.MkdirTemp("", "example")
	defer os.RemoveAll(project)

	policy := fstest.MapFS{"policy.yaml": {Data: []byte(`
ralph: 1
rules:
  - name: done
    when: said("DONE")
    stop: the agent said DONE
  - name: go-on
    continue: Go on until everything is done, then write DONE alone on a line.
`)}}
	program, findings := rules.Load(policy, "policy.yaml", loop.Config())
	if program == nil {
		fmt.Print(findings.Format())
		return
	}
	l, err := loop.New(program, loop.WithRoot(project), loop.WithStore(filepath.Join(project, "state")))
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
	// status 0: {"decision":"block","reason":"Go on until everything is done, then write DONE alone on a line."}
	//
	// status 0:
}

// Decide says what would be done and changes nothing; Apply does it.
func ExampleLoop_Decide() {
	project, _ := os.MkdirTemp("", "example")
	defer os.RemoveAll(project)
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
	program, findings := rules.Load(policy, "policy.yaml", loop.Config())
	if program == nil {
		fmt.Print(findings.Format())
		return
	}
	l, err := loop.New(program, loop.Local(), loop.WithStore(filepath.Join(project, "state")))
	if err != nil {
		fmt.Println(err)
		return
	}
	show := func(d *loop.Decision) {
		content, _ := os.ReadFile(state)
		fmt.Printf("%s by rule %s: %s; the file has %s\n", d.Verdict.Action, d.Verdict.Rule, d.Verdict.Reason, content)
	}
	ctx := context.Background()
	d := l.Decide(ctx, host.Event{Name: host.Stop, SessionID: "1", Cwd: project})
	show(d)
	if d, err = l.Apply(ctx, d); err != nil {
		fmt.Println(err)
	}
	show(d)
	// Output:
	// continue by rule count: 1 of 3; the file has {"n": 1}
	// continue by rule count: 1 of 3; the file has {"n": 2}
}

// A process that decides one event and ends reads no more of a policy than it needs.
func ExampleWithRest() {
	project, _ := os.MkdirTemp("", "example")
	defer os.RemoveAll(project)
	policy := fstest.MapFS{"policy.yaml": {Data: []byte(`
ralph: 1
when: session_id startsWith "release-"
rules:
  - name: once
    when: not stop_hook_active
    continue: Is the release out?
`)}}
	program, rest := rules.LoadHead(policy, "policy.yaml", loop.Config())
	whole := func() (*rules.Program, error) {
		p, findings := rest()
		if p == nil {
			return nil, findings
		}
		return p, nil
	}
	opts := []loop.Option{loop.Local(), loop.WithStore(filepath.Join(project, "state"))}
	if program != nil {
		opts = append(opts, loop.WithRest(whole))
	} else {
		program, _ = whole() // New says that there is none
	}
	l, err := loop.New(program, opts...)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, session := range []string{"1", "release-1"} {
		d := l.Decide(context.Background(), host.Event{Name: host.Stop, SessionID: session, Cwd: project})
		fmt.Printf("%s: %s %s%s\n", session, d.Verdict.Action, d.Verdict.Reason, d.Skipped)
	}
	// Output:
	// 1: stop the policy is not for this event: its when is not true
	// release-1: continue Is the release out?
}
