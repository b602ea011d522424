package replay_test

import (
	"encoding/json"
	"path/filepath"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/loop/looptest"
	"github.com/ralph-sdk/ralph/loop/replay"
	"github.com/ralph-sdk/ralph/rules"

	"os"
)

const head = `ralph: 1
facts:
  pointer: {text: current}
  state:
    json: ${pointer}/state.json
    inline: true
    schema: {properties: {n: {type: integer, default: 0}, m: {type: integer, default: 4}, ratio: {type: number, default: 0.5}, phase: {enum: [plan, work], default: plan}}}
progress: n
rules:
`

func program(t *testing.T, src string) *rules.Program {
	t.Helper()
	p, findings := rules.Load(t.Context(), fstest.MapFS{"p.yaml": {Data: []byte(src)}}, "p.yaml", loop.Config())
	if p == nil {
		t.Fatal(findings.Format())
	}
	return p
}

// recorded decides once, in a project with a state, and returns the record as it is in
// the log.
func recorded(t *testing.T, policy string) loop.Record {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"current": "a\n", "a/state.json": `{"n": 2, "phase": "work", "ratio": 1.0}`} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var records looptest.Records
	l, err := loop.New(program(t, policy),
		loop.WithRoot(dir), loop.WithState(filepath.Join(t.TempDir(), "state")),
		loop.WithEnv(func(string) string { return "" }), loop.WithRecorder(&records))
	if err != nil {
		t.Fatal(err)
	}
	ev := host.Event{Name: host.Stop, SessionID: "s1", Cwd: dir, LastAssistantMessage: "On it."}
	if _, err := l.Run(t.Context(), ev); err != nil {
		t.Fatal(err)
	}
	var r loop.Record
	line, err := json.Marshal(records.All()[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(line, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// A record against policies that read what it holds, and what it does not.
func TestDecide(t *testing.T) {
	record := recorded(t, head+`
  - name: done
    when: said("DONE") or phase == "plan"
    stop: done
  - name: go
    when: n < 3 and ratio > 0.2 and loop.repeats == 0 and not stop_hook_active
    continue: Go on with ${n}.
`)
	for _, c := range []struct {
		name, rules string
		want        replay.Outcome
		now         string
		why         []string
	}{
		{"the same", "  - name: go\n    when: n == 2 and phase == \"work\"\n    continue: x\n", replay.Same, "continue by rule go", nil},
		{"another rule", "  - name: on\n    when: n == 2\n    continue: x\n", replay.Differs, "continue by rule on", nil},
		{"another verdict", "  - name: enough\n    when: n >= 2 and not said(\"DONE\")\n    stop: x\n", replay.Differs, "stop by rule enough", nil},
		{"no rule", "  - name: enough\n    when: n > 2\n    stop: x\n", replay.Differs, "stop: no rule held", nil},
		{"a number with a fraction", "  - name: go\n    when: ratio == 1.0\n    continue: x\n", replay.Same, "continue by rule go", nil},
		{"a text reads more, which decides nothing", "  - name: go\n    when: n == 2\n    continue: ${m}\n", replay.Same, "continue by rule go", nil},
		{"a field that nobody read", "  - name: go\n    when: m == 4\n    continue: x\n", replay.Unknown, "", []string{"state.m is not in the log"}},
		{"a name that nobody read", "  - name: go\n    when: permission_mode == \"plan\"\n    continue: x\n", replay.Unknown, "", []string{"permission_mode is not in the log"}},
		{"a word that nobody asked for", "  - name: go\n    when: said(\"OVER\") or n == 2\n    continue: x\n", replay.Unknown, "", []string{`said("OVER") was not asked then`}},
		{"the conversation", "  - name: go\n    when: len(transcript.turns(2)) == 0\n    continue: x\n", replay.Unknown, "", []string{"the conversation is not in the log"}},
		{"a rule that steps aside", "  - name: go\n    when: n == 2\n    unless_repeated: {times: 1}\n    continue: x\n", replay.Unknown, "", []string{"the log does not say how often the rule go continued before"}},
		{"what is known of every event", "  - name: go\n    when: session_id == \"s1\" and host == \"\" and hook_event_name == \"Stop\"\n    continue: x\n", replay.Same, "continue by rule go", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := replay.Decide(t.Context(), program(t, head+c.rules), record)
			if got.Outcome != c.want {
				t.Errorf("the outcome is %s, want %s: %v", got.Outcome, c.want, got.Why)
			}
			if c.now != "" && got.Now.String() != c.now {
				t.Errorf("now it is %q, want %q", got.Now, c.now)
			}
			if diff := cmp.Diff(c.why, got.Why); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// A rule of then that made the file of a fact with a default makes it now too.
func TestFileThatWasNotThere(t *testing.T) {
	const policy = `ralph: 1
facts:
  rounds: {json: build/rounds.json, default: {}, schema: {properties: {n: {type: integer, default: 0}}}}
limits: {repeats: 3}
rules:
  - name: go
    when: rounds.n < 3
    continue: x
    then:
      - set: rounds.n = rounds.n + 1
`
	got := replay.Decide(t.Context(), program(t, policy), recorded(t, policy))
	if got.Outcome != replay.Same {
		t.Errorf("the outcome is %s, now %s: %v", got.Outcome, got.Now, got.Why)
	}
}

// A fact that was not gathered, or now comes from another place, is not guessed.
func TestFactsOfThen(t *testing.T) {
	record := recorded(t, head+"  - name: go\n    when: n < 3\n    continue: x\n")
	for name, c := range map[string]struct{ facts, why string }{
		"another file":   {"state: {json: b/state.json}", "the fact state was read from a/state.json then, and is read from b/state.json now"},
		"another source": {"state: {frontmatter: a/state.json}", "the fact state came from json then, and comes from frontmatter now"},
		"a new fact":     {"state: {json: a/state.json}\n  list: {checklist: t.md}", "the fact list was not gathered then"},
	} {
		when := "state.n < 3"
		if name == "a new fact" {
			when = "missing(list) and state.n < 3"
		}
		src := "ralph: 1\nfacts:\n  " + c.facts + "\nlimits: {repeats: 1}\nrules:\n  - name: go\n    when: " + when + "\n    continue: x\n"
		got := replay.Decide(t.Context(), program(t, src), record)
		if got.Outcome != replay.Unknown || len(got.Why) == 0 || got.Why[0] != c.why {
			t.Errorf("%s: %s %q, want %q", name, got.Outcome, got.Why, c.why)
		}
	}
}

// If nothing was decided, nothing can be decided again.
func TestFailedRecords(t *testing.T) {
	p := program(t, "ralph: 1\nrules:\n  - name: a\n    stop: x\n")
	for _, r := range []loop.Record{
		{Head: loop.Head{Time: time.Now(), Event: "Stop", Cause: rules.FaultRule, Reason: "the policy is broken\nat line 3"}},
		{Head: loop.Head{Time: time.Now(), Event: "Stop", Cause: rules.Off, Reason: "RALPH_OFF is set"}},
	} {
		if got := replay.Decide(t.Context(), p, r); got.Outcome != replay.Unknown || len(got.Why) != 1 {
			t.Errorf("%+v", got)
		}
	}
}

// A policy decides its own record as it did: with memory, counts and the words.
func TestOwnRecords(t *testing.T) {
	src := head + `
  - name: ask
    when: n == 2
    unless_repeated: {times: 2, per: session}
    continue: What is ${n}?
  - name: go
    when: n < 3
    continue: x
`
	record := recorded(t, src)
	if got := replay.Decide(t.Context(), program(t, src), record); got.Outcome != replay.Same {
		t.Errorf("%+v", got)
	}
	record.Repeated["ask"] = 2
	if got := replay.Decide(t.Context(), program(t, src), record); got.Now.Rule != "go" {
		t.Errorf("a rule that was heard twice is heard again: %+v", got)
	}
}
