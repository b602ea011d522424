package rules

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/ralph-sdk/ralph/internal/text"
	"github.com/ralph-sdk/ralph/schema"
)

// Policy is a policy file that can be evaluated. Its fields are to be read only. It does not change and is safe for concurrent use.
// There is no zero value: Parse makes one.
type Policy struct {
	Name        string // of the file, without directory and ending
	Description string
	Events      []string // "Stop", "SubagentStop"; notes are for UserPromptSubmit besides
	Limits      Limits
	Facts       []*Fact        // in the order of the file
	Params      map[string]any // their values
	Rules       []RuleInfo

	compiler *compiler
	rules    []*rule
	progress []*expression // the value, or done and total
	start    []*effect
}

// RuleInfo is what others show of a rule.
type RuleInfo struct {
	Name, Verb string // Verb: "continue", "stop", "done", "note" or ""
	Line       int
}

// Limits end every loop. A zero value means the default: 100, 10 where there is progress, 1000, 24h.
type Limits struct {
	Continuations, Repeats, Total int
	Elapsed                       time.Duration
}

// Fact is one declared fact. Its fields are to be read only.
type Fact struct {
	Name    string
	Source  string         // "text", "json", … or one of Options.Sources
	Parse   string         // of a glob: "", "json", "frontmatter", "checklist"
	Schema  *schema.Schema // nil: none is declared
	Inline  bool
	Timeout time.Duration // 0: the default of the source
	Line    int
	OnePath bool // it is read from one file of the project

	source   *source
	args     []*template
	options  map[string][]*template
	fallback any  // the option default
	defaults bool // there is one
	symbol   *symbol
}

// Parse reads a policy file. name is the file's name for messages, and without its ending the policy's name. The error is of type
// Findings, and holds errors only; Check finds what is dubious. src has at most 1 MiB.
func Parse(name string, src []byte) (*Policy, error) { return Options{}.Parse(name, src) }

// Parse reads a policy file as the function Parse does, with options.
func (o Options) Parse(name string, src []byte) (*Policy, error) {
	base := path.Base(strings.ReplaceAll(name, `\`, "/"))
	p := &Policy{Name: strings.TrimSuffix(base, path.Ext(base)), Events: []string{"Stop"}, Params: map[string]any{}}
	c := &compiler{Options: o, p: p, file: name, engine: newEngine(), own: ralphNames(), symbols: map[string]*symbol{}, paths: map[string]*valuePath{}}
	p.compiler = c
	if root := c.document(src); root != nil {
		c.policy(root)
	}
	if len(c.findings) > 0 {
		return nil, c.findings.sorted()
	}
	c.sizes.names, c.sizes.paths = len(c.order), len(c.paths)
	return p, nil
}

// compiler turns a file into a policy, and the expressions of a lazy policy into programs while it is evaluated.
type compiler struct {
	Options
	p        *Policy
	file     string
	lines    []string
	findings Findings
	engine   *engine

	own         object // names of ralph
	symbols     map[string]*symbol
	order       []*symbol // as they are declared
	paths       map[string]*valuePath
	sizes       struct{ names, paths int } // when Parse is done
	expressions []*expression
	schemas     []*yaml.Node // that are written in the policy
	startText   *symbol      // text in start, while start is read
	anyName     bool         // an inline fact is broken, so that any name may be a field of it
	lock        sync.Mutex   // compiles the expressions of a lazy policy, one at a time
}

var policyKeys = []string{"ralph", "description", "params", "facts", "let", "progress", "limits", "rules", "start", "events"}

func (c *compiler) policy(root *yaml.Node) {
	f := c.fields(root, "a policy", policyKeys)
	if v := f.values["ralph"]; v == nil && f.whole() || v != nil && v.Value != "1" {
		if v == nil {
			v = root
		}
		c.report(at(v), 1, "version", "a policy begins with its version, which is 1", "write ralph: 1")
	}
	if v := f.values["description"]; c.scalar(v, "description") {
		c.p.Description = strings.TrimSpace(v.Value)
	}
	c.declareNames()
	c.params(f.values["params"])
	c.facts(f.values["facts"])
	c.entries(f.values["let"], "let", func(k, v *yaml.Node) {
		if !c.free(at(k), "let") {
			return
		}
		s := c.symbol(k.Value, letName, nil)
		s.at = at(k)
		s.let = c.newExpression(at(v), v.Value)
		s.let.symbol = s
		s.let.begun = !c.scalar(v, "let "+k.Value) // then it is any value
	})
	c.inlineFields()
	c.progress(f.values["progress"])
	c.limits(f.values["limits"])
	c.events(f.values["events"])
	c.rules(f)
	c.startText = c.symbol(" text", textName, typeOf("")) // which no expression can write
	c.p.start = c.effects(f.values["start"], "start")
	c.startText = nil
	if !c.Lazy {
		for i := 0; i < len(c.expressions); i++ {
			c.compile(c.expressions[i])
		}
		c.checkNames()
	}
}

func (c *compiler) events(n *yaml.Node) {
	known := []string{"Stop", "SubagentStop"}
	events := c.list(n, "events")
	if n != nil {
		c.p.Events = nil
	}
	for _, x := range events {
		if !slices.Contains(known, x.Value) {
			c.report(at(x), 0, "event", "there is no event "+x.Value+" to stop at", text.Nearest(x.Value, known))
		}
		c.p.Events = append(c.p.Events, x.Value)
	}
}

const maxTotal = 10_000

// limits reads the limits and fills in their defaults.
func (c *compiler) limits(n *yaml.Node) {
	f := c.fields(n, "limits", []string{"continuations", "repeats", "elapsed", "total"})
	l := &c.p.Limits
	l.Continuations = amount[int](c, f.values["continuations"], "continuations")
	l.Repeats = amount[int](c, f.values["repeats"], "repeats")
	l.Total = amount[int](c, f.values["total"], "total")
	l.Elapsed = amount[time.Duration](c, f.values["elapsed"], "elapsed")
	if l.Total > maxTotal {
		c.report(at(f.values["total"]), 0, "limit", fmt.Sprintf("total is at most %d", maxTotal), "")
	}
	if l.Repeats == 0 && c.p.progress != nil { // where nothing is progress, repeats counts every continuation
		l.Repeats = 10
	}
	l.Continuations, l.Total, l.Elapsed = cmp.Or(l.Continuations, 100), cmp.Or(l.Total, 1000), cmp.Or(l.Elapsed, 24*time.Hour)
}

// progress reads an expression, or {done, total}.
func (c *compiler) progress(n *yaml.Node) {
	values := []*yaml.Node{n}
	if n != nil && n.Kind == yaml.MappingNode {
		f := c.fields(n, "progress", []string{"done", "total"})
		values = []*yaml.Node{f.values["done"], f.values["total"]}
		if slices.Contains(values, nil) {
			c.report(at(n), 0, "missing-key", "progress has done and total", "write progress: {done: EXPRESSION, total: EXPRESSION}")
		}
	}
	for _, v := range values {
		if c.scalar(v, "progress") {
			c.p.progress = append(c.p.progress, c.newExpression(at(v), v.Value))
		}
	}
}

// Options say how a policy is read, and what the embedding program adds to its language. The zero value is that of the function Parse.
type Options struct {
	// Files is where schemas are that a policy names by their paths. Without it, such a schema is an error.
	Files fs.FS
	// Params are set by text, as --set does. An unknown name or a value that breaks the param's schema is a finding.
	Params map[string]string
	// MoreParams allows names in Params that the policy does not have, since they are for several policies: see Policy.Params.
	MoreParams bool
	// Values declares names with the Go types of the values, besides those of the policy. For a fact of source value with that name, and
	// without schema, it sets the type. A value nil declares a name of any type.
	Values map[string]any
	// Functions are called by expressions. Each is a Go function, whose last result may be an error. It must be safe for concurrent use if
	// the policy is used concurrently.
	Functions map[string]any
	// Sources are names of sources of the program: facts may be written {name: argument}. World.Fact gathers them.
	Sources []string
	// Effects are names of effects of the program: rules may write then: [{name: text}].
	Effects []string
	// Lazy makes Parse compile an expression when a decision first reaches it, for a process that makes one decision. What is wrong with it
	// is then a problem of the verdict.
	Lazy bool
}

func merged[V any](old, more map[string]V) map[string]V {
	out := make(map[string]V, len(old)+len(more))
	maps.Copy(out, old)
	maps.Copy(out, more)
	return out
}

// ValueError is the error of Eval for a value that the program must give and did not, or whose type is wrong. Another try with the same
// Input fails again.
type ValueError struct {
	Name    string // of the fact or value, with the path of the field that was read
	Message string // what was expected
}

func (e *ValueError) Error() string { return fmt.Sprintf("rules: value %s %s", e.Name, e.Message) }
