package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/ralph-sdk/ralph/examples"
	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/internal/project"
)

// schemaLine is for editors that read YAML with a schema.
const schemaLine = "# yaml-language-server: $schema=https://raw.githubusercontent.com/ralph-sdk/ralph/main/docs/policy.schema.json\n"

func (a *app) initCommand() *cobra.Command {
	var list bool
	cmd := &cobra.Command{
		Use:        "init [name]",
		SuggestFor: []string{"new", "list", "policies"},
		Short:      "Write a policy into .ralph: the template basic as policy.yaml, or the named one",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return fmt.Errorf("name one policy at a time: ralph init %s", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if list {
				for _, name := range examples.Names() {
					fmt.Fprintf(a.stdout, "%-18s %s\n", name, examples.Description(name))
				}
				return nil
			}
			name, as := "basic", project.Default
			if len(args) == 1 {
				name, as = args[0], args[0]
			}
			return a.init(cmd.Context(), name, as)
		},
	}
	cmd.Flags().BoolVar(&list, "list", false, "list the templates and the shipped policies")
	return cmd
}

// init writes a template into the project, and approves it if a person typed the command.
func (a *app) init(ctx context.Context, name, as string) error {
	src, ok := examples.Policy(name)
	if !ok {
		return fmt.Errorf("there is no template or shipped policy %s: ralph init --list shows what there is", name)
	}
	p, err := a.project()
	if err != nil {
		return err
	}
	f, err := p.WriteNew(as, append([]byte(schemaLine), src...))
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s exists: edit it, or remove it first", f.Path)
	} else if err != nil {
		return err
	}
	fmt.Fprintf(a.stdout, "wrote %s\n", f.Shown(p))
	if host.InSession(a.getenv) == "" {
		home, err := project.OpenHome(p, a.getenv)
		if err != nil {
			return err
		}
		if err := home.Approve(ctx, f, a.now()); err != nil {
			return err
		}
	}
	flag := ""
	if as != project.Default {
		flag = " --policy " + as
	}
	fmt.Fprintf(a.stdout, "Now add it to your agent: ralph install claude-code%s\n", flag)
	return nil
}
