package rules

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"runtime"
	"slices"
	"sync"

	"github.com/ralph-sdk/ralph/rules/internal/source"
)

// Config tells Load about the world that the policy will run in. The zero Config
// loads a policy that includes nothing shipped, with the values of its defaults.
type Config struct {
	// Shipped holds the files that policies name with ralph:, such as
	// guards/limit.yaml; nil means that there are none.
	Shipped fs.FS
	// Sources are further fact sources, beside those of [Sources]. Whoever
	// gathers the facts must know them.
	Sources []SourceKind
	// Set gives values of params, as text: what --set and the configuration say.
	// An unknown name is an error.
	Set map[string]string
	// LazyTexts leaves continue, stop, note, notice and log texts uncompiled
	// until their rule holds, and leaves out the checks that only look for
	// doubtful things. A hook wants it for its speed; problems of such a text
	// then show as (?) in it and in the trace, not as diagnostics.
	LazyTexts bool
}

// Load reads the policy name of fsys with everything it includes, checks and
// compiles it. The program is nil if and only if a diagnostic is an error. Each
// problem is reported once, at its place, and reading goes on behind it.
//
// Includes and schemas are looked up in fsys, relative to the file that names
// them; what is written ralph:NAME comes from [Config.Shipped] and
// [schema.Shipped]. Load keeps nothing of fsys open, and may be called by many
// goroutines at once.
func Load(fsys fs.FS, name string, cfg Config) (*Program, Diagnostics) {
	f, err := readFile(includeFS{fsys: fsys}, name)
	if err != nil {
		return nil, unreadable(name, err)
	}
	return loadFile(f, cfg)
}

func unreadable(name string, err error) Diagnostics {
	return Diagnostics{{Pos: Pos{File: name}, Check: "read", Message: err.Error()}}
}

func loadFile(f *file, cfg Config) (*Program, Diagnostics) {
	var diags Diagnostics
	kinds := slices.Concat(Sources(), cfg.Sources)
	doc := parseFile(f, false, kinds, &diags)
	if doc == nil {
		return nil, diags.sorted()
	}
	c := newCompiler(doc, cfg, &diags)
	p := c.program
	sc := c.declare(doc, "", c.given(doc))
	p.when = c.ownWhen(doc, sc)
	in := &includer{c: c, kinds: kinds, prefixes: map[string]bool{}}
	in.rules(doc, sc)
	c.checkRuleNames(in.rulesInOrder)
	for _, s := range c.table.all() {
		if s.kind == letSymbol {
			c.letType(s)
		}
	}
	c.compileRules(in.rulesInOrder)
	for _, n := range doc.progress {
		if root, _ := c.expression(whole(sc, n), false); root != nil {
			p.progress = append(p.progress, root)
		}
	}
	for _, fd := range doc.finally {
		p.finally = append(p.finally, c.finallyEntry(sc, fd))
	}
	c.checkCycles(sc, doc)
	if !diags.HasErrors() {
		c.finish()
		c.checkProgram(doc, sc)
	}
	diags = diags.sorted()
	if diags.HasErrors() {
		return nil, diags
	}
	c.diags = nil
	return p, diags
}

// includeFS is where the includes and schemas of a file are looked up.
type includeFS struct {
	fsys   fs.FS
	prefix string // "ralph:" for shipped files
}

// readFile reads a file of at most the size that a policy may have.
func readFile(at includeFS, name string) (*file, error) {
	shown := at.prefix + name
	src, err := readCapped(at.fsys, name)
	switch {
	case err == nil:
		return &file{name: shown, path: name, src: src, fs: at}, nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("there is no file %s", shown)
	}
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return nil, fmt.Errorf("%s cannot be read: %w", shown, err)
}

// readCapped reads a regular file of bearable size. One that grows meanwhile is read
// so far that its parser says so.
func readCapped(fsys fs.FS, name string) ([]byte, error) {
	info, err := fs.Stat(fsys, name) // before it is opened: a pipe would block
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	if info.Size() > source.MaxSize {
		return nil, fmt.Errorf("it has %d bytes, more than the %d that are read", info.Size(), source.MaxSize)
	}
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	src := make([]byte, 0, info.Size()+bytesBehind)
	for len(src) <= source.MaxSize {
		if len(src) == cap(src) {
			src = slices.Grow(src, 4096)
		}
		n, err := f.Read(src[len(src):cap(src)])
		src = src[:len(src)+n]
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	return src, nil
}

// bytesBehind leaves room to see the end of a file without growing the buffer.
const bytesBehind = 16

// parallelRules is how many rules are worth a goroutine of their own.
const parallelRules = 64

// compileRules compiles the rules in order. Large policies are shared between
// processors: compiling is most of what they cost.
func (c *compiler) compileRules(pending []pendingRule) {
	rules := make([]*Rule, len(pending))
	c.program.Rules = rules
	workers := min(runtime.GOMAXPROCS(0), len(pending)/parallelRules)
	if workers < 2 {
		for i, r := range pending {
			rules[i] = c.rule(r)
		}
		return
	}
	var wg sync.WaitGroup
	parts := make([]Diagnostics, workers)
	for w := range workers {
		own := c.fork(&parts[w])
		wg.Go(func() {
			for i := w; i < len(pending); i += workers {
				rules[i] = own.rule(pending[i])
			}
		})
	}
	wg.Wait()
	for _, d := range parts {
		*c.diags = append(*c.diags, d...)
	}
}

func (c *compiler) rule(r pendingRule) *Rule {
	d := r.decl
	rule := &Rule{Name: r.name, Pos: c.place(r.scope.file, d.node.Start), Verb: d.verb, Unless: d.unless}
	rule.when = c.conditions(r.scope, d.when)
	rule.text = c.newText(r.scope, d.text)
	rule.notice = c.newText(r.scope, d.notice)
	rule.log = c.newText(r.scope, d.log)
	for _, e := range d.then {
		if eff := c.effect(r.scope, e); eff != nil {
			rule.then = append(rule.then, eff)
		}
	}
	return rule
}

func (c *compiler) finallyEntry(sc *scope, d finallyDecl) *finally {
	f := &finally{when: c.conditions(sc, d.when), log: c.newText(sc, d.log)}
	if d.effect.kind == PruneEffect {
		f.effect = c.effect(sc, d.effect)
	}
	return f
}

// finish works out what is known only when all rules are compiled.
func (c *compiler) finish() {
	for _, f := range c.program.facts {
		f.fix()
	}
	for _, r := range c.program.Rules {
		readBy(r.when, map[*symbol]bool{}, func(s *symbol) {
			switch {
			case s.kind == factSymbol && s.fact.Source.Name == "judge":
				r.judged = true
			case s.kind == askSymbol:
				r.judged = r.judged || s.fact.Source.Name == "judge"
				s.fact.asked = s.fact.asked || s.ask == "invalid" || s.ask == "ok" || s.ask == "problem"
			}
		})
	}
}

// readBy calls f for every symbol that a condition reads, itself or through lets.
func readBy(root *cond, seen map[*symbol]bool, f func(*symbol)) {
	root.walk(func(o *operand) {
		for _, s := range o.syms {
			if seen[s] {
				continue
			}
			seen[s] = true
			f(s)
			if s.kind == letSymbol {
				readBy(s.let.root, seen, f)
			}
		}
	})
}

// fix prepares the arguments of a fact that are the same every time.
func (f *Fact) fix() {
	if f.question != nil || len(f.texts) > 0 {
		return
	}
	fixed := make([]string, len(f.args))
	for i, a := range f.args {
		text, ok := a.fixed()
		if !ok {
			return
		}
		fixed[i] = text
	}
	f.fixed = fixed
}
