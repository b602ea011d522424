package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ralph-sdk/ralph/examples"
	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/internal/process"
	"github.com/ralph-sdk/ralph/internal/project"
	"github.com/ralph-sdk/ralph/internal/text"
)

type untilFlags struct {
	host string
	max  int
	yes  bool
}

func (a *app) untilCommand() *cobra.Command {
	var f untilFlags
	cmd := &cobra.Command{
		Use:   "until command",
		Short: "Continue your agent until a command passes, such as 'go test ./...'",
		Long: `Continue your agent until a command passes, such as 'go test ./...'. The command runs where you type this,
once now and at each stop of the agent. When it passes, the hook goes. To end it before: ralph stop until`,
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) == 0, strings.TrimSpace(args[0]) == "":
				return errors.New("name the command that is to pass, for example: ralph until 'go test ./...'")
			case len(args) > 1:
				return fmt.Errorf("write the command as one argument: ralph until '%s'", strings.Join(args, " "))
			}
			return nil
		},
		RunE: a.here(func(ctx context.Context, p project.Project, home *project.Home, args []string) error {
			return a.until(ctx, p, home, args[0], f)
		}),
	}
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return fmt.Errorf("%w; if it belongs to the command, write the command as one argument: ralph until 'go test ./...'", flagError(cmd, err))
	})
	cmd.Flags().StringVar(&f.host, "host", host.ClaudeCode, "continue the agent of this `host`: "+strings.Join(host.Names(), ", "))
	cmd.Flags().IntVar(&f.max, "max", 5, "continue it at most this many times per prompt")
	cmd.Flags().BoolVar(&f.yes, "yes", false, "approve the command without a question")
	return cmd
}

func (a *app) until(ctx context.Context, p project.Project, home *project.Home, command string, f untilFlags) error {
	if host.InSession(a.getenv) != "" {
		return errPerson
	}
	if f.max < 1 {
		return fmt.Errorf("--max is %d: write 1 or more", f.max)
	}
	h, err := host.Lookup(f.host)
	if err != nil {
		return err
	}
	settings, err := p.Settings(h, untilScope(h), a.getenv)
	if err != nil {
		return err
	}
	if _, err := p.Entries(settings); err != nil {
		return fmt.Errorf("%s: %w", settings.Path, err)
	}
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	took, passes, err := a.try(ctx, dir, command)
	if err != nil {
		return err
	}
	if passes {
		fmt.Fprintf(a.stdout, "`%s` passes already, so nothing was written.\n", text.Line(command))
		return nil
	}
	if err := a.person(fmt.Sprintf("Run `%s` at each stop of %s, outside its sandbox, until it passes?", text.Line(command), h.Title), f.yes); err != nil {
		return err
	}
	src, err := untilSource(p, dir, command, max(time.Minute, 3*took).Round(time.Second), fmt.Sprintf("limits: {continuations: %d}", f.max))
	if err != nil {
		return err
	}
	file, err := p.WriteLocal(project.Until, src)
	if err != nil {
		return err
	}
	if err := home.Approve(ctx, file, a.now()); err != nil {
		return err
	}
	return a.installUntil(ctx, home, p, h, f.max, command)
}

// installUntil writes the entry of the policy until, and says what it does.
func (a *app) installUntil(ctx context.Context, home *project.Home, p project.Project, h *host.Host, most int, command string) error {
	l, err := home.Stops(p, project.Until)
	if err != nil {
		return err
	}
	if err := l.Undo(ctx, project.Until); err != nil {
		return err
	}
	settings, err := p.Settings(h, untilScope(h), a.getenv)
	if err != nil {
		return err
	}
	e := host.Entry{Policies: []string{project.Until}, Once: true}
	if settings.Scope == project.ScopeUser {
		e.Project = p.Root
	}
	means := fmt.Sprintf("%s is continued until `%s` passes, at most %d times per prompt; stop it with ralph stop until.\nNew sessions that start in %s use it.",
		h.Title, text.Line(command), most, p.Root)
	return a.install(ctx, home, p, settings, e, means)
}

// untilScope is that of one person in the project; where the host has none, in all projects, with an entry for this one.
func untilScope(h *host.Host) string {
	if h.Settings.Local == "" {
		return project.ScopeUser
	}
	return project.ScopeLocal
}

// tryTimeout bounds the first run of a command.
const tryTimeout = 10 * time.Minute

// try runs a command in a directory, and returns how long it took.
func (a *app) try(ctx context.Context, dir, command string) (took time.Duration, passes bool, err error) {
	shell, flag := shellOf()
	path, err := process.Find(shell, dir)
	if err != nil {
		return 0, false, err
	}
	fmt.Fprintf(a.stdout, "$ %s\n", text.Line(command))
	ctx, cancel := context.WithTimeout(ctx, tryTimeout)
	defer cancel()
	r, err := process.Run(ctx, process.Command{Path: path, Args: []string{flag, command}, Dir: dir})
	if err != nil {
		return 0, false, fmt.Errorf("it is not known whether `%s` passes, so nothing was written: %w", text.Line(command), err)
	}
	if out := strings.TrimSpace(string(r.Output)); out != "" {
		fmt.Fprintln(a.stdout, text.Clean(text.Tail(out, 2000)))
	}
	if r.Code < 0 || r.Code == 126 || r.Code == 127 || r.Code > 128 && r.Code < 193 { // see unusable in the policy
		return 0, false, fmt.Errorf("it is not known whether `%s` passes, so nothing was written: it ended with status %d, as a command that cannot be run or that a signal ends",
			text.Line(command), r.Code)
	}
	return r.Took, r.Code == 0, nil
}

// untilSource returns the policy that continues until a command passes in a directory of the project.
func untilSource(p project.Project, dir, command string, timeout time.Duration, limits string) ([]byte, error) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	below, err := filepath.Rel(p.Root, dir)
	if err != nil {
		return nil, err
	}
	shell, flag := shellOf()
	fill := strings.NewReplacer("DIRECTORY", strconv.Quote(filepath.ToSlash(below)), "COMMAND", strconv.Quote(command), "SHELL", strconv.Quote(shell),
		"FLAG", strconv.Quote(flag), "TIMEOUT", timeout.String(), "limits: {continuations: MAX}", strings.TrimSpace(limits)) // in one pass: a command may have these words
	return []byte(fill.Replace(string(examples.Until()))), nil
}
