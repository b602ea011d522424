package loop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/internal/vocab"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/state"
)

// gatherer gathers the facts of one event. It is used by one goroutine at a time, except that Fact may be called in
// several. Each evaluation gathers facts again, except for sources that are asked only once: a repeated decision must not
// ask a model twice.
type gatherer struct {
	*Decision // whose event it is

	root  *state.Root // nil without a project, and between deciding and applying
	files files
	mem   memory

	budget *state.Budget // of the latest evaluation

	reading  sync.Once // of the session file
	session  *host.Session
	unread   error         // the session file exists, and cannot be read
	problem  string        // why the session file was not read, or not all of it
	gathered sync.Map      // rules.Value by *rules.Fact
	again    *sync.Map     // rules.Value by gathered, for both evaluations of one retry
	did      []host.Action // in this turn; valid if didRead
	didRead  bool
	asked    []question // of the latest evaluation, in order
	given    read
}

// Limits on what one evaluation reads of files except the session file: the memory for them and their values, and the
// time for directories and slow disks.
const (
	maxFileBytes = 64 << 20
	maxFileTime  = 10 * time.Second
)

// begin starts the budget of an evaluation.
func (g *gatherer) begin() {
	g.asked = nil
	if g.root != nil {
		g.budget = state.NewBudget(maxFileBytes, maxFileTime)
		g.root.SetBudget(g.budget)
	}
}

// open opens the project, which is closed between Preview and Apply.
func (g *gatherer) open() (err error) {
	if g.Root != "" && g.root == nil {
		if g.root, err = state.OpenRoot(g.Root); err == nil {
			g.root.SetHome(homeDir(g.loop.getenv))
			g.root.SetBudget(g.budget)
		}
	}
	return err
}

func (g *gatherer) close() {
	if g.root != nil {
		g.root.Close()
		g.root = nil
	}
}

// facts returns the facts for the rules.
func (g *gatherer) facts() rules.Facts {
	var world rules.Facts = g
	for _, values := range []map[string]any{g.loop.extensions.values, g.Event.Values} {
		if len(values) > 0 {
			world = given{world, values, &g.given}
		}
	}
	for _, around := range slices.Backward(g.loop.extensions.around) {
		if world = around(g.Event, world); world == nil {
			world = struct{ rules.Facts }{} // panics when it is used, so that the agent may stop
		}
	}
	return world
}

// Fact gathers one declared fact.
func (g *gatherer) Fact(ctx context.Context, decl *rules.Fact, args []string) rules.Value {
	var kept *sync.Map
	var key any
	switch {
	case decl.Source.Once:
		kept, key = &g.gathered, decl
	case g.again != nil:
		kept, key = g.again, gathered{decl, strings.Join(args, "\x00")}
	default:
		return g.gather(ctx, decl, args)
	}
	if v, ok := kept.Load(key); ok {
		return v.(rules.Value)
	}
	v := g.gather(ctx, decl, args)
	if ctx.Err() == nil { // otherwise it had no time
		kept.Store(key, v)
	}
	return v
}

// gathered is a fact with its arguments.
type gathered struct {
	decl *rules.Fact
	args string
}

// forget makes the next evaluation gather facts again, and the one after it use them.
func (g *gatherer) forget() { g.again = new(sync.Map) }

// Concurrent reports that facts may be gathered at the same time: sources are safe for concurrent use.
func (g *gatherer) Concurrent() bool { return true }

// gather asks the source of a fact, if that is allowed.
func (g *gatherer) gather(ctx context.Context, decl *rules.Fact, args []string) (v rules.Value) {
	kind := decl.Source
	if kind.Argument == "schema" { // the program provides it, and has not
		return absent("is not provided")
	}
	words, options := decl.Split(args)
	allowed := func() error { return nil }
	if kind.Trust != "" {
		allowed = func() error { return g.untrusted(ctx, decl, words) }
	}
	theirs := g.loop.extensions.sources[kind.Name] != nil
	if theirs || kind.Argument != "words" { // otherwise the program's start asks
		if err := allowed(); err != nil {
			return withheld(err)
		}
	}
	if ctx.Err() != nil {
		return missing("it was not gathered: out of time")
	}
	s := g.loop.source(kind, &g.files)
	if s == nil {
		return missing("this program has no source " + kind.Name)
	}
	defer func() {
		if r := recover(); r != nil {
			v = missing(fmt.Sprintf("the source %s panicked: %v", kind.Name, r))
		}
	}()
	q := Query{Fact: decl, Event: g.Event, Root: g.root, Env: g.loop.getenv, Now: g.Time, Args: words, Options: options, allowed: allowed, session: g.transcript, budget: g.budget}
	if !theirs {
		return s.Gather(ctx, q) // ralph's own limit and check their values themselves
	}
	if decl.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, decl.Timeout)
		defer cancel()
	}
	v = rules.ValueOf(decl, s.Gather(ctx, q))
	v.Private = v.Private || s.Kind().Private // it may replace one of ralph's sources
	return v
}

// transcript reads the end of the session file, when it is first needed. It returns nil if there is none, and an error if
// the file exists and cannot be read. Where the host names a subagent's file it is the subagent's; TranscriptPath is its
// parent's.
func (g *gatherer) transcript(ctx context.Context) (*host.Session, error) {
	g.reading.Do(func() { g.session, g.unread = g.readSession(ctx) })
	return g.session, g.unread
}

func (g *gatherer) readSession(ctx context.Context) (*host.Session, error) {
	if g.root == nil {
		return nil, nil
	}
	path := g.Event.TranscriptPath
	o := host.SessionOptions{LastMessage: g.Event.LastAssistantMessage}
	if g.Event.Name == host.SubagentStop && g.Event.AgentTranscriptPath != "" {
		path, o.Subagent = g.Event.AgentTranscriptPath, true
	}
	if g.Event.Host == host.ClaudeCode {
		o.Turn = g.Event.Turn // its files name turns, so a file that lags is recognized
	}
	if path == "" && (g.Event.Host == host.ClaudeCode || g.Event.Host == "") {
		path = sessionFile(g.Event.SessionID, g.loop.getenv)
	}
	if path == "" {
		return nil, nil
	}
	s, err := host.ReadSession(ctx, path, o)
	if err != nil {
		g.problem = err.Error()
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, host.ErrNotRegular) { // it names no session file
			err = nil
		}
		return nil, err
	}
	if s.Cut() {
		g.problem = fmt.Sprintf("transcript %s: only its last %d MiB were read, and the turn began before that: earlier messages of the agent are not seen", path, s.Bytes()>>20)
	}
	return s, nil
}

// deaf returns why the agent's words cannot be known: the hook input has none, and the session file cannot be read.
func (g *gatherer) deaf(ctx context.Context) error {
	if g.Event.LastAssistantMessage != "" {
		return nil
	}
	_, err := g.transcript(ctx)
	return err
}

// words returns the agent's own words since the last prompt or continuation.
func (g *gatherer) words(ctx context.Context) []string {
	s, _ := g.transcript(ctx)
	return host.Words(s, g.Event.LastAssistantMessage)
}

// question is a marker that a rule waited for.
type question struct {
	form host.Form
	text string
}

// The message about markers that did not count, and how many questions and digests of lines are kept.
const (
	maxMissed    = 3
	maxQuestions = 100
	maxDigests   = 100
)

// marker returns a function that reports whether the agent wrote a marker, or why that cannot be known. It checks the
// hook input first and reads the session file only if that does not decide.
func (g *gatherer) marker(ctx context.Context, form host.Form) any {
	if err := g.deaf(ctx); err != nil {
		return err
	}
	return func(text string) bool {
		if strings.TrimSpace(text) == "" {
			return false
		}
		if q := (question{form, text}); len(g.asked) < maxQuestions && !slices.Contains(g.asked, q) {
			g.asked = append(g.asked, q)
		}
		shown := g.mem.mine().Memory.Shown
		last := g.Event.LastAssistantMessage
		return last != "" && form.In([]string{last}, text, shown...) || form.In(g.words(ctx), text, shown...)
	}
}

// missed returns, for each marker that a rule waited for and the agent wrote where it does not count, how to write it.
func (g *gatherer) missed(ctx context.Context) (lines []string) {
	for _, q := range g.asked {
		shown := func(line string) bool { return strings.HasSuffix(line, q.form.Show(q.text)) }
		if len(lines) == maxMissed || slices.ContainsFunc(lines, shown) {
			continue
		}
		if line := q.form.Missed(g.words(ctx), q.text, g.mem.mine().Memory.Shown...); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// remember adds to a memory the lines before the markers in a text that the agent gets.
func (g *gatherer) remember(m *rules.Memory, text string) {
	for _, q := range g.asked {
		for _, line := range q.form.Shown(text, q.text) {
			if !slices.Contains(m.Shown, line) {
				m.Shown = append(slices.Clone(m.Shown), line)
			}
		}
	}
	m.Shown = m.Shown[max(0, len(m.Shown)-maxDigests):]
}

// Name returns the value of one of ralph's own names.
func (g *gatherer) Name(ctx context.Context, name string) any {
	if v, ok := strings.CutPrefix(name, "env."); ok {
		return g.loop.getenv(v)
	}
	if strings.HasPrefix(name, "transcript.") {
		return g.transcriptName(ctx, name)
	}
	switch name {
	case vocab.Trigger:
		return trigger(g.Event.Trigger)
	case vocab.Host:
		return g.Event.Host
	case vocab.HookRaw:
		return g.Event.Raw
	case vocab.Project:
		return g.Root
	case vocab.Said:
		return g.marker(ctx, host.Said)
	case vocab.Promised:
		return g.marker(ctx, host.Promised)
	case vocab.Mentions:
		return g.marker(ctx, host.Mentions)
	case vocab.Exists:
		return g.inProject((*state.Root).Exists)
	case vocab.IsDir:
		return g.inProject((*state.Root).IsDir)
	case vocab.AnyFile:
		return g.inProject((*state.Root).AnyFile)
	case vocab.Which:
		return g.which
	case vocab.SessionElapsed:
		return g.elapsed(ctx)
	}
	in := g.Event.Input(name) // nil for run.NAME: hooks have no run
	if list, ok := in.([]map[string]any); ok {
		return listOf(list, asAny)
	}
	return in
}

// transcriptName returns the value of a name about the session, nil without a session file, or the error of one that
// cannot be read.
func (g *gatherer) transcriptName(ctx context.Context, name string) any {
	s, err := g.transcript(ctx)
	switch name {
	case vocab.TranscriptFailed:
		if f := g.failed(s); f != nil {
			return map[string]any{"kind": f.Kind, "text": f.Text}
		}
		err = g.deaf(ctx)
	case vocab.TranscriptLast, vocab.TranscriptTexts:
		err = g.deaf(ctx)
	}
	if err != nil {
		return err
	}
	switch last := g.Event.LastAssistantMessage; {
	case name == vocab.TranscriptLast && (last != "" || s == nil):
		return last
	case name == vocab.TranscriptTexts:
		return listOf(g.words(ctx), asAny)
	case s == nil:
		return nil
	}
	switch name {
	case vocab.TranscriptLast:
		return s.Last()
	case vocab.TranscriptPrompt:
		return s.Prompt(ctx)
	case vocab.TranscriptTurns:
		return func(n int) []any {
			return listOf(s.Turns(n), func(t host.Turn) any { return map[string]any{"role": t.Role, "text": t.Text} })
		}
	case vocab.TranscriptTools:
		return listOf(s.Tools(), asAny)
	case vocab.TranscriptPassed:
		return func(command string) bool { return host.Passed(g.actions(ctx, s), command, false) }
	case vocab.TranscriptPassedSinceEdit:
		return func(command string) bool { return host.Passed(g.actions(ctx, s), command, true) }
	case vocab.TranscriptTotalTokens:
		return s.TotalTokens(ctx)
	case vocab.TranscriptTokens:
		return s.Tokens()
	case vocab.TranscriptTasks:
		list, _ := s.Tasks(ctx)
		return len(list)
	}
	return nil
}

// failed returns the failure that ended the turn, or nil.
func (g *gatherer) failed(s *host.Session) *host.Failure {
	if s != nil && s.Failed() != nil {
		return s.Failed()
	}
	if g.Event.Name == host.StopFailure { // the file may lag or lack the failure
		return host.FailureOf(g.Event.Error, cmp.Or(g.Event.ErrorDetails, g.Event.LastAssistantMessage))
	}
	return nil
}

// actions returns the agent's actions in this turn, which are read once.
func (g *gatherer) actions(ctx context.Context, s *host.Session) []host.Action {
	if !g.didRead {
		g.did, g.didRead = s.Actions(), true
	}
	return g.did
}

// elapsed returns the time since the session began, 0 if unknown.
func (g *gatherer) elapsed(ctx context.Context) time.Duration {
	if s, _ := g.transcript(ctx); s != nil {
		if began := s.Began(ctx); !began.IsZero() {
			return max(0, g.Time.Sub(began))
		}
	}
	return 0
}

// listOf returns list as a list of the language, with each element converted by as.
func listOf[T any](list []T, as func(T) any) []any {
	out := make([]any, len(list))
	for i, v := range list {
		out[i] = as(v)
	}
	return out
}

// asAny returns v as a value of the language.
func asAny[T any](v T) any { return v }

// trigger returns why the context is compacted: anything but a user's request is automatic.
func trigger(word string) string {
	if word != "" && word != "manual" {
		return "auto"
	}
	return word
}

// inProject returns ask for the project; without a project it reports false.
func (g *gatherer) inProject(ask func(*state.Root, string) bool) func(string) bool {
	return func(path string) bool { return g.root != nil && ask(g.root, path) }
}

// which returns the path of a program, or "" if there is none or no project to run it in.
func (g *gatherer) which(program string) string {
	if g.root == nil || program == "" || strings.ContainsAny(program, `/\`) {
		return ""
	}
	path, err := exec.LookPath(program)
	if err != nil {
		return ""
	}
	return path
}
