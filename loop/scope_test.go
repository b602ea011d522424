package loop_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/loop"
)

// Two tenants share a store, and their policies, sessions and directories have the same names. Neither counts what the
// other does, also not for the ceilings of a session.
func TestScope(t *testing.T) {
	const policy = `{ralph: 1, limits: {total: 2}, rules: [{name: go, when: true, continue: go on}]}`
	for name, s := range map[string]loop.Store{"in memory": loop.InMemory(), "local": loop.LocalStore(t.TempDir())} {
		t.Run(name, func(t *testing.T) {
			got := ""
			for _, tenant := range []string{"a", "b", "", "a"} {
				opts := []loop.Option{loop.WithStore(s)}
				if tenant != "" {
					opts = append(opts, loop.WithScope(tenant))
				}
				l, diags := loop.Load(t.Context(), fstest.MapFS{"policy.yaml": {Data: []byte(policy)}}, "policy.yaml", opts...)
				if err := diags.Err(); err != nil {
					t.Fatal(err)
				}
				for range 2 {
					d, err := l.Run(t.Context(), host.Event{Host: host.ClaudeCode, SessionID: "s"})
					if err != nil {
						t.Fatal(err)
					}
					if got += tenant + ":" + d.Verdict.Action.String() + " "; d.Record(false).Scope != tenant {
						t.Errorf("the record of %q has the scope %q", tenant, d.Record(false).Scope)
					}
				}
			}
			if want := "a:continue a:continue b:continue b:continue :continue :continue a:stop a:stop"; strings.TrimSpace(got) != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}
