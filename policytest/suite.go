package policytest

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/rules"
)

// Suffix is the suffix of a test file: NAME_test.yaml is next to NAME.yaml.
const Suffix = "_test.yaml"

// Suite is a file of tests with the policy that they test. It is safe for concurrent use.
type Suite struct {
	file    *File
	fsys    fs.FS  // with the policy
	policy  string // in fsys
	cfg     rules.Config
	program *rules.Program // with the params that all tests share
}

// Load reads the test file called name in fsys and loads its policy, with cfg as for a loop. The suite is nil if and
// only if there is a diagnostic: tests of an unusable policy prove nothing. Load does not return warnings about the
// policy.
func Load(ctx context.Context, fsys fs.FS, name string, cfg rules.Config) (*Suite, rules.Diagnostics) {
	src, err := fs.ReadFile(fsys, name)
	if err != nil {
		return nil, rules.Diagnostics{{Pos: rules.Pos{File: name}, Check: "read", Message: "the tests cannot be read: " + reason(err)}}
	}
	return LoadSource(ctx, fsys, name, src, cfg)
}

// LoadSource is like Load for tests in src, as if they were in the file name.
func LoadSource(ctx context.Context, fsys fs.FS, name string, src []byte, cfg rules.Config) (*Suite, rules.Diagnostics) {
	file, diags := Parse(name, src)
	if file == nil {
		return nil, diags
	}
	s := &Suite{file: file, fsys: fsys, cfg: cfg}
	var err error
	if s.policy, err = s.find(); err != nil {
		at := file.policy
		return nil, rules.Diagnostics{{Pos: at, End: at, Check: "read", Message: err.Error(),
			Help: "name the policy: policy: path/to/policy.yaml, or policy: speckit for a shipped one"}}
	}
	program, diags := s.load(ctx, nil)
	if program == nil {
		return nil, slices.DeleteFunc(diags, func(d rules.Diagnostic) bool { return d.Severity != rules.Error })
	}
	s.program = program
	if diags := file.Check(program); len(diags) > 0 {
		return nil, diags
	}
	return s, nil
}

func reason(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return err.Error()
}

// find returns the file of the tested policy. It looks for a file next to the tests, then for a shipped policy.
func (s *Suite) find() (string, error) {
	dir := path.Dir(s.file.Name)
	name := s.file.Policy
	if name == "" {
		name = strings.TrimSuffix(path.Base(s.file.Name), Suffix) + ".yaml"
	}
	beside := path.Join(dir, name)
	if fs.ValidPath(beside) {
		if info, err := fs.Stat(s.fsys, beside); err == nil && info.Mode().IsRegular() {
			return beside, nil
		}
	}
	short := strings.TrimSuffix(name, ".yaml")
	if s.cfg.Shipped != nil && !strings.Contains(short, "/") {
		shipped := short + "/" + short + ".yaml"
		if _, err := fs.Stat(s.cfg.Shipped, shipped); err == nil {
			s.fsys = s.cfg.Shipped
			return shipped, nil
		}
	}
	return "", errors.New("there is no policy " + beside)
}

// load returns the program with these params.
func (s *Suite) load(ctx context.Context, set map[string]string) (*rules.Program, rules.Diagnostics) {
	cfg := s.cfg
	cfg.Set = map[string]string{}
	maps.Copy(cfg.Set, s.cfg.Set)
	maps.Copy(cfg.Set, set)
	return rules.Load(ctx, s.fsys, s.policy, cfg)
}

// Policy returns the file of the tested policy.
func (s *Suite) Policy() string { return s.policy }

// Program returns the tested policy, with default params.
func (s *Suite) Program() *rules.Program { return s.program }

// Tests returns the tests, in order.
func (s *Suite) Tests() []Test { return s.file.Tests }

// Run runs the tests whose names match, in order; a nil match runs all. It never fails: a test that cannot be run has a
// failure that says why.
func (s *Suite) Run(ctx context.Context, match func(name string) bool) []Result {
	var out []Result
	for _, t := range s.file.Tests {
		if match == nil || match(t.Name) {
			out = append(out, s.run(ctx, t))
		}
	}
	return out
}
