package simulate_test

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/examples"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/loop/simulate"
	"github.com/ralph-sdk/ralph/rules"
)

// shipped gives the demo project of a shipped policy, nil if it has none.
func shipped(t testing.TB, name string) fs.FS {
	t.Helper()
	if _, err := fs.Stat(examples.Demos, name+"/demo"); err != nil {
		return nil
	}
	demo, err := fs.Sub(examples.Demos, name+"/demo")
	if err != nil {
		t.Fatal(err)
	}
	return demo
}

func program(t testing.TB, name string, set map[string]string) *rules.Program {
	t.Helper()
	cfg := loop.Config()
	cfg.Set = set
	p, findings := rules.Load(t.Context(), examples.FS, name+"/"+name+".yaml", cfg)
	if p == nil {
		t.Fatal(findings.Format())
	}
	return p
}

// No agent, however it goes wrong, keeps a loop of a shipped policy running, and
// none makes a policy fail. Where a param lets a loop go on, it is let.
func TestShippedPoliciesEnd(t *testing.T) {
	policies, err := fs.Glob(examples.FS, "*/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range policies {
		name, _, _ := strings.Cut(file, "/")
		if name == "guards" || strings.HasSuffix(file, "_test.yaml") {
			continue
		}
		sets := []map[string]string{nil}
		if name == "speckit" || name == "specum" {
			sets = append(sets, map[string]string{"reentry": "progress"}, map[string]string{"reentry": "always"})
		}
		for _, kind := range simulate.Kinds() {
			t.Run(name+"/"+string(kind), func(t *testing.T) {
				t.Parallel()
				for _, set := range sets {
					p := program(t, name, set)
					for seed := range uint64(3) {
						r, err := simulate.Run(t.Context(), p, simulate.Options{Name: name, Project: shipped(t, name), Agent: kind, Seed: seed})
						if err != nil {
							t.Fatal(err)
						}
						if !r.Ended {
							t.Errorf("%v, seed %d: it does not end", set, seed)
						}
						for _, s := range r.Stops {
							if s.Error != "" {
								t.Errorf("%v, seed %d, turn %d, stop %d: %s", set, seed, s.Turn, s.Stop, s.Error)
							}
						}
						if kind != simulate.Crashing && kind != simulate.Random {
							break // nothing is left to chance
						}
					}
				}
			})
		}
	}
}

// An honest agent gets through all the work, and its own word ends the loop.
func TestHonestAgentFinishes(t *testing.T) {
	for name, want := range map[string]string{"speckit": "all-done", "specum": "all-done", "stravinsky": "promise", "ralph-wiggum": "promise"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set := map[string]string{}
			if name == "speckit" || name == "specum" {
				set["reentry"] = "progress"
			}
			r, err := simulate.Run(t.Context(), program(t, name, set), simulate.Options{Name: name, Project: shipped(t, name)})
			if err != nil {
				t.Fatal(err)
			}
			if r.Last != want || !r.Ended {
				t.Errorf("the loop ended by rule %q, want %q: %+v", r.Last, want, r.Stops)
			}
			if r.Most == 0 {
				t.Error("the agent was never told to go on")
			}
		})
	}
}

// The same seed gives the same stops, however much is left to chance.
func TestRunsAreRepeatable(t *testing.T) {
	p := program(t, "specum", map[string]string{"reentry": "always"})
	run := func(seed uint64) *simulate.Report {
		r, err := simulate.Run(t.Context(), p, simulate.Options{Project: shipped(t, "specum"), Agent: simulate.Random, Seed: seed, Turns: 5})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if diff := cmp.Diff(run(7), run(7)); diff != "" {
		t.Errorf("two runs with one seed differ (-first +second)\n%s", diff)
	}
	if cmp.Equal(run(7).Stops, run(8).Stops) {
		t.Error("two seeds gave the same run, so nothing is left to chance")
	}
}
