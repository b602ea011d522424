package simulate_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/loop/simulate"
	"github.com/ralph-sdk/ralph/rules"
)

// loaded gives a policy that is written as text.
func loaded(t testing.TB, src string) *rules.Program {
	t.Helper()
	p, findings := rules.Load(t.Context(), fstest.MapFS{"p.yaml": {Data: []byte("ralph: 1\n" + src)}}, "p.yaml", loop.Config())
	if p == nil {
		t.Fatal(findings.Format())
	}
	return p
}

// lines writes what happened, one line a stop.
func lines(r *simulate.Report) []string {
	var out []string
	for _, s := range r.Stops {
		out = append(out, fmt.Sprintf("%d.%d %s: %s %s", s.Turn, s.Stop, s.Did, s.Action, s.Rule))
	}
	return out
}

// An agent works on what the policy reads, whatever shape that has.
func TestHonestWork(t *testing.T) {
	for name, c := range map[string]struct {
		policy  string
		project fstest.MapFS
		want    []string
	}{
		"a state with an index": {
			"facts: {s: {json: s.json}}\nlimits: {repeats: 5}\nprogress: s.taskIndex\nrules:\n  - name: go\n    when: s.taskIndex < s.totalTasks\n    continue: go on\n",
			fstest.MapFS{"s.json": {Data: []byte(`{"taskIndex": 0, "totalTasks": 2}`)}},
			[]string{"1.1 did task 1 of 2: continue go", "1.2 did task 2 of 2, said so: stop "},
		},
		"phases": {
			"facts: {s: {json: s.json}}\nlimits: {repeats: 5}\nrules:\n  - name: go\n    when: s.phase != \"execution\"\n    continue: go on\n",
			fstest.MapFS{"s.json": {Data: []byte(`{"phase": "requirements", "taskIndex": 0, "totalTasks": 1}`)}},
			[]string{"1.1 went on to phase design: continue go", "1.2 went on to phase tasks: continue go", "1.3 went on to phase execution: stop ", "2.1 did task 1 of 1, said so: stop "},
		},
		"a checklist": {
			"facts: {l: {checklist: t.md}}\nlimits: {repeats: 5}\nrules:\n  - name: go\n    when: any(l, not .done)\n    continue: go on\n",
			fstest.MapFS{"t.md": {Data: []byte("- [x] a\n  1. [ ] b\n* [ ] c\n")}},
			[]string{"1.1 ticked an item of t.md: continue go", "1.2 ticked an item of t.md, said so: stop "},
		},
		"files with a status": {
			"facts: {p: {glob: \"p/*.json\"}}\nlimits: {repeats: 5}\nrules:\n  - name: go\n    when: any(p, .value.status == \"pending\")\n    continue: go on\n",
			fstest.MapFS{"p/a.json": {Data: []byte(`{"status": "pending"}`)}, "p/b.json": {Data: []byte(`{"status": "verified"}`)}},
			[]string{"1.1 closed p/a.json, said so: stop "},
		},
		"nothing that it knows": {
			"rules:\n  - name: done\n    when: promised(\"OVER\")\n    stop: over\n  - name: go\n    continue: go on\n",
			nil,
			[]string{"1.1 worked: continue go", "1.2 worked: continue go", "1.3 worked, said so: stop done"},
		},
		"a command that must pass": {
			"facts: {l: {checklist: t.md}}\nlimits: {repeats: 5}\nrules:\n  - name: prove\n    when: all(l, .done) and not transcript.passed(\"go test\")\n    continue: show that the tests pass\n",
			fstest.MapFS{"t.md": {Data: []byte("- [ ] a\n")}},
			[]string{"1.1 ticked an item of t.md, said so: continue prove", "1.2 worked: continue prove", "1.3 worked, said so: stop "},
		},
		"a repository": {
			"facts: {l: {checklist: t.md}, repo: {git: .}, docs: {git: docs}}\nlimits: {repeats: 5}\nrules:\n  - name: go\n    when: any(l, not .done) and repo.dirty and repo.changed == [\"t.md\"] and not docs.dirty\n    continue: go on\n  - name: committed\n    when: repo.ahead == 1 and repo.head != \"\"\n    stop: it is committed\n",
			fstest.MapFS{"t.md": {Data: []byte("- [ ] a\n- [ ] b\n")}},
			[]string{"1.1 ticked an item of t.md: continue go", "1.2 ticked an item of t.md, said so: stop committed"},
		},
		"a promise in the file": {
			"facts: {f: {frontmatter: f.md}}\nrules:\n  - name: done\n    when: mentions(f.completion_promise)\n    stop: over\n  - name: go\n    when: ok(f)\n    continue: go on\n",
			fstest.MapFS{"f.md": {Data: []byte("---\ncompletion_promise: all is well\n---\n")}},
			[]string{"1.1 worked: continue go", "1.2 worked: continue go", "1.3 worked, said so: stop done"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := simulate.Options{}
			if c.project != nil {
				o.Project = c.project
			}
			r, err := simulate.Run(t.Context(), loaded(t, c.policy), o)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, lines(r)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// A loop that goes on counts as endless after so many stops, and the run ends there.
func TestEndless(t *testing.T) {
	r, err := simulate.Run(t.Context(), loaded(t, "rules:\n  - name: on\n    continue: go\n"), simulate.Options{Agent: simulate.Stuck, MaxStops: 7})
	if err != nil {
		t.Fatal(err)
	}
	if r.Ended || r.Most != 7 || len(r.Stops) != 7 {
		t.Errorf("%+v", r)
	}
}

// A simulation sees its copy and its options: neither the home directory nor programs,
// repositories, the environment, the host's own files or the clock of this machine.
func TestNothingOutsideIsSeen(t *testing.T) {
	home := t.TempDir()
	for name, text := range map[string]string{
		"note.txt": "real", ".claude/tasks/simulation/1.json": `{"id":"1","subject":"real","status":"pending"}`,
		".claude/projects/p/simulation.jsonl": `{"type":"assistant","isSidechain":false,"message":{"role":"assistant","content":[{"type":"text","text":"real"}]}}` + "\n",
	} {
		file := filepath.Join(home, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for name, v := range map[string]string{"HOME": home, "USERPROFILE": home, "CLAUDE_CONFIG_DIR": filepath.Join(home, ".claude"), "REAL": "real"} {
		t.Setenv(name, v)
	}
	for _, c := range []struct {
		when string
		env  map[string]string
		want bool
	}{
		{when: `ok(note)`},
		{when: `len(notes) > 0`},
		{when: `exists("~/note.txt") or isdir("~/.claude") or anyfile("~/*.txt")`},
		{when: `which("sh") != ""`},
		{when: `ok(run) or repo.branch != "main" or repo.behind != 0`}, // the repository is simulated
		{when: `any(list, .subject == "real")`},
		{when: `mentions("real")`},
		{when: `env.REAL != "" or env.HOME != "" or env.CLAUDE_CONFIG_DIR != ""`},
		{when: `env.HOME == "given" and env.CLAUDE_CONFIG_DIR == "given"`, env: map[string]string{"HOME": "given", "CLAUDE_CONFIG_DIR": "given"}, want: true},
		{when: `now().Year() != 2026`},
	} {
		p := loaded(t, `facts:
  note: {text: ~/note.txt}
  notes: {glob: "~/*.txt", parse: text}
  run: {exec: [sh, -c, "exit 0"]}
  repo: {git: .}
  list: {tasks: claude}
rules:
  - name: seen
    when: '`+c.when+`'
    stop: it is there
`)
		r, err := simulate.Run(t.Context(), p, simulate.Options{Env: c.env, Turns: 1})
		if err != nil {
			t.Fatal(err)
		}
		if seen := r.Last == "seen"; seen != c.want {
			t.Errorf("%s is %t", c.when, seen)
		}
	}
}

// Time is virtual: a bound on time ends a loop at once.
func TestVirtualTime(t *testing.T) {
	p := loaded(t, "limits: {elapsed: 2h}\nrules:\n  - name: on\n    continue: go\n")
	r, err := simulate.Run(t.Context(), p, simulate.Options{Agent: simulate.Stuck, Step: 30 * time.Minute, Turns: 1})
	if err != nil {
		t.Fatal(err)
	}
	if r.Last != "limits.elapsed" || r.Most != 4 {
		t.Errorf("%+v", r)
	}
}

// The prompt of a turn is an event too, for policies that listen to it.
func TestPrompts(t *testing.T) {
	p := loaded(t, "events: [UserPromptSubmit]\nrules:\n  - name: hint\n    note: remember\n")
	r, err := simulate.Run(t.Context(), p, simulate.Options{Turns: 1})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Stops) != 2 || r.Stops[0].Stop != 0 || !cmp.Equal(r.Stops[0].Notices, []string{"remember"}) {
		t.Errorf("%+v", r.Stops)
	}
}

func TestErrors(t *testing.T) {
	p := loaded(t, "rules:\n  - name: a\n    stop: x\n")
	if _, err := simulate.Run(t.Context(), p, simulate.Options{Agent: "lazy"}); err == nil || !strings.Contains(err.Error(), "lazy") {
		t.Errorf("an agent that is not known: %v", err)
	}
	large := fstest.MapFS{"large": {Data: make([]byte, 65<<20)}}
	if _, err := simulate.Run(t.Context(), p, simulate.Options{Project: large}); err == nil || !strings.Contains(err.Error(), "too large") {
		t.Errorf("a project that is too large: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r, err := simulate.Run(ctx, p, simulate.Options{}); err == nil && r.Stops[0].Error == "" {
		t.Error("a run that was called off looks like any other")
	}
}

func ExampleRun() {
	policy := fstest.MapFS{"p.yaml": {Data: []byte(`ralph: 1
limits: {repeats: 3}
rules:
  - name: done
    when: said("DONE")
    stop: the agent is done
  - name: go-on
    continue: Write DONE when you are done.
`)}}
	p, _ := rules.Load(context.Background(), policy, "p.yaml", rules.Config{})
	for _, kind := range []simulate.Kind{simulate.Honest, simulate.Stuck} {
		r, err := simulate.Run(context.Background(), p, simulate.Options{Agent: kind, Turns: 1})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(kind, r.Ended, r.Most, r.Last)
	}
	// Output:
	// honest true 2 done
	// stuck true 3 limits.repeats
}

// By ralph run, each iteration has a session of its own, and the policy is asked first.
func TestIterations(t *testing.T) {
	limits := "limits: {continuations: 1000}\n"
	for name, c := range map[string]struct {
		policy string
		agent  simulate.Kind
		want   []string
		last   string
	}{
		"an honest agent": {
			"facts: {l: {checklist: t.md}}\nrules:\n  - {name: done, when: 'all(l, .done)', stop: done}\n  - {name: go, continue: 'do ${run.iteration + 1}'}\n", simulate.Honest,
			[]string{"1.0 the run begins: continue go", "1.1 ticked an item of t.md: continue go", "1.2 ticked an item of t.md, said so: stop done"}, "done",
		},
		"what a run has used": {
			"rules:\n  - {name: enough, when: 'run.tokens == 20000 and run.cost == 0.2 and run.elapsed == duration(\"1m\") and run.session_id == \"iteration-2\" and run.outcome == \"ok\"', stop: enough}\n  - {name: go, continue: go on}\n", simulate.Stuck,
			[]string{"1.0 the run begins: continue go", "1.1 got nowhere: continue go", "1.2 got nowhere: stop enough"}, "enough",
		},
		"a fresh context": {
			"rules:\n  - {name: old, when: 'session_id != \"run:simulation\" or stop_hook_active', stop: old}\n  - {name: heard, when: 'transcript.last contains \"1 is done\" and run.iteration > 1', stop: heard}\n" +
				"  - {name: twice, when: run.iteration >= 2, stop: twice}\n  - {name: go, continue: go on}\n", simulate.Forgetful,
			[]string{"1.0 the run begins: continue go", "1.1 worked, wrote nothing down: continue go", "1.2 worked, wrote nothing down: stop twice"}, "twice",
		},
		"nothing to do": {"rules:\n  - {name: none, stop: nothing to do}\n", simulate.Honest, []string{"1.0 the run begins: stop none"}, "none"},
		"a limit": {
			"limits: {iterations: 2}\nrules:\n  - {name: go, continue: go on}\n", simulate.Stuck,
			[]string{"1.0 the run begins: continue go", "1.1 got nowhere: continue go", "1.2 got nowhere: stop limits.iterations"}, "limits.iterations",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := simulate.Run(t.Context(), loaded(t, c.policy), simulate.Options{Agent: c.agent, Run: true, Project: fstest.MapFS{"t.md": {Data: []byte("- [ ] a\n- [ ] b\n")}}})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, lines(r)); diff != "" || !r.Ended || r.Last != c.last || r.Most != len(c.want)-1 {
				t.Errorf("ended %t after %d by %q (-want +got)\n%s", r.Ended, r.Most, r.Last, diff)
			}
		})
	}
	r, err := simulate.Run(t.Context(), loaded(t, limits+"rules:\n  - {name: go, continue: go on}\n"), simulate.Options{Agent: simulate.Stuck, Run: true, MaxStops: 7})
	if err != nil || r.Ended || r.Most != 7 {
		t.Errorf("without an end it is %+v (%v)", r, err)
	}
	// Three crashes in a row end a run; other outcomes are there for the policy.
	r, err = simulate.Run(t.Context(), loaded(t, limits+"rules:\n  - {name: go, continue: go on}\n"), simulate.Options{Agent: simulate.Crashing, Run: true})
	if err != nil || !r.Ended || !r.Crashed || r.Stops[len(r.Stops)-1].Outcome != "crashed" {
		t.Errorf("a crashing agent: %+v (%v)", r, err)
	}
	r, err = simulate.Run(t.Context(), loaded(t, limits+"rules:\n  - {name: seen, when: run.outcome == \"context_overflow\", stop: seen}\n  - {name: go, continue: go on}\n"), simulate.Options{Agent: simulate.Random, Run: true})
	if err != nil || r.Last != "seen" {
		t.Errorf("a random agent: %+v (%v)", r, err)
	}
}
