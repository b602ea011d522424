package loop

import (
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/ralph-sdk/ralph/examples"
	"github.com/ralph-sdk/ralph/internal/approval"
	"github.com/ralph-sdk/ralph/rules"
)

// WithTrust sets who says whether a policy may gather a fact that needs a user's
// approval, see [rules.SourceKind.Trust]: by the fact, whose Args are then those of this
// start, and by the files that the policy is made of. It is asked right before the fact is
// gathered. An error says why not, as
// the rest of "it runs a program, …"; nil means yes. Without it policies may that ship
// with ralph, and with [Local] or [WithState] those that a user approved in the project.
// A program that brings its own policy says yes to it here.
func WithTrust(trusted func(f *rules.Fact, files []rules.File) error) Option {
	return set(func(l *Loop) { l.trusts = trusted })
}

// untrusted says why a fact may not be gathered with these arguments, nil if it may.
func (g *gatherer) untrusted(f *rules.Fact, args []string) error {
	own := *f
	own.Args, f = args, &own
	l, files := g.loop, g.program.Files()
	var err error
	switch {
	case l.trusts != nil:
		err = l.trusts(f, files)
	case !shipped(files):
		err = approval.Policy{Root: g.Root, Name: l.name, Files: files}.Check(l.disk, f)
	}
	if err != nil {
		return fmt.Errorf("it %s, %w", f.Source.Trust, err)
	}
	return nil
}

// shipped reports whether files are those that ship with ralph, to the byte.
func shipped(files []rules.File) bool {
	for _, f := range files {
		src, err := examples.FS.ReadFile(strings.TrimPrefix(f.Name, "ralph:"))
		if err != nil || string(src) != string(f.Src) {
			return false
		}
	}
	return len(files) > 0
}

// shadowed is the name of the shipped policy in whose place a policy of the project
// stands, going by the name of its file, "" if there is none.
func shadowed(name string) string {
	ext := path.Ext(name)
	if dir := path.Dir(name); dir != "." && dir != ".ralph" || ext != ".yaml" && ext != ".yml" {
		return ""
	}
	short := strings.TrimSuffix(path.Base(name), ext)
	if _, err := fs.Stat(examples.FS, short+"/"+short+".yaml"); err != nil {
		return ""
	}
	return short
}
