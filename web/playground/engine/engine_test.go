package engine_test

import (
	"context"
	"encoding/json"
	"io/fs"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/examples"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/policytest"
	"github.com/ralph-sdk/ralph/web/playground/engine"
)

// The situation of each test of the shipped policies, as the page shows it, is decided as the test decides it.
func TestSituations(t *testing.T) {
	names, err := fs.Glob(examples.Tests, "*/*_test.yaml")
	if err != nil {
		t.Fatal(err)
	}
	cases := 0
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			policy := strings.TrimSuffix(name, "_test.yaml") + ".yaml"
			text := func(fsys fs.FS, name string) string {
				src, err := fs.ReadFile(fsys, name)
				if err != nil {
					t.Fatal(err)
				}
				return string(src)
			}
			files := map[string]string{policy: text(examples.FS, policy), name: text(examples.Tests, name)}
			suite, diags := policytest.LoadSource(context.Background(), examples.FS, name, []byte(files[name]), loop.Config(engine.Options()...))
			if suite == nil {
				t.Fatal(diags)
			}
			for i, want := range suite.Run(t.Context(), nil) {
				s, err := engine.SituationOf(suite.Tests()[i])
				if err != nil {
					t.Fatal(err)
				}
				var e engine.Engine
				e.Load(engine.Files{Policy: policy, Files: files})
				got := e.Decide(t.Context(), s)
				if got.Record == nil {
					t.Errorf("%s: %s\n%s", want.Name, got.Problem, s.State)
					continue
				}
				if diff := cmp.Diff(verdict(t, want.Record), verdict(t, *got.Record)); diff != "" {
					t.Errorf("%s (-test +playground):\n%s", want.Name, diff)
				}
				cases++
			}
		})
	}
	if cases < 50 {
		t.Errorf("there were %d cases, want 50 or more", cases)
	}
}

var (
	directory = regexp.MustCompile(`ralph-test-\d+`) // of one test
	took      = regexp.MustCompile(`"[a-z_]+_ns": \d+`)
)

// verdict returns what does not depend on the process that decided.
func verdict(t *testing.T, r loop.Record) string {
	t.Helper()
	b, err := json.MarshalIndent([]any{r.Rule, r.Action, r.Reason, r.Notices, r.Effects, r.Trace}, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return took.ReplaceAllString(directory.ReplaceAllString(string(b), "DIR"), "")
}
