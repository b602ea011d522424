package policytest

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

// Report is what the tests of one policy found.
type Report struct {
	Policy  string     `json:"policy"`
	Results []Result   `json:"results"`
	Rules   []Coverage `json:"rules"`
}

// Result is the result of one test.
type Result struct {
	Name     string    `json:"name"`
	File     string    `json:"file"`
	Line     int       `json:"line"`
	Failures []Failure `json:"failures,omitempty"`
}

// Failure is an expectation that was not met, at its place.
type Failure struct {
	File    string `json:"file"`
	Line    int    `json:"line"` // from 1
	Col     int    `json:"col"`  // from 1
	Message string `json:"message"`
}

// String returns place and message. The message of a text or list is a difference in several lines.
func (f Failure) String() string {
	return fmt.Sprintf("%s:%d:%d: %s", f.File, f.Line, f.Col, f.Message)
}

// Coverage is in how many decisions of all tests a rule held.
type Coverage struct {
	Rule string `json:"rule"`
	Line int    `json:"line"`
	Held int    `json:"held"`
}

// Passed reports whether all expectations were met.
func (r Report) Passed() bool {
	return !slices.ContainsFunc(r.Results, func(r Result) bool { return len(r.Failures) > 0 })
}

// Untested returns the rules that held in no test.
func (r Report) Untested() (names []string) {
	for _, c := range r.Rules {
		if c.Held == 0 {
			names = append(names, c.Rule)
		}
	}
	return names
}

// Run runs the tests of a policy, one after the other. Paths are those of fsys, from which schemas are read too; without tests they are
// NAME_test.yaml beside NAME.yaml. opts are what the policy needs of a program, such as functions; its sources of facts are not asked
// for what a test gives. The error is rules.Findings for a policy or test file that is wrong.
func Run(ctx context.Context, fsys fs.FS, policy string, tests []string, opts ...loop.Option) (Report, error) {
	report := Report{Policy: policy}
	l, err := loop.Load(fsys, policy, append(slices.Clip(opts), hermetic(&bench{})...)...)
	if err != nil {
		return report, err
	}
	for _, rule := range l.Policy().Rules {
		report.Rules = append(report.Rules, Coverage{Rule: rule.Name, Line: rule.Line})
	}
	if len(tests) == 0 {
		tests = []string{strings.TrimSuffix(policy, ".yaml") + suffix}
	}
	for _, name := range tests {
		all, err := read(fsys, name, l.Policy(), len(opts) > 0)
		if err != nil {
			return report, err
		}
		for _, t := range all {
			if ctx.Err() != nil {
				return report, context.Cause(ctx)
			}
			result, err := t.run(ctx, fsys, policy, opts, report.Rules)
			if err != nil {
				return report, fmt.Errorf("%s:%d: test %q: %w", name, t.at.Line, t.Name, err)
			}
			report.Results = append(report.Results, result)
		}
	}
	return report, nil
}

// suffix is the end of the name of a test file.
const suffix = "_test.yaml"

// run runs one test and counts which rules hold. The error is that its project cannot be made, or that a param is wrong.
func (t test) run(ctx context.Context, fsys fs.FS, policy string, opts []loop.Option, counts []Coverage) (Result, error) {
	result := Result{Name: t.Name, File: t.file, Line: t.at.Line}
	dir, err := os.MkdirTemp("", "ralph-test-")
	if err != nil {
		return result, err
	}
	defer os.RemoveAll(dir)
	b := newBench(dir)
	opts = append(slices.Clip(opts), hermetic(b)...)
	l, err := loop.Load(fsys, policy, append(opts, loop.WithParams(t.Turns[0].Given.Params))...)
	if err != nil {
		return result, err
	}
	for i, turn := range t.Turns {
		got, err := b.decide(ctx, l, turn.Given)
		failed := turn.Expect.compare(got)
		if err != nil {
			failed = nil
			failed.add(turn.at, "%v", err)
		}
		for _, f := range failed {
			if f.File = t.file; len(t.Turns) > 1 {
				f.Message = fmt.Sprintf("turn %d: %s", i+1, f.Message)
			}
			result.Failures = append(result.Failures, f)
		}
		for _, rule := range got.tried {
			if at := slices.IndexFunc(counts, func(c Coverage) bool { return c.Rule == rule.Name }); at >= 0 && rule.Truth == "true" {
				counts[at].Held++
			}
		}
	}
	return result, nil
}

// outcomes are the ends that a test can expect.
var outcomes = []string{
	string(rules.Continued), string(rules.Done), string(rules.Stopped), string(rules.Limit), string(rules.Idle), string(rules.Failed), string(loop.Off),
}
