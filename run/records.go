package run

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/internal/process"
)

const (
	maxLine = 16 << 20 // bytes of a line that is read
	texts   = 200      // of the agent that are kept
)

// records reads what an agent prints, as it comes.
type records struct {
	agent agent
	line  []byte // its beginning, until its end comes
	long  bool   // it is too long, and left out

	it     Iteration
	any    bool // there was a record of the agent's
	ended  bool
	failed bool
	open   bool     // the record before was a text
	codes  []string // the newest first
}

func (r *records) Write(b []byte) (int, error) {
	n := len(b)
	for {
		line, rest, whole := bytes.Cut(b, []byte("\n"))
		if r.long = r.long || len(r.line)+len(line) > maxLine; r.long {
			r.line = nil
		} else {
			r.line = append(r.line, line...)
		}
		if !whole {
			return n, nil
		}
		r.read(r.line)
		r.line, r.long, b = r.line[:0], false, rest
	}
}

// read reads a line. What is no JSON object is a warning.
func (r *records) read(line []byte) {
	var rec map[string]any
	if line = bytes.TrimSpace(line); len(line) == 0 || line[0] != '{' || json.Unmarshal(line, &rec) != nil {
		return
	}
	a := r.agent.prints
	if s := places(rec, a.session); len(s) > 0 {
		r.any, r.it.Session = true, fmt.Sprint(s[0])
	}
	if len(places(rec, a.ended)) > 0 {
		r.any, r.ended, r.failed = true, true, len(places(rec, a.failed)) > 0
	}
	r.text(rec)
	var codes []string
	for _, v := range places(rec, a.codes...) {
		codes = append(codes, fmt.Sprint(v))
	}
	r.codes = slices.Concat(codes, r.codes)
	if v := places(rec, a.problem...); len(v) > 0 {
		r.it.Problem = fmt.Sprint(v[0])
	}
	if cost, ok := sum(places(rec, a.spent)); ok {
		r.it.Cost = &cost
	}
	if tokens, ok := sum(places(rec, a.tokens...)); ok {
		r.it.Tokens = int(min(tokens, 1e15))
	}
	if at, ok := sum(places(rec, a.resets)); ok && at > 0 && at < 1e11 {
		r.it.Resets = time.Unix(int64(at), 0)
	}
	for _, use := range places(rec, a.denied) {
		r.it.Denied = append(r.it.Denied, denial(use))
	}
}

// text adds what the agent says in a record.
func (r *records) text(rec map[string]any) {
	said := places(rec, r.agent.prints.texts...)
	part := r.open && len(places(rec, r.agent.prints.part)) > 0
	r.open = len(said) > 0
	for _, v := range said {
		s := fmt.Sprint(v)
		if n := len(r.it.Texts); part {
			r.it.Texts[n-1] = tail(r.it.Texts[n-1]+s, maxTexts)
		} else if r.it.Texts = append(r.it.Texts, tail(s, maxTexts)); n > 2*texts {
			r.it.Texts = slices.Clone(r.it.Texts[texts:])
		}
	}
}

// iteration returns how the process ended, by its records and its status.
func (r *records) iteration(res process.Result) Iteration {
	r.read(r.line)
	it := r.it
	it.Took = res.Took
	switch {
	case r.any && r.ended && r.failed:
		it.Outcome = failure(it.Problem, r.codes)
	case r.any && !r.ended && res.Code == 0:
		it.Outcome, it.Problem = Crashed, "it ended without a result"
	case res.Code == 0:
		it.Outcome, it.Problem = OK, ""
	default:
		it.Outcome, it.Problem = Crashed, ending(res)
	}
	if outcome, ok := r.agent.exits[res.Code]; ok && it.Outcome == Crashed {
		it.Outcome = outcome
	}
	if !r.any { // any other program, or one that prints text
		it.Texts = nil
		if out := strings.TrimSpace(string(res.Stdout)); out != "" {
			it.Texts = []string{out}
		}
	}
	if it.Outcome != RateLimited {
		it.Resets = time.Time{}
	}
	return it
}

// ending says how a process failed.
func ending(res process.Result) string {
	how := fmt.Sprintf("status %d", res.Code)
	said := strings.TrimSpace(string(res.Stderr))
	if last := strings.TrimSpace(said[strings.LastIndexByte(said, '\n')+1:]); last != "" {
		how += ": " + last
	}
	return how
}

// failures are the outcomes of what agents call their failures, and of the status of the model's server.
var failures = map[string]string{
	"authentication_failed": SignIn, "oauth_org_not_allowed": SignIn, "FatalAuthenticationError": SignIn, "401": SignIn, "403": SignIn,
	"billing_error": Billing, "402": Billing,
	"rate_limit": RateLimited, "429": RateLimited,
	"error_max_turns": TurnLimit, "FatalTurnLimitedError": TurnLimit,
	"error_max_budget_usd": OverBudget,
	"prompt_too_long":      Overflow, "blocking_limit": Overflow, "rapid_refill_breaker": Overflow,
}

// messages are the beginnings of messages that Codex has instead of names.
var messages = map[string]string{
	"Codex ran out of room in the model's context window.": Overflow,
	"Quota exceeded. ":            Billing,
	"You’ve hit your usage limit": RateLimited,
}

// failure returns the outcome of an iteration that failed.
func failure(message string, codes []string) string {
	for _, code := range codes {
		if outcome, ok := failures[code]; ok {
			return outcome
		}
	}
	for begin, outcome := range messages {
		if strings.HasPrefix(message, begin) {
			return outcome
		}
	}
	// The status of the model's server.
	status := regexp.MustCompile(`(?s)(?:^\[API Error: (?:.*?"code":\s*)?|\b(?:unexpected status|last status:) )([1-5][0-9][0-9])\b`)
	if m := status.FindStringSubmatch(message); m != nil && failures[m[1]] != "" {
		return failures[m[1]]
	}
	return Crashed
}

// denial returns a use of a tool in a few words.
func denial(use any) string {
	m, ok := use.(map[string]any)
	if !ok { // the ID of a use, which begins with the tool
		name, _, _ := strings.Cut(fmt.Sprint(use), "__")
		return name
	}
	s := fmt.Sprint(m["tool_name"])
	input, _ := m["tool_input"].(map[string]any)
	for _, name := range []string{"command", "file_path", "path", "url"} {
		if v, ok := input[name].(string); ok {
			return s + " " + v
		}
	}
	return s
}

// places returns the values at places of a record, without null and empty texts. A place is a path, such as errors.*, where * is each
// element. Conditions may stand before it, such as type=a|b, or type= for a field that is not there or empty.
func places(rec map[string]any, all ...string) (found []any) {
next:
	for _, place := range all {
		words := strings.Fields(place)
		for i, word := range words {
			path, values, condition := strings.Cut(word, "=")
			at := slices.DeleteFunc(walk(rec, strings.Split(path, ".")), func(v any) bool { return v == nil || v == "" })
			if i == len(words)-1 {
				found = append(found, at...)
				continue
			}
			got := ""
			if len(at) > 0 {
				got = fmt.Sprint(at[0])
			}
			if !condition || !slices.Contains(strings.Split(values, "|"), got) {
				continue next
			}
		}
	}
	return found
}

// walk returns what is at the end of a path.
func walk(v any, steps []string) (all []any) {
	if len(steps) == 0 {
		return []any{v}
	}
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if steps[0] == "*" || steps[0] == name {
				all = append(all, walk(v[name], steps[1:])...)
			}
		}
	case []any:
		for _, e := range v {
			if steps[0] == "*" {
				all = append(all, walk(e, steps[1:])...)
			}
		}
	}
	return all
}

// sum adds numbers up; false if there are none.
func sum(values []any) (total float64, ok bool) {
	for _, v := range values {
		if n, is := v.(float64); is && n >= 0 {
			total, ok = total+n, true
		}
	}
	return total, ok
}
