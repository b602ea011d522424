package main

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/internal/store"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/state"
)

// maxFinished is how many finished loops status shows.
const maxFinished = 3

// finishedLoop is a loop whose file was archived.
type finishedLoop struct {
	Policy string    `json:"policy"`
	At     time.Time `json:"at"`
	By     string    `json:"by"` // rule
	Reason string    `json:"reason"`
	Goal   string    `json:"goal,omitempty"` // first line of the prompt, from the archived file
	File   string    `json:"file"`           // where that is
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
			found = append(found, finishedLoop{Policy: l.Policy, At: l.Time, By: l.why(), Reason: l.said(), Goal: goalOf(ctx, root, file), File: file})
		}
	}
	return found, nil
}

// archived is where the decision moved the loop file to; "" if it did not.
func (l logged) archived() string {
	for _, e := range l.Effects {
		if e.Kind == rules.ArchiveEffect && e.Source == "frontmatter" && e.To != "" {
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

// goalOf is the first line of the text below the front matter.
func goalOf(ctx context.Context, root *state.Root, file string) string {
	if !strings.HasPrefix(file, state.ArchiveDir+"/") {
		return ""
	}
	doc := root.Read(ctx, state.File{Path: file, Format: state.LenientFrontMatter})
	for line := range strings.Lines(doc.Body) {
		if line = oneLine(strings.TrimLeft(line, "# ")); line != "" {
			return cut(line, 60)
		}
	}
	return ""
}
