package run_test

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/run"
	"github.com/ralph-sdk/ralph/run/runtest"
)

// Every adapter keeps the promises of the interface, with command lines as users write them.
func TestAdapters(t *testing.T) {
	for client, args := range map[string][]string{
		"claude":  {"claude", "-p", "--model", "opus", "--allowedTools", "Bash", "Edit"},
		"codex":   {"codex", "-c", "model=x", "exec", "--skip-git-repo-check", "-i", "a.png"},
		"gemini":  {"gemini", "-y", "--allowed-tools", "a", "b"},
		"qwen":    {"qwen", "--yolo", "-o", "stream-json"},
		"copilot": {"copilot", "--allow-all-tools", "--allow-tool", "shell"},
		"generic": {"my-agent", "--fast"},
	} {
		t.Run(client, func(t *testing.T) {
			var streams []runtest.Stream
			for _, s := range recorded(t, client) {
				streams = append(streams, s)
			}
			if client == "generic" {
				streams = []runtest.Stream{{Name: "text", Stdout: []byte("working\ndone\n")}}
			}
			slices.SortFunc(streams, func(a, b runtest.Stream) int { return strings.Compare(a.Name, b.Name) })
			runtest.Adapter(t, adapterOf(t, client), args, streams...)
		})
	}
}

func adapterOf(t testing.TB, client string) run.Adapter {
	t.Helper()
	all := run.Clients()
	i := slices.IndexFunc(all, func(a run.Adapter) bool { return a.Name() == client })
	if i < 0 {
		t.Fatalf("there is no adapter %s", client)
	}
	return all[i]
}

func TestClientOf(t *testing.T) {
	for args, want := range map[string]string{
		"claude -p": "claude", "/usr/bin/codex exec": "codex", "./gemini": "gemini", "qwen.cmd": "qwen", "Copilot.exe": "copilot",
		"my-claude": "generic", "npx claude": "generic", "": "generic",
	} {
		if got := run.ClientOf(strings.Fields(args)).Name(); got != want {
			t.Errorf("%q is of %s, want %s", args, got, want)
		}
	}
}

// The prompt is on stdin, so that no flag takes it. What ralph needs is added once, after flags that take several
// values.
func TestCommand(t *testing.T) {
	const id = "0199c0de-0000-7000-8000-00000000c0de"
	for _, c := range []struct{ client, args, fresh, resumed string }{
		{"claude", "claude", "claude -p --output-format stream-json --verbose", "claude -p --output-format stream-json --verbose --resume ID"},
		{"claude", "claude -p --allowedTools Bash", "claude -p --allowedTools Bash --output-format stream-json --verbose", ""},
		{"claude", "claude --print --output-format=stream-json --verbose", "claude --print --output-format=stream-json --verbose", ""},
		{"claude", "npx -y @anthropic-ai/claude-code@2 --verbose", "npx -y @anthropic-ai/claude-code@2 --verbose -p --output-format stream-json", ""},
		{"codex", "codex", "codex exec --json -", "codex exec --json resume ID -"},
		{"codex", "codex -m x", "codex exec -m x --json -", ""},
		{"codex", "codex exec --json -i a.png", "codex exec -i a.png --json -", "codex exec -i a.png --json resume ID -"},
		{"codex", "codex e -s read-only", "codex e -s read-only --json -", ""},
		{"codex", "npx -c @openai/codex@0.169.0", "npx -c @openai/codex@0.169.0 exec --json -", ""},
		{"gemini", "gemini -p", "gemini --output-format stream-json", "gemini --output-format stream-json --resume ID"},
		{"gemini", "gemini -p -y -o stream-json", "gemini -y -o stream-json", ""},
		{"gemini", "docker run -i agents/gemini", "docker run -i agents/gemini --output-format stream-json", ""},
		{"qwen", "qwen --prompt", "qwen --output-format stream-json", "qwen --output-format stream-json --resume ID"},
		{"copilot", "copilot -p --allow-all-tools", "copilot --allow-all-tools --output-format json", "copilot --allow-all-tools --output-format json --resume=ID"},
	} {
		for session, want := range map[string]string{"": c.fresh, id: c.resumed} {
			if want == "" {
				continue
			}
			got, err := adapterOf(t, c.client).Command(run.Invocation{Args: strings.Fields(c.args), Prompt: "-do it", Session: session})
			want = strings.ReplaceAll(want, "ID", id)
			if diff := cmp.Diff(run.Command{Args: strings.Fields(want), Stdin: "-do it"}, got); err != nil || diff != "" {
				t.Errorf("%s: %v (-want +got)\n%s", c.args, err, diff)
			}
		}
	}
}

func TestCommandIsRefused(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"claude", "-p", "Fix it."}, `claude: the run sets the prompt: remove "Fix it." here, and write --prompt "Fix it." before the agent`},
		{[]string{"claude", "-p", "--", "Fix it."}, "remove --: the run sets the prompt"},
		{[]string{"claude", "-p", "--output-format", "json"}, "remove --output-format json: the run reads what --output-format stream-json prints"},
		{[]string{"claude", "--output-format=text"}, "remove --output-format text"},
		{[]string{"claude", "--continue"}, "remove --continue: each iteration has its own session"},
		{[]string{"claude", "--resume=x"}, "remove --resume"},
		{[]string{"claude", "--bg"}, "remove --bg"},
		{[]string{"codex", "exec", "resume", "--last"}, "codex: remove resume"},
		{[]string{"codex", "exec", "-"}, "remove -: the run sets the prompt"},
		{[]string{"gemini", "-p", "Fix it."}, `gemini: the run sets the prompt: remove "Fix it." here`},
		{[]string{"gemini", "--prompt=Fix it."}, `write --prompt "Fix it." before the agent`},
		{[]string{"gemini", "-o"}, "remove -o "},
		{[]string{"gemini", "-i", "x"}, "remove -i"},
		{[]string{"qwen", "-c"}, "qwen: remove -c"},
		{[]string{"copilot", "--output-format", "text"}, "copilot: remove --output-format text"},
		{[]string{"copilot", "--session-id", "x"}, "remove --session-id"},
		{[]string{"agent", strings.Repeat("x", 10)}, ""},
	} {
		_, err := run.ClientOf(c.args).Command(run.Invocation{Args: c.args, Prompt: "p"})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%q: %v, want %q", c.args, err, c.want)
		}
	}
	if _, err := run.Generic().Command(run.Invocation{Args: []string{"agent"}, Prompt: strings.Repeat("x", 128<<10)}); err == nil || !strings.Contains(err.Error(), "131072 bytes") {
		t.Errorf("a long prompt for an unknown client: %v", err)
	}
}

// A session file is found by the client's own directory and the session.
func TestTranscript(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the projects of the recorded streams have Unix paths")
	}
	began := time.UnixMilli(0x01a2043e77af).Format("2006/01/02") // the time that its id has, in local days
	for _, c := range []struct {
		client, stream, file, env string
		also                      map[string]string
	}{
		{"claude", "ok", ".claude/projects/-home-dev-project/c4afbec6-871f-4e69-9827-794c9e1d4de7.jsonl", "", nil},
		{"claude", "ok", "conf/projects/-home-dev-project/c4afbec6-871f-4e69-9827-794c9e1d4de7.jsonl", "CLAUDE_CONFIG_DIR=conf", nil},
		{"codex", "ok", ".codex/sessions/" + began + "/rollout-2026-11-22T17-12-12-01a2043e-77af-7ca3-bf8c-3949029f0196.jsonl", "", nil},
		{"codex", "ok", "conf/sessions/" + began + "/rollout-2026-11-22T17-12-12-01a2043e-77af-7ca3-bf8c-3949029f0196.jsonl", "CODEX_HOME=conf", nil},
		{"gemini", "ok", ".gemini/tmp/project/chats/session-2026-11-22T17-12-e179119b.jsonl", "", map[string]string{".gemini/projects.json": `{"projects": {"/home/dev/project": "project"}}`}},
		{"gemini", "ok", "", "", map[string]string{".gemini/projects.json": `{"projects": {"/home/dev/project": ".."}}`}},
		{"qwen", "ok", ".qwen/projects/-home-dev-project/chats/ec4e9b79-bb59-4882-a31a-28eee9c06c2e.jsonl", "", nil},
		{"copilot", "ok", ".copilot/session-state/e59b4b6c-64ca-4a8a-8a99-5d3c169633a4/events.jsonl", "", nil},
		{"claude", "ok", "", "", nil},
	} {
		base := t.TempDir()
		for name, text := range c.also {
			write(t, filepath.Join(base, name), text)
		}
		want := ""
		if c.file != "" {
			want = filepath.Join(base, filepath.FromSlash(c.file))
			write(t, want, "{}\n")
		}
		s := recorded(t, c.client)[c.stream]
		s.Process.Env = []string{"HOME=" + base}
		if name, dir, ok := strings.Cut(c.env, "="); ok {
			s.Process.Env = append(s.Process.Env, name+"="+filepath.Join(base, dir))
		}
		o := adapterOf(t, c.client).Output()
		for line := range bytes.Lines(s.Stdout) {
			o.Line(line)
		}
		if got := o.Result(s.Process).Transcript; got != want {
			t.Errorf("%s %s: the session file is %q, want %q", c.client, c.env, got, want)
		}
	}
}

// Copilot CLI says in its session file what the session has used.
func TestTokensOfASessionFile(t *testing.T) {
	home := t.TempDir()
	s := recorded(t, "copilot")["ok"]
	s.Process.Env = []string{"HOME=" + home, "USERPROFILE=" + home}
	o := run.Copilot().Output()
	for line := range bytes.Lines(s.Stdout) {
		o.Line(line)
	}
	if got := o.Result(s.Process).Used; got != 0 {
		t.Errorf("without the file %d tokens are used", got)
	}
	write(t, filepath.Join(home, ".copilot/session-state/e59b4b6c-64ca-4a8a-8a99-5d3c169633a4/events.jsonl"),
		`{"type":"user.message","data":{"content":"Go on."}}`+"\n"+
			`{"type":"session.usage_record","data":{"usage":{"inputTokens":10,"outputTokens":5}}}`+"\n"+
			`{"type":"session.usage_record","data":{"usage":{"inputTokens":20,"outputTokens":7}}}`+"\n")
	if got := o.Result(s.Process).Used; got != 42 {
		t.Errorf("%d tokens are used, want 42", got)
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	err := os.MkdirAll(filepath.Dir(name), 0o755)
	if err == nil {
		err = os.WriteFile(name, []byte(text), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A session that continues is counted from where it was.
func TestTokensOfASession(t *testing.T) {
	dir, _ := project(t)
	a := &replayed{Adapter: run.Codex(), t: t, streams: []string{"tool", "resumed", "ok"}}
	r, err := run.New(load(t, policy), a, run.WithDir(dir), run.WithContinue(), sh("true"))
	if err != nil {
		t.Fatal(err)
	}
	var got []int
	for ev := range r.Run(t.Context()) {
		if ev.Kind == run.IterationEnd {
			got = append(got, ev.Totals.Tokens)
		}
	}
	if diff := cmp.Diff([]int{30, 45, 60}, got); diff != "" {
		t.Errorf("tokens after each iteration (-want +got)\n%s", diff)
	}
}

// replayed runs another program, and reads recorded streams in its place.
type replayed struct {
	run.Adapter
	t       *testing.T
	streams []string
}

func (r *replayed) Command(i run.Invocation) (run.Command, error) {
	return run.Command{Args: append(slices.Clone(i.Args), i.Session)}, nil
}

func (r *replayed) Output() run.Output {
	o := r.Adapter.Output()
	for line := range bytes.Lines(recorded(r.t, r.Name())[r.streams[0]].Stdout) {
		o.Line(line)
	}
	r.streams = r.streams[1:]
	return o
}

// Any bytes are read without a panic, and a result is never ok by chance. The seeds are single short records: a fuzzer cannot
// work on whole streams.
func FuzzLine(f *testing.F) {
	for i, a := range run.Clients() {
		if i == len(clients()) {
			break
		}
		for _, s := range recorded(f, a.Name()) {
			for line := range bytes.Lines(s.Stdout) {
				if len(line) < 512 {
					f.Add(uint8(i), line, 0)
				}
			}
		}
	}
	f.Add(uint8(1), []byte("{\"type\":\"result\"}\n{\"type\":\"turn.failed\",\"error\":{\"message\":\"last status: 429\"}}"), 1)
	all := run.Clients()
	f.Fuzz(func(t *testing.T, client uint8, out []byte, exit int) {
		a := all[int(client)%len(all)]
		o := a.Output()
		for line := range bytes.Lines(out) {
			o.Line(line)
		}
		if r := o.Result(run.Process{Exit: exit}); r.Outcome == run.OK && (exit != 0 || len(out) == 0) {
			t.Errorf("%s: exit %d is ok", a.Name(), exit)
		}
	})
}

// Records that no client was seen to write, but that are in its source or schema.
func TestUnrecorded(t *testing.T) {
	for _, c := range []struct {
		client, out string
		exit        int
		want        run.Result
	}{
		{"claude", `{"type":"result","subtype":"success","is_error":false,"result":"a","usage":{"input_tokens":1,"cache_read_input_tokens":2,"output_tokens":3},"total_cost_usd":0.5}
{"type":"result","subtype":"success","is_error":false,"result":"b","usage":{"input_tokens":1,"output_tokens":1},"total_cost_usd":0.75}`, 0,
			run.Result{Outcome: run.OK, Text: "b", Tokens: 8, Cost: dollars(0.75)}},
		{"claude", `{"type":"assistant","message":{"id":"1","content":[{"type":"text","text":"a"}],"usage":{"input_tokens":10,"output_tokens":1}}}
{"type":"assistant","message":{"id":"1","content":[{"type":"tool_use","name":"Bash"}],"usage":{"input_tokens":10,"output_tokens":5}}}
{"type":"assistant","message":{"id":"2","content":[{"type":"text","text":"of a subagent"}],"usage":{"input_tokens":10,"output_tokens":5}},"parent_tool_use_id":"x"}`, 143,
			run.Result{Text: "a", Tokens: 30}},
		{"codex", `{"type":"turn.failed","error":{"message":"unexpected status 403 Forbidden: "}}`, 1, run.Result{Outcome: run.Auth, Problem: "unexpected status 403 Forbidden:"}},
		{"codex", `{"type":"item.completed","item":{"type":"agent_message","text":"last status: 429"}}
{"type":"turn.completed"}`, 0, run.Result{Outcome: run.OK, Text: "last status: 429"}},
		{"gemini", "", 41, run.Result{Outcome: run.Auth}},
		{"gemini", `{"type":"result","status":"error","error":{"type":"FatalTurnLimitedError","message":"Reached max session turns"}}`, 53, run.Result{Outcome: run.TurnLimit, Problem: "Reached max session turns"}},
		{"gemini", `{"type":"result","status":"error","error":{"type":"unknown","message":"[API Error: {\"error\":{\"code\":400,\"details\":[{\"reason\":\"API_KEY_INVALID\"}]}}]"}}`, 144,
			run.Result{Outcome: run.Auth, Problem: `[API Error: {"error":{"code":400,"details":[{"reason":"API_KEY_INVALID"}]}}]`}},
		{"gemini", `{"type":"result","status":"error","error":{"type":"unknown","message":"x"}}`, 173, run.Result{Outcome: run.RateLimited, Problem: "x"}},
		{"gemini", "", 173, run.Result{}},
		{"qwen", `{"type":"result","is_error":true,"error":{"message":"[API Error: 429 slow down]"}}`, 1, run.Result{Outcome: run.RateLimited, Problem: "[API Error: 429 slow down]"}},
		{"copilot", `{"type":"session.error","data":{"errorType":"quota","message":"no more requests"}}
{"type":"result","sessionId":"s","exitCode":1}`, 1, run.Result{Outcome: run.Billing, Problem: "no more requests", Session: "s"}},
		{"copilot", `{"type":"session.error","data":{"errorType":"context_limit","message":"too long"}}
{"type":"result","exitCode":1}`, 1, run.Result{Outcome: run.ContextOverflow, Problem: "too long"}},
		{"copilot", `{"type":"session_limits_exhausted.requested","data":{}}
{"type":"result","exitCode":1}`, 1, run.Result{Outcome: run.OverBudget, Problem: "the limit of the session is used up"}},
		{"codex", "", 0, run.Result{Outcome: run.Crashed, Problem: "the client exited without a result"}},
	} {
		o := adapterOf(t, c.client).Output()
		for line := range strings.Lines(c.out) {
			o.Line([]byte(line))
		}
		if diff := cmp.Diff(c.want, o.Result(run.Process{Exit: c.exit})); diff != "" {
			t.Errorf("%s %.80s (-want +got)\n%s", c.client, c.out, diff)
		}
	}
}

func dollars(f float64) *float64 { return &f }
