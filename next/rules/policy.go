package rules

import (
	"path"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/ralph-sdk/ralph/next/internal/text"
	"github.com/ralph-sdk/ralph/next/schema"
)

// Policy is a policy file that can be evaluated. Its fields are to be read only. It does not change and is safe for concurrent use.
// There is no zero value: Parse makes one.
type Policy struct {
	Name        string // of the file, without directory and ending
	Description string
	Events      []string // "Stop", "SubagentStop"; notes are for UserPromptSubmit besides
	Limits      Limits
	Facts       []*Fact // in the order of the file
	Params      []Param
	Rules       []RuleInfo

	compiler *compiler
	rules    []*rule
	progress []*expression // the value, or done and total
	counted  bool          // progress has done and total
	start    []*effect
	clock    *symbol // loop
}

// Param is a param of a policy, with the value that it has.
type Param struct {
	Name, Description string
	Schema            *schema.Schema
	Value             any
}

// RuleInfo is what others show of a rule.
type RuleInfo struct {
	Name, Verb, When string // Verb: "continue", "stop", "done", "note" or ""
	Line             int
}

// Limits end every loop. A zero value means the default: 100, 10 where there is progress, 1000, 24h.
type Limits struct {
	Continuations, Repeats, Total int
	Elapsed                       time.Duration
}

// Fact is one declared fact. Its fields are to be read only.
type Fact struct {
	Name    string
	Source  string         // "text", "json", … or one of WithSource
	Parse   string         // of a glob: "", "json", "frontmatter", "checklist"
	Schema  *schema.Schema // nil: none is declared
	Inline  bool
	Timeout time.Duration // 0: the default of the source
	Line    int
	OnePath bool // it is read from one file of the project

	source   *source
	args     []*template
	options  map[string]*template
	command  []*template // of judge
	fallback any         // the option default
	defaults bool        // there is one
	typ      *schema.Type
	symbol   *symbol
}

// Parse reads a policy file. name is the file's name for messages, and without its ending the policy's name. The error is of type
// Findings, and holds errors only; Check finds what is dubious. Without Lazy, every expression is compiled. src has at most 1 MiB.
func Parse(name string, src []byte, opts ...Option) (*Policy, error) {
	c := newCompiler(name)
	for _, o := range opts {
		o(&c.config)
	}
	if root := c.document(src); root != nil {
		c.policy(root)
	}
	if len(c.findings) > 0 {
		return nil, c.findings.sorted()
	}
	return c.p, nil
}

func newCompiler(name string) *compiler {
	p := &Policy{Name: strings.TrimSuffix(path.Base(strings.ReplaceAll(name, `\`, "/")), path.Ext(name)), Events: []string{"Stop"}}
	p.compiler = &compiler{p: p, file: name, symbols: map[string]*symbol{}, paths: map[string]*valuePath{}}
	return p.compiler
}

// compiler turns a file into a policy, and the expressions of a lazy policy into programs while it is evaluated.
type compiler struct {
	config
	p        *Policy
	file     string
	lines    []string
	findings Findings
	engine   *engine

	symbols     map[string]*symbol
	order       []*symbol // of symbols, by their IDs
	paths       map[string]*valuePath
	expressions []*expression
	inStart     bool          // what is read now is in start
	startText   *symbol       // text, there
	lock        chan struct{} // of capacity 1: compiles of a lazy policy, one at a time
	envSize     int           // names that an evaluation may read
	pathCount   int           // of paths, when Parse is done
}

var policyKeys = []string{"ralph", "description", "params", "facts", "let", "progress", "limits", "rules", "start", "events"}

// startTextName is the name of the text that start gets, in the environment. In start it is written text.
const startTextName = " text"

func (c *compiler) policy(root *yaml.Node) {
	p := c.p
	f := c.fields(root, "a policy", policyKeys...)
	if v := f.values["ralph"]; v == nil {
		c.reportNode(root, "version", "a policy begins with its version", "write ralph: 1 in the first line")
	} else if v.Value != "1" {
		c.reportNode(v, "version", "the version of the language is 1, and this is "+v.Value, "write ralph: 1")
	}
	if v := f.values["description"]; v != nil && c.scalar(v, "description") {
		p.Description = strings.TrimSpace(v.Value)
	}
	c.lock = make(chan struct{}, 1)
	c.engine = newEngine()
	c.declareNames()
	c.declareFunctions()
	c.params(f.values["params"])
	c.facts(f.values["facts"])
	c.lets(f.values["let"])
	c.inlineFields()
	c.readProgress(f.values["progress"])
	c.limits(f.values["limits"])
	c.events(f.values["events"])
	c.rules(f)
	if v := f.values["start"]; v != nil {
		c.startText = c.symbol(startTextName, textName, kind("string"))
		c.inStart = true
		p.start = c.effects(v, "start")
		c.inStart = false
	}
	if !c.lazy {
		for i := 0; i < len(c.expressions); i++ {
			c.compile(c.expressions[i])
		}
		c.cycles()
		c.hiddenFields()
	}
	for _, s := range c.symbols {
		if s.used {
			c.envSize++
		}
	}
	c.envSize, c.pathCount = c.envSize+1, len(c.paths)
}

func (c *compiler) events(n *yaml.Node) {
	if n == nil {
		return
	}
	known := []string{"Stop", "SubagentStop"}
	c.p.Events = nil
	for _, x := range c.list(n, "events") {
		switch {
		case !c.scalar(x, "an event"):
		case x.Value == "UserPromptSubmit":
			c.reportNode(x, "event", "events are Stop and SubagentStop", "leave UserPromptSubmit out: rules with note are tried there without it")
		case x.Value != known[0] && x.Value != known[1]:
			c.reportNode(x, "event", "there is no event "+x.Value, text.Nearest(x.Value, known))
		default:
			c.p.Events = append(c.p.Events, x.Value)
		}
	}
	if len(c.p.Events) == 0 {
		c.reportNode(n, "event", "events names no event", "write events: [Stop]")
	}
}

const maxTotal = 10_000

// limits reads the limits and fills in their defaults.
func (c *compiler) limits(n *yaml.Node) {
	l := &c.p.Limits
	if n != nil {
		f := c.fields(n, "limits", "continuations", "repeats", "elapsed", "total")
		for key, to := range map[string]*int{"continuations": &l.Continuations, "repeats": &l.Repeats, "total": &l.Total} {
			if v := f.values[key]; v != nil {
				*to = c.number(v, key)
			}
		}
		if v := f.values["elapsed"]; v != nil {
			l.Elapsed = c.duration(v, "elapsed")
		}
		if l.Total > maxTotal {
			c.reportNode(f.values["total"], "limit", "total is at most 10000", "")
		}
		if l.Repeats > 0 && c.p.progress == nil {
			c.reportNode(f.keys["repeats"], "limit", "repeats counts continuations without progress, and the policy does not say what progress is", "write progress: EXPRESSION, or remove repeats")
		}
	}
	if l.Continuations == 0 {
		l.Continuations = 100
	}
	if l.Repeats == 0 && c.p.progress != nil {
		l.Repeats = 10
	}
	if l.Total == 0 {
		l.Total = 1000
	}
	if l.Elapsed == 0 {
		l.Elapsed = 24 * time.Hour
	}
}

func (c *compiler) readProgress(n *yaml.Node) {
	if n == nil {
		return
	}
	if n.Kind != yaml.MappingNode {
		if c.scalar(n, "progress") {
			c.p.progress = []*expression{c.newExpression(spot{n, 0}, n.Value, anyValue)}
		}
		return
	}
	f := c.fields(n, "progress", "done", "total")
	for _, key := range []string{"done", "total"} {
		v := f.values[key]
		if v == nil {
			c.reportNode(n, "missing-key", "progress has no "+key, "write progress: {done: EXPRESSION, total: EXPRESSION}")
		} else if c.scalar(v, key) {
			c.p.progress = append(c.p.progress, c.newExpression(spot{v, 0}, v.Value, aNumber))
		}
	}
	c.p.counted = len(c.p.progress) == 2
}
