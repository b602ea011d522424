package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ralph-sdk/ralph/internal/jsonedit"
	"github.com/ralph-sdk/ralph/internal/store"
	"github.com/ralph-sdk/ralph/loop"
)

// hookTimeout is what the host gives one answer, in seconds. ralph answers sooner:
// it lets the agent go at its own deadline, which this must exceed.
const hookTimeout = 60

// minTimeout is the least that an entry may say.
const minTimeout = 30

type installFlags struct {
	policies []string
	scope    string
	set      []string
	project  string
	dryRun   bool
}

func (f *installFlags) add(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringArrayVarP(&f.policies, "policy", "p", nil, "policy `file` or name of a shipped one; may be repeated (default .ralph/policy.yaml)")
	fl.StringVar(&f.scope, "scope", scopeProject, "whose settings: project, local or user")
	fl.StringVar(&f.project, "project", "", "project root `dir` (default: the working directory)")
	fl.BoolVarP(&f.dryRun, "dry-run", "n", false, "show what would change, and change nothing")
}

func (a *app) installCommand() *cobra.Command {
	var f installFlags
	cmd := &cobra.Command{
		Use:   "install HOST",
		Short: "Have a coding agent ask a policy at every stop",
		Long: "install adds ralph to the settings file of a host, claude-code or codex, and shows what\n" +
			"it changed; every other byte of the file stays. Doing it again changes nothing, and with\n" +
			"another --set the entry is updated. The file is that of the scope:\n\n" +
			"  project  .claude/settings.json          .codex/hooks.json\n" +
			"  local    .claude/settings.local.json    -\n" +
			"  user     ~/.claude/settings.json        ~/.codex/hooks.json",
		Example: "  ralph install claude-code                     # .ralph/policy.yaml\n" +
			"  ralph install claude-code --policy speckit --set reentry=progress\n" +
			"  ralph install codex --policy ralph-wiggum --scope user --dry-run",
		Args: oneHost,
		RunE: func(cmd *cobra.Command, args []string) error { return a.install(cmd.Context(), args[0], f) },
	}
	f.add(cmd)
	cmd.Flags().StringArrayVar(&f.set, "set", nil, "value of a param, as `name=value`; may be repeated")
	return cmd
}

func (a *app) uninstallCommand() *cobra.Command {
	var f installFlags
	cmd := &cobra.Command{
		Use:   "uninstall HOST",
		Short: "Take ralph out of a coding agent's settings",
		Long: "uninstall removes what install added to the settings file of a host, and the lists that\n" +
			"are empty without it; every other byte of the file stays. Without --policy all entries\n" +
			"of ralph in that file go.",
		Example: "  ralph uninstall claude-code\n  ralph uninstall codex --policy ralph-wiggum --scope user",
		Args:    oneHost,
		RunE:    func(cmd *cobra.Command, args []string) error { return a.uninstall(cmd.Context(), args[0], f) },
	}
	f.add(cmd)
	return cmd
}

func oneHost(_ *cobra.Command, args []string) error {
	if len(args) != 1 {
		return errors.New("name the host, claude-code or codex, and nothing else")
	}
	return nil
}

// target finds the settings file that the flags mean.
func (a *app) settingsTarget(ctx context.Context, hostName string, f installFlags) (agent, settingsFile, string, error) {
	project, err := projectDir(f.project)
	if err != nil {
		return agent{}, settingsFile{}, "", err
	}
	home := a.homeDir()
	all := agents(home, a.getenv)
	i := slices.IndexFunc(all, func(g agent) bool { return g.host == hostName })
	if i < 0 {
		return agent{}, settingsFile{}, "", fmt.Errorf("the settings of %q are not known to ralph, only those of claude-code and codex; "+
			"for other hosts let their stop hook run: ralph eval --policy NAME", hostName)
	}
	g := all[i]
	file := g.files[f.scope]
	if file == "" {
		return g, settingsFile{}, "", fmt.Errorf("%s has no scope %q here, expected one of %s", g.title, f.scope, strings.Join(g.scopes(), ", "))
	}
	s, err := openSettings(ctx, project, home, file)
	return g, s, project, err
}

func (a *app) install(ctx context.Context, hostName string, f installFlags) error {
	g, s, project, err := a.settingsTarget(ctx, hostName, f)
	if err != nil {
		return err
	}
	events, err := a.installable(project, f)
	if err != nil {
		return err
	}
	words, note := a.program()
	words = append(words, "eval")
	for _, p := range f.policies {
		words = append(words, "--policy", p)
	}
	for _, v := range f.set {
		words = append(words, "--set", v)
	}
	after, err := g.with(s, events, f.policies, words)
	if err != nil {
		return err
	}
	if bytes.Equal(after, s.src) {
		fmt.Fprintf(a.stdout, "%s is installed already: %s\n", policyList(f.policies), s.shown)
		return nil
	}
	fmt.Fprint(a.stdout, unifiedDiff(s.shown, string(s.src), string(after)))
	if f.dryRun {
		fmt.Fprintln(a.stdout, "nothing was changed (--dry-run)")
		return nil
	}
	if err := s.write(ctx, after); err != nil {
		return err
	}
	fmt.Fprintf(a.stdout, "%s asks %s now, by %s. %s\n", g.title, policyList(f.policies), s.shown, g.after)
	if note != "" {
		fmt.Fprintln(a.stdout, note)
	}
	return a.adviseTrust(project, f)
}

func policyList(policies []string) string {
	if len(policies) == 0 {
		return defaultPolicy
	}
	return strings.Join(policies, " and ")
}

// installable checks the policies as a hook would load them, and gives the events
// that they decide.
func (a *app) installable(project string, f installFlags) (events []string, err error) {
	names := f.policies
	if len(names) == 0 {
		names = []string{defaultPolicy}
	}
	for _, name := range names {
		p, err := findPolicy(project, name)
		if err != nil {
			return nil, err
		}
		if f.scope == scopeUser && !p.shipped && !filepath.IsAbs(filepath.FromSlash(name)) {
			return nil, fmt.Errorf("%s lies in this project, and --scope user is for all projects: name a shipped policy or an absolute path", name)
		}
		program, diags, err := a.loadPolicy(project, p, f.set, false)
		if err != nil {
			return nil, err
		}
		if program == nil {
			return nil, fmt.Errorf("%s cannot be used, run: ralph check %s\n%s", name, name, firstError(diags))
		}
		for _, e := range program.Events {
			if !slices.Contains(events, e) {
				events = append(events, e)
			}
		}
	}
	return events, nil
}

// adviseTrust says which of the policies still need an approval.
func (a *app) adviseTrust(project string, f installFlags) error {
	dir, err := store.DefaultDir(a.getenv)
	if err != nil {
		return nil // told by doctor
	}
	names := f.policies
	if len(names) == 0 {
		names = []string{defaultPolicy}
	}
	for _, name := range names {
		p, err := findPolicy(project, name)
		if err != nil || p.shipped {
			continue
		}
		program, _, err := a.loadPolicy(project, p, f.set, true)
		if err == nil && program != nil && len(sensitive(program)) > 0 && !store.Open(dir).Approved(loop.TrustKey(program.Files)) {
			fmt.Fprintf(a.stdout, "It runs programs or asks a model. Read it, then approve that: ralph trust %s\n", name)
		}
	}
	return nil
}

// program gives the word with which a host finds this program: its name if that
// leads to it, else where it is.
func (a *app) program() (words []string, note string) {
	self, err := os.Executable()
	if err != nil {
		return []string{"ralph"}, ""
	}
	found, err := exec.LookPath("ralph")
	switch {
	case err == nil && sameProgram(found, self):
		return []string{"ralph"}, ""
	case err == nil:
		note = fmt.Sprintf("The program called ralph on the PATH is another one, %s, so the entry names this one by its place.", found)
	default:
		note = "There is no ralph on the PATH, so the entry names this program by its place."
	}
	return []string{self}, note
}

func sameProgram(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// with gives the settings with an entry for the policies at each of the events. An
// entry that asks the same policies is brought up to date, and removed from events
// that they do not decide.
func (g agent) with(s settingsFile, events, policies, words []string) ([]byte, error) {
	entries, err := s.hookEntries()
	if err != nil {
		return nil, err
	}
	src := s.src
	if src == nil {
		src = []byte("{}\n")
	}
	var stale []hookEntry
	done := map[string]bool{}
	for _, e := range entries {
		asked, ok := e.ralph()
		if !ok || !slices.Equal(asked, policies) {
			continue
		}
		if done[e.event] || !slices.Contains(events, e.event) {
			stale = append(stale, e)
			continue
		}
		done[e.event] = true
		if src, err = g.update(src, e, words); err != nil {
			return nil, err
		}
	}
	for _, event := range events {
		if done[event] {
			continue
		}
		groups := 0
		for _, e := range entries {
			if e.event == event {
				groups = max(groups, e.group+1)
			}
		}
		if n, err := (settingsFile{src: src}).groups(event); err == nil {
			groups = n // also those without an entry
		}
		if src, err = jsonedit.Put(src, []any{"hooks", event, groups}, g.entry(words)); err != nil {
			return nil, fmt.Errorf("%s: %w", s.shown, err)
		}
	}
	return without(src, s.shown, stale)
}

// groups counts the groups of an event.
func (s settingsFile) groups(event string) (int, error) {
	values, err := s.decode()
	if err != nil {
		return 0, err
	}
	hooks, _ := values["hooks"].(map[string]any)
	groups, _ := hooks[event].([]any)
	return len(groups), nil
}

// update brings an entry up to date. What a person added to it stays.
func (g agent) update(src []byte, e hookEntry, words []string) ([]byte, error) {
	type field struct {
		name  string
		value any
	}
	var fields []field
	words = slices.Concat(words, e.further())
	if !slices.Equal(e.words, words) {
		if g.argv {
			fields = append(fields, field{"command", words[0]}, field{"args", words[1:]})
		} else {
			fields = append(fields, field{"command", shellLine(words)})
		}
	}
	if e.timeout < minTimeout {
		fields = append(fields, field{"timeout", hookTimeout})
	}
	for _, f := range fields {
		var err error
		if src, err = jsonedit.Put(src, e.path(f.name), jsonedit.Encode(f.value)); err != nil {
			return nil, err
		}
	}
	return src, nil
}

// entry is a group of one hook.
func (g agent) entry(words []string) []byte {
	type handler struct {
		Type    string   `json:"type"`
		Command string   `json:"command"`
		Args    []string `json:"args,omitempty"`
		Timeout int      `json:"timeout"`
	}
	h := handler{Type: "command", Command: words[0], Args: words[1:], Timeout: hookTimeout}
	if !g.argv {
		h.Command, h.Args = shellLine(words), nil
	}
	return jsonedit.Encode(struct {
		Hooks []handler `json:"hooks"`
	}{[]handler{h}})
}

func (a *app) uninstall(ctx context.Context, hostName string, f installFlags) error {
	g, s, project, err := a.settingsTarget(ctx, hostName, f)
	if err != nil {
		return err
	}
	entries, err := s.hookEntries()
	if err != nil {
		return err
	}
	ours := slices.DeleteFunc(entries, func(e hookEntry) bool {
		asked, ok := e.ralph()
		return !ok || len(f.policies) > 0 && !slices.Equal(asked, f.policies)
	})
	if len(ours) == 0 {
		what := "ralph"
		if len(f.policies) > 0 {
			what = policyList(f.policies)
		}
		fmt.Fprintf(a.stdout, "%s is not installed in %s\n", what, s.shown)
		for _, scope := range g.scopes() {
			if other, err := openSettings(ctx, project, a.homeDir(), g.files[scope]); err == nil && scope != f.scope && other.asksRalph() {
				fmt.Fprintf(a.stdout, "ralph is in %s: add --scope %s\n", other.shown, scope)
			}
		}
		return nil
	}
	after, err := without(s.src, s.shown, ours)
	if err != nil {
		return err
	}
	fmt.Fprint(a.stdout, unifiedDiff(s.shown, string(s.src), string(after)))
	if f.dryRun {
		fmt.Fprintln(a.stdout, "nothing was changed (--dry-run)")
		return nil
	}
	if err := s.write(ctx, after); err != nil {
		return err
	}
	fmt.Fprintf(a.stdout, "%s no longer asks ralph by %s\n", g.title, s.shown)
	return nil
}

// asksRalph reports whether some entry does.
func (s settingsFile) asksRalph() bool {
	entries, err := s.hookEntries()
	return err == nil && slices.ContainsFunc(entries, func(e hookEntry) bool { _, ok := e.ralph(); return ok })
}

// without gives the settings without these entries, and without the groups, lists
// and objects that held nothing else.
func without(src []byte, shown string, entries []hookEntry) ([]byte, error) {
	// From behind, so that those before keep their places.
	slices.SortStableFunc(entries, func(a, b hookEntry) int {
		if a.group != b.group {
			return b.group - a.group
		}
		return b.index - a.index
	})
	for _, e := range entries {
		values, err := (settingsFile{src: src, shown: shown}).decode()
		if err != nil {
			return nil, err
		}
		path := e.path()
		hooks := values["hooks"].(map[string]any) // the entry is there
		groups := hooks[e.event].([]any)
		group := groups[e.group].(map[string]any)
		if len(group["hooks"].([]any)) == 1 && len(group) == 1 {
			path = path[:3]
			if len(groups) == 1 {
				path = path[:2]
				if len(hooks) == 1 {
					path = path[:1]
				}
			}
		}
		if src, err = jsonedit.Cut(src, path); err != nil {
			return nil, fmt.Errorf("%s: %w", shown, err)
		}
	}
	return src, nil
}
