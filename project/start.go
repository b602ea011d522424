package project

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/ralph-sdk/ralph/internal/approval"
	"github.com/ralph-sdk/ralph/internal/store"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/run"
	"github.com/ralph-sdk/ralph/state"
)

// StartRequest has the user's values for starting a loop. A nil pointer is not set.
type StartRequest struct {
	Argument *string // start.prompt if the policy uses it, otherwise start.name
	Promise  *string
	Max      *int
	Session  string // ID of the session that will own the loop; "" is not set
	Here     string // the session that runs the command, "" if none; the default owner
	Force    bool   // archive an existing loop
}

// given returns the user's values of start.NAME.
func (r StartRequest) given(argument string) map[string]any {
	given := map[string]any{}
	if r.Argument != nil {
		given[argument] = *r.Argument
	}
	if r.Promise != nil {
		given["promise"] = *r.Promise
	}
	if r.Max != nil {
		given["max"] = *r.Max
	}
	if r.Session != "" {
		given["session"] = r.Session
	}
	return given
}

// GivenError reports an invalid value for a start. Name is the name after "start.": name, prompt, promise, max or
// session; Field is the field that it sets, "" if the policy does not use it.
type GivenError struct{ Name, Field, Problem string }

// Error returns the message.
func (e *GivenError) Error() string {
	return "start." + e.Name + ": " + strings.TrimPrefix(e.Field+" ", " ") + e.Problem
}

// ExistsError reports that the loop, or one of its files, already exists.
type ExistsError struct{ File, Problem string }

// Error returns the message.
func (e *ExistsError) Error() string { return e.File + " " + e.Problem }

// BusyError reports a live run of the policy.
type BusyError struct{ Run string }

// Error returns the message.
func (e *BusyError) Error() string { return "run " + e.Run + " of the policy is in progress" }

// Started is the result of a start.
type Started struct {
	Policy   Policy
	Loop     Loop     // the zero value without a loop
	Written  []string // files, in order; without the state if the loop existed
	Archived string   // the new path of the previous loop, or ""
	Idle     string   // why no session is continued anyway, or ""
}

// Usable returns the policy called name, which must be usable.
func (p *Project) Usable(ctx context.Context, name string) (Policy, error) {
	policy, err := p.policy(ctx, name)
	switch {
	case err != nil:
	case policy.Program == nil && policy.Findings == nil:
		err = errors.New(policy.Problem)
	case policy.Program == nil:
		err = &UnusableError{name, policy.Findings}
	}
	return policy, err
}

// Start starts the loop of a policy: it writes the files that the policy declares under loop.start, or none if one of
// them is invalid. Of two simultaneous starts, one writes. An existing loop stays: a start without values continues a
// stopped one, a start with only a session changes its owner, and any other needs Force. The loop that Start wrote counts
// for hooks of all projects, see [loop.WithUserScope]; Start trusts no project and approves nothing else. Of a policy
// without a loop it undoes a stop.
//
// The error may be a [*GivenError], [*ExistsError], [*BusyError], [*ChangedError] or [*NoLoopError].
func (p *Project) Start(ctx context.Context, name string, r StartRequest) (s *Started, err error) {
	policy, err := p.Usable(ctx, name)
	if err != nil {
		return nil, err
	}
	l := policy.Program.Loop()
	if l == nil {
		stopped, _, err := p.orders.Ordered(p.dir, policy.Name, "")
		switch {
		case err != nil:
			return nil, err
		case !stopped || len(r.given("argument")) > 0:
			return nil, &NoLoopError{policy.Short()}
		}
		return &Started{Policy: policy}, p.orders.StartLoop(p.dir, policy.Name)
	}
	given, uses := r.given(cmp.Or(l.Argument, "name")), l.Uses
	for name := range given {
		if !slices.Contains(uses, name) && (name != "session" || l.Owner == nil) {
			return nil, &GivenError{Name: name, Problem: "is not used by " + policy.Short()}
		}
	}
	s = &Started{Policy: policy}
	err = p.locked(ctx, func(ctx context.Context) error { return p.start(ctx, s, r, given) })
	if err != nil {
		return nil, err
	}
	return s, p.describe(ctx, s)
}

func (p *Project) start(ctx context.Context, s *Started, r StartRequest, given map[string]any) error {
	id, err := run.Live(ctx, p.kept, p.scope, p.dir, s.Policy.Name)
	switch {
	case err != nil:
		return err
	case id != "":
		return &BusyError{Run: id}
	}
	now, err := p.look(ctx, s.Policy, "")
	if err != nil {
		return err
	}
	_, session := given["session"]
	switch others := len(given) > 1 || len(given) == 1 && !session; {
	case others || r.Force || !now.exists():
		if err := p.write(ctx, s, now.verdict.Loop, r, given); err != nil {
			return err
		}
	case session:
		if err := p.moveTo(ctx, s, now, r.Session); err != nil {
			return err
		}
	case now.verdict.Cause != rules.Stopped:
		return &ExistsError{File: now.file, Problem: "is already a loop of " + s.Policy.Short()}
	}
	if err := p.begin(ctx, s.Policy.Name); err != nil {
		return err
	}
	return p.orders.StartLoop(p.dir, s.Policy.Name)
}

// moveTo makes a session the owner of an existing loop.
func (p *Project) moveTo(ctx context.Context, s *Started, now found, session string) error {
	l := s.Policy.Program.Loop()
	if l.Owner == nil {
		return &GivenError{Name: "session", Problem: "cannot be written: the owner of the loop is not one field of " + l.State.Name}
	}
	doc := p.read(ctx, l.State, now.file)
	if doc.Status != state.OK {
		return &ExistsError{File: now.file, Problem: doc.Problem}
	}
	set := state.Set{Path: l.Owner, Value: session}
	if l.State.Schema != nil {
		set.Type = l.State.Schema
	}
	s.Written = []string{now.file}
	return p.apply(ctx, &state.Change{Path: now.file, Format: format(l.State), Version: doc.Version, Sets: []state.Set{set}})
}

// A newFile is a file to write at a start.
type newFile struct {
	rules.StartFile
	bytes []byte
	old   state.Doc
}

// write renders the files of a loop and writes them, the state last. now is the existing loop, or nil.
func (p *Project) write(ctx context.Context, s *Started, now *rules.LoopInfo, r StartRequest, given map[string]any) error {
	if len(s.Policy.Program.Loop().Start) == 0 {
		return fmt.Errorf("the policy %s does not define how its loop starts: it has no loop.start", s.Policy.Short())
	}
	if s.Policy.Program.Loop().Argument == "prompt" && given["prompt"] == nil {
		return &GivenError{Name: "prompt", Problem: "is missing"}
	}
	if r.Session != "" && !slices.Contains(s.Policy.Program.Loop().Uses, "session") {
		return &GivenError{Name: "session", Problem: "is not used by " + s.Policy.Short() + " where no loop exists"}
	}
	if session := cmp.Or(r.Session, r.Here); session != "" {
		given["session"] = session
	}
	l, err := p.loop(s.Policy)
	if err != nil {
		return err
	}
	rendered, err := l.Start(ctx, p.event(cmp.Or(r.Session, r.Here)), given)
	if err != nil {
		return refused(rendered, err)
	}
	var files []newFile
	var stateFile *newFile
	for _, f := range rendered {
		file := newFile{StartFile: f, old: p.read(ctx, f.Fact, f.Path)}
		if file.bytes, err = content(f); err != nil {
			return fmt.Errorf("%s cannot be written: %w", f.Path, err)
		}
		switch {
		case f.Fact == s.Policy.Program.Loop().State:
			stateFile = &file
			continue
		case f.Fact.Source.Name == "text":
			err = replaceable(file)
		case p.occupied(file) && !r.Force:
			err = &ExistsError{File: f.Path, Problem: "already exists"}
		}
		if err != nil {
			return err
		}
		files = append(files, file)
	}
	if stateFile != nil {
		if p.occupied(*stateFile) && !r.Force {
			return &ExistsError{File: stateFile.Path, Problem: "is already a loop of " + s.Policy.Short()}
		}
		files = append(files, *stateFile)
	}
	for _, file := range files {
		version := file.old.Version
		switch {
		case file.Fact.Source.Name == "text":
			if file.old.Status == state.OK && file.old.Text == strings.TrimSpace(string(file.bytes)) {
				continue
			}
		case p.occupied(file):
			at, err := p.archive(ctx, s.Policy, now, file.Fact, file.old, "ralph start --force")
			if err != nil {
				return err
			}
			version, s.Archived = "", at
		}
		if err := p.root.Write(ctx, file.Path, file.bytes, version); err != nil {
			return changed(file.Path, err)
		}
		s.Written = append(s.Written, file.Path)
	}
	if stateFile == nil || !s.Policy.Shipped && len(InSession(p.env)) > 0 { // an agent may have written such a policy
		return nil
	}
	covered := approval.Loop(stateFile.Path, p.read(ctx, stateFile.Fact, stateFile.Path).Body)
	return p.orders.Approve(store.Approval{Root: p.dir, Policy: s.Policy.Name, Loop: &covered, At: p.now().UTC()})
}

// occupied reports whether the path of a file exists.
func (p *Project) occupied(f newFile) bool { return f.old.Version != "" || p.root.Exists(f.Path) }

// refused returns the error for the value of a start that does not fit.
func refused(rendered []rules.StartFile, err error) error {
	if len(rendered) == 0 || rendered[len(rendered)-1].Misfit == nil {
		return err
	}
	bad := rendered[len(rendered)-1]
	field := strings.Trim(bad.Fact.Name+strings.ReplaceAll(bad.Misfit.Pointer, "/", "."), ".")
	if len(bad.Given) == 0 {
		return fmt.Errorf("%s would not fit: %s %s", bad.Path, field, bad.Misfit.Text())
	}
	return &GivenError{Name: bad.Given[0], Field: field, Problem: bad.Misfit.Text()}
}

// content returns the bytes of a file.
func content(f rules.StartFile) ([]byte, error) {
	if fields, ok := f.Value.(map[string]any); ok {
		return state.NewDocument(format(f.Fact), f.Keys, fields, f.Body)
	}
	text, _ := f.Value.(string)
	return []byte(strings.TrimRight(text, "\n") + "\n"), nil
}

// replaceable returns why a text must not be replaced: it has more than one line, which would be lost.
func replaceable(f newFile) error {
	switch old := f.old; {
	case old.Status == state.Missing && old.Quiet:
		return nil
	case old.Status != state.OK:
		return &ExistsError{File: f.Path, Problem: old.Problem + "; move it away first"}
	case old.Text != strings.TrimSpace(string(f.bytes)) && strings.ContainsFunc(old.Text, unicode.IsControl):
		return &ExistsError{File: f.Path, Problem: "contains more than one line; move it away first"}
	}
	return nil
}

// archive moves a file of a loop to the archive, and records that a command ended the loop.
func (p *Project) archive(ctx context.Context, policy Policy, l *rules.LoopInfo, fact *rules.Fact, old state.Doc, command string) (at string, err error) {
	if l != nil && l.State != old.Path { // the file of another loop
		l = nil
	}
	c := state.Change{Path: old.Path, Op: state.OpArchive, Version: old.Version, At: p.now()}
	if err := p.apply(ctx, &c); err != nil {
		return "", err
	}
	return c.Archived, p.record(loop.Head{
		Policy: policy.Name, Command: command, Loop: l,
		Effects: []rules.Effect{{Kind: rules.ArchiveEffect, Fact: fact.Name, Source: fact.Source.Name, File: old.Path, To: c.Archived}},
	})
}

// describe adds the current loop, and why it does not run.
func (p *Project) describe(ctx context.Context, s *Started) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	var err error
	if s.Loop, err = p.lineOf(ctx, s.Policy); err != nil {
		return err
	}
	switch s.Loop.State {
	case StateUnusable, StateOff, StateStopped, StatePaused, StateWaits, StateInRun:
		s.Idle = s.Loop.Why
	default:
		if s.Loop.Name == "" {
			s.Idle = cmp.Or(s.Loop.Why, "the policy finds no loop")
		}
	}
	return nil
}
