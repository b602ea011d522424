package rules

import (
	"io/fs"
	"slices"
)

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
	p := compilePolicy(doc, kinds, cfg, &diags)
	if p != nil && !cfg.LazyTexts { // a hook has no use for what is only doubtful
		diags = append(diags, checkDeclarations(p)...)
	}
	return p, diags.sorted()
}

// LoadHead reads a policy in two steps, for a process that decides one event and
// ends: most events are none of the policy's business, and a policy that has a when
// of its own says so in its first lines.
//
// head is the policy as far as these lines: what it says of itself, its params and
// its when. It has no facts and no rules, so that its verdict is worth something
// only where it is [Verdict.Idle]. It is nil if the policy has no when, or if
// anything about these lines is unusual. rest gives what [Load] would have given;
// it can be called once head is not idle, and always where head is nil.
//
// What is wrong behind the head is found by rest, so nobody is told of it while the
// policy is idle. LoadHead, and each rest, may be called by many goroutines at once;
// a rest reads the policy's own file no second time.
func LoadHead(fsys fs.FS, name string, cfg Config) (head *Program, rest func() (*Program, Diagnostics)) {
	f, err := readFile(includeFS{fsys: fsys}, name)
	if err != nil {
		return nil, func() (*Program, Diagnostics) { return nil, unreadable(name, err) }
	}
	return loadHead(f, cfg), func() (*Program, Diagnostics) { return loadFile(f, cfg) }
}

func loadHead(f *file, cfg Config) *Program {
	lines, ok := headOf(f.src)
	if !ok {
		return nil
	}
	var diags Diagnostics // rest finds them again
	above := *f
	above.src = lines
	doc := parseFile(&above, false, nil, &diags)
	if doc == nil || len(doc.when) == 0 {
		return nil
	}
	return compileHead(doc, cfg, &diags)
}
