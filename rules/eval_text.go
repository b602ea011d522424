package rules

import (
	"fmt"
	"strconv"

	"github.com/ralph-sdk/ralph/internal/escape"
)

// render returns a text: its parts, each trimmed at the end, on separate lines. Texts never change a decision.
func (ev *evaluation) render(t *text) string {
	if t == nil {
		return ""
	}
	parts := ev.program.compiled(t)
	rendering, at, in := ev.here.rendering, ev.here.at, ev.here.in
	ev.here.rendering, ev.here.at, ev.here.in = true, 0, t // stay set when a spent budget ends the evaluation
	b := ev.buf[:0]
	ev.buf = nil // a placeholder may ask a model, whose question is also a text
	for i, whole := 0, true; whole && i < len(parts); i++ {
		if !ev.applies(&parts[i]) {
			continue
		}
		if len(b) > 0 {
			b = append(b, '\n')
		}
		b, whole = ev.passage(b, parts[i].segs)
		for n := len(b) - 1; n >= 0 && (b[n] == '\n' || b[n] == ' ' || b[n] == '\t' || b[n] == '\r'); n-- {
			b = b[:n] // including the line end before a blank part
		}
	}
	ev.buf = b
	ev.here.rendering, ev.here.at, ev.here.in = rendering, at, in
	return string(b)
}

// applies reports whether to include a part of a text.
func (ev *evaluation) applies(p *passage) bool {
	for _, when := range p.when {
		if when == nil {
			ev.warn(public("the when of a part cannot be compiled"))
			return false
		}
		holds, state, _ := ev.truth(when)
		if state == broken {
			ev.warn(sentencef("a part is left out: %s", ev.last.why))
		}
		if !holds || state != known {
			return false
		}
	}
	return true
}

// passage appends a part of a text to b; whole is false if the text is too long. A placeholder that cannot be evaluated
// becomes (?) and is reported in the trace. Lines whose only content is empty placeholders are dropped.
func (ev *evaluation) passage(b []byte, segs []segment) (out []byte, whole bool) {
	start, placeholders, solid := len(b), false, false // of the line: has placeholders, has content
	for i := range segs {
		s := &segs[i]
		before := len(b)
		switch {
		case s.literal != "":
			ev.meter.text(len(s.literal))
			b = append(b, s.literal...)
			solid = solid || s.solid
		case s.broken:
			ev.warn(public("the placeholder ${" + s.src + "} cannot be compiled"))
			b = append(b, "(?)"...)
			placeholders, solid = true, true
		default:
			v, state := ev.value(s.placeholder)
			if state == known {
				ev.here.quoted = ev.here.quoted || ev.last.mark != nil
			} else {
				ev.warn(sentencef("the placeholder ${%s} is unknown: %s", s.src, ev.last.why))
				v = "(?)"
			}
			ev.meter.print(v)
			b = appendDisplay(b, v)
			placeholders, solid = true, solid || len(b) > before
		}
		if len(b) > maxText {
			ev.warn(public("a string is longer than " + strconv.Itoa(maxText) + " bytes and is cut"))
			return append(truncate(b, maxText), "…"...), false
		}
		if s.ends || i == len(segs)-1 {
			if placeholders && !solid {
				b = b[:start]
			}
			start, placeholders, solid = len(b), false, false
		}
	}
	return b, true
}

// shownText renders a text for the agent or the user. A problem of a fact that it contains is not reported again.
func (ev *evaluation) shownText(t *text) string {
	ev.here.goesOut = true
	shown := ev.render(t)
	ev.here.goesOut = false
	return shown
}

// maxReason bounds a text for an agent, in bytes, because it fills the agent's context. Prompts of 100 KB are in use.
const maxReason = 128 << 10

// capped returns a text for the agent, escaped and truncated if it is too long, which its end and a problem say.
func (ev *evaluation) capped(r *Rule, text string) string {
	text = escape.Agent(text)
	if len(text) <= maxReason {
		return text
	}
	note := fmt.Sprintf("\n\n[ralph: the rest is left out. This text has %d bytes, at most %d are sent.]", len(text), maxReason)
	ev.report(public(fmt.Sprintf("rule %s: the text for the agent is cut: it has %d bytes, at most %d are sent", r.Name, len(text), maxReason)))
	return string(truncate([]byte(text[:maxReason]), maxReason-len(note))) + note
}
