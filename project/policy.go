package project

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/examples"
	"github.com/ralph-sdk/ralph/internal/approval"
	"github.com/ralph-sdk/ralph/internal/nearest"
	"github.com/ralph-sdk/ralph/internal/workspace"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/state"
)

// Policy is a policy of a project. A program makes one from a [rules.Program], [Project.Find] from a file.
type Policy struct {
	Name     string            // the key of its memory, log, pauses and approval
	Program  *rules.Program    // nil if it is unusable or not loaded
	Findings rules.Diagnostics // of loading it
	Problem  string            // why it is unusable; "" omits it silently
	Shadows  string            // the shipped policy that this file of the project replaces, or ""
	Shipped  bool              // it ships with ralph
	Options  []loop.Option     // of its loop besides those of [Config], such as [loop.WithTrust]

	named  string // as the user named it
	fsys   fs.FS
	file   string // in fsys
	here   bool   // it is a file of the project itself
	given  bool   // from bytes, not a file
	params params
}

// Short returns the policy's name for commands: speckit for .ralph/speckit.yaml.
func (p Policy) Short() string { return Short(p.Name) }

// Deadline returns when a hook of the policy gives up: after usual, or later if its facts together may take longer.
// Without a program it is usual.
func (p Policy) Deadline(usual time.Duration) time.Duration {
	if p.Program == nil {
		return usual
	}
	var total time.Duration
	for _, f := range p.Program.Facts() {
		total += cmp.Or(f.Timeout, f.Source.Timeout)
	}
	if total < usual {
		return usual
	}
	return total.Round(time.Second) + 10*time.Second
}

// Short returns the name of a policy for commands.
func Short(name string) string { return workspace.PolicyName(name) }

// Digest returns the digest that the policy's decisions have in the log: of it and its includes. It is "" without a
// program.
func (p Policy) Digest() string {
	if p.Program == nil {
		return ""
	}
	return approval.Key(p.Program.Files())
}

// Beneath reports whether the policy was found as a file of the project, which everyone with write access to the
// project can change. One found by an absolute path is the user's own choice.
func (p Policy) Beneath() bool {
	return !p.Shipped && filepath.IsLocal(filepath.FromSlash(p.Name)) && !filepath.IsAbs(filepath.FromSlash(p.named))
}

// Startable reports whether the policy declares how its loop starts.
func (p Policy) Startable() bool {
	return p.Program != nil && p.Program.Loop() != nil && len(p.Program.Loop().Start) > 0
}

// Load configures how to load a policy.
type Load struct {
	Set       []string      // values of params, as name=value
	Deadline  time.Duration // of the hook, for findings; 0 means none
	Lazy      bool          // load what follows the policy's own when only if that is true
	Untrusted bool          // ignore the project's settings
}

// UnusableError reports that a policy cannot be used.
type UnusableError struct {
	Policy   string
	Findings rules.Diagnostics
}

// Error returns the first error of the policy and, if there are more, how to see them.
func (e *UnusableError) Error() string {
	count, more := 0, ""
	for _, d := range e.Findings {
		if d.Severity == rules.Error {
			count++
		}
	}
	if count > 1 {
		more = fmt.Sprintf("; run `ralph check %s` for all errors", e.Policy)
	}
	return fmt.Sprintf("%s cannot be used%s\n%s", e.Policy, more, firstError(e.Findings))
}

// firstError returns the first error of a policy, as check shows it.
func firstError(diags rules.Diagnostics) string {
	for _, d := range diags {
		if d.Severity == rules.Error {
			return strings.TrimRight(rules.Diagnostics{d}.Format(), "\n")
		}
	}
	return ""
}

// Find returns the policy that a user names:
//
//	NAME .ralph/NAME.yaml of the project, else the shipped policy NAME
//	NAME.yaml that file of the project, else the shipped policy NAME
//	a path beneath the project, or absolute
//
// In a git worktree, .ralph/NAME.yaml of the main tree replaces one that is missing. Whatever is in the project is read
// beneath it: no link leads out. A policy that the user names elsewhere may be a link; what it includes is beneath the
// directory in which it really is.
func (p *Project) Find(name string) (found Policy, err error) {
	defer func() { found.named = name }()
	if made, ok := p.madeCalled(name); ok {
		return made, nil
	}
	file, abs := policyFile(p.dir, name)
	if isRegular(abs) {
		if rel, err := filepath.Rel(p.dir, abs); err == nil && filepath.IsLocal(rel) {
			return p.shadowing(Policy{here: true, Name: filepath.ToSlash(rel), fsys: state.Files(p.dir), file: filepath.ToSlash(rel)}), nil
		}
		target, err := filepath.EvalSymlinks(abs)
		if err != nil {
			return Policy{}, err
		}
		return Policy{Name: filepath.ToSlash(abs), fsys: state.Files(filepath.Dir(target)), file: filepath.Base(target)}, nil
	}
	if main := p.mainTree(p.dir); main != "" && strings.HasPrefix(file, ".ralph/") && filepath.IsLocal(filepath.FromSlash(file)) && isRegular(filepath.Join(main, filepath.FromSlash(file))) {
		return p.shadowing(Policy{Name: path.Clean(file), fsys: state.Files(main), file: path.Clean(file)}), nil
	}
	if found, ok := ShippedPolicy(name); ok {
		return found, nil
	}
	if name == workspace.DefaultPolicy {
		return Policy{}, errors.New("unknown policy: no file " + workspace.DefaultPolicy + "; run `ralph init` to write one")
	}
	err = fmt.Errorf("unknown policy: no file %s, and no shipped policy of that name (%s)",
		filepath.ToSlash(file), strings.Join(Shipped(), ", "))
	if meant := p.meant(file); meant != "" {
		err = fmt.Errorf("%w; %s", err, meant)
	}
	return Policy{}, err
}

// shadowing adds the shipped policy that a file of the project replaces.
func (p *Project) shadowing(found Policy) Policy {
	short := strings.TrimSuffix(path.Base(found.Name), path.Ext(found.Name))
	if dir := path.Dir(found.Name); (dir == "." || dir == ".ralph") && isShipped(short) {
		found.Shadows = short
	}
	return found
}

// meant returns a similarly named policy for a missing file, or "".
func (p *Project) meant(file string) string {
	word, names := strings.TrimSuffix(path.Base(file), path.Ext(file)), p.Names()
	if slices.Contains(names, word) {
		return fmt.Sprintf("did you mean %q?", word)
	}
	return nearest.DidYouMean(word, names)
}

// From returns the policy in src. Its includes are in the project.
func (p *Project) From(name string, src []byte) Policy {
	return Policy{Name: name, fsys: oneMore{state.Files(p.dir), name, src}, file: name, named: "-", given: true}
}

// Lacks reports whether a name is that of a missing file of the project: a hook for all projects uses it only where it
// exists.
func (p *Project) Lacks(name string) bool {
	_, file := policyFile(p.dir, name)
	_, err := os.Lstat(file)
	return strings.Contains(name, "/") && filepath.IsLocal(filepath.FromSlash(name)) && errors.Is(err, fs.ErrNotExist)
}

// mainTree returns the main tree of a git worktree, "" if dir is not one.
func (p *Project) mainTree(dir string) string { return workspace.MainTree(dir, p.env) }

// policyFile returns the path of a policy's file, which may not exist: as the name says it, and below the project if it
// is relative.
func policyFile(project, name string) (file, path string) {
	file = name
	if isPath := strings.ContainsAny(name, `/\`) || filepath.Ext(name) == ".yaml" || filepath.Ext(name) == ".yml"; !isPath {
		file = ".ralph/" + name + ".yaml"
	}
	path = filepath.FromSlash(file)
	if !filepath.IsAbs(path) {
		path = filepath.Join(project, path)
	}
	return file, path
}

// AtHand returns the name of a policy for a command: a file that is not in the project is relative to the working
// directory.
func (p *Project) AtHand(name string) string {
	file, abs := policyFile(p.dir, name)
	if file != name || filepath.IsAbs(filepath.FromSlash(name)) {
		return name
	}
	here, err := filepath.Abs(filepath.FromSlash(name))
	if _, missing := os.Stat(abs); missing == nil || err != nil || !isRegular(here) {
		return name
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(here)); err == nil { // with the project's name
		here = filepath.Join(dir, filepath.Base(here))
	}
	return here
}

// Expand replaces the name of a directory with the policies in its .ralph, otherwise with those in it.
func (p *Project) Expand(names []string) ([]string, error) {
	var out []string
	for _, name := range names {
		_, dir := policyFile(p.dir, filepath.FromSlash(name)+"/")
		if _, err := p.Find(name); err == nil || !isDir(dir) {
			out = append(out, name)
			continue
		}
		if inner := filepath.Join(dir, ".ralph"); isDir(inner) {
			dir = inner
		}
		files, err := fs.Glob(state.Files(dir), "*.yaml")
		if err != nil {
			return nil, err
		}
		n := len(out)
		for _, name := range files {
			src, err := fs.ReadFile(state.Files(dir), name)
			if err == nil && !strings.HasSuffix(name, "_test.yaml") && regexp.MustCompile(`(?m)^ralph:`).Match(src) {
				file := filepath.Join(dir, name)
				rel, err := filepath.Rel(p.dir, file)
				if err != nil || !filepath.IsLocal(rel) {
					rel = file
				}
				out = append(out, filepath.ToSlash(rel))
			}
		}
		if len(out) == n {
			return nil, fmt.Errorf("there are no policies in %s", filepath.ToSlash(name))
		}
	}
	return out, nil
}

func isRegular(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// Shipped returns the names of the policies that ship with ralph.
func Shipped() (names []string) {
	entries, _ := fs.ReadDir(examples.FS, ".")
	for _, e := range entries {
		if isShipped(e.Name()) {
			names = append(names, e.Name())
		}
	}
	return names
}

// isShipped reports whether a policy of this name ships with ralph.
func isShipped(name string) bool {
	_, err := fs.Stat(examples.FS, name+"/"+name+".yaml")
	return err == nil
}

// ShippedPolicy returns the shipped policy with a name, ignoring those of a project.
func ShippedPolicy(name string) (Policy, bool) {
	short := strings.TrimSuffix(strings.TrimSuffix(name, ".yaml"), ".yml")
	return Policy{Name: short, fsys: examples.FS, file: short + "/" + short + ".yaml", Shipped: true}, isShipped(short)
}

// Own returns the policies in the directory .ralph of the project and of its main tree.
func (p *Project) Own() []string {
	names := map[string]bool{}
	for _, dir := range []string{p.dir, p.mainTree(p.dir)} {
		files, _ := os.ReadDir(filepath.Join(dir, ".ralph"))
		for _, f := range files {
			name, ok := strings.CutSuffix(f.Name(), ".yaml")
			if ok && dir != "" && !f.IsDir() && f.Name() != path.Base(ConfigFile) && !strings.HasSuffix(name, "_test") {
				names[name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// Names returns the policies of the project: its own, and the shipped ones that none of them replaces.
func (p *Project) Names() []string {
	own := p.Own()
	return append(own, slices.DeleteFunc(Shipped(), func(name string) bool { return slices.Contains(own, name) })...)
}

// Language returns the configuration of policies: ralph's own, and the program's additions.
func (p *Project) Language() rules.Config { return loop.Config(p.options...) }

// Load loads a policy that [Project.Find] found, with the values of its params. It also returns the policy with an
// error, which is an [*UnusableError] if the policy itself is the cause.
func (p *Project) Load(ctx context.Context, found Policy, l Load) (Policy, error) {
	cfg, err := p.configure(&found, l)
	if err == nil {
		if found.Program, found.Findings = rules.Load(ctx, found.fsys, found.file, cfg); found.Program == nil {
			err = &UnusableError{found.named, found.Findings}
			found.Problem = firstError(found.Findings)
		}
	}
	if err != nil && found.Problem == "" {
		found.Problem = err.Error()
	}
	found.Options = []loop.Option{loop.WithTrust(func(fact *rules.Fact, files []rules.File) error {
		return p.unapproved(found, p.dir, files, fact)
	})}
	return found, err
}

// configure sets the params of a policy, and returns its configuration.
func (p *Project) configure(found *Policy, l Load) (cfg rules.Config, err error) {
	if found.params, err = p.paramsOf(*found, l); err != nil {
		return cfg, err
	}
	cfg = p.Language()
	cfg.Set, cfg.Lazy = found.params.all(), l.Lazy
	cfg.SetAt = found.params.at
	cfg.Deadline = l.Deadline
	return cfg, nil
}

// Open finds a policy and loads it. It returns an error if the policy cannot be used.
func (p *Project) Open(ctx context.Context, name string, l Load) (Policy, error) {
	found, err := p.Find(name)
	if err != nil {
		return found, err
	}
	return p.Load(ctx, found, l)
}

// Check returns all findings of a policy.
func (p *Project) Check(ctx context.Context, found Policy, l Load) (rules.Diagnostics, error) {
	cfg, err := p.configure(&found, l)
	if err != nil {
		return nil, err
	}
	if loaded, err := p.Load(ctx, found, l); err == nil && !found.given && len(InSession(p.env)) == 0 { // an agent approves nothing
		if why := p.Untrusted(loaded); why != nil {
			cfg.Unapproved = "the policy " + strings.TrimPrefix(WhyNot(why), "which ")
		}
	}
	_, diags := rules.Check(ctx, found.fsys, found.file, cfg)
	return diags, nil
}

// Policies returns the project's policies, loaded: those of [Config], otherwise those of [Project.Names]. A file that
// can only be included is not a policy.
func (p *Project) Policies(ctx context.Context) (known []Policy) {
	if p.made != nil {
		return slices.Clone(p.made)
	}
	included := map[string]bool{}
	for _, name := range p.Names() {
		found, err := p.Find(name)
		if err != nil {
			continue // it no longer exists
		}
		if found, err = p.Load(ctx, found, Load{}); err == nil {
			for _, f := range found.Program.Files()[1:] {
				included[f.Name] = true
			}
		}
		known = append(known, found)
	}
	return slices.DeleteFunc(known, func(o Policy) bool { return o.Program == nil && included[o.Name] })
}

// policy returns a policy of the project by its name or its short name. It may be unusable.
func (p *Project) policy(ctx context.Context, name string) (Policy, error) {
	if p.made == nil {
		found, err := p.Find(name)
		if err == nil {
			found, _ = p.Load(ctx, found, Load{})
		}
		return found, err
	}
	made, ok := p.madeCalled(name)
	if !ok {
		return Policy{}, fmt.Errorf("the project has no policy %s", name)
	}
	return made, nil
}

// madeCalled returns a policy of the program by its name or its short name.
func (p *Project) madeCalled(name string) (made Policy, ok bool) {
	i := slices.IndexFunc(p.made, func(o Policy) bool { return o.Name == name || o.Short() == name })
	if i < 0 {
		return Policy{}, false
	}
	return p.made[i], true
}

// Above returns the project of a directory, as determined by the files that shipped policies read in their heads. A
// policy that is a file of a project is found by its .ralph.
func Above(ctx context.Context, dir string, c Config) string {
	c.Dir = ""
	p, err := Open(c)
	if err != nil {
		return dir
	}
	defer p.Close()
	var files []string
	for _, name := range Shipped() {
		found, _ := ShippedPolicy(name)
		if found, err = p.Load(ctx, found, Load{Lazy: true, Untrusted: true}); err == nil {
			files = append(files, found.Program.HeadFiles()...)
		}
	}
	return workspace.Above(dir, files, p.env)
}
