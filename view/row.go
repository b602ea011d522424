package view

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"
	"unicode/utf8"
	"unique"

	"github.com/ralph-sdk/ralph/internal/escape"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/project"
	"github.com/ralph-sdk/ralph/rules"
)

// maxText is how many characters of a text a row has.
const maxText = 300

// row is a decision in the timeline. What it says in other words than the log hides the head's.
type row struct {
	N int `json:"n"`
	loop.Head
	Action        string       `json:"action,omitempty"` // never: the outcome says it
	Outcome       loop.Outcome `json:"outcome,omitempty"`
	Cause         rules.Cause  `json:"cause,omitempty"`
	By            string       `json:"by"`
	Said          string       `json:"said,omitempty"`
	Notes         int          `json:"notes,omitempty"`
	Loop          string       `json:"loop,omitempty"`
	Continuations int          `json:"continuations,omitempty"`
	Limit         int          `json:"limit,omitempty"`
}

// newRow returns the row of a decision. Rows share what many of them say, and leave out what only one decision shows.
func newRow(d project.Decision) row {
	shared := func(s string) string { return unique.Make(short(s)).Value() }
	o, cause := d.Ended()
	r := row{Head: d.Head, Outcome: o, Cause: cause, By: shared(d.By()), Said: shared(d.Said()), Notes: len(d.Notes)}
	r.Continuations, r.Limit = d.Streak()
	h := &r.Head
	h.ID, h.Root, h.Rule, h.Reason, h.SessionFile = short(d.ID), "", "", "", ""
	for _, s := range []*string{&h.Policy, &h.Digest, &h.Host, &h.Session, &h.Agent, &h.Run, &h.Event, &h.Command, &h.Bound} {
		*s = shared(*s)
	}
	h.Loop, h.Limits, h.Notices, h.Notes, h.Noted, h.Effects = nil, nil, nil, nil, nil, nil
	if d.V != 1 {
		r.Outcome, r.Said = "", "logged by a newer version of ralph"
	}
	if d.Loop != nil {
		r.Loop = shared(cmp.Or(d.Loop.Name, d.Loop.State))
	}
	return r
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

// asJSON returns a value that package json can write, with texts for people, see [escape.Person].
func asJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		b, _ = json.Marshal(map[string]string{"error": "the answer cannot be written: " + err.Error()})
	}
	var out []byte
	escaped := func(r rune) bool { return r == '\\' || r >= utf8.RuneSelf }
	for {
		from := bytes.IndexByte(b, '"')
		if from < 0 {
			return append(out, b...)
		}
		to := from + 1
		for b[to] != '"' {
			if b[to] == '\\' {
				to++
			}
			to++
		}
		text := b[from : to+1]
		out = append(out, b[:from]...)
		if b = b[to+1:]; bytes.ContainsFunc(text, escaped) {
			var s string
			_ = json.Unmarshal(text, &s) // package json wrote it
			text, _ = json.Marshal(escape.Person(s))
		}
		out = append(out, text...)
	}
}
