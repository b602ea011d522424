package rules

import (
	"context"
	"io/fs"
	"slices"
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
	return Diagnostics{{Pos: Pos{File: name}, Check: "read", Message: err.Error(), cause: err}}
}

// program loads a policy, or its head alone where the rest can wait.
func (l *loading) program(f *file) (*Program, Diagnostics) {
	if l.cfg.Lazy {
		if head := l.head(f); head != nil {
			return head, nil
		}
	}
	return l.whole(f)
}

func (l *loading) whole(f *file) (p *Program, diags Diagnostics) {
	defer func() { // nothing that a policy holds may end the process
		if r := recover(); r != nil {
			p, diags = nil, Diagnostics{bug(f.name, r)}
		}
	}()
	doc := parseFile(f, false, l, &diags)
	if doc == nil {
		return nil, diags.sorted()
	}
	p = compilePolicy(doc, l, &diags)
	if err := context.Cause(l.ctx); err != nil {
		return nil, unreadable(f.name, &fileError{"loading was interrupted: " + err.Error(), err})
	}
	if p != nil && !l.cfg.Lazy { // a hook has no use for what is only doubtful
		diags = append(diags, checkDeclarations(p)...)
	}
	return p, diags.sorted()
}

// head loads a policy as far as its own when. It is nil if there is none, or if
// anything about these lines is unusual: then the whole is loaded at once.
func (l *loading) head(f *file) (p *Program) {
	defer func() {
		if recover() != nil {
			p = nil
		}
	}()
	lines, ok := headOf(f.src)
	if !ok {
		return nil
	}
	var diags Diagnostics // the rest finds them again
	above := *f
	above.src = lines
	doc := parseFile(&above, false, l.again(l.ctx), &diags)
	if doc == nil || len(doc.when) == 0 {
		return nil
	}
	if p = compileHead(doc, l, &diags); p != nil {
		p.rest = &rest{load: func(ctx context.Context) (*Program, Diagnostics) { return l.again(ctx).whole(f) }}
	}
	return p
}
