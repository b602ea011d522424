package policytest

import (
	"regexp"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/internal/source"
	"github.com/ralph-sdk/ralph/rules"
)

// File is one file of tests.
type File struct {
	Name   string // as diagnostics show it
	Policy string // the policy that is tested: a path relative to the file, or a shipped name; "" is the one beside it
	Tests  []Test // with what the file gives to all of them already merged in

	src    []byte
	policy rules.Pos // where the file names its policy; its beginning if it does not
}

// Test is one situation and what is expected of the policy in it.
type Test struct {
	Name   string `key:"name"`
	Pos    rules.Pos
	Given  situation
	Event  string      `key:"event"` // Stop if the file does not say
	Expect expectation `key:"expect"`

	node *source.Node
}

// situation is the situation of a test. What it does not name is absent, or has its
// zero value; nothing is taken from the machine that the test runs on.
type situation struct {
	Facts   map[string]any       `key:"facts"`   // literal values, which go through the schemas of their facts
	Missing map[string]string    `key:"missing"` // facts that are missing, and why; "" is plain absence
	Invalid map[string]string    `key:"invalid"` // facts that are invalid, and why
	Problem map[string]string    `key:"problem"` // what is wrong with facts that can be used all the same
	Files   map[string]givenFile `key:"files"`   // files of the project, by slash-separated path; a path that ends in / is a folder

	Transcript []message      `key:"transcript"` // the session as records, the oldest first
	Text       string         // the session as plain text
	Spoken     bool           // there is a transcript, in either form
	Input      map[string]any `key:"input"` // fields of the hook input, under Claude Code's names
	Host       string         `key:"host"`  // which host fires the hook; "" is none that is known

	Env      map[string]string `key:"env"`
	Now      time.Time         `key:"now"`    // of the event; the zero time leaves it to the runner
	Exists   []string          `key:"exists"` // paths for which exists() and anyfile() hold, beside those of Files
	IsDir    []string          `key:"isdir"`  // paths for which isdir() and exists() hold
	Which    []string          `key:"which"`  // programs that which() finds
	Loop     *givenLoop        `key:"loop"`   // the loop memory; nil is that of a first stop
	Repeated map[string]int    `key:"repeated"`
	Set      map[string]string `key:"set"` // values of params
	Names    map[string]any    // values of session.NAME and run.NAME
	Memory   map[string]any    `key:"memory"` // values of the policy's memory

	node *source.Node // what the file and the test give, in one
}

// givenFile is a file of the project.
type givenFile struct {
	Text string        `key:"text"`
	Age  time.Duration `key:"age"` // since it was last changed; the default is [DefaultAge]
}

// DefaultAge is how old the files of a test are unless it says otherwise: old
// enough that they do not look half written.
const DefaultAge = 10 * time.Minute

// message is one contribution to the session, under its key in the transcript.
type message struct{ Key, Text string }

// givenLoop is the loop memory as rules see it. Fields that the test leaves out follow
// from the others: repeats need as many continuations, these as large a total.
type givenLoop struct {
	Continuations int           `key:"continuations"`
	Total         int           `key:"total"`
	Repeats       int           `key:"repeats"`
	Failures      int           `key:"failures"`
	Elapsed       time.Duration `key:"elapsed"`
	Step          time.Duration `key:"step"`
	Seen          bool          `key:"seen"` // the session's last decision had the loop of the policy
}

// expectation is what a test expects. What is nil may be anything.
type expectation struct {
	Action  *rules.Action
	Rule    *string            `key:"rule"`    // "" means that no rule decided
	Success *bool              `key:"success"` // the stop says that the work is done
	Text    texts              // of continue or stop: the reason
	Reason  texts              `key:"reason"` // the same, whatever the action
	Notice  texts              `key:"notice"`
	Note    texts              `key:"note"`
	Log     texts              `key:"log"`
	Effects []string           // in the form of effectText
	Finally []string           //
	Files   map[string]content `key:"files"`   // all files that the decision changes
	Memory  map[string]any     `key:"memory"`  // values of the policy's memory after it
	Measure map[string]float64 `key:"measure"` // done and total; given as nil, nothing is measured
	Read    []string           `key:"read"`    // facts that must have been read
	Unread  []string           `key:"unread"`  // facts that must not have been read

	at map[string]rules.Pos // where the file has the value of each key
}

// texts are patterns that a text must match, all of them. An empty list means that there must be no text.
type texts []pattern

// pattern is a text that must occur in another, or a regular expression that must
// match somewhere in it, where ^ and $ are the ends of lines.
type pattern struct {
	Text   string         // as it was written
	Regexp *regexp.Regexp // nil for a plain text
}

// Match reports whether the pattern occurs in s. A plain text is looked for as it
// is, white space at its ends aside.
func (p pattern) Match(s string) bool {
	if p.Regexp != nil {
		return p.Regexp.MatchString(s)
	}
	return strings.Contains(s, strings.TrimSpace(p.Text))
}

// content is what a file must be after the decision was applied.
type content struct {
	Gone  bool      // it does not exist any more
	Whole bool      // Text is its whole content
	Text  string    //
	Parts []pattern // texts that must occur in it
}
