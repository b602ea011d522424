package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/internal/approval"

	"github.com/spf13/cobra"

	"github.com/ralph-sdk/ralph/internal/store"
	"github.com/ralph-sdk/ralph/rules"
)

func (a *app) trustCommand() *cobra.Command {
	var list, revoke bool
	var project string
	cmd := &cobra.Command{
		Use:   "trust [POLICY]...",
		Short: "Let a policy run programs and ask models",
		Long: "trust approves policies whose facts run programs (exec) or send the conversation to a\n" +
			"model (judge). Until then those facts are missing. You approve the content of the policy\n" +
			"and of all that it includes: after a change, approve it again. Policies that ship with ralph\n" +
			"need no approval. Read a policy before you approve it.",
		Example: "  ralph trust .ralph/policy.yaml\n  ralph trust --list\n  ralph trust --revoke .ralph/policy.yaml",
		RunE: func(cmd *cobra.Command, args []string) error {
			own, err := a.store()
			if err != nil {
				return err
			}
			switch {
			case list && (revoke || len(args) > 0):
				return errors.New("--list takes neither a policy nor --revoke")
			case list:
				return a.listTrust(own)
			case len(args) == 0:
				return errors.New("name the policy, or give --list")
			}
			if project, err = a.projectDir(project); err != nil {
				return err
			}
			for _, name := range args {
				act := a.trust
				if revoke {
					act = a.distrust
				}
				if err := act(cmd.Context(), own, project, name); err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
			}
			return nil
		},
	}
	cmd.Flags().BoolVarP(&list, "list", "l", false, "list what is approved")
	cmd.Flags().BoolVar(&revoke, "revoke", false, "withdraw all approvals of the policy, also of earlier contents")
	projectFlag(cmd.Flags(), &project)
	return cmd
}

// trust approves the content that a policy has now.
func (a *app) trust(ctx context.Context, own *store.Store, project, name string) error {
	p, err := findPolicy(project, name)
	if err != nil {
		return err
	}
	program, diags, err := a.load(ctx, p, nil)
	if err != nil {
		return err
	}
	if program == nil {
		return fmt.Errorf("it cannot be used, see: ralph check\n%s", firstError(diags))
	}
	uses := sensitive(program)
	switch {
	case p.shipped:
		fmt.Fprintf(a.stdout, "%s ships with ralph and needs no approval\n", p.name)
		return nil
	case len(uses) == 0:
		fmt.Fprintf(a.stdout, "%s neither runs programs nor asks models, so it needs no approval\n", p.name)
		return nil
	}
	if err := own.Approve(store.Approval{
		Key: approval.Key(program.Files()), Names: approvedNames(project, name, program.Files()), At: time.Now().UTC(),
	}); err != nil {
		return err
	}
	fmt.Fprintf(a.stdout, "approved %s with its present content. It may use:\n", p.name)
	for _, f := range uses {
		fmt.Fprintf(a.stdout, "  %s: %s, %s\n", f.Pos, f.Name, f.Source.Trust)
	}
	return nil
}

// sensitive are the facts that need an approval.
func sensitive(p *rules.Program) []*rules.Fact {
	return slices.DeleteFunc(p.Facts(), func(f *rules.Fact) bool { return f.Source.Trust == "" })
}

// approvedNames are the files of a policy as users find them again: the policy by
// its absolute path.
func approvedNames(project, name string, files []rules.File) []string {
	var names []string
	for _, f := range files {
		names = append(names, f.Name)
	}
	names[0] = policyPath(project, name)
	return names
}

// policyPath is the absolute path of a policy's file, without links.
func policyPath(project, name string) string {
	_, path := policyFile(project, name)
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		path = resolved
	}
	return path
}

// distrust takes all approvals of a policy back. The file may have changed since,
// may be broken, or may be gone.
func (a *app) distrust(ctx context.Context, own *store.Store, project, name string) error {
	approvals, err := own.Approvals()
	if err != nil {
		return err
	}
	key := ""
	if p, program, err := a.open(ctx, project, name, nil); err == nil && !p.shipped {
		key = approval.Key(program.Files())
	}
	path, n := policyPath(project, name), 0
	for _, ap := range approvals {
		if ap.Key != key && (len(ap.Names) == 0 || ap.Names[0] != path) {
			continue
		}
		gone, err := own.Revoke(ap.Key)
		if err != nil {
			return err
		}
		if gone {
			n++
		}
	}
	if n == 0 {
		a.status = exitFindings
		fmt.Fprintf(a.stdout, "%s was not approved\n", name)
		return nil
	}
	fmt.Fprintf(a.stdout, "%s is no longer approved\n", name)
	return nil
}

func (a *app) listTrust(own *store.Store) error {
	approvals, err := own.Approvals()
	if err != nil {
		return err
	}
	if len(approvals) == 0 {
		fmt.Fprintln(a.stdout, "nothing is approved")
	}
	for _, ap := range approvals {
		name := "?"
		if len(ap.Names) > 0 {
			name = ap.Names[0]
		}
		with := ""
		if len(ap.Names) > 1 {
			with = " with " + strings.Join(ap.Names[1:], ", ")
		}
		fmt.Fprintf(a.stdout, "%s  %.12s  %s%s\n", ap.At.Local().Format(time.DateTime), ap.Key, name, with)
	}
	return nil
}
