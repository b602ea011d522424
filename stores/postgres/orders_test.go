//go:build unix

package postgres_test

import (
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/project"
	"github.com/ralph-sdk/ralph/rules"
)

// What a person orders for the loops of a tenant is in the database, for all processes, and not for another tenant.
func TestOrders(t *testing.T) {
	s := open(t, connect(t, shared.empty(t), func(c *pgxpool.Config) { c.MaxConns = 2 }))
	program, diags := rules.LoadBytes(t.Context(), "go.yaml", []byte("ralph: 1\nrules: [{name: go, continue: go on}]"), rules.Config{})
	if program == nil {
		t.Fatal(diags.Err())
	}
	dir := t.TempDir()
	run := func(tenant, want string) {
		t.Helper()
		l, err := loop.New(program, loop.WithStore(s), loop.WithScope(tenant), loop.WithRoot(dir), loop.WithName("go"))
		if err != nil {
			t.Fatal(err)
		}
		if d, err := l.Run(t.Context(), host.Event{SessionID: "s"}); d.Verdict.Reason != want || err != nil {
			t.Errorf("%s: %q, error %v; want %q", tenant, d.Verdict.Reason, err, want)
		}
	}
	p, err := project.Open(project.Config{Dir: dir, State: t.TempDir(), Store: s, Scope: "a", Policies: []project.Policy{{Name: "go", Program: program}}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	run("a", "go on")
	if _, err := p.Pause(t.Context(), "go", ""); err != nil {
		t.Fatal(err)
	}
	run("a", "the loop is paused")
	run("b", "go on")
	if _, err := p.Resume(t.Context(), "go", ""); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Hint(t.Context(), "mind the gap", "", ""); err != nil {
		t.Fatal(err)
	}
	run("b", "go on")
	run("a", "go on\n\n## Hint from the user\n\nmind the gap")
	run("a", "go on")
	entries, err := p.History(project.Query{})
	if len(entries) != 3 || err != nil {
		t.Errorf("the history has %d decisions, error %v; want 3", len(entries), err)
	}
}
