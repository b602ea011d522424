package main

import (
	"bytes"
	"context"
	"encoding/json"
	"path"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/internal/store"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/state"
)

// maxFinished is how many finished loops status shows.
const maxFinished = 3

// finishedLoop is a loop whose file was archived.
type finishedLoop struct {
	Policy string    `json:"policy"`
	At     time.Time `json:"at"`
	By     string    `json:"by"` // rule, or command
	Reason string    `json:"reason"`

	Success bool `json:"success,omitempty"` // the work is done

	Goal string `json:"goal,omitempty"` // first line of the prompt, or name of the tool's work, from the archived file
	File string `json:"file"`           // where that is
}

// finishedLoops gives the loops of a project that finished last, the latest first.
func finishedLoops(ctx context.Context, own *store.Store, root *state.Root) ([]finishedLoop, error) {
	lines, err := own.ReadLog(func(line []byte) bool {
		var l logged
		return bytes.Contains(line, []byte(`"archive"`)) && json.Unmarshal(line, &l) == nil && l.Root == root.Dir() && l.archived() != ""
	}, maxFinished)
	if err != nil {
		return nil, err
	}
	var found []finishedLoop
	for i := range lines {
		var l logged
		if json.Unmarshal(lines[len(lines)-1-i], &l) == nil {
			file := l.archived()
			found = append(found, finishedLoop{Policy: l.Policy, At: l.Time, By: l.why(), Reason: l.said(), Success: l.Success, Goal: goalOf(ctx, root, file), File: file})
		}
	}
	return found, nil
}

// putAway archives the file of a loop that a command ends, and notes it in the log. The
// loop has ended also where the log cannot be written.
func (a *app) putAway(ctx context.Context, root *state.Root, l loopFile, r loopState, command string, now time.Time) error {
	c := state.Change{Path: l.path, Op: state.OpArchive, Version: r.doc.Version, At: now}
	if err := a.change(ctx, root, &c); err != nil {
		return err
	}
	own, err := a.store()
	if err != nil {
		return err
	}
	a.logEnd(own, loop.Record{
		Time: now, Policy: l.policy.name, Root: root.Dir(), Session: r.text(ownerFields()),
		Command: command, Reason: strings.TrimSpace(at(r.progress())),
		Effects: []rules.Effect{{Kind: rules.ArchiveEffect, Fact: l.fact.Name, Source: l.fact.Source.Name, File: l.path, To: c.Archived}},
	})
	return nil
}

// archived is where the decision, or the command, moved the loop file to; "" if it did not.
func (l logged) archived() string {
	for _, e := range l.Effects {
		if l.Action == rules.Stop && e.Kind == rules.ArchiveEffect && (e.Source == "frontmatter" || e.Source == "json") && e.To != "" {
			return e.To
		}
	}
	return ""
}

// goal is the goal of the loop that the decision finished: prompts are not in the log,
// so it is in the archived file. It is "" if the loop goes on or the file is gone.
func (l logged) goal(ctx context.Context) string {
	file := l.archived()
	if file == "" {
		return ""
	}
	root, err := state.OpenRoot(l.Root)
	if err != nil {
		return ""
	}
	defer root.Close()
	return goalOf(ctx, root, file)
}

// goalOf is the first line of the text below the front matter, or the name in a state.
func goalOf(ctx context.Context, root *state.Root, file string) string {
	if !strings.HasPrefix(file, state.ArchiveDir+"/") {
		return ""
	}
	if path.Ext(file) == ".json" {
		fields, _ := root.Read(ctx, state.File{Path: file, Format: state.JSON}).Document.Value.(map[string]any)
		name, _ := fields[nameFields()[0]].(string)
		return cut(oneLine(name), 60)
	}
	doc := root.Read(ctx, state.File{Path: file, Format: state.LenientFrontMatter})
	for line := range strings.Lines(doc.Body) {
		if line = oneLine(strings.TrimLeft(line, "# ")); line != "" {
			return cut(line, 60)
		}
	}
	return ""
}
