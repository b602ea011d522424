package loop

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/ralph-sdk/ralph/examples"
	"github.com/ralph-sdk/ralph/internal/approval"
	"github.com/ralph-sdk/ralph/internal/option"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/state"
)

// WithTrust sets a function that decides whether a policy may gather a fact that needs approval, see
// [rules.SourceKind.Trust], or run a program. It receives the fact, whose Args are those of this start, and the files
// of the policy, and is called right before each start. It must return nil to allow it, or an error that completes the
// sentence "it runs a program, …". By default policies that ship with ralph are trusted, and those that a user approved in
// the project: with [Local], [WithState], or a store that has [Documents]. Use WithTrust in a program that brings its own
// policy. Of several functions each must return nil.
func WithTrust(trusted func(f *rules.Fact, files []rules.File) error) Option {
	return func(l *Loop) error {
		l.trust.facts = append(l.trust.facts, trusted)
		return option.Given("loop.WithTrust", trusted, "leave it out to trust what ships with ralph or is approved")
	}
}

// project returns why a project is not trusted, or nil.
func (t *trust) project(root string) error {
	for _, trusted := range t.projects {
		if err := trusted(root); err != nil {
			return err
		}
	}
	return nil
}

// fact returns why one of the given functions does not trust a fact, or nil.
func (t *trust) fact(f *rules.Fact, files []rules.File) error {
	for _, trusted := range t.facts {
		if err := trusted(f, files); err != nil {
			return err
		}
	}
	return nil
}

// trusts returns why the user does not trust a project, or nil.
func (l *Loop) trusts(root string) error {
	ctx, cancel := l.within(context.Background())
	defer cancel()
	orders, err := l.orders(ctx)
	if err != nil {
		return err
	}
	return approval.Project(orders, root)
}

// untrusted returns why a fact may not be gathered with these arguments, or nil.
func (g *gatherer) untrusted(ctx context.Context, f *rules.Fact, args []string) error {
	own := *f
	own.Args, f = args, &own
	l, files := g.loop, g.program.Files()
	err := l.trust.project(g.Root) // also for a loop that ralph start wrote
	switch {
	case err != nil:
	case len(l.trust.facts) > 0:
		err = l.trust.fact(f, files)
	case !shipped(files):
		orders, missing := l.orders(ctx)
		if err = missing; err == nil {
			err = approval.Policy{Root: g.Root, Name: l.name, Files: files}.Check(orders, f)
		}
	}
	if err != nil {
		return fmt.Errorf("it %s, %w", f.Source.Trust, err)
	}
	return nil
}

// started reports whether ralph start wrote the loop of a verdict.
func (g *gatherer) started(ctx context.Context, v *rules.Verdict) bool {
	p := g.program.Loop()
	if v.Cause != rules.Distrusted || v.Loop == nil || p == nil || g.root == nil {
		return false
	}
	orders, err := g.loop.orders(ctx)
	doc := g.root.Read(ctx, state.File{Path: v.Loop.State, Format: formatOf(p.State)})
	return err == nil && orders.StartedLoop(g.Root, g.loop.name, approval.Loop(v.Loop.State, doc.Body))
}

// shipped reports whether files are byte for byte those that ship with ralph.
func shipped(files []rules.File) bool {
	for _, f := range files {
		src, err := examples.FS.ReadFile(strings.TrimPrefix(f.Name, "ralph:"))
		if err != nil || string(src) != string(f.Src) {
			return false
		}
	}
	return len(files) > 0
}

// shadowed returns the name of the shipped policy that a policy of the project replaces, judged by its file name, or
// "".
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
