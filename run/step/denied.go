package step

import (
	"slices"

	"github.com/ralph-sdk/ralph/internal/escape"
)

// is reports whether two denials are the same.
func (d Denial) is(e Denial) bool { return d.Tool == e.Tool && d.Input == e.Input }

// distinct returns the first denials that differ, each in short and without secrets.
func distinct(denials []Denial) (short []Denial) {
	for _, d := range denials {
		shown, _ := escape.Secrets([]string{cut(d.Input, MaxText), cut(d.Why, MaxText)})
		if shown[0] != d.Input || size(d.Allow) > maxAllow {
			d.Allow = ""
		}
		d = Denial{cut(escape.Brief(d.Tool), maxName/4), cut(escape.Brief(shown[0]), maxName), cut(escape.Brief(shown[1]), maxName), d.Allow}
		if len(short) < MaxDenied && !slices.ContainsFunc(short, d.is) {
			short = append(short, d)
		}
	}
	return short
}

// again returns a denial that both have, or nil.
func again(before, now []Denial) *Denial {
	i := slices.IndexFunc(now, func(d Denial) bool { return slices.ContainsFunc(before, d.is) })
	if i < 0 {
		return nil
	}
	return &now[i]
}

// twice returns why a run ends after a denial of two iterations.
func (d Denial) twice(client string) string {
	why := client + " denied the agent the same in two iterations in a row: " + d.Tool
	if d.Input != "" {
		why += " " + d.Input
	}
	if d.Allow != "" {
		why += "; to allow it, " + d.Allow
	}
	if d.Why != "" {
		why += "; " + client + ": " + d.Why
	}
	return why
}
