package rules

import (
	"context"
	"io/fs"
	"slices"
	"strings"
)

// Load reads the policy name of fsys with everything it includes, checks and
// compiles it. The program is nil if and only if [Diagnostics.Err] is not. Each
// problem is reported once, at its place, and reading goes on behind it.
//
// Includes and schemas are looked up in fsys, relative to the file that names
// them; what is written ralph:NAME comes from [Config.Shipped] and
// [schema.Shipped]. Load keeps nothing of fsys open, unless [Config.Lazy] leaves
// something to be read. Once ctx is done it gives no program, and Err unwraps to the
// cause. It may be called by many goroutines at once.
func Load(ctx context.Context, fsys fs.FS, name string, cfg Config) (*Program, Diagnostics) {
	l := newLoading(ctx, cfg)
	f, err := l.read(includeFS{fsys: fsys}, name)
	if err != nil {
		return nil, unreadable(name, err)
	}
	return l.program(f)
}

// LoadBytes is [Load] for a policy that is not in a file: src, which errors call
// name. It can include shipped files only.
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

// program loads a policy, or its head alone where the rest can wait.
func (l *loading) program(f *file) (*Program, Diagnostics) {
	if l.cfg.Lazy {
		if head := l.head(f); head != nil {
			return head, nil
		}
		l = l.again(l.ctx)
	}
	return l.whole(f)
}

func (l *loading) whole(f *file) (p *Program, diags Diagnostics) {
	defer rescue(f, &p, &diags)
	doc := parseFile(f, false, l, &diags)
	if doc == nil {
		return nil, diags.sorted()
	}
	c := newCompiler(doc, l, &diags)
	return c.finished(c.body(doc, c.head(doc)))
}

// rescue turns a bug into a finding: nothing that a policy holds may end the process.
func rescue(f *file, p **Program, diags *Diagnostics) {
	if r := recover(); r != nil {
		*p, *diags = nil, Diagnostics{bug(f.name, r)}
	}
}

// finished returns the program, or the findings that are why there is none.
func (c *compiler) finished(p *Program) (*Program, Diagnostics) {
	diags := c.diags
	c.diags = nil
	if err := context.Cause(c.load.ctx); err != nil {
		return nil, unreadable(c.program.Name, &fileError{message: "loading was interrupted: " + err.Error(), cause: err})
	}
	if p != nil && !c.lazy { // a hook has no use for what is only doubtful
		*diags = append(*diags, checkDeclarations(p)...)
	}
	return p, diags.sorted()
}

// head loads a policy as far as an idle event needs it. It is nil if it has no head of
// its own, or if anything about these lines is unusual: then the whole is loaded at once.
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
	var diags Diagnostics // the whole finds them again
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
