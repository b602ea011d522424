package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/examples"
	"github.com/ralph-sdk/ralph/internal/nearest"
	"github.com/ralph-sdk/ralph/internal/workspace"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/policytest"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/state"
)

// policy is a policy file that was found.
type policy struct {
	project string // for which it was found
	here    bool   // its file is one of the project itself
	name    string // under which its memory, its log and its settings are kept
	fsys    fs.FS
	file    string // in fsys
	shipped bool
	unset   bool // the settings of the project do not count
}

// shortName is how a user names a policy on the command line.
func (p policy) shortName() string { return shortPolicy(p.name) }

func shortPolicy(full string) string { return workspace.PolicyName(full) }

// findPolicy looks a policy up by the name that a user gives:
//
//	NAME       .ralph/NAME.yaml of the project, else the shipped policy NAME
//	NAME.yaml  that file of the project, else the shipped policy NAME
//	a path     beneath the project, or absolute
//
// In a git worktree, .ralph/NAME.yaml of the main tree stands in for one that is not there.
// Whatever lies in the project is read beneath it: no link leads out. A policy that the
// user names elsewhere may be a link; what it includes lies beneath the folder in which
// it really is.
func findPolicy(project, name string) (policy, error) {
	file, abs := policyFile(project, name)
	if info, err := os.Stat(abs); err == nil && info.Mode().IsRegular() {
		if rel, err := filepath.Rel(project, abs); err == nil && filepath.IsLocal(rel) {
			rel = filepath.ToSlash(rel)
			return policy{project: project, here: true, name: rel, fsys: state.Files(project), file: rel}, nil
		}
		target, err := filepath.EvalSymlinks(abs)
		if err != nil {
			return policy{}, err
		}
		return policy{project: project, name: filepath.ToSlash(abs), fsys: state.Files(filepath.Dir(target)), file: filepath.Base(target)}, nil
	}
	if main := mainTree(project); main != "" && strings.HasPrefix(file, ".ralph/") && filepath.IsLocal(filepath.FromSlash(file)) {
		if info, err := os.Stat(filepath.Join(main, filepath.FromSlash(file))); err == nil && info.Mode().IsRegular() {
			return policy{project: project, name: path.Clean(file), fsys: state.Files(main), file: path.Clean(file)}, nil
		}
	}
	if p, ok := shippedPolicy(project, name); ok {
		return p, nil
	}
	if name == workspace.DefaultPolicy {
		return policy{}, errors.New("there is no such policy: no file " + workspace.DefaultPolicy + "; ralph init writes one")
	}
	err := fmt.Errorf("there is no such policy: neither the file %s nor a shipped one of that name (%s)",
		filepath.ToSlash(file), strings.Join(builtins(), ", "))
	if meant := meantPolicy(project, file); meant != "" {
		err = fmt.Errorf("%w; %s", err, meant)
	}
	return policy{}, err
}

// meantPolicy asks which policy a user may mean by a file that is not there, "" if none is near.
func meantPolicy(project, file string) string {
	word, names := strings.TrimSuffix(path.Base(file), path.Ext(file)), projectPolicies(project)
	if slices.Contains(names, word) {
		return fmt.Sprintf("did you mean %q?", word)
	}
	return nearest.DidYouMean(word, names)
}

// mainTree is the main tree of a project that is a git worktree, "" if it is none.
func mainTree(project string) string { return workspace.MainTree(project, os.Getenv) }

// atHand is a name of a policy as a command takes it: a file that is not beneath the project is
// one of the working directory.
func atHand(project, name string) string {
	file, abs := policyFile(project, name)
	if file != name || filepath.IsAbs(filepath.FromSlash(name)) {
		return name
	}
	if _, err := os.Stat(abs); err == nil {
		return name
	}
	here, err := filepath.Abs(filepath.FromSlash(name))
	if err != nil {
		return name
	}
	if info, err := os.Stat(here); err != nil || !info.Mode().IsRegular() {
		return name
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(here)); err == nil { // as the project is named
		here = filepath.Join(dir, filepath.Base(here))
	}
	return here
}

// shippedPolicy gives the shipped policy that a name can mean, whatever the project has.
func shippedPolicy(project, name string) (policy, bool) {
	short := strings.TrimSuffix(strings.TrimSuffix(name, ".yaml"), ".yml")
	return policy{project: project, name: short, fsys: examples.FS, file: short + "/" + short + ".yaml", shipped: true}, isBuiltin(short)
}

// spread puts the policies of a folder in the place of its name: those in its .ralph,
// else those that lie in it.
func spread(project string, names []string) ([]string, error) {
	var out []string
	for _, name := range names {
		dir := filepath.FromSlash(name)
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(project, dir)
		}
		if _, err := findPolicy(project, name); err == nil || !isDir(dir) {
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
			if err == nil && !strings.HasSuffix(name, policytest.Suffix) && regexp.MustCompile(`(?m)^ralph:`).Match(src) {
				file := filepath.Join(dir, name)
				rel, err := filepath.Rel(project, file)
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

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// policyFile is where the file of a policy is, or would be: as its name says it, and
// beneath the project if that is relative.
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

// findOrRead is findPolicy, but the name - means the policy on standard
// input. Its includes and schemas are looked up in the project.
func (a *app) findOrRead(project, name string) (policy, error) {
	if name != "-" {
		return findPolicy(project, atHand(project, name))
	}
	src, err := io.ReadAll(io.LimitReader(a.stdin, maxStdinPolicy))
	if err != nil {
		return policy{}, err
	}
	return policy{project: project, name: stdinName, fsys: stdinFS{state.Files(project), src}, file: stdinName}, nil
}

// builtins lists the names of the shipped policies.
func builtins() []string {
	var names []string
	entries, _ := fs.ReadDir(examples.FS, ".")
	for _, e := range entries {
		if isBuiltin(e.Name()) {
			names = append(names, e.Name())
		}
	}
	return names
}

// isBuiltin reports whether a policy of this name is shipped.
func isBuiltin(name string) bool {
	_, err := fs.Stat(examples.FS, name+"/"+name+".yaml")
	return err == nil
}

// ownPolicies lists the policies in the .ralph folder of a project, and of its main tree.
func ownPolicies(project string) []string {
	names := policiesIn(project)
	if main := mainTree(project); main != "" {
		names = slices.Compact(slices.Sorted(slices.Values(append(names, policiesIn(main)...))))
	}
	return names
}

func policiesIn(dir string) []string {
	var names []string
	files, _ := os.ReadDir(filepath.Join(dir, ".ralph"))
	for _, f := range files {
		name, ok := strings.CutSuffix(f.Name(), ".yaml")
		if ok && !f.IsDir() && f.Name() != filepath.Base(configFile) && !strings.HasSuffix(name, "_test") {
			names = append(names, name)
		}
	}
	return names
}

// projectPolicies lists the policies that can be meant in a project: its own, and
// the shipped ones that none of them stands for.
func projectPolicies(project string) []string {
	own := ownPolicies(project)
	return append(own, slices.DeleteFunc(builtins(), func(name string) bool { return slices.Contains(own, name) })...)
}

// language is what policies are written in: ralph's own, and what the program adds.
func (a *app) language() rules.Config { return loop.Config(a.sourceOptions()...) }

func (a *app) config(p policy, v paramValues) rules.Config {
	cfg := a.language()
	cfg.Set = v.all()
	cfg.SetAt = func(param string) rules.Pos { return givenAt(p, v, param) }
	return cfg
}

// load reads a policy. If it cannot be used there is no Program, and the findings
// say why.
func (a *app) load(ctx context.Context, p policy, set []string) (*rules.Program, rules.Diagnostics, error) {
	v, err := params(p, set)
	if err != nil {
		return nil, nil, err
	}
	program, diags := a.loadWith(ctx, p, v)
	return program, diags, nil
}

// loadWith is load with params that were read before.
func (a *app) loadWith(ctx context.Context, p policy, v paramValues) (*rules.Program, rules.Diagnostics) {
	return rules.Load(ctx, p.fsys, p.file, a.config(p, v))
}

// loadLazily is loadWith for a hook: what is behind the when of the policy is read when
// that is true.
func (a *app) loadLazily(ctx context.Context, p policy, v paramValues) (*rules.Program, rules.Diagnostics) {
	cfg := a.config(p, v)
	cfg.Lazy = true
	return rules.Load(ctx, p.fsys, p.file, cfg)
}

// findings are all that is to be said of a policy.
func (a *app) findings(ctx context.Context, p policy, o checkOptions) (rules.Diagnostics, error) {
	v, err := params(p, o.set)
	if err != nil {
		return nil, err
	}
	cfg := a.config(p, v)
	cfg.Deadline = o.deadline
	if program, _ := a.loadWith(ctx, p, v); program != nil && p.name != stdinName {
		if err := a.needsTrust(examined{policy: p, values: v, program: program}); err != nil {
			cfg.Unapproved = "the policy " + strings.TrimPrefix(whyNot(err), "which ")
		}
	}
	_, diags := rules.Check(ctx, p.fsys, p.file, cfg)
	late := func(d rules.Diagnostic) bool { return d.Check == "late-fact" }
	if o.anyHook && slices.ContainsFunc(diags, late) {
		if cfg.Deadline = a.hookTime(ctx, o.project, p); cfg.Deadline > 0 {
			_, diags = rules.Check(ctx, p.fsys, p.file, cfg)
		}
	}
	return diags, nil
}

// open finds and loads a policy. It fails if the policy cannot be used.
func (a *app) open(ctx context.Context, project, name string, set []string) (policy, *rules.Program, error) {
	p, err := findPolicy(project, name)
	if err != nil {
		return p, nil, err
	}
	program, diags, err := a.load(ctx, p, set)
	if err == nil && program == nil {
		err = unusable(name, diags)
	}
	return p, program, err
}

func unusable(name string, diags rules.Diagnostics) error {
	return fmt.Errorf("%s cannot be used; run: ralph check %s\n%s", name, name, firstError(diags))
}

// firstError is the first problem that keeps a policy from being used, as check
// shows it.
func firstError(diags rules.Diagnostics) string {
	for _, d := range diags {
		if d.Severity == rules.Error {
			return strings.TrimRight(rules.Diagnostics{d}.Format(), "\n")
		}
	}
	return ""
}

// openToTry finds and loads a policy to be tried out, with the project of the flag.
// If it cannot be used, the error holds all findings.
func (a *app) openToTry(ctx context.Context, project, name string, set []string) (policy, *rules.Program, error) {
	root, err := a.projectDir(project)
	if err != nil {
		return policy{}, nil, err
	}
	p, err := findPolicy(root, atHand(root, name))
	if err != nil {
		return p, nil, err
	}
	program, diags, err := a.load(ctx, p, set)
	if err == nil && program == nil {
		err = fmt.Errorf("the policy %s cannot be used\n%s", p.name, diags.Format())
	}
	return p, program, err
}
