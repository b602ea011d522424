package main

import (
	"bytes"
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ralph-sdk/ralph/examples"
	"github.com/ralph-sdk/ralph/host/setup"
	"github.com/ralph-sdk/ralph/internal/approval"
	"github.com/ralph-sdk/ralph/internal/nearest"
	"github.com/ralph-sdk/ralph/internal/workspace"
	"github.com/ralph-sdk/ralph/project"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/state"
)

//go:embed template/basic.yaml template/basic_test.yaml
var templates embed.FS

// basicTemplate is the template of those who name none.
const basicTemplate = "basic"

func (a *app) initCommand() *cobra.Command {
	var project string
	var force bool
	cmd := &cobra.Command{
		Use:   "init [TEMPLATE]",
		Short: "Write a policy to start from, with its tests",
		Long: "init writes a policy and its tests. The template basic writes .ralph/policy.yaml, a loop over\n" +
			"the checklist TODO.md that works at once. The name of a shipped policy writes a copy,\n" +
			".ralph/NAME.yaml, which is then used in its place: " + strings.Join(builtins(), ", ") + ".\n" +
			"Existing files stay, unless you give --force.",
		Example: "  ralph init\n  ralph init speckit",
		Args:    atMostOne("template"),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := basicTemplate
			if len(args) == 1 {
				name = args[0]
			}
			return a.init(cmd.Context(), project, name, force)
		},
	}
	projectFlag(cmd.Flags(), &project)
	cmd.Flags().BoolVar(&force, "force", false, "replace existing files")
	return cmd
}

// A newFile is one that init writes.
type newFile struct {
	path    string
	data    []byte
	version string // of what is there; "" if nothing is
}

func (a *app) init(ctx context.Context, project, template string, force bool) error {
	root, err := a.openProject(project)
	if err != nil {
		return err
	}
	defer root.Close()
	files, err := fromTemplate(template)
	if err != nil {
		return err
	}
	policySrc := files[0].data
	var inTheWay []string
	for i := range files {
		f := &files[i]
		old, version, err := root.ReadBytes(ctx, f.path)
		switch {
		case err != nil:
			return err
		case version == "":
		case bytes.Equal(old, f.data):
			f.data = nil // it is so already
		default:
			f.version = version
			inTheWay = append(inTheWay, f.path)
		}
	}
	if len(inTheWay) > 0 && !force {
		return fmt.Errorf("%s exists already, so nothing was written; --force replaces it", strings.Join(inTheWay, " and "))
	}
	for _, f := range files {
		if f.data == nil {
			continue
		}
		err := root.Write(ctx, f.path, f.data, f.version)
		if errors.Is(err, state.ErrChanged) {
			return fmt.Errorf("%s changed just now; run the command again", f.path)
		}
		if err != nil {
			return err
		}
		fmt.Fprintf(a.stdout, "wrote %s\n", f.path)
	}
	if err := a.approveWritten(ctx, root.Dir(), files[0].path, policySrc); err != nil {
		fmt.Fprintf(a.stderr, "ralph: %s is not approved: %v\n", files[0].path, err)
	}
	a.adviseNext(ctx, root, template)
	return nil
}

// approveWritten approves a policy as init writes it, until it changes. That covers
// no value of the project's configuration and no program of the project.
func (a *app) approveWritten(ctx context.Context, project, name string, src []byte) error {
	program, diags := rules.LoadBytes(ctx, name, src, a.language())
	if program == nil {
		return diags.Err()
	}
	approved, err := approval.Policy{Root: project, Name: name, Files: program.Files()}.Approval(nil)
	if err != nil {
		return err
	}
	own, err := a.store()
	if err != nil {
		return err
	}
	approved.At = time.Now().UTC()
	return own.Approve(approved)
}

// adviseNext lists what to do with the policy that init wrote.
func (a *app) adviseNext(ctx context.Context, root *state.Root, template string) {
	name, policyFlag, start := "", "", "write - [ ] items into TODO.md, then start claude"
	if template != basicTemplate {
		name, policyFlag, start = template, " --policy "+template, "start claude"
		if p, program, err := a.open(ctx, root.Dir(), template, nil); err == nil && program.Loop() != nil && len(program.Loop().Start) > 0 {
			argument := map[string]string{"prompt": " 'what to do'", "name": " NAME"}[project.Policy{Name: p.name, Program: program}.Argument()]
			start = "ralph start " + template + argument + ", then start claude"
		}
	}
	steps := []string{"ralph test: what the policy does, in examples"}
	e := examined{name: cmp.Or(name, workspace.DefaultPolicy)}
	var err error
	if e.policy, e.program, err = a.open(ctx, root.Dir(), e.name, nil); err == nil {
		e.values, err = params(e.policy, nil)
	}
	if err == nil && a.needsTrust(e) != nil {
		steps = append(steps, "ralph trust "+e.name+": approve the programs that it runs and the model that it asks; read it first")
	}
	steps = append(steps,
		"ralph install claude-code"+policyFlag+": Claude Code asks it at every stop (other hosts: "+strings.Join(setup.Names()[1:], ", ")+")",
		start+"; ralph status and ralph explain show what happens")
	fmt.Fprintln(a.stdout, "next:")
	for i, step := range steps {
		fmt.Fprintf(a.stdout, "  %d. %s\n", i+1, step)
	}
	if err != nil {
		return
	}
	if what, fix := e.reentryAdvice(); what != "" {
		fmt.Fprintf(a.stdout, "%s %s. To run through all tasks: %s\n", e.name, what, fix)
	}
}

// fromTemplate returns the files of a template: its policy, and its tests if it has any.
func fromTemplate(name string) ([]newFile, error) {
	base := ".ralph/" + name
	if name == basicTemplate {
		policySrc, err := templates.ReadFile("template/basic.yaml")
		if err != nil {
			return nil, err
		}
		testSrc, err := templates.ReadFile("template/basic_test.yaml")
		return []newFile{{path: workspace.DefaultPolicy, data: policySrc}, {path: ".ralph/policy_test.yaml", data: testSrc}}, err
	}
	if !isBuiltin(name) {
		all := append([]string{basicTemplate}, builtins()...)
		err := fmt.Errorf("there is no template %q, expected one of %s", name, strings.Join(all, ", "))
		if meant := nearest.DidYouMean(name, all); meant != "" {
			err = fmt.Errorf("%w; %s", err, meant)
		}
		return nil, err
	}
	policySrc, err := examples.FS.ReadFile(name + "/" + name + ".yaml")
	if err != nil {
		return nil, err
	}
	files := []newFile{{path: base + ".yaml", data: policySrc}}
	testSrc, err := examples.Tests.ReadFile(name + "/" + name + "_test.yaml")
	if errors.Is(err, fs.ErrNotExist) {
		return files, nil
	}
	// Here they stand beside the policy, where ralph test finds them.
	testSrc = bytes.Replace(testSrc, []byte("ralph test examples/"+name), []byte("ralph test"), 1)
	return append(files, newFile{path: base + "_test.yaml", data: testSrc}), err
}
