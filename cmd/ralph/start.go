package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/ralph-sdk/ralph/host/setup"
	"github.com/ralph-sdk/ralph/internal/escape"
	"github.com/ralph-sdk/ralph/internal/workspace"
	"github.com/ralph-sdk/ralph/project"
	"github.com/ralph-sdk/ralph/state"
)

type startFlags struct {
	prompt     string
	max        int
	hasMax     bool
	promise    string
	hasPromise bool
	session    string
	template   string
	force      bool

	text string // the prompt of the template, or of the todos
}

func (a *app) startCommand() *cobra.Command {
	var f startFlags
	cmd := &cobra.Command{
		Use:   "start POLICY [PROMPT]...",
		Short: "Start a loop: write its files",
		Long:  strings.TrimRight(templateList(), "\n"),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("name the policy whose loop to start; run `ralph policies` for a list")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			f.hasMax, f.hasPromise = cmd.Flags().Changed("max"), cmd.Flags().Changed("promise")
			return a.start(cmd.Context(), args[0], args[1:], f)
		},
	}
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return fmt.Errorf("%w; if it belongs to the prompt, put -- before the prompt", flagError(cmd, err))
	})
	cmd.ValidArgsFunction = a.words(startable)
	fl := cmd.Flags()
	fl.StringVar(&f.prompt, "prompt", "", "the prompt, in place of the words: a `file`, the prompt itself, or - for stdin")
	fl.IntVar(&f.max, "max", 0, "end the loop after this many iterations")
	fl.StringVar(&f.promise, "promise", "", "end the loop once the agent writes this `text`")
	fl.StringVar(&f.template, "template", "", "use the template of this `name`; "+todosTemplate+" works on the open todos of a session of Claude Code")
	sessionVar(fl, &f.session, "session that owns the loop, and whose todos are read (default: the one that runs this command)", true)
	fl.BoolVar(&f.force, "force", false, "archive a loop that is running")
	rejects(cmd, func(cmd *cobra.Command, args []string) error {
		blank := fl.Changed("prompt") && strings.TrimSpace(f.prompt) == ""
		return errors.Join(wrongIf(fl.Changed("max") && f.max < 1, "--max must be 1 or more; got %d", f.max), wrongIf(blank, "--prompt must not be blank"),
			a.unknown(cmd.Context(), "", args[:min(1, len(args))]...))
	})
	return cmd
}

func (a *app) start(ctx context.Context, name string, words []string, f startFlags) error {
	p, err := a.open()
	if err != nil {
		return err
	}
	defer p.Close()
	policy, err := p.Usable(ctx, p.AtHand(name))
	if err != nil {
		return err
	}
	r := project.StartRequest{Here: a.getenv("CLAUDE_CODE_SESSION_ID"), Force: f.force}
	if f.session, err = p.Session(ctx, f.session, true); err != nil {
		return err
	}
	if r.Here = cmp.Or(f.session, r.Here); f.template != todosTemplate { // otherwise the flag also selects whose todos
		r.Session = f.session
	}
	if f, err = filledIn(ctx, p, f, r.Here); err != nil {
		return err
	}
	text, looped := f.text != "" || f.prompt != "", policy.Program.Loop() != nil
	switch {
	case looped && policy.Program.Loop().Argument == "prompt" && (text || len(words) > 0 || !f.asksNothing()):
		prompt, err := a.prompt(p.Dir(), words, f)
		if err != nil {
			return err
		}
		r.Argument = &prompt
	case text:
		return fmt.Errorf("%s repeats no prompt, so it takes neither --prompt nor --template", name)
	case len(words) > 0:
		argument := strings.Join(words, " ")
		r.Argument = &argument
	}
	if f.hasMax {
		r.Max = &f.max
	}
	if f.hasPromise {
		r.Promise = &f.promise
	}
	started, err := p.Start(ctx, policy.Name, r)
	if err != nil {
		return a.startError(err, policy)
	}
	a.showStarted(ctx, p, started, f)
	return nil
}

// asksNothing reports whether the flags set at most a session: the start is about an existing loop.
func (f startFlags) asksNothing() bool { return !f.hasMax && !f.hasPromise && !f.force }

// startError adds what to do about a failed start.
func (a *app) startError(err error, p project.Policy) error {
	var given *project.GivenError
	var exists *project.ExistsError
	var busy *project.BusyError
	switch short := p.Short(); {
	case errors.As(err, &given):
		value := map[string]string{"max": "--max", "promise": "--promise", "session": "--session"}[given.Name]
		if value == "" {
			value = "the argument"
		}
		if given.Name == "prompt" && given.Field == "" {
			value = "the prompt (write it after the policy, or name its file with --prompt)"
		}
		if given.Field != "" {
			return fmt.Errorf("%s: %s of %s %s", value, given.Field, short, given.Problem)
		}
		return fmt.Errorf("%s %s", value, given.Problem)
	case errors.As(err, &exists):
		return fmt.Errorf("%w; run `ralph stop %s` to end it, or use --force to archive it", err, short)
	case errors.As(err, &busy):
		return fmt.Errorf("%w; run `ralph stop %s` to end it", err, short)
	}
	return err
}

func (a *app) showStarted(ctx context.Context, p *project.Project, s *project.Started, f startFlags) {
	short := s.Policy.Short()
	if s.Policy.Program.Loop() == nil {
		fmt.Fprintf(a.stdout, "%s is no longer stopped\n", short)
		return
	}
	if s.Archived != "" {
		fmt.Fprintf(a.stdout, "archived the earlier loop: %s\n", a.shown(p, s.Archived))
	}
	fmt.Fprintf(a.stdout, "started %s: %s\n", short, a.shown(p, s.Loop.File))
	for _, file := range s.Written {
		if file != s.Loop.File {
			fmt.Fprintf(a.stdout, "  wrote     %s\n", a.shown(p, file))
		}
	}
	a.writeLoop(s.Loop, time.Now(), true)
	if s.Idle != "" {
		fmt.Fprintf(a.stdout, "  it does not run: %s\n", escape.Line(s.Idle))
	}
	most := 0
	if f.hasMax {
		most = f.max
	}
	fmt.Fprintf(a.stdout, "  %s\n", strings.TrimPrefix(s.Policy.Bounds(most), "it "))
	fmt.Fprintf(a.stdout, "  pause it: ralph pause %s   end it: ralph stop %[1]s\n", short)
	a.showSeeing(ctx, p, s.Policy)
}

// showSeeing prints a note if no agent would see the loop, or only one started elsewhere.
func (a *app) showSeeing(ctx context.Context, p *project.Project, policy project.Policy) {
	installed := a.setupIn(p.Dir()).Read(ctx)
	seen := len(installed.Plugins()) > 0 && slices.Contains(setup.PluginPolicies(), policy.Name)
	var shown []string
	installed.Asking(func(in setup.Settings, _ setup.Entry, policies []string) {
		if !hasPolicy(p, policies, policy) {
			return
		}
		seen = true
		if a.below(p) && in.Scope != setup.ScopeUser && in.Host.Settings.Here && !slices.Contains(shown, in.Host.Name) {
			shown = append(shown, in.Host.Name)
			a.showHere(in.Host, p)
		}
	})
	if !seen {
		fmt.Fprintf(a.stdout, "no agent uses this policy yet; run `ralph install claude-code --policy %s` to install it\n", policy.Short())
	}
}

// below reports whether the working directory is below the project root.
func (a *app) below(p *project.Project) bool {
	here, err := a.here()
	return err == nil && here != p.Dir() && workspace.Beneath(p.Dir(), here)
}

// showHere prints where to start an agent that does not look for settings in parent directories.
func (a *app) showHere(g setup.Host, p *project.Project) {
	fmt.Fprintf(a.stdout, "Start %s in %s: it reads only the settings of the directory where it starts.\n", g.Title, p.Dir())
}

// prompt returns the text that the loop repeats.
func (a *app) prompt(project string, words []string, f startFlags) (string, error) {
	text := strings.Join(words, " ")
	if f.text != "" {
		text = strings.TrimSpace(f.text + "\n\n" + text)
	}
	if f.prompt != "" {
		if len(words) > 0 {
			return "", errors.New("write the prompt as words or use --prompt, not both")
		}
		var err error
		if text, err = a.promptOf(project, f.prompt, state.MaxFileSize); err != nil {
			return "", err
		}
	}
	switch {
	case strings.TrimSpace(text) == "":
		return "", errors.New("a prompt is required: write it after the policy, or name a file with --prompt (- is standard input)")
	case len(text) > state.MaxFileSize-4096:
		return "", fmt.Errorf("the prompt is too large (the limit is %d MiB)", state.MaxFileSize>>20)
	case !utf8.ValidString(text):
		return "", errors.New("the prompt is not valid UTF-8")
	}
	return text, nil
}
