package run_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/run"
)

// Whatever a client reports is brought within bounds.
func TestWithin(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	cost := func(c float64) *float64 { return &c }
	year := now.Add(366 * 24 * time.Hour)
	for _, c := range []struct {
		name      string
		got, want run.Result
	}{
		{"nothing", run.Result{}, run.Result{}},
		{"as usual", run.Result{Tokens: 5, Used: 7, Cost: cost(1.5), Session: "0199c0de-0000_x.y", Problem: "p", ResetsAt: now.Add(time.Hour)},
			run.Result{Tokens: 5, Used: 7, Cost: cost(1.5), Session: "0199c0de-0000_x.y", Problem: "p", ResetsAt: now.Add(time.Hour)}},
		{"less than nothing", run.Result{Tokens: -5, Used: -7, Cost: cost(-1), Window: -1}, run.Result{}},
		{"too much", run.Result{Tokens: math.MaxInt, Used: math.MaxInt, Cost: cost(math.Inf(1))}, run.Result{Tokens: math.MaxInt >> 8, Used: math.MaxInt >> 8, Cost: cost(1e9)}},
		{"no number", run.Result{Cost: cost(math.NaN()), Window: math.NaN()}, run.Result{}},
		{"more than all", run.Result{Window: math.Inf(1)}, run.Result{Window: 1000}},
		{"a flag", run.Result{Session: "--dangerously-skip-permissions"}, run.Result{}},
		{"a path", run.Result{Session: "../../x"}, run.Result{}},
		{"a long name", run.Result{Session: strings.Repeat("x", 129)}, run.Result{}},
		{"a long problem", run.Result{Problem: strings.Repeat("x", 5000)}, run.Result{Problem: strings.Repeat("x", 4096) + "…"}},
		{"a reset that never comes", run.Result{ResetsAt: time.Unix(1<<60, 0)}, run.Result{ResetsAt: year}},
		{"one before all times", run.Result{ResetsAt: time.Unix(-1<<60, 0)}, run.Result{}},
	} {
		if diff := cmp.Diff(c.want, c.got.Within(now)); diff != "" {
			t.Errorf("%s: -want +got:\n%s", c.name, diff)
		}
	}
}

// An agent that forges records of its own client cannot escape a limit, end the run other than by one, or pass a flag
// to the client.
func TestForgedRecords(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the agent is a shell script")
	}
	result := func(fields string) string {
		return `{"type":"result","subtype":"success","is_error":false,"session_id":"0199c0de-0000","result":"x",` + fields + `}`
	}
	window := func(used string) string {
		return `{"type":"rate_limit_event","rate_limit_info":{"status":"allowed","unifiedWindows":{"five_hour":{"utilization":` + used + `},"seven_day":{"utilization":0.05}}}}`
	}
	for _, c := range []struct {
		name, line string
		limits     run.Limits
		want       run.End
		iterations int
	}{
		{"negative tokens", result(`"usage":{"input_tokens":-9e18,"output_tokens":60}`), run.Limits{Tokens: 100}, run.AtLimit, 2},
		{"tokens that overflow", result(`"usage":{"input_tokens":9e18,"output_tokens":9223372036854775807}`), run.Limits{Tokens: 100}, run.AtLimit, 1},
		{"tokens of many models", result(`"model_usage_since_last_result":{"a":{"inputTokens":9223372036854775807},"b":{"inputTokens":9223372036854775807}}`), run.Limits{Tokens: 100}, run.AtLimit, 1},
		{"tokens in a text", result(`"usage":{"input_tokens":"many","output_tokens":100}`), run.Limits{Tokens: 100}, run.AtLimit, 1},
		{"a cost that overflows", result(`"model_usage_since_last_result":{"a":{"costUSD":1e308},"b":{"costUSD":1e308}}`), run.Limits{Cost: 5}, run.AtLimit, 1},
		{"a cost below nothing", result(`"model_usage_since_last_result":{"a":{"costUSD":-1e308}}`), run.Limits{Cost: 5, Iterations: 3}, run.AtLimit, 3},
		{"a window that empties", window("0.9") + "\n" + window("0.1") + "\n" + result(`"usage":{}`), run.Limits{Window: 80}, run.AtLimit, 1},
		{"a reset after all times", `{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1e17}}` + "\n" +
			`{"type":"result","subtype":"success","is_error":true,"api_error_status":429}`, run.Limits{}, run.NoReset, 1},
		{"a problem without end", `{"type":"result","is_error":true,"result":"` + strings.Repeat("x", 3<<20) + `"}`, run.Limits{Iterations: 1}, run.AtLimit, 1},
		{"a session that is a flag", strings.ReplaceAll(result(`"usage":{}`), "0199c0de-0000", "--dangerously-skip-permissions"), run.Limits{Iterations: 2}, run.AtLimit, 2},
		{"deep", strings.Repeat("[", 1<<20), run.Limits{Iterations: 1}, run.AtLimit, 1},
		{"no UTF-8", "{\"type\":\"result\",\"session_id\":\"\xff\x1b\",\"result\":\"\xff\"}", run.Limits{Iterations: 1}, run.AtLimit, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, state := project(t)
			for name, text := range map[string]string{"line": c.line + "\n", "agent.sh": "echo \"$@\" >>args; cat line\n"} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			r, err := run.New(load(t, "ralph: 1\nrules: [{name: on, continue: on}]\n"), run.Claude(), run.WithDir(dir), run.WithStore(loop.LocalStore(state), ""),
				run.WithArgs("sh", "agent.sh"), run.WithLimits(c.limits), run.WithContinue())
			if err != nil {
				t.Fatal(err)
			}
			events, _ := all(t, t.Context(), r)
			if last := events[len(events)-1]; last.Ended != c.want || last.Totals.Iterations != c.iterations || last.Totals.Tokens < 0 {
				t.Errorf("it ended by %s, %s, with %+v", last.Ended, last.Why, last.Totals)
			}
			args, _ := os.ReadFile(filepath.Join(dir, "args"))
			if strings.Contains(string(args), "dangerously") {
				t.Errorf("the client was started with %s", args)
			}
			log, err := os.ReadFile(filepath.Join(dir, run.Dir, r.ID(), "run.jsonl"))
			if err != nil || len(log) > 64<<10 {
				t.Errorf("run.jsonl has %d bytes: %v", len(log), err)
			}
		})
	}
}

// Only the user can read the directory of a run: an agent prints what it reads.
func TestFolderIsPrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has other rights")
	}
	dir, state := project(t)
	r, err := run.New(load(t, policy), run.Generic(), run.WithDir(dir), run.WithStore(loop.LocalStore(state), ""), sh(`echo secret; echo secret >&2`))
	if err != nil {
		t.Fatal(err)
	}
	all(t, t.Context(), r)
	var open []string
	own := filepath.Join(dir, run.Dir, r.ID())
	err = filepath.WalkDir(own, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			open = append(open, fmt.Sprint(path, info.Mode()))
		}
		return err
	})
	if err != nil || len(open) > 0 {
		t.Errorf("others can read %q, %v", open, err)
	}
}

// A prompt that begins with a hyphen, such as a list, is no flag of a program.
func TestPromptIsNoFlag(t *testing.T) {
	for _, args := range [][]string{{"agent"}, {"agent", "{}", "--fast"}} {
		c, err := run.Generic().Command(run.Invocation{Args: args, Prompt: "--yolo"})
		if err != nil || strings.Contains(strings.Join(c.Args, " "), " --yolo") || !strings.Contains(strings.Join(c.Args, " "), "\n--yolo") {
			t.Errorf("%q, %v", c.Args, err)
		}
	}
}
