package run

import (
	"encoding/json"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

const maxState = 64 << 10 // bytes of the JSON form

var t0 = time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)

func begun(t testing.TB, l Limits) State {
	t.Helper()
	s, err := New(Plan{ID: "r1", Name: "policy", Args: []string{"claude", "-p"}, Limits: l, Started: t0})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// play makes steps from inputs in words, a second apart: begin, resume, more (the policy continues), none (no rule decides), done, off,
// notice (a stop), rested, cancel, failed (not started), the outcome of an iteration, perhaps with +SECONDS that it took or $COST. With !
// a person has pressed Ctrl-C. It returns the commands and the end in words.
func play(s State, words string) (State, string) {
	var got []string
	at := t0
	for word := range strings.FieldsSeq(words) {
		word, stop := strings.CutSuffix(word, "!")
		in := Input{Stop: stop}
		word, dollars, _ := strings.Cut(word, "$")
		word, more, _ := strings.Cut(word, "+")
		seconds, _ := strconv.Atoi(more)
		at = at.Add(time.Second + time.Duration(seconds)*time.Second)
		in.At = at
		decisions := map[string]rules.Outcome{"more": rules.Continued, "none": rules.Idle, "done": rules.Done, "off": loop.Off, "notice": rules.Stopped}
		kinds := map[string]InputKind{"begin": Begin, "resume": Resume, "rested": Rested, "cancel": Cancelled, "failed": NotStarted}
		if outcome, ok := decisions[word]; ok {
			in.Kind, in.Decision = Decided, Decision{Outcome: outcome, Rule: "r", Reason: "go"}
		} else if in.Kind, ok = kinds[word]; !ok {
			in.Kind, in.Iteration = Iterated, Iteration{Outcome: word, Problem: "why", Tokens: 10}
			if cost, err := strconv.ParseFloat(dollars, 64); err == nil {
				in.Iteration.Cost = &cost
			}
			if word == RateLimited && more != "" {
				in.Iteration.Resets = at.Add(time.Hour)
			}
		}
		var cmd Command
		s, cmd = s.Step(in)
		switch {
		case s.End != nil:
			got = append(got, strings.TrimSpace(string(s.End.Outcome)+" "+s.End.Rule))
		case cmd.Kind == Iterate:
			got = append(got, "iterate:"+cmd.Prompt)
		case cmd.Kind == Rest:
			got = append(got, "rest:"+s.Until.Sub(at).String())
		case cmd.Kind == Decide:
			got = append(got, "decide "+strconv.Itoa(s.Decision))
		default:
			got = append(got, "-")
		}
	}
	return s, strings.Join(got, ", ")
}

func TestStep(t *testing.T) {
	for _, c := range []struct {
		name   string
		limits Limits
		inputs string
		want   string
		starts int
	}{
		{"to the end", Limits{}, "begin more ok more ok done", "decide 0, iterate:go, decide 1, iterate:go, decide 2, done r", 2},
		{"done already", Limits{}, "begin done resume", "decide 0, done r, done r", 0},
		{"no rule decides before the first", Limits{}, "begin none ok none", "decide 0, iterate:, decide 1, idle r", 1},
		{"a rule stops", Limits{}, "begin more ok notice", "decide 0, iterate:go, decide 1, stopped r", 1},
		{"a person stopped it", Limits{}, "begin more ok off resume more", "decide 0, iterate:go, decide 1, off r, decide 1, iterate:go", 2},
		{"--max", Limits{Max: 2}, "begin more ok more ok more", "decide 0, iterate:go, decide 1, iterate:go, decide 2, limit --max", 2},
		{"done at the last", Limits{Max: 1}, "begin more ok done", "decide 0, iterate:go, decide 1, done r", 1},
		{"--for", Limits{For: time.Minute}, "begin more timeout+70 more", "decide 0, iterate:go, decide 1, limit --for", 1},
		{"--budget", Limits{Budget: 1}, "begin more ok$0.6 more ok$0.6 more", "decide 0, iterate:go, decide 1, iterate:go, decide 2, limit --budget", 2},
		{"a budget without costs", Limits{Budget: 1}, "begin more ok more", "decide 0, iterate:go, decide 1, failed", 1},

		{"crashes", Limits{}, "begin more crashed more rested more crashed more rested more crashed more",
			"decide 0, iterate:go, decide 1, rest:5s, decide 1, iterate:go, decide 2, rest:10s, decide 2, iterate:go, decide 3, crashed", 3},
		{"done in spite of a crash", Limits{}, "begin more crashed done", "decide 0, iterate:go, decide 1, done r", 1},
		{"a crash that passes", Limits{}, "begin more crashed more rested more ok more crashed more",
			"decide 0, iterate:go, decide 1, rest:5s, decide 1, iterate:go, decide 2, iterate:go, decide 3, rest:5s", 3},
		{"a rate limit", Limits{}, "begin more rate_limited rested more rate_limited+1 rested more ok",
			"decide 0, iterate:go, rest:5s, decide 0, iterate:go, rest:1h0m0s, decide 0, iterate:go, decide 1", 3},
		{"a rate limit at the first, without a rule", Limits{}, "begin none rate_limited rested none ok", "decide 0, iterate:, rest:5s, decide 0, iterate:, decide 1", 2},
		{"a rate limit that is too long", Limits{For: time.Minute}, "begin more rate_limited+1", "decide 0, iterate:go, limit --for", 1},
		{"a rate limit in the last", Limits{Max: 1}, "begin more rate_limited", "decide 0, iterate:go, limit --max", 1},
		{"sign-in", Limits{}, "begin more auth resume more", "decide 0, iterate:go, failed, decide 0, iterate:go", 2},
		{"billing", Limits{}, "begin more billing", "decide 0, iterate:go, failed", 1},

		{"killed in an iteration", Limits{}, "begin more resume more ok", "decide 0, iterate:go, decide 1, iterate:go, decide 2", 2},
		{"killed in a decision", Limits{}, "begin more ok resume more", "decide 0, iterate:go, decide 1, decide 1, iterate:go", 2},
		{"killed in a rest", Limits{}, "begin more crashed more resume rested more", "decide 0, iterate:go, decide 1, rest:5s, rest:4s, decide 1, iterate:go", 2},
		{"killed again and again", Limits{}, "begin more resume more resume more resume more resume more",
			"decide 0, iterate:go, decide 1, iterate:go, decide 2, iterate:go, decide 3, lost, decide 3, iterate:go", 4},
		{"done in spite of a loss", Limits{}, "begin more resume done", "decide 0, iterate:go, decide 1, done r", 1},
		{"killed at --max", Limits{Max: 1}, "begin more resume more", "decide 0, iterate:go, decide 1, limit --max", 1},
		{"resumed after a stop", Limits{}, "begin more ok notice resume more", "decide 0, iterate:go, decide 1, stopped r, decide 2, iterate:go", 2},
		{"resumed after crashes", Limits{}, "begin more crashed more rested more crashed more rested more crashed more resume more",
			"decide 0, iterate:go, decide 1, rest:5s, decide 1, iterate:go, decide 2, rest:10s, decide 2, iterate:go, decide 3, crashed, decide 3, iterate:go", 4},

		{"Ctrl-C in an iteration", Limits{}, "begin more ok! more", "decide 0, iterate:go, decide 1, interrupted", 1},
		{"Ctrl-C, and it is done", Limits{}, "begin more ok! done", "decide 0, iterate:go, decide 1, done r", 1},
		{"Ctrl-C in a rest", Limits{}, "begin more rate_limited rested! resume more", "decide 0, iterate:go, rest:5s, interrupted, decide 0, iterate:go", 2},
		{"Ctrl-C twice", Limits{}, "begin more interrupted! resume more", "decide 0, iterate:go, interrupted, decide 1, iterate:go", 2},
		{"Ctrl-C before it starts", Limits{}, "begin more cancel resume more", "decide 0, iterate:go, interrupted, decide 0, iterate:go", 1},
		{"no agent", Limits{}, "begin more failed", "decide 0, iterate:go, failed", 0},
		{"what does not fit", Limits{}, "begin ok rested more more done failed rested", "decide 0, -, -, iterate:go, -, -, failed, failed", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, got := play(begun(t, c.limits), c.inputs)
			if diff := cmp.Diff(strings.Split(c.want, ", "), strings.Split(got, ", ")); diff != "" || s.Iteration != c.starts {
				t.Errorf("%d processes, want %d (-want +got)\n%s", s.Iteration, c.starts, diff)
			}
		})
	}
}

// The time between a kill and the resumption does not count.
func TestElapsed(t *testing.T) {
	s := begun(t, Limits{})
	for _, in := range []Input{
		{Kind: Begin, At: t0}, {Kind: Decided, At: t0.Add(time.Minute), Decision: Decision{Outcome: rules.Continued}},
		{Kind: Resume, At: t0.Add(24 * time.Hour), Limits: Limits{Max: 7}}, {Kind: Decided, At: t0.Add(24*time.Hour + time.Minute)},
	} {
		s, _ = s.Step(in)
	}
	if s.Spent.Elapsed != 2*time.Minute || s.Plan.Limits != (Limits{Max: 7, For: DefaultFor}) {
		t.Errorf("%v of %+v", s.Spent.Elapsed, s.Plan.Limits)
	}
}

// Whatever an iteration and a decision say, the state stays small, comes back from its JSON, and does not change what it came from.
func TestSmall(t *testing.T) {
	hostile := strings.Repeat("\x01<é", 100_000)
	s := begun(t, Limits{})
	s.Plan.Args = []string{strings.Repeat("x", maxPlan-500)}
	s, err := New(s.Plan)
	if err != nil {
		t.Fatal(err)
	}
	s.Phase = Iterating
	it := Iteration{Texts: slices.Repeat([]string{hostile}, 9), Problem: hostile, Session: hostile, Denied: slices.Repeat([]string{hostile}, 99), Outcome: OK}
	next, _ := s.Step(Input{Kind: Iterated, Iteration: it})
	last, _ := next.Step(Input{Kind: Decided, Decision: Decision{Outcome: rules.Stopped, Reason: hostile, Rule: hostile}})
	b, err := json.Marshal(last)
	if err != nil || len(b) > maxState || len(b) < maxPlan+maxTexts/2 {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	back := State{}
	if err := json.Unmarshal(b, &back); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(last, back); diff != "" {
		t.Error(diff)
	}
	if s.Last != nil || next.End != nil || !strings.HasSuffix(last.Last.Texts[0], "é") {
		t.Error("a step changed the state before")
	}
	s.Plan.Args[0] += strings.Repeat("x", 600)
	if _, err := New(s.Plan); err == nil || !strings.Contains(err.Error(), "put long texts into a file") {
		t.Errorf("a plan that is too large: %v", err)
	}
}

// The step has no clock, disk or process.
func TestPure(t *testing.T) {
	pure := []string{"encoding/json", "fmt", "slices", "strings", "time", "github.com/ralph-sdk/ralph/rules"}
	for _, file := range []string{"step.go", "state.go"} {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range f.Imports {
			if path, _ := strconv.Unquote(i.Path.Value); !slices.Contains(pure, path) {
				t.Errorf("%s imports %s", file, path)
			}
		}
		src, err := os.ReadFile(file)
		if err != nil || regexp.MustCompile(`\btime\.(Now|Since|Until|Sleep|After|Tick|New)`).Match(src) {
			t.Errorf("%s asks a clock (%v)", file, err)
		}
	}
	if off != loop.Off {
		t.Errorf("off is %s", loop.Off)
	}
}
