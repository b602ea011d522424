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
	"time"

	"github.com/spf13/cobra"

	"github.com/ralph-sdk/ralph/policytest"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/state"
)

// testFlags are the flags of test.
type testFlags struct {
	run       string
	covered   bool    // print what the tests cover
	threshold float64 // the minimum coverage in percent
	format    string
	write     writeFlags
}

func (a *app) testCommand() *cobra.Command {
	var f testFlags
	cmd := &cobra.Command{
		Annotations: exits("all tests pass", exit{exitFindings, "a test fails, there are no tests, or the coverage is below --coverage"}),
		Use:         "test [PATH]...",
		Short:       "Run the tests beside policies",
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.write.file != "" {
				return a.writeTest(cmd.Context(), f.write)
			}
			f.covered = cmd.Flags().Changed("coverage")
			return a.test(cmd.Context(), args, f)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.run, "run", "", "only run, and show, the tests whose name matches this regular `expression`")
	fl.Float64Var(&f.threshold, "coverage", 0, "show which rules and operands the tests reach; fail if they reach less than this `percent`")
	fl.Lookup("coverage").NoOptDefVal = "0"
	formatFlag(cmd, &f.format, "the report", "text", "json")
	f.write.add(fl)
	rejects(cmd, func(*cobra.Command, []string) error {
		_, err := regexp.Compile(f.run)
		return errors.Join(wrongIf(err != nil, "--run must be a regular expression: %v", err),
			wrongIf(f.threshold < 0 || f.threshold > 100, "--coverage must be a number from 0 to 100; got %v", f.threshold),
			f.write.valid())
	})
	return cmd
}

// testReport is the result of test.
type testReport struct {
	Files    []testedFile          `json:"files"`
	Coverage []policytest.Coverage `json:"coverage,omitempty"`
	Percent  float64               `json:"percent,omitempty"`
	Passed   int                   `json:"passed"`
	Failed   int                   `json:"failed"`
}

// testedFile is one test file with its results, or the error that prevented running it.
type testedFile struct {
	File    string              `json:"file"`
	Policy  string              `json:"policy,omitempty"`
	Tests   []policytest.Result `json:"tests"`
	Broken  rules.Diagnostics   `json:"broken,omitempty"`
	Took    time.Duration       `json:"took_ns"`
	program *rules.Program
}

func (f testedFile) failed() (n int) {
	for _, t := range f.Tests {
		if !t.Passed() {
			n++
		}
	}
	return n
}

func (a *app) test(ctx context.Context, paths []string, f testFlags) error {
	re, err := regexp.Compile(f.run)
	if err != nil {
		return err
	}
	if len(paths) == 0 {
		paths = a.testsHere()
	}
	files, err := findTests(paths)
	if err != nil {
		return err
	}
	report := a.runTests(ctx, files, re.MatchString, f.covered)
	a.judgeTests(report, f)
	return a.printTests(report, f)
}

// testsHere returns where to search for tests by default: below the working directory, or if there are none, below the
// project that contains it.
func (a *app) testsHere() []string {
	if files, err := findTests([]string{"."}); err != nil || len(files) > 0 {
		return []string{"."}
	}
	here, err := a.here()
	if err != nil {
		return []string{"."}
	}
	dir, err := filepath.Rel(here, a.above(here))
	if err != nil {
		return []string{"."}
	}
	return []string{dir}
}

// findTests returns the test files for the paths, in order.
func findTests(paths []string) ([]string, error) {
	var out []string
	for _, p := range paths {
		info, err := os.Stat(p)
		if own := filepath.Join(".ralph", p+".yaml"); err != nil && !strings.ContainsAny(p, `./\`) {
			if _, missing := os.Stat(own); missing == nil { // named as in check
				p = own
				info, err = os.Stat(p)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("%s: no such file or directory", p)
		}
		if !info.IsDir() {
			file := p
			if ext := filepath.Ext(p); !strings.HasSuffix(p, policytest.Suffix) && ext == ".yaml" {
				file = strings.TrimSuffix(p, ext) + policytest.Suffix
				if _, err := os.Stat(file); err != nil {
					return nil, fmt.Errorf("%s has no tests: there is no file %s; run `ralph help test` to see how to write one", p, file)
				}
			}
			out = append(out, file)
			continue
		}
		err = filepath.WalkDir(p, func(name string, d fs.DirEntry, err error) error {
			switch {
			case err != nil && name != p:
				return nil // unreadable directories have no tests
			case err != nil:
				return err
			case d.IsDir() && name != p && skipped(d.Name()):
				return filepath.SkipDir
			case !d.IsDir() && strings.HasSuffix(name, policytest.Suffix):
				out = append(out, name)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return slices.Compact(out), nil
}

// skipped reports whether not to search a directory: hidden ones except .ralph, and third-party code.
func skipped(name string) bool {
	return name == "node_modules" || name == "vendor" || strings.HasPrefix(name, ".") && name != ".ralph"
}

// openTests returns the file system in which a test file finds its policy, and its name in it.
func openTests(file string) (fs.FS, string) {
	if filepath.IsLocal(file) {
		return state.Files("."), path.Clean(filepath.ToSlash(file))
	}
	if target, err := filepath.EvalSymlinks(file); err == nil {
		file = target // the user names the file, so it may be anywhere
	}
	return state.Files(filepath.Dir(file)), filepath.Base(file)
}

func (a *app) runTests(ctx context.Context, files []string, match func(string) bool, coverage bool) testReport {
	var r testReport
	results := map[string][]policytest.Result{}
	programs := map[string]*rules.Program{}
	var policies []string
	for file := range withProgress(a, "testing", files) {
		start := time.Now()
		out := testedFile{File: filepath.ToSlash(file), Tests: []policytest.Result{}}
		fsys, name := openTests(file)
		suite, broken := policytest.Load(ctx, fsys, name, a.language())
		if suite == nil {
			out.Broken = broken
		} else {
			out.Policy, out.program = suite.Policy(), suite.Program()
			out.Tests = append(out.Tests, suite.Run(ctx, match)...)
			if programs[out.Policy] == nil {
				programs[out.Policy] = suite.Program()
				policies = append(policies, out.Policy)
			}
			results[out.Policy] = append(results[out.Policy], out.Tests...)
		}
		out.Took = time.Since(start)
		r.Failed += out.failed()
		r.Passed += len(out.Tests) - out.failed()
		r.Files = append(r.Files, out)
	}
	if coverage {
		covered, all := 0, 0
		for _, p := range policies {
			c := policytest.Cover(p, programs[p], results[p])
			held, rules, seen, outcomes := c.Counts()
			covered, all = covered+held+seen, all+rules+outcomes
			r.Coverage = append(r.Coverage, c)
		}
		r.Percent = 100
		if all > 0 {
			r.Percent = 100 * float64(covered) / float64(all)
		}
	}
	return r
}

// judgeTests sets the exit status.
func (a *app) judgeTests(r testReport, f testFlags) {
	a.status = exitOK
	if r.Failed > 0 || r.Passed == 0 || f.covered && r.Percent < f.threshold {
		a.status = exitFindings
	}
	for _, file := range r.Files {
		if file.Broken != nil {
			a.status = exitFailed
		}
	}
}

func (a *app) printTests(r testReport, f testFlags) error {
	if f.format == "json" {
		return a.encodeJSON(r)
	}
	shades := map[string]string{"FAIL": red, "ok": green, "----": yellow}
	write := func(w io.Writer) error { return writeTests(w, r, f) }
	paint := func(text string) string { return a.palette().firstWords(text, shades, false) }
	return errors.Join(painted(a.stdout, write, paint), a.writeCoverage(r, f))
}
