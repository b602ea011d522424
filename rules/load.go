package rules

import (
	"context"
	"io/fs"
	"slices"
	"strings"
)

// Load reads the policy called name in fsys with everything that it includes, checks it and compiles it. The program is
// nil if and only if [Diagnostics.Err] is not. Load reports each problem once, at its position, and continues after it.
//
// Load looks up includes and schemas in fsys, relative to the file that names them; ralph:NAME comes from
// [Config.Shipped] and [schema.Shipped]. Load keeps nothing of fsys open, unless [Config.Lazy] defers reading. Once ctx
// is done it returns no program, and Err unwraps to the cause. It is safe for concurrent use.
func Load(ctx context.Context, fsys fs.FS, name string, cfg Config) (*Program, Diagnostics) {
	l := newLoading(ctx, cfg)
	f, err := l.read(includeFS{fsys: fsys}, name)
	if err != nil {
		return nil, unreadable(name, err)
	}
	return l.program(f)
}

// LoadBytes is like [Load] for a policy that is not in a file. src is its content, and findings call it name. It can
// include only shipped files.
func LoadBytes(ctx context.Context, name string, src []byte, cfg Config) (*Program, Diagnostics) {
	l := newLoading(ctx, cfg)
	f, err := l.file(&file{name: name, path: name, src: slices.Clone(src)})
	if err != nil {
		return nil, unreadable(name, err)
	}
	return l.program(f)
}

func unreadable(name string, err error) Diagnostics {
	message := strings.TrimPrefix(err.Error(), name+" ")
	return Diagnostics{{Pos: Pos{File: name}, Check: foundBy(err, "read"), Message: message, cause: err}}
}

// program loads a policy, or only its head if the rest can wait.
func (l *loading) program(f *file) (*Program, Diagnostics) {
	if l.cfg.Lazy {
		if head := l.head(f); head != nil {
			return head, nil
		}
		l = l.again(l.ctx)
	}
	return l.loadAll(f)
}

func (l *loading) loadAll(f *file) (p *Program, diags Diagnostics) {
	defer rescue(f, &p, &diags)
	doc := parseFile(f, false, l, &diags)
	if doc == nil {
		return nil, diags.sorted()
	}
	c := newCompiler(doc, l, &diags)
	return c.finished(c.body(doc, c.head(doc)))
}

// rescue turns a bug into a finding: no policy may crash the process.
func rescue(f *file, p **Program, diags *Diagnostics) {
	if r := recover(); r != nil {
		*p, *diags = nil, Diagnostics{bug(f.name, r)}
	}
}

// finished returns the program, or the findings that prevent it.
func (c *compiler) finished(p *Program) (*Program, Diagnostics) {
	diags := c.diags
	c.diags = nil
	if err := context.Cause(c.load.ctx); err != nil {
		return nil, unreadable(c.program.Name, &fileError{message: "loading was interrupted: " + err.Error(), cause: err})
	}
	if p != nil && !c.lazy { // hooks ignore warnings
		*diags = append(*diags, checkDeclarations(p)...)
	}
	return p, diags.sorted()
}

// head loads the part of a policy that an idle event needs. It returns nil if the policy has no head of its own, or if
// its lines are unusual in any way: then everything is loaded immediately.
func (l *loading) head(f *file) (p *Program) {
	defer func() {
		if recover() != nil {
			p = nil
		}
	}()
	lines, below, ok := splitHead(f.src)
	if !ok {
		return nil
	}
	var diags Diagnostics // loading everything finds them again
	parser := &parser{file: f, load: l, diags: &diags}
	root := parser.root(lines)
	if root == nil {
		return nil
	}
	doc := parser.document(root, false)
	if doc == nil || diags.hasErrors() {
		return nil
	}
	c := newCompiler(doc, l, &diags)
	sc := c.head(doc)
	c.checkAllowed()
	if diags.hasErrors() {
		return nil
	}
	c.diags = nil
	c.program.rest = &rest{load: func(ctx context.Context) (p *Program, diags Diagnostics) {
		defer rescue(f, &p, &diags)
		l.ctx = ctx
		c.program, c.diags = c.program.extended(), &diags
		parseMore(doc, below, l, &diags)
		return c.finished(c.body(doc, sc))
	}}
	return c.program
}
