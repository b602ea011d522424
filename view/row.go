package view

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"
	"unique"

	"github.com/ralph-sdk/ralph/project"
	"github.com/ralph-sdk/ralph/rules"
)

// maxText is how many characters of a text a row has.
const maxText = 300

// row is a decision in the timeline.
type row struct {
	N             int              `json:"n"`
	ID            string           `json:"id"`
	Time          time.Time        `json:"time"`
	Root          string           `json:"root,omitempty"` // of the project, where all are shown
	Policy        string           `json:"policy,omitempty"`
	Digest        string           `json:"digest,omitempty"`
	Host          string           `json:"host,omitempty"`
	Session       string           `json:"session,omitempty"`
	Agent         string           `json:"agent,omitempty"`
	Run           string           `json:"run,omitempty"`
	Event         string           `json:"event,omitempty"`
	Command       string           `json:"command,omitempty"`
	Action        string           `json:"action"`
	Kind          string           `json:"kind"`
	By            string           `json:"by"`
	Said          string           `json:"said,omitempty"`
	Success       bool             `json:"success,omitempty"`
	Bound         string           `json:"bound,omitempty"`
	Skipped       string           `json:"skipped,omitempty"`
	Notes         int              `json:"notes,omitempty"`
	Continuations int              `json:"continuations,omitempty"`
	Limit         int              `json:"limit,omitempty"`
	Tokens        int              `json:"tokens,omitempty"`
	USD           float64          `json:"usd,omitempty"`
	Measure       *project.Measure `json:"measure,omitempty"`
	Loop          string           `json:"loop,omitempty"`
	Took          time.Duration    `json:"took_ns,omitempty"`
}

// newRow returns the row of a decision. Rows share what many of them say.
func newRow(d project.Decision) row {
	shared := func(s string) string { return unique.Make(short(s)).Value() }
	r := row{
		ID: short(d.ID), Time: d.Time, Policy: shared(d.Policy), Digest: shared(d.Digest), Host: shared(d.Host), Session: shared(d.Session),
		Agent: shared(d.Agent), Run: shared(d.Run), Event: shared(d.Event), Command: shared(d.Command), Action: shared(d.Verdict()), Kind: kind(d),
		By: shared(d.By()), Said: shared(d.Said()), Success: d.Success, Bound: shared(d.Bound), Skipped: shared(d.Skipped),
		Notes: len(d.Notes), Tokens: d.Tokens, USD: d.USD, Measure: d.Measure, Took: d.Took,
	}
	if r.Kind == "newer" {
		r.Said = "logged by a newer version of ralph"
	}
	if d.Loop != nil {
		r.Loop = shared(cmp.Or(d.Loop.Name, d.Loop.State))
	}
	for _, l := range d.Limits {
		if l.Name == "continuations" {
			r.Continuations, r.Limit = l.At, l.Of
		}
	}
	return r
}

// kind returns what a row is, in one word: its colour and its shape.
func kind(d project.Decision) string {
	switch {
	case d.V != 1:
		return "newer"
	case d.Error != "":
		return "error"
	case d.Command != "":
		return "command"
	case d.Skipped != "":
		return "pause"
	case d.Bound != "":
		return "limit"
	case d.Rule == "" && len(d.Noted) > 0:
		return "note"
	case d.Rule == "":
		return "none"
	case d.Action == rules.Continue:
		return "continue"
	case d.Success:
		return "done"
	}
	return "stop"
}

// short cuts a text.
func short(s string) string {
	if len(s) <= maxText {
		return strings.ToValidUTF8(s, "�")
	}
	if utf8.RuneCountInString(s) > maxText {
		s = string([]rune(s)[:maxText-1]) + "…"
	}
	return strings.ToValidUTF8(s, "�")
}

// asJSON returns a value that package json can write.
func asJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		b, _ = json.Marshal(map[string]string{"error": "the answer cannot be written: " + err.Error()})
	}
	return b
}
