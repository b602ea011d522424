package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/ralph-sdk/ralph/host/setup"
	"github.com/ralph-sdk/ralph/internal/shellwords"
	"github.com/ralph-sdk/ralph/internal/store"
	"github.com/ralph-sdk/ralph/internal/workspace"
	"github.com/ralph-sdk/ralph/rules"
)

type trustFlags struct {
	list    bool
	revoke  bool
	set     []string
	project string
}

func (a *app) trustCommand() *cobra.Command {
	var f trustFlags
	cmd := &cobra.Command{
		Use:   "trust [POLICY]...",
		Short: "Trust this project; let a policy run programs and ask models",
		Long: "trust says that you trust this project: a hook for all projects (install --scope user, a\n" +
			"plugin) then uses its loops and settings. ralph start does that too.\n\n" +
			"It also approves policies that run programs (exec, run, the agent of ralph run) or send the\n" +
			"conversation to a model (judge), in this project. Until then those facts are missing and\n" +
			"nothing is run. It shows all that the approval covers: the policy, what it includes, schemas,\n" +
			"the values that .ralph/config.yaml gives to params, and the files of the project that command\n" +
			"lines name. After a change of any of them, approve the policy again. What the programs themselves\n" +
			"find, such as a Makefile, is not covered. A hook for all projects uses a policy of the project\n" +
			"only if it is approved. Policies that ship with ralph need no approval as they ship. Read a\n" +
			"policy before you approve it. Without a name it is .ralph/policy.yaml, if there is one.",
		Example: "  ralph trust            # .ralph/policy.yaml\n  ralph trust speckit\n  ralph trust --list\n  ralph trust --revoke   # the project and all its policies",
		RunE: func(cmd *cobra.Command, args []string) error {
			own, err := a.store()
			if err != nil {
				return err
			}
			switch {
			case f.list && (f.revoke || len(args) > 0):
				return errors.New("--list takes neither a policy nor --revoke")
			case f.list:
				return a.listTrust(own)
			}
			if f.project, err = a.projectDir(f.project); err != nil {
				return err
			}
			act := a.trust
			switch _, err := findPolicy(f.project, workspace.DefaultPolicy); {
			case f.revoke && len(args) == 0:
				return a.distrustProject(own, f.project)
			case f.revoke:
				act = a.distrust
			case len(args) == 0 && err == nil:
				args = []string{workspace.DefaultPolicy}
			}
			for _, name := range args {
				if err := act(cmd.Context(), own, f, atHand(f.project, name)); err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
			}
			if f.revoke {
				return nil
			}
			return a.trustProject(own, f.project, len(args) == 0)
		},
	}
	cmd.Flags().BoolVarP(&f.list, "list", "l", false, "list what is approved")
	cmd.Flags().BoolVar(&f.revoke, "revoke", false, "withdraw the approvals of the policies, or without a name all of the project")
	setFlag(cmd.Flags(), &f.set).Usage = "value of a param that the hook's command line gives, as `name=value`; may be repeated. It is no part of the approval"
	projectFlag(cmd.Flags(), &f.project)
	return cmd
}

// trustProject keeps that the user trusts a project. It prints what is new, and always where it alone was asked for.
func (a *app) trustProject(own *store.Store, project string, alone bool) error {
	isNew, err := own.Trust(project, time.Now())
	if err == nil && (isNew || alone) {
		fmt.Fprintf(a.stdout, "trusted %s: its loops and settings count for hooks of all projects too\n", visible(project))
	}
	return err
}

// trust approves a policy as it is now.
func (a *app) trust(ctx context.Context, own *store.Store, f trustFlags, name string) error {
	p, err := findPolicy(f.project, name)
	if err != nil {
		return err
	}
	v, err := params(p, f.set)
	if err != nil {
		return err
	}
	program, diags := a.loadWith(ctx, p, v)
	if program == nil {
		return fmt.Errorf("it cannot be used; run: ralph check %s\n%s", name, firstError(diags))
	}
	uses := needApproval(f.project, program)
	switch {
	case p.shipped && len(v.project()) == 0:
		fmt.Fprintf(a.stdout, "%s ships with ralph and needs no approval\n", p.name)
		return nil
	case p.shipped && len(uses) == 0:
		fmt.Fprintf(a.stdout, "%s neither runs programs nor asks models, so it needs no approval\n", p.name)
		return nil
	}
	approved, err := approvable(p, v, program.Files()).Approval(uses)
	if err != nil {
		return err
	}
	approved.At = time.Now().UTC()
	if err := own.Approve(approved); err != nil {
		return err
	}
	a.showApproval(approved, program, v)
	return nil
}

// showApproval shows all that an approval covers.
func (a *app) showApproval(ap store.Approval, program *rules.Program, v paramValues) {
	fmt.Fprintf(a.stdout, "approved %s as it is now, in %s\n", visible(ap.Policy), visible(ap.Root))
	uses := needApproval(ap.Root, program)
	if len(uses) == 0 {
		fmt.Fprintln(a.stdout, "It neither runs programs nor asks models: only hooks for all projects (--scope user, a plugin) need the approval.")
	} else {
		fmt.Fprintln(a.stdout, "It may use:")
	}
	for _, f := range uses {
		fmt.Fprintf(a.stdout, "  %s: %s, %s: %s\n", f.Pos, f.Name, f.Source.Trust, visible(asked(f)))
	}
	fmt.Fprintln(a.stdout, "The approval covers:")
	for _, c := range ap.Files {
		fmt.Fprintf(a.stdout, "  file     %s  %.12s\n", visible(c.Name), c.Digest)
	}
	for _, c := range ap.Programs {
		fmt.Fprintf(a.stdout, "  program  %s  %.12s\n", visible(c.Name), c.Digest)
	}
	defaults := paramDefaults(program)
	for _, name := range slices.Sorted(maps.Keys(defaults)) {
		value, from := defaults[name], "the default"
		if set, ok := v.chosen[name]; ok {
			value, from = set, "by --set, no part of the approval"
		} else if set, ok := v.configured[name]; ok {
			value, from = set, configFile
		}
		fmt.Fprintf(a.stdout, "  param    %s = %s  (%s)\n", visible(name), visible(value), from)
	}
}

// asked is what a fact runs or asks, as the policy writes it.
func asked(f *rules.Fact) string {
	if f.Source.Argv {
		return shellwords.Line(f.Args)
	}
	options := map[string]string{}
	for name, v := range f.Options {
		options[name] = fmt.Sprint(v)
	}
	maps.Copy(options, f.Texts)
	words := f.Args
	for _, name := range slices.Sorted(maps.Keys(options)) {
		words = append(words, name+": "+options[name])
	}
	return strings.Join(words, ", ")
}

// paramDefaults are the params of a policy with their defaults.
func paramDefaults(program *rules.Program) map[string]string {
	var doc struct {
		Params map[string]struct {
			Default yaml.Node `yaml:"default"`
		} `yaml:"params"`
	}
	if yaml.Unmarshal(program.Files()[0].Src, &doc) != nil {
		return nil
	}
	values := map[string]string{}
	for name, p := range doc.Params {
		values[name] = p.Default.Value
	}
	return values
}

// sensitive are the facts and the programs of effects that need an approval.
func sensitive(p *rules.Program) []*rules.Fact {
	all := slices.DeleteFunc(p.Facts(), func(f *rules.Fact) bool { return f.Source.Trust == "" })
	for _, r := range p.Rules() {
		all = append(all, r.Runs...)
	}
	return all
}

// needApproval are the sensitive facts, and the agent that ralph run starts in the project.
func needApproval(project string, p *rules.Program) []*rules.Fact {
	all := sensitive(p)
	if p.Run != nil && p.Run.Agent != nil {
		all = append(all, startedAgent(project, *p.Run.Agent))
	}
	return all
}

// startedAgent is the agent that a policy names, with what clients run by themselves in the project.
func startedAgent(project string, agent rules.Fact) *rules.Fact {
	agent.Known = append(slices.Clone(agent.Args), setup.Started(project)...)
	return &agent
}

// distrust withdraws the approval of a policy. It may have changed since, may be broken, or may be gone.
func (a *app) distrust(_ context.Context, own *store.Store, f trustFlags, name string) error {
	file, _ := policyFile(f.project, name)
	if p, err := findPolicy(f.project, name); err == nil {
		file = p.name
	}
	gone, err := own.Revoke(f.project, file)
	switch {
	case err != nil:
		return err
	case !gone:
		a.status = exitFindings
		fmt.Fprintf(a.stdout, "%s was not approved\n", name)
	default:
		fmt.Fprintf(a.stdout, "%s is no longer approved\n", name)
	}
	return nil
}

// distrustProject withdraws all that was approved in a project, and that it is trusted.
func (a *app) distrustProject(own *store.Store, project string) error {
	approvals, err := own.Approvals()
	if err != nil {
		return err
	}
	a.status = exitFindings
	for _, ap := range approvals {
		if ap.Root != project {
			continue
		}
		if _, err := own.Revoke(project, ap.Policy); err != nil {
			return err
		}
		a.status = exitOK
	}
	fmt.Fprintf(a.stdout, "%s is not trusted, and no policy of it is approved\n", visible(project))
	return nil
}

func (a *app) listTrust(own *store.Store) error {
	approvals, err := own.Approvals()
	if err != nil {
		return err
	}
	if len(approvals) == 0 {
		fmt.Fprintln(a.stdout, "nothing is trusted")
	}
	for _, ap := range approvals {
		var with []string
		for i, c := range slices.Concat(ap.Files, ap.Programs) {
			if i > 0 {
				with = append(with, c.Name)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(ap.Params)) {
			with = append(with, name+"="+ap.Params[name])
		}
		line := fmt.Sprintf("%s  %s in %s", ap.At.Local().Format(time.DateTime), cmp.Or(ap.Policy, "loops and settings"), ap.Root)
		if len(with) > 0 {
			line += " with " + strings.Join(with, ", ")
		}
		fmt.Fprintln(a.stdout, visible(line))
	}
	return nil
}
