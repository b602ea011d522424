package policytest

import (
	"regexp"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/internal/yamltree"
	"github.com/ralph-sdk/ralph/rules"
)

// File is a file of tests.
type File struct {
	Name   string // as diagnostics show it
	Policy string // the tested policy: a path relative to the file, or a shipped name; "" is the one next to it
	Tests  []Test // merged with what the file gives to all of them

	src    []byte
	policy rules.Pos // where the file names its policy, otherwise its beginning
}

// Test is one situation with the expected decision.
type Test struct {
	Name   string `key:"name"`
	Pos    rules.Pos
	Given  situation
	Event  string      `key:"event"` // the default is Stop
	Expect expectation `key:"expect"`

	node *yamltree.Node
}

// Situation returns what the test and its file give, with the keys of [Draft].Given.
func (t Test) Situation() map[string]any {
	given, _ := t.Given.node.Decode().(map[string]any)
	return given
}

// situation is the situation of a test. What it does not set is missing or zero; nothing comes from the machine on
// which the test runs.
type situation struct {
	Facts   map[string]any       `key:"facts"`   // literal values, which their facts' schemas convert
	Missing map[string]string    `key:"missing"` // facts that are missing, and why; "" is an ordinary missing fact
	Invalid map[string]string    `key:"invalid"` // facts that are invalid, and why
	Problem map[string]string    `key:"problem"` // problems of usable facts
	Files   map[string]givenFile `key:"files"`   // files of the project, by slash-separated path; a path that ends in / is a directory

	Transcript []message      `key:"transcript"` // the session as records, oldest first
	Text       string         // the session as plain text
	Spoken     bool           // there is a transcript, of either form
	Input      map[string]any `key:"input"`  // fields of the hook input, under Claude Code's names
	Host       string         `key:"host"`   // the host of the hook; "" is an unknown one
	Answer     string         `key:"answer"` // of a person, to the question of the decision before

	Env      map[string]string        `key:"env"`
	Now      time.Time                `key:"now"`    // of the event; the zero time means defaultNow
	Exists   []string                 `key:"exists"` // paths for which exists() and anyfile() are true, in addition to Files
	IsDir    []string                 `key:"isdir"`  // paths for which isdir() and exists() are true
	Which    []string                 `key:"which"`  // programs that which() finds
	Loop     *givenLoop               `key:"loop"`   // the loop memory; nil is that of a first stop
	Repeated map[string]int           `key:"repeated"`
	Waited   map[string]time.Duration `key:"waited"`
	Set      map[string]string        `key:"set"` // values of params
	Names    map[string]any           // values of session.NAME and run.NAME
	Memory   map[string]any           `key:"memory"` // values of the policy's memory

	node *yamltree.Node // the given values of file and test, merged
}

// givenFile is a file of the project.
type givenFile struct {
	Text string        `key:"text"`
	Age  time.Duration `key:"age"` // since its last change; the default is [DefaultAge]
}

// DefaultAge is the default age of files in a test: old enough not to look half written.
const DefaultAge = 10 * time.Minute

// message is one entry of the transcript, with its key.
type message struct{ Key, Text string }

// givenLoop is the loop memory as rules see it. Missing fields follow from the others: repeats need as many
// continuations, and these as large a total.
type givenLoop struct {
	Continuations int           `key:"continuations"`
	Total         int           `key:"total"`
	Repeats       int           `key:"repeats"`
	Failures      int           `key:"failures"`
	Elapsed       time.Duration `key:"elapsed"`
	Step          time.Duration `key:"step"`
	Seen          bool          `key:"seen"` // the session's last decision had the loop of the policy
}

// expectation is what a test expects. A nil field expects nothing.
type expectation struct {
	Action  *rules.Action
	Rule    *string            `key:"rule"`    // "" means that no rule decided
	Success *bool              `key:"success"` // the stop has success
	Text    texts              // of continue, stop, ask or wait: the reason
	Reason  texts              `key:"reason"` // the same for any action
	Notice  texts              `key:"notice"`
	Note    texts              `key:"note"`
	Log     texts              `key:"log"`
	Effects []string           // in the form of effectText
	Finally []string           //
	Files   map[string]content `key:"files"`   // all files that the decision changes
	Memory  map[string]any     `key:"memory"`  // values of the policy's memory after it
	Measure map[string]float64 `key:"measure"` // done and total; nil expects that nothing is measured
	Read    []string           `key:"read"`    // facts that must have been read
	Unread  []string           `key:"unread"`  // facts that must not have been read

	at map[string]rules.Pos // the position of each key
}

// texts are patterns that must all match a text. An empty list expects no text.
type texts []pattern

// pattern is a string that must occur in a text, or a regular expression that must match somewhere in it, where ^ and $
// match at line ends.
type pattern struct {
	Text   string         // as written
	Regexp *regexp.Regexp // nil for a plain string
}

// Match reports whether the pattern occurs in s. White space around a plain string is ignored.
func (p pattern) Match(s string) bool {
	if p.Regexp != nil {
		return p.Regexp.MatchString(s)
	}
	return strings.Contains(s, strings.TrimSpace(p.Text))
}

// content is the expected content of a file after the decision was applied.
type content struct {
	Gone  bool      // it no longer exists
	Whole bool      // Text is its whole content
	Text  string    //
	Parts []pattern // strings that must occur in it
}
