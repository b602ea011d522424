package loop

import (
	"context"
	"os/exec"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/loop/host"
	"github.com/ralph-sdk/ralph/loop/transcript"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/schema"
	"github.com/ralph-sdk/ralph/state"
)

// gatherer shows the world of one event to the rules. It is used by one goroutine
// at a time. Files are read anew for each evaluation, everything else once an
// event: a decision that is made again under locks must not ask a model twice.
type gatherer struct {
	loop    *Loop
	program *rules.Program // whole, once its head has let the event pass
	ev      host.Event
	now     time.Time
	root    *state.Root
	mem     memory

	session  *transcript.Session
	read     bool
	problem  string // why there is no session
	gathered map[*rules.Fact]rules.Value
	paths    []string // files that were read, for their locks
	judged   []JudgeRecord
	ran      []transcript.Command // in this turn, once ranRead
	ranRead  bool
	list     []transcript.Task // of the session, once listRead
	listed   bool              // the session file tells of a list
	listRead bool
}

// facts is the world as the rules see it.
func (g *gatherer) facts() rules.Facts {
	if around := g.loop.around; around != nil {
		return around(g.ev, g)
	}
	return g
}

// Fact gathers one declared fact.
func (g *gatherer) Fact(ctx context.Context, decl *rules.Fact, args []string) rules.Value {
	q := Query{Fact: decl, Event: g.ev, Root: g.root, Env: g.loop.getenv, Now: g.now}
	q.Args, q.Options = decl.Split(args)
	if s := g.loop.sources[decl.Source.Name]; s != nil {
		return g.once(decl, func() rules.Value { return g.external(ctx, s, q) })
	}
	switch decl.Source.Name {
	case "text":
		return g.file(ctx, q, state.Text)
	case "json":
		return g.file(ctx, q, state.JSON)
	case "frontmatter":
		return g.file(ctx, q, state.FrontMatter)
	case "checklist":
		return g.file(ctx, q, state.Checklist)
	case "glob":
		return g.glob(ctx, q)
	case "tasks":
		return g.tasks(ctx, q)
	case "git":
		return g.once(decl, func() rules.Value { return g.git(ctx, q) })
	case "exec":
		return g.once(decl, func() rules.Value { return g.exec(ctx, q) })
	case "judge":
		return g.once(decl, func() rules.Value { return g.judge(ctx, q) })
	}
	return rules.Value{Status: rules.Missing, Problem: "this program has no source " + decl.Source.Name}
}

// once keeps what a source gave for the evaluations of this event that follow.
func (g *gatherer) once(decl *rules.Fact, gather func() rules.Value) rules.Value {
	v, ok := g.gathered[decl]
	if !ok {
		v = gather()
		if g.gathered == nil {
			g.gathered = map[*rules.Fact]rules.Value{}
		}
		g.gathered[decl] = v
	}
	return v
}

// file reads the one file of a fact.
func (g *gatherer) file(ctx context.Context, q Query, format state.Format) rules.Value {
	doc := g.root.Read(ctx, state.File{
		Path: q.Args[0], Format: format, Settle: q.Fact.Settle, Timeout: q.Fact.Timeout,
		Now: func() time.Time { return g.now },
	})
	g.paths = append(g.paths, doc.Path)
	return g.value(q.Fact, format, doc)
}

func (g *gatherer) external(ctx context.Context, s Source, q Query) rules.Value {
	if q.Fact.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, q.Fact.Timeout)
		defer cancel()
	}
	v := s.Gather(ctx, q)
	if v.Status == rules.OK && q.Fact.Schema != nil && q.Fact.Source.Around == nil {
		r := q.Fact.Schema.Check(schema.Document{Value: v.V})
		v.V, v.Unusable, v.Warnings = r.Value, r.Unusable, r.Warnings
	}
	return v
}

// value turns what was read into what rules see.
func (g *gatherer) value(decl *rules.Fact, format state.Format, doc state.Doc) rules.Value {
	v := rules.Value{
		Status: rules.Status(doc.Status), Problem: doc.Problem, Quiet: doc.Quiet,
		Path: doc.Path, Version: doc.Version, ModTime: doc.ModTime,
	}
	if doc.Status != state.OK {
		return v
	}
	switch format {
	case state.Text:
		v.V = doc.Text
	case state.Checklist:
		v.V = items(doc.Items)
	default:
		s := decl.Schema
		if s == nil {
			s = g.loop.open
		}
		r := s.Check(doc.Document)
		v.Unusable, v.Warnings = r.Unusable, r.Warnings
		fields, ok := r.Value.(map[string]any)
		if !ok {
			v.Status, v.Problem = rules.Invalid, "it does not fit its schema"
			if len(r.Unusable) > 0 {
				v.Problem = r.Unusable[0].Message
			}
			return v
		}
		if format == state.FrontMatter {
			fields["body"] = doc.Body
		}
		v.V = fields
	}
	return v
}

func items(list []state.Item) []any {
	out := make([]any, len(list))
	for i, it := range list {
		tags := make([]any, len(it.Tags))
		for j, t := range it.Tags {
			tags[j] = t
		}
		out[i] = map[string]any{
			"text": it.Text, "done": it.Done, "tags": tags, "depth": it.Depth,
			"section": it.Section, "source": it.Source, "line": it.Line,
		}
	}
	return out
}

// transcript reads the end of the session file, at the first need of it. A
// subagent has a file of its own where the host names it; the other is its
// parent's.
func (g *gatherer) transcript(ctx context.Context) *transcript.Session {
	if g.read {
		return g.session
	}
	g.read = true
	path := g.ev.TranscriptPath
	o := transcript.Options{LastMessage: g.ev.LastAssistantMessage}
	if g.ev.Name == host.SubagentStop && g.ev.AgentTranscriptPath != "" {
		path, o.Subagent = g.ev.AgentTranscriptPath, true
	}
	if g.ev.Host == host.ClaudeCode {
		o.Turn = g.ev.Turn // its files name the prompt, so one that lags is recognised
	}
	if path == "" && (g.ev.Host == host.ClaudeCode || g.ev.Host == "") {
		path = sessionFile(g.ev.SessionID, g.loop.getenv)
	}
	if path == "" {
		return nil
	}
	s, err := transcript.Read(ctx, path, o)
	if err != nil {
		g.problem = err.Error()
		return nil
	}
	g.session = s
	return s
}

// sessionTasks gives the task list that the session file tells of; the facts and the names
// of one event search the file once.
func (g *gatherer) sessionTasks(ctx context.Context) (list []transcript.Task, ok bool) {
	if s := g.transcript(ctx); s != nil && !g.listRead {
		g.list, g.listed = s.Tasks(ctx)
		g.listRead = true
	}
	return g.list, g.listed
}

// words are the agent's own words since the last prompt or continuation.
func (g *gatherer) words(ctx context.Context) []string {
	return transcript.Words(g.transcript(ctx), g.ev.LastAssistantMessage)
}

// marker asks for a marker in the agent's words. What the hook input holds is
// looked at first: where it decides, the session file is not touched.
func (g *gatherer) marker(ctx context.Context, test func([]string, string) bool) func(string) bool {
	return func(text string) bool {
		if last := g.ev.LastAssistantMessage; last != "" && test([]string{last}, text) {
			return true
		}
		if strings.TrimSpace(text) == "" {
			return false
		}
		return test(g.words(ctx), text)
	}
}

// Name gives the value of one of ralph's own names.
func (g *gatherer) Name(ctx context.Context, name string) any {
	if v, ok := strings.CutPrefix(name, "env."); ok {
		return g.loop.getenv(v)
	}
	if v, ok := strings.CutPrefix(name, "transcript."); ok {
		return g.transcriptName(ctx, v)
	}
	ev := &g.ev
	switch name {
	case "session_id":
		return ev.SessionID
	case "turn_id":
		return ev.TurnID
	case "cwd":
		return ev.Cwd
	case "hook_event_name":
		return ev.Name
	case "permission_mode":
		return ev.PermissionMode
	case "stop_hook_active":
		return ev.StopHookActive
	case "last_assistant_message":
		return ev.LastAssistantMessage
	case "transcript_path":
		return ev.TranscriptPath
	case "agent_id":
		return ev.AgentID
	case "agent_type":
		return ev.AgentType
	case "background_tasks":
		return objects(ev.BackgroundTasks)
	case "session_crons":
		return objects(ev.SessionCrons)
	case "prompt":
		return ev.Prompt
	case "host":
		return ev.Host
	case "hook.raw":
		return ev.Raw
	case "project":
		return g.root.Dir()
	case "now":
		return g.now
	case "said":
		return g.marker(ctx, transcript.Said)
	case "promised":
		return g.marker(ctx, transcript.Promised)
	case "mentions":
		return g.marker(ctx, transcript.Mentions)
	case "exists":
		return g.root.Exists
	case "isdir":
		return g.root.IsDir
	case "anyfile":
		return g.root.AnyFile
	case "which":
		return which
	}
	return nil
}

func (g *gatherer) transcriptName(ctx context.Context, name string) any {
	s := g.transcript(ctx)
	switch name {
	case "last":
		if last := g.ev.LastAssistantMessage; last != "" || s == nil {
			return last
		}
		return s.Last()
	case "texts":
		return texts(g.words(ctx))
	case "turns":
		return func(n int) []any {
			if s == nil {
				return []any{}
			}
			turns := s.Turns(n)
			out := make([]any, len(turns))
			for i, t := range turns {
				out[i] = map[string]any{"role": t.Role, "text": t.Text}
			}
			return out
		}
	case "tools":
		if s == nil {
			return []any{}
		}
		return texts(s.Tools())
	case "passed":
		return func(command string) bool {
			if s == nil {
				return false
			}
			if !g.ranRead {
				g.ran, g.ranRead = s.Commands(ctx), true
			}
			return transcript.Passed(g.ran, command)
		}
	case "tokens":
		if s == nil {
			return 0
		}
		return s.Tokens()
	case "tasks":
		list, _ := g.sessionTasks(ctx)
		return len(list)
	}
	return nil
}

func texts(list []string) []any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}

func objects(list []map[string]any) []any {
	out := make([]any, len(list))
	for i, o := range list {
		out[i] = o
	}
	return out
}

// which finds a program, "" if there is none.
func which(program string) string {
	if program == "" || strings.ContainsAny(program, `/\`) {
		return ""
	}
	path, err := exec.LookPath(program)
	if err != nil {
		return ""
	}
	return path
}

// Row gives the loop memory as rules see it.
func (g *gatherer) Row(context.Context) rules.Row { return g.mem.row(g.now) }

// Given tells in how many verdicts a rule has been within its window.
func (g *gatherer) Given(_ context.Context, r *rules.Rule) int { return g.mem.given(r, g.now) }
