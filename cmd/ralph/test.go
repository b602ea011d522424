package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ralph-sdk/ralph/examples"
	"github.com/ralph-sdk/ralph/internal/project"
	"github.com/ralph-sdk/ralph/internal/text"
	"github.com/ralph-sdk/ralph/policytest"
)

func (a *app) testCommand() *cobra.Command {
	var asJSON, covered bool
	cmd := &cobra.Command{
		Use:   "test [policy ...]",
		Short: "Run the tests beside policies: NAME_test.yaml",
		Long: `Run the tests beside policies: NAME_test.yaml. Without a name it takes all policies of the project that have tests.
Tests start no program and ask no model: they say what facts are.

The exit status is 0 if all pass, 1 if one fails.`,
		RunE: func(cmd *cobra.Command, names []string) error {
			p, err := a.project()
			if err != nil {
				return err
			}
			for i, name := range names { // that of the tests may have been typed
				names[i] = strings.TrimSuffix(strings.ReplaceAll(name, "_test.yaml", ".yaml"), "_test")
			}
			files, err := policies(p, names)
			if err != nil {
				return err
			}
			return a.test(cmd.Context(), p, files, len(names) > 0, asJSON, covered)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array of reports")
	cmd.Flags().BoolVar(&covered, "coverage", false, "also show in how many decisions each rule held; a rule that held in none fails")
	return cmd
}

func (a *app) test(ctx context.Context, p project.Project, files []project.File, named, asJSON, covered bool) error {
	var reports []policytest.Report
	passed := true
	for _, f := range files {
		report, err := runTests(ctx, p, f)
		switch untested := fmt.Sprintf("%s has no tests: write them into %s_test.yaml beside it", f.Shown(p), f.Name); {
		case errors.Is(err, fs.ErrNotExist) && named:
			return errors.New(untested)
		case errors.Is(err, fs.ErrNotExist):
			fmt.Fprintln(a.stderr, untested)
			continue
		case err != nil:
			return err
		}
		reports = append(reports, report)
		passed = passed && report.Passed() && (!covered || len(report.Untested()) == 0)
		if !asJSON {
			a.showReport(report, covered)
		}
	}
	if asJSON {
		if err := a.printJSON(reports); err != nil {
			return err
		}
	}
	if !passed {
		return errFound
	}
	return nil
}

// runTests runs the tests of a policy of the project, or of a shipped one.
func runTests(ctx context.Context, p project.Project, f project.File) (policytest.Report, error) {
	if f.Path == "" {
		return policytest.Run(ctx, examples.Files(), f.Name+".yaml", nil)
	}
	root, name := p.Root, ""
	rel, err := filepath.Rel(p.Root, f.Path)
	if err == nil && filepath.IsLocal(rel) {
		name = filepath.ToSlash(rel)
	} else {
		root, name = filepath.Dir(f.Path), filepath.Base(f.Path)
	}
	tests := strings.TrimSuffix(name, path.Ext(name)) + "_test.yaml"
	if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(tests))); err != nil {
		return policytest.Report{}, err
	}
	return policytest.Run(ctx, os.DirFS(root), name, []string{tests})
}

func (a *app) showReport(r policytest.Report, covered bool) {
	failed := 0
	for _, result := range r.Results {
		if len(result.Failures) == 0 {
			continue
		}
		failed++
		fmt.Fprintf(a.stdout, "FAIL %s (%s:%d)\n", text.Line(result.Name), result.File, result.Line)
		for _, f := range result.Failures {
			fmt.Fprintf(a.stdout, "    %s\n", strings.ReplaceAll(text.Clean(f.String()), "\n", "\n    "))
		}
	}
	fmt.Fprintf(a.stdout, "%s: %d tests passed, %d failed\n", r.Policy, len(r.Results)-failed, failed)
	if covered {
		for _, c := range r.Rules {
			fmt.Fprintf(a.stdout, "  %4d %s (line %d)\n", c.Held, c.Rule, c.Line)
		}
	}
}
