package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/ralph-sdk/ralph/rules"
)

func (a *app) checkCommand() *cobra.Command {
	var format, project string
	var set []string
	cmd := &cobra.Command{
		Use:   "check [POLICY]...",
		Short: "Tell everything that is wrong with policies",
		Long: "check reads policies with all they include and tells what is wrong with them, each problem\n" +
			"at its file:line:col. Policies are named as for eval. The exit status is 0 if nothing was\n" +
			"found, 1 if something was, 3 if a policy could not be read.",
		Example: "  ralph check .ralph/policy.yaml\n  ralph check --format json speckit specum",
		RunE: func(_ *cobra.Command, args []string) error {
			return a.check(args, format, project, set)
		},
	}
	cmd.Flags().StringVarP(&format, "format", "f", "text", "form of the findings: text or json")
	cmd.Flags().StringVar(&project, "project", "", "project root `dir` (default: the working directory)")
	cmd.Flags().StringArrayVar(&set, "set", nil, "value of a param, as `name=value`; may be repeated")
	return cmd
}

func (a *app) check(names []string, format, project string, set []string) error {
	if format != "text" && format != "json" {
		return fmt.Errorf("--format is text or json, not %q", format)
	}
	if project == "" {
		var err error
		if project, err = os.Getwd(); err != nil {
			return err
		}
	}
	if len(names) == 0 {
		names = []string{defaultPolicy}
	}
	all := rules.Diagnostics{} // not nil: it is written as JSON
	for _, name := range names {
		p, err := findPolicy(project, name)
		var diags rules.Diagnostics
		if err == nil {
			_, diags, err = a.loadPolicy(project, p, set, false)
		}
		if err != nil {
			// The others are checked all the same.
			fmt.Fprintf(a.stderr, "ralph: %s: %v\n", name, err)
			a.status = exitFailed
			continue
		}
		all = append(all, diags...)
	}
	if len(all) > 0 && a.status == exitOK {
		a.status = exitFindings
	}
	if format == "json" {
		enc := json.NewEncoder(a.stdout)
		enc.SetIndent("", "  ")
		enc.SetEscapeHTML(false)
		return enc.Encode(all)
	}
	_, err := fmt.Fprint(a.stdout, all.Format())
	return err
}
