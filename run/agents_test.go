package run

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/ralph-sdk/ralph/internal/process"
)

// streams are what clients printed, by client and name.
func streams(t testing.TB) map[string]string {
	t.Helper()
	a, err := txtar.ParseFile("testdata/streams.txtar")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, f := range a.Files {
		all[f.Name] = string(f.Data)
	}
	return all
}

func TestStreams(t *testing.T) {
	usd := func(n float64) *float64 { return &n }
	hello := []string{"Hello there.\nSecond line."}
	const key = "Incorrect API key provided: made-up."
	want := map[string]struct {
		code int
		it   Iteration
	}{
		"claude/ok":                {0, Iteration{Outcome: OK, Texts: hello, Tokens: 15, Cost: usd(0.00014)}},
		"claude/tool":              {0, Iteration{Outcome: OK, Texts: hello, Tokens: 30, Cost: usd(0.00028)}},
		"claude/background":        {0, Iteration{Outcome: OK, Texts: append(hello, hello...), Tokens: 45, Cost: usd(0.00042)}},
		"claude/billing":           {1, Iteration{Outcome: Billing, Problem: "Credit balance is too low", Cost: usd(0)}},
		"claude/context":           {1, Iteration{Outcome: Overflow, Problem: "Prompt is too long", Cost: usd(0)}},
		"claude/denied":            {0, Iteration{Outcome: OK, Texts: []string{"Hello there."}, Tokens: 45, Cost: usd(0.00042), Denied: []string{"Bash touch /etc/one-file && curl -s http://example.com", "Bash touch /etc/one-file && curl -s http://example.com"}}},
		"claude/forbidden":         {1, Iteration{Outcome: SignIn, Problem: "Failed to authenticate.", Cost: usd(0)}},
		"claude/max-budget":        {1, Iteration{Outcome: OverBudget, Problem: "Reached maximum budget ($0.0001)", Tokens: 15, Cost: usd(0.00014)}},
		"claude/max-turns":         {1, Iteration{Outcome: TurnLimit, Problem: "Reached maximum number of turns (1)", Tokens: 15, Cost: usd(0.00014)}},
		"claude/rate-limit-reset":  {1, Iteration{Outcome: RateLimited, Problem: "You've hit your 5-hour limit", Cost: usd(0), Resets: time.Date(2026, 11, 22, 18, 13, 38, 0, time.UTC)}},
		"claude/server-error":      {1, Iteration{Outcome: Crashed, Problem: "API Error: 500 Internal server error.", Cost: usd(0)}},
		"claude/unauthorized":      {1, Iteration{Outcome: SignIn, Problem: "Invalid API key", Cost: usd(0)}},
		"codex/ok":                 {0, Iteration{Outcome: OK, Texts: hello, Tokens: 15}},
		"codex/tool":               {0, Iteration{Outcome: OK, Texts: hello, Tokens: 30}},
		"codex/billing":            {1, Iteration{Outcome: Billing, Problem: "Quota exceeded."}},
		"codex/context":            {1, Iteration{Outcome: Overflow, Problem: "Codex ran out of room"}},
		"codex/rate-limit":         {1, Iteration{Outcome: RateLimited, Problem: "exceeded retry limit, last status: 429"}},
		"codex/server-error":       {1, Iteration{Outcome: Crashed, Problem: "We’re currently experiencing high demand"}},
		"codex/unauthorized":       {1, Iteration{Outcome: SignIn, Problem: "unexpected status 401 Unauthorized: " + key}},
		"codex/usage-limit":        {1, Iteration{Outcome: RateLimited, Problem: "You’ve hit your usage limit."}},
		"gemini/ok":                {0, Iteration{Outcome: OK, Texts: hello, Tokens: 30}},
		"gemini/tool":              {0, Iteration{Outcome: OK, Texts: hello, Tokens: 45}},
		"gemini/denied":            {0, Iteration{Outcome: OK, Texts: []string{"Hello there."}, Tokens: 45, Denied: []string{"run_shell_command"}}},
		"gemini/context":           {144, Iteration{Outcome: Crashed, Problem: `[API Error: {"error":{"code":400,`}},
		"gemini/unauthorized":      {145, Iteration{Outcome: SignIn, Problem: `[API Error: {"error":{"code":401,`}},
		"gemini/rate-limit-killed": {137, Iteration{Outcome: Crashed, Problem: "status 137: last words"}},
		"qwen/ok":                  {0, Iteration{Outcome: OK, Texts: hello, Tokens: 15}},
		"qwen/denied":              {0, Iteration{Outcome: OK, Texts: []string{"Hello there."}, Tokens: 30, Denied: []string{"run_shell_command make deploy && touch made"}}},
		"qwen/max-turns":           {53, Iteration{Outcome: TurnLimit, Problem: "status 53: last words"}},
		"qwen/max-time":            {55, Iteration{Outcome: TurnLimit, Problem: "status 55: last words"}},
		"qwen/unauthorized":        {1, Iteration{Outcome: SignIn, Problem: "[API Error: 401 " + key + "]", Texts: []string{"[API Error: 401 " + key + "]"}}},
	}
	all := streams(t)
	if len(all) != len(want) {
		t.Errorf("%d streams, and %d are expected", len(all), len(want))
	}
	for name, w := range want {
		client, _, _ := strings.Cut(name, "/")
		a, _ := agentOf([]string{client})
		r := &records{agent: a}
		for _, part := range []string{"a warning\n", all[name][:10], all[name][10:], "{"} { // as it comes
			if _, err := io.WriteString(r, part); err != nil {
				t.Fatal(err)
			}
		}
		got := r.iteration(process.Result{Code: w.code, Stderr: []byte("first\nlast words\n")})
		if got.Session == "" {
			t.Errorf("%s: no session", name)
		}
		got.Session = ""
		if strings.HasPrefix(got.Problem, w.it.Problem) && w.it.Problem != "" {
			got.Problem = w.it.Problem
		}
		if diff := cmp.Diff(w.it, got, cmp.Comparer(func(a, b float64) bool { return a-b < 1e-9 && b-a < 1e-9 })); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

// Of any other program, and of a client with flags that make it print text, the output counts and the status.
func TestOtherPrograms(t *testing.T) {
	for _, c := range []struct {
		args string
		res  process.Result
		want Iteration
	}{
		{"./agent", process.Result{Stdout: []byte(" done\n"), Stderr: []byte("a warning")}, Iteration{Outcome: OK, Texts: []string{"done"}}},
		{"./agent", process.Result{Code: 3, Stdout: []byte("half")}, Iteration{Outcome: Crashed, Problem: "status 3", Texts: []string{"half"}}},
		{"claude -p --output-format text", process.Result{Stdout: []byte("{}\ndone")}, Iteration{Outcome: OK, Texts: []string{"{}\ndone"}}},
	} {
		a, _ := agentOf(strings.Fields(c.args))
		r := &records{agent: a}
		_, _ = r.Write(c.res.Stdout)
		if diff := cmp.Diff(c.want, r.iteration(c.res)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", c.args, diff)
		}
	}
}

func TestCommands(t *testing.T) {
	for typed, want := range map[string]string{
		"claude -p":                             "claude --output-format stream-json --verbose -p <go",
		"claude do":                             "claude -p --output-format stream-json --verbose do <go",
		"claude -p --output-format=json do":     "claude -p --output-format=json do <go",
		"npx -y @anthropic-ai/claude-code@2 -p": "npx -y @anthropic-ai/claude-code@2 --output-format stream-json --verbose -p <go",
		"codex":                                 "codex exec --json <go",
		"codex -m x exec --sandbox y":           "codex -m x exec --json --sandbox y <go",
		"/usr/bin/codex e --json do":            "/usr/bin/codex e --json do <go",
		"gemini -y -p":                          "gemini --output-format stream-json -y <go",
		"qwen -o json -p do":                    "qwen -o json -p do <go",
		"./agent.sh claude":                     "./agent.sh claude <go",
		"./agent.sh {} x":                       "./agent.sh go x <",
		"claude -p {}":                          "claude --output-format stream-json --verbose -p go <",
	} {
		args, stdin := complete(strings.Fields(typed), "go")
		if got := strings.Join(args, " ") + " <" + strings.TrimSuffix(string(stdin), "\n"); got != want {
			t.Errorf("%s: got %s, want %s", typed, got, want)
		}
	}
}

// Whatever an agent prints, it is read without a fault, and fits into a state.
func FuzzRecords(f *testing.F) {
	for name, s := range streams(f) {
		client, _, _ := strings.Cut(name, "/")
		f.Add(client, []byte(s))
	}
	f.Fuzz(func(t *testing.T, client string, b []byte) {
		a, _ := agentOf([]string{client})
		r := &records{agent: a}
		_, _ = r.Write(b)
		it := r.iteration(process.Result{Stdout: b}).fit()
		if n := size(it); n > maxState-maxPlan-maxReason {
			t.Errorf("it has %d bytes", n)
		}
	})
}
