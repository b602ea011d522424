package main

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/ralph-sdk/ralph/loop/host"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/state"
)

// probe is a folder that no pointer names.
const probe = "ralph-probe-7c1f"

// findPointer finds the text fact whose text the path of the state follows: with the
// probe in that file the path has the probe as a folder. It is "" if there is no such
// file, or more than one.
func findPointer(ctx context.Context, root *state.Root, program *rules.Program) string {
	var tried, found []string
	for next := []string{""}; len(next) > 0; next = next[1:] {
		said := map[string]string{}
		if next[0] != "" {
			said[next[0]] = probe
		}
		s := look(ctx, root, program, "", said)
		if next[0] != "" && hasSegments(s.path, probe) {
			found = append(found, next[0])
		}
		for _, file := range s.texts { // what a pointer says may lead to more texts
			if !slices.Contains(tried, file) {
				tried, next = append(tried, file), append(next, file)
			}
		}
	}
	if len(found) != 1 {
		return ""
	}
	return found[0]
}

// hasSegments reports whether the path has these folders, one after another.
func hasSegments(file, folders string) bool {
	return strings.Contains("/"+path.Clean(file)+"/", "/"+strings.Trim(path.Clean(folders), "/")+"/")
}

// ownPointer gives the pointer that single sessions have in the place of the one that all
// share, with a star for the id; "" if the policy knows none.
func ownPointer(ctx context.Context, root *state.Root, program *rules.Program, pointer string) string {
	return look(ctx, root, program, "*", map[string]string{pointer: probe}).own[pointer]
}

// look evaluates a policy to see where its files are for a session. said is what text files
// say, by path, in place of what they hold.
func look(ctx context.Context, root *state.Root, program *rules.Program, session string, said map[string]string) *scout {
	s := &scout{root: root, inline: program.Inline(), session: session, said: said, own: map[string]string{}}
	s.verdict = program.Eval(ctx, s, rules.Options{Event: host.Stop, Time: time.Now()})
	return s
}

// A scout is the world of a policy that is asked where its files are. Its tool has a
// task to do, so that the policy looks for the checklist too.
type scout struct {
	root    *state.Root
	inline  *rules.Fact
	session string
	said    map[string]string

	path    string            // of the state, "" if the policy did not ask for it
	tasks   string            // the checklist beside it
	texts   []string          // the files of text facts that were read before the state
	own     map[string]string // by the file that all sessions share: the one of the session
	verdict *rules.Verdict
}

func (s *scout) Fact(ctx context.Context, f *rules.Fact, args []string) rules.Value {
	switch {
	case f == s.inline:
		s.path = args[len(args)-1]
		return rules.ValueOf(f, map[string]any{phaseFields()[0]: executing, totalFields()[0]: 1})
	case f.Source.Name == "text":
		paths, shared := args[:len(args)-1], args[len(args)-1]
		if len(paths) > 0 && strings.Contains(paths[0], s.session) {
			s.own[shared] = paths[0]
		}
		file := shared
		if i := slices.IndexFunc(paths, func(p string) bool { return s.said[p] != "" || s.root.Exists(p) }); i >= 0 {
			file = paths[i]
		}
		if s.path == "" {
			s.texts = append(s.texts, file)
		}
		text, ok := s.said[file]
		if !ok {
			text = s.root.Read(ctx, state.File{Path: file}).Text
		}
		if text != "" {
			return rules.ValueOf(f, text)
		}
	case f.Source.Name == "checklist" && len(args) == 1 && path.Dir(args[0]) == path.Dir(s.path):
		s.tasks = args[0]
	case f.Source.Body:
		if doc := s.root.Read(ctx, state.File{Path: args[0], Format: state.FrontMatter}); doc.Status == state.OK {
			return rules.ValueOf(f, doc.Document.Value)
		}
	}
	return rules.Value{Status: rules.Missing, Quiet: true}
}

func (s *scout) Name(_ context.Context, name string) any {
	switch name {
	case "session_id":
		return s.session
	case "isdir":
		return func(dir string) bool { return hasSegments(dir, probe) || s.root.IsDir(dir) }
	case "exists", "anyfile": // so that the policy is for this project, be it new to it
		return func(string) bool { return true }
	}
	return nil
}

// pointable reports why the pointer cannot be written: it holds more than the one line
// that a pointer holds, and must not be lost.
func (s toolState) pointable(ctx context.Context, root *state.Root) (state.Doc, error) {
	old := root.Read(ctx, state.File{Path: s.pointer})
	line := strings.TrimSpace(old.Text)
	switch {
	case old.Status == state.Missing && old.Quiet, line == s.pointed: // it is absent, empty, or right
	case old.Status != state.OK:
		return old, fmt.Errorf("%s %s; move it away first, it is to name %s", s.pointer, old.Problem, s.pointed)
	case strings.ContainsFunc(line, unicode.IsControl):
		return old, fmt.Errorf("%s holds more than the name of a folder; move it away first, it is to name %s", s.pointer, s.pointed)
	}
	return old, nil
}

// point lets the pointer name the folder.
func (a *app) point(ctx context.Context, root *state.Root, s toolState) error {
	old, err := s.pointable(ctx, root)
	if err != nil || strings.TrimSpace(old.Text) == s.pointed {
		return err
	}
	err = root.Write(ctx, s.pointer, []byte(s.pointed+"\n"), old.Version)
	if errors.Is(err, state.ErrChanged) {
		return fmt.Errorf("%s changed just now; run the command again", s.pointer)
	}
	if err == nil {
		fmt.Fprintf(a.stdout, "  %s now names %s\n", s.pointer, s.pointed)
	}
	return err
}

// unpoint puts away the pointer of a session that has one of its own.
func (a *app) unpoint(ctx context.Context, root *state.Root, s toolState, now time.Time) error {
	old := root.Read(ctx, state.File{Path: s.pointer})
	return a.change(ctx, root, &state.Change{Path: s.pointer, Op: state.OpArchive, Version: old.Version, At: now})
}
