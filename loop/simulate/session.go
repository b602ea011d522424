package simulate

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/internal/home"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/loop/host"
	"github.com/ralph-sdk/ralph/rules"
)

// session is one run: a project, a loop and an agent.
type session struct {
	options Options
	program *rules.Program
	dir     string
	project string
	home    string // of the user, empty
	now     time.Time
	loop    *loop.Loop
	agent   *agent
	report  Report
	calls   int // of tools

	iteration iteration // of a run
}

// run lets the user prompt and the agent work and stop, turn after turn.
func (s *session) run(ctx context.Context) (*Report, error) {
	r := &s.report
	r.Policy, r.Agent, r.Seed, r.Ended = s.options.Name, s.options.Agent, s.options.Seed, true
	// The first look shows the agent what the policy reads.
	d := s.loop.Decide(ctx, s.event(host.Stop, 1, 1, ""))
	s.agent.see(d)
	defer s.end(ctx)
	if r.Run = s.options.Run; r.Run {
		return s.iterations(ctx)
	}
	for turn := 1; turn <= s.options.Turns; turn++ {
		if err := s.prompt(ctx, turn); err != nil {
			return nil, err
		}
		ended, err := s.turn(ctx, turn)
		if err != nil {
			return nil, err
		}
		if !ended {
			r.Ended = false
			return r, nil
		}
		if s.agent.finished {
			break
		}
	}
	return r, ctx.Err()
}

// end lets the policy see that the session ends, if it lists that.
func (s *session) end(ctx context.Context) {
	if ctx.Err() != nil || !s.program.Handles(host.SessionEnd) {
		return
	}
	s.now = s.now.Add(s.options.Step)
	d, _ := s.loop.Apply(ctx, s.loop.Decide(ctx, s.event(host.SessionEnd, s.options.Turns, 0, "")))
	turn := 1
	if n := len(s.report.Stops); n > 0 {
		turn = s.report.Stops[n-1].Turn
	}
	s.note(turn, 0, "the session ends", d)
}

// prompt is what the user asks at the beginning of a turn.
func (s *session) prompt(ctx context.Context, turn int) error {
	s.now = s.now.Add(s.options.Step)
	if s.program.Handles(host.UserPromptSubmit) {
		d, _ := s.loop.Apply(ctx, s.loop.Decide(ctx, s.event(host.UserPromptSubmit, turn, 0, "")))
		s.agent.see(d)
		s.note(turn, 0, "the user sends a prompt", d)
	}
	return s.say("user", false, "Go on with the work, please.")
}

// turn lets the agent work and stop until it may. It reports false if that does
// not happen.
func (s *session) turn(ctx context.Context, turn int) (ended bool, err error) {
	for stop := 1; ; stop++ {
		s.now = s.now.Add(s.options.Step)
		did, words, err := s.agent.act()
		if err != nil {
			return false, err
		}
		if words != "" {
			if err := s.say("assistant", false, words); err != nil {
				return false, err
			}
		}
		if err := s.age(); err != nil {
			return false, err
		}
		d, _ := s.loop.Apply(ctx, s.loop.Decide(ctx, s.event(host.Stop, turn, stop, words))) // the error is in d
		s.agent.see(d)
		s.note(turn, stop, did, d)
		if d.Verdict.Action == rules.Stop {
			s.report.Last = d.Verdict.Rule
			return true, ctx.Err()
		}
		s.report.Most = max(s.report.Most, stop)
		if stop >= s.options.MaxStops {
			return false, ctx.Err()
		}
		if err := s.say("user", true, "Stop hook feedback:\n"+d.Verdict.Reason); err != nil {
			return false, err
		}
	}
}

func (s *session) note(turn, stop int, did string, d *loop.Decision) {
	at := Stop{
		Turn: turn, Stop: stop, Did: did, Action: d.Verdict.Action, Rule: d.Verdict.Rule, Reason: d.Verdict.Reason,
		Notices: append(d.Notices, d.Notes...),
	}
	if d.Skipped != "" {
		at.Reason = d.Skipped
	}
	if d.Err != nil {
		at.Error = d.Err.Error()
	}
	s.report.Stops = append(s.report.Stops, at)
}

// event is the hook input of a moment.
func (s *session) event(name string, turn, stop int, words string) host.Event {
	if s.options.Run {
		e := host.Event{Host: host.ClaudeCode, Name: name, SessionID: "run:" + s.options.Session, Cwd: s.project, LastAssistantMessage: words, LoopCount: -1, TurnID: "run", Turn: "run"}
		if stop > 0 {
			e.TranscriptPath = s.transcript()
		}
		return e
	}
	return host.Event{
		Host: host.ClaudeCode, Name: name, SessionID: s.options.Session, Cwd: s.project, PermissionMode: "default",
		TranscriptPath: s.transcript(), LastAssistantMessage: words, LoopCount: -1,
		TurnID: "turn" + strconv.Itoa(turn), Turn: "turn" + strconv.Itoa(turn), StopHookActive: stop > 1,
	}
}

func (s *session) transcript() string { return filepath.Join(s.dir, "session.jsonl") }

// say adds what a user or the agent says to the session file.
func (s *session) say(role string, meta bool, text string) error {
	record := map[string]any{"type": role, "isSidechain": false, "message": map[string]any{"role": role, "content": text}}
	if meta {
		record["isMeta"] = true
	}
	if role == "assistant" {
		record["message"] = map[string]any{"role": role, "content": []any{map[string]any{"type": "text", "text": text}}}
	}
	return s.record(record)
}

// runs adds a shell command to the session file that the agent ran, and that passed.
func (s *session) runs(command string) error {
	s.calls++
	id := "call" + strconv.Itoa(s.calls)
	message := func(role string, content map[string]any) map[string]any {
		return map[string]any{"type": role, "isSidechain": false, "message": map[string]any{"role": role, "content": []any{content}}}
	}
	err := s.record(message("assistant", map[string]any{"type": "tool_use", "id": id, "name": "Bash", "input": map[string]any{"command": command}}))
	if err != nil {
		return err
	}
	return s.record(message("user", map[string]any{"type": "tool_result", "tool_use_id": id, "content": "ok", "is_error": false}))
}

// record adds a record to the session file.
func (s *session) record(record map[string]any) error {
	line, err := json.Marshal(record)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(s.transcript(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.Write(append(line, '\n'))
	return err
}

// settled is how long ago the files that the agent works on were changed, in
// virtual time, so that no decision waits for the end of a write.
const settled = 5 * time.Second

// age brings the times of files into virtual time.
func (s *session) age() error {
	at := s.now.Add(-settled)
	for _, f := range s.agent.files() {
		name := filepath.Join(s.project, filepath.FromSlash(f))
		info, err := os.Stat(name)
		if err != nil || !info.ModTime().After(at) {
			continue
		}
		if err := os.Chtimes(name, at, at); err != nil {
			return err
		}
	}
	return nil
}

// around stands in for what a simulation must not reach: models, programs,
// repositories and the host's own task list.
func (s *session) around(_ host.Event, real rules.Facts) rules.Facts {
	return &world{Facts: real, agent: s.agent}
}

// env is the environment of the loop itself, in which nothing leads to files of this
// machine. The rules see the one of the options, see world.Name.
func (s *session) env(name string) string {
	given := func(name string) string { return s.options.Env[name] }
	return home.In(s.home, given)(name)
}

type world struct {
	rules.Facts
	agent *agent
}

// Fact reads files; a judge answers as the agent's work stands, and tasks are the
// agent's own.
func (w *world) Fact(ctx context.Context, decl *rules.Fact, args []string) rules.Value {
	switch kind := decl.Source; {
	case kind.File || kind.Glob:
		return w.Facts.Fact(ctx, decl, args)
	case kind.Session && kind.Returns:
		return w.agent.judged(decl)
	case kind.Session:
		w.agent.listed = true
		return rules.Value{V: w.agent.tasks()}
	case kind.Name == "git":
		path := ""
		if len(args) > 0 {
			path = args[0]
		}
		return rules.Value{V: w.agent.repository(path)}
	}
	return rules.Value{Status: rules.Missing, Quiet: true, Problem: "is not simulated"}
}

func (w *world) Name(ctx context.Context, name string) any {
	if variable, ok := strings.CutPrefix(name, "env."); ok {
		return w.agent.session.options.Env[variable]
	}
	if run := w.agent.session; run.options.Run {
		if v := run.iteration.name(name, run.now); v != nil {
			return v
		}
	}
	switch name {
	case "which":
		return func(string) string { return "" }
	case "transcript.tasks":
		return len(w.agent.tasks())
	case "transcript.passed", "transcript.passed_since_edit":
		passed, _ := w.Facts.Name(ctx, name).(func(string) bool)
		return func(command string) bool {
			if command != "" && !slices.Contains(w.agent.asked, command) {
				w.agent.asked = append(w.agent.asked, command)
			}
			return passed != nil && passed(command)
		}
	}
	return w.Facts.Name(ctx, name)
}

// quoted lists the texts that a function is asked for in an expression.
func quoted(expression, function string) []string {
	var out []string
	for {
		_, rest, ok := strings.Cut(expression, function+"(")
		if !ok {
			return out
		}
		expression = rest
		if text, err := strconv.QuotedPrefix(rest); err == nil {
			if word, err := strconv.Unquote(text); err == nil {
				out = append(out, word)
			}
		}
	}
}
