package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/ralph-sdk/ralph/policytest"
	"github.com/ralph-sdk/ralph/project"
)

// writeFlags are the flags that make test write a test instead of running some.
type writeFlags struct {
	file    string
	fromLog bool
}

func (f *writeFlags) add(fl *pflag.FlagSet) {
	fl.StringVar(&f.file, "write", "", "add a test of the situation on stdin, as JSON, to this `file`; create the file if needed")
	fl.BoolVar(&f.fromLog, "log", false, "with --write: use the last decision of this project in the decision log instead")
}

// valid returns an error for a flag that needs --write, and for the name of a file that has no tests.
func (f writeFlags) valid() error {
	return errors.Join(wrongIf(f.fromLog && f.file == "", "--log needs --write: ralph test --write FILE --log"),
		wrongIf(f.file != "" && !strings.HasSuffix(f.file, policytest.Suffix), "--write must be a file whose name ends in %s; got %s", policytest.Suffix, f.file))
}

// writeTest adds a test to a file. It expects what was decided then, or, for a situation, what the policy decides now:
// the user reviews it, and corrects it to get a failing test.
func (a *app) writeTest(ctx context.Context, f writeFlags) error {
	var draft policytest.Draft
	if err := rewrite(ctx, f.file, func(src []byte) (after []byte, err error) {
		if f.fromLog {
			draft, err = a.draftFromLog(ctx, f.file, src)
		} else {
			draft, err = a.draftFromSituation()
		}
		if err == nil && len(draft.Expect) == 0 {
			draft, err = a.expectNow(ctx, f.file, src, draft)
		}
		if err != nil {
			return nil, err
		}
		return policytest.Append(f.file, src, draft)
	}); err != nil {
		return err
	}
	_, err := fmt.Fprintf(a.stdout, "%s: added %q\n", filepath.ToSlash(f.file), draft.Name)
	return err
}

// draftFromLog returns the last decision that the tested policy made in the project.
func (a *app) draftFromLog(ctx context.Context, file string, src []byte) (policytest.Draft, error) {
	name, err := testedPolicy(file, src)
	if err != nil {
		return policytest.Draft{}, err
	}
	p, err := a.open()
	if err != nil {
		return policytest.Draft{}, err
	}
	defer p.Close()
	tried := func(d project.Decision) bool { return isDecision(d) && (!d.Cause.Failed() || len(d.Trace.Steps) > 0) } // any rule
	entries, err := p.History(project.Query{Policies: []string{name}, Last: 1, Match: tried})
	if err != nil {
		return policytest.Draft{}, err
	}
	records, err := recordsOf(entries)
	if err != nil {
		return policytest.Draft{}, err
	}
	if len(records) == 0 {
		return policytest.Draft{}, fmt.Errorf("the decision log has no decision by %s, the policy of these tests, in this project", name)
	}
	return policytest.FromRecord(records[0]), nil
}

// testedPolicy returns the policy of a test file, as named on the command line.
func testedPolicy(file string, src []byte) (string, error) {
	beside := strings.TrimSuffix(file, policytest.Suffix) + ".yaml"
	if len(bytes.TrimSpace(src)) > 0 {
		tests, broken := policytest.Parse(filepath.ToSlash(file), src)
		if tests == nil {
			return "", errors.New(strings.TrimSpace(broken.Format()))
		}
		if tests.Policy != "" {
			beside = filepath.Join(filepath.Dir(file), filepath.FromSlash(tests.Policy))
			if _, err := os.Stat(beside); err != nil && slices.Contains(project.Shipped(), tests.Policy) {
				return tests.Policy, nil
			}
		}
	}
	abs, err := filepath.Abs(beside)
	if err != nil {
		return "", err
	}
	if resolved, err := filepath.EvalSymlinks(abs); err == nil {
		abs = resolved // as the project does
	}
	return filepath.ToSlash(abs), nil
}

// draftFromSituation reads a situation as JSON.
func (a *app) draftFromSituation() (policytest.Draft, error) {
	var input []byte
	if _, typed := terminalOf(a.stdin); !typed { // otherwise it is unclear what to type
		var err error
		if input, err = a.read("the situation", "", "-", maxInput); err != nil {
			return policytest.Draft{}, err
		}
	}
	if len(bytes.TrimSpace(input)) == 0 {
		return policytest.Draft{}, errors.New(`a situation is required: write one as JSON to stdin, such as {"missing": ["todo"]}, or use --log`)
	}
	return policytest.FromSituation(input)
}

// expectNow runs the draft and makes the policy's decision its expectation.
func (a *app) expectNow(ctx context.Context, file string, src []byte, d policytest.Draft) (policytest.Draft, error) {
	probe := d
	probe.Expect = map[string]any{"reason": []any{"/^/"}}
	text, err := policytest.Append(file, src, probe)
	if err != nil {
		return d, err
	}
	fsys, name := openTests(file)
	suite, broken := policytest.LoadSource(ctx, fsys, name, text, a.language())
	if suite == nil {
		return d, errors.New(strings.TrimSpace(broken.Format()))
	}
	results := suite.Run(ctx, func(name string) bool { return name == d.Name })
	if len(results) != 1 || len(results[0].Failures) > 0 {
		return d, fmt.Errorf("the situation cannot be decided: %v", results[0].Failures)
	}
	for _, hint := range results[0].Hints {
		fmt.Fprintf(a.stderr, "ralph: %s\n", hint)
	}
	r := results[0].Record
	d.Expect = map[string]any{"rule": r.Rule, r.Action.String(): true}
	if r.Cause.Untried() {
		d.Expect["stop"] = r.Reason
	}
	return d, nil
}
