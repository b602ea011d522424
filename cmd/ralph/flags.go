package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ralph-sdk/ralph/internal/amount"
	"github.com/ralph-sdk/ralph/internal/escape"
	"github.com/ralph-sdk/ralph/internal/nearest"
	"github.com/ralph-sdk/ralph/internal/workspace"
	"github.com/ralph-sdk/ralph/project"
)

// policiesFlag declares --policy, or -p.
func policiesFlag(fl *pflag.FlagSet, names *[]string) *pflag.Flag {
	fl.StringArrayVarP(names, "policy", "p", nil, "use this policy `file` or shipped policy; may be repeated (default "+workspace.DefaultPolicy+")")
	return fl.Lookup("policy")
}

// setFlag declares --set.
func setFlag(fl *pflag.FlagSet, values *[]string) *pflag.Flag {
	fl.StringArrayVar(values, "set", nil, "set a param, as `name=value`; may be repeated")
	return fl.Lookup("set")
}

// A duration is the value of a flag: a Go duration with an optional number of days in front.
type duration time.Duration

// String returns "0" for zero, which help does not show as a default.
func (d *duration) String() string {
	if *d == 0 {
		return "0"
	}
	return amount.Time(time.Duration(*d))
}

func (d *duration) Type() string { return "duration" }

func (d *duration) Set(s string) error {
	v, err := parseDuration(s)
	*d = duration(v)
	return err
}

// durationVar declares a flag that takes a duration.
func durationVar(fl *pflag.FlagSet, value *time.Duration, name string, missing time.Duration, usage string) {
	*value = missing
	fl.Var((*duration)(value), name, usage)
}

// parseDuration reads a duration such as 90m, 2d or 1d12h.
func parseDuration(s string) (time.Duration, error) {
	days, rest, ok := strings.Cut(s, "d")
	n, err := strconv.ParseUint(days, 10, 16)
	if !ok || err != nil {
		return time.ParseDuration(s)
	}
	d, err := time.ParseDuration(cmp.Or(rest, "0"))
	return time.Duration(n)*24*time.Hour + d, err
}

// formatFlag declares --format, or -o: the output format of a command, text or another of words.
func formatFlag(cmd *cobra.Command, format *string, of string, words ...string) {
	cmd.Flags().StringVarP(format, "format", "o", "text", "print "+of+" as "+alternatives(words))
	restrict(cmd, "format", format, words...)
}

// restrict makes a command reject other values of a flag, and a shell complete to these.
func restrict(cmd *cobra.Command, flag string, value *string, words ...string) {
	_ = cmd.RegisterFlagCompletionFunc(flag, oneWord(words...)) // the flag exists, and has none yet
	rejects(cmd, func(cmd *cobra.Command, _ []string) error {
		if cmd.Flags().Changed(flag) {
			return oneOf(flag, *value, words...)
		}
		return nil
	})
}

// rejects makes a command check its arguments and flags in one more way. It joins what all its checks report, so that a person
// sees each mistake at once.
func rejects(cmd *cobra.Command, wrong func(cmd *cobra.Command, args []string) error) {
	earlier := cmd.Args
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		var err error
		if earlier != nil {
			err = earlier(cmd, args)
		}
		return errors.Join(err, wrong(cmd, args))
	}
}

// oneOf checks the value of a flag with a fixed set of words.
func oneOf(flag, value string, words ...string) error {
	if slices.Contains(words, value) {
		return nil
	}
	return fmt.Errorf("--%s must be %s; got %q", flag, alternatives(words), value)
}

func alternatives(words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// wrongIf returns an error if flags are wrong.
func wrongIf(wrong bool, format string, args ...any) error {
	if !wrong {
		return nil
	}
	return fmt.Errorf(format, args...)
}

// atLeast returns an error if the value of a flag is too small.
func atLeast(flag string, least, value int) error {
	return wrongIf(value < least, "--%s must be %d or more; got %d", flag, least, value)
}

// flagError adds to an error the valid values of a flag, or the flag that an unknown one may mean.
func flagError(cmd *cobra.Command, err error) error {
	var value *pflag.InvalidValueError
	var unknown *pflag.NotExistError
	var bare *pflag.ValueRequiredError
	switch {
	case errors.As(err, &bare):
		return fmt.Errorf("--%s needs a value", bare.GetFlag().Name)
	case errors.As(err, &value):
		takes := map[string]string{"int": "a whole number", "float64": "a number", "session": "an ID or a unique prefix of one, as ralph log prints it", "bool": "true or false", "duration": "a duration such as 30s, 5m, 2h or 2d"}
		if what := takes[value.GetFlag().Value.Type()]; what != "" {
			return fmt.Errorf("--%s must be %s; got %q", value.GetFlag().Name, what, value.GetValue())
		}
	case errors.As(err, &unknown):
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				names = append(names, f.Name)
			}
		})
		if meant := nearest.DidYouMean(unknown.GetSpecifiedName(), names); meant != "" {
			return fmt.Errorf("%w; %s", err, strings.Replace(meant, `"`, `"--`, 1))
		}
		if cmd.HasParent() {
			return fmt.Errorf("%w; run `ralph help %s`", err, cmd.Name())
		}
	}
	return err
}

// open opens the project of a command without an event. It is the one for which the session's hooks decide: from the
// flag, otherwise CLAUDE_PROJECT_DIR if that is a directory, otherwise the one that contains the working directory.
func (a *app) open() (*project.Project, error) {
	dir, other, err := a.findProject()
	if err != nil {
		return nil, err
	}
	if other != "" {
		fmt.Fprintf(a.stderr, "ralph: the project is %s; --project . takes the working directory\n", other)
	}
	return project.Open(a.in(dir))
}

// unknown returns an error for a session that ralph does not know, and for each policy that does not exist. A policy with decisions
// in the log may no longer exist.
func (a *app) unknown(ctx context.Context, session string, policies ...string) error {
	dir, _, err := a.findProject()
	if err != nil {
		return err
	}
	p, err := project.Open(a.in(dir))
	if err != nil {
		return err
	}
	defer p.Close()
	_, err = p.Session(ctx, session, false)
	wrong := []error{err}
	for _, name := range policies {
		if _, err := p.Find(p.AtHand(name)); err != nil && name != "-" { // stdin
			if old, _ := p.History(project.Query{Policies: []string{name}, Last: 1}); len(old) == 0 {
				wrong = append(wrong, err)
			}
		}
	}
	return errors.Join(wrong...)
}

// findProject returns the project of a command. other says where it comes from, if not from the flag or the working
// directory.
func (a *app) findProject() (dir, other string, err error) {
	if dir, err = resolvedDir(a.project); a.project != "" || err != nil {
		return dir, "", err
	}
	here, why := dir, ", as CLAUDE_PROJECT_DIR says"
	if dir = workspace.Named("", a.getenv); dir == "" {
		dir, why = a.above(here), ""
	}
	if dir != here {
		other = dir + why
	}
	return dir, other, nil
}

// shown returns the path of a project file for the user: relative to the working directory, or absolute.
func (a *app) shown(p *project.Project, file string) string {
	path := filepath.FromSlash(file)
	if !filepath.IsAbs(path) {
		path = filepath.Join(p.Dir(), path)
	}
	here, err := a.here()
	if err == nil && (workspace.Beneath(p.Dir(), here) || workspace.Beneath(here, p.Dir())) {
		if rel, err := filepath.Rel(here, path); err == nil {
			path = rel
		}
	}
	return escape.Line(filepath.ToSlash(path))
}

// above returns the project that contains a directory.
func (a *app) above(dir string) string { return project.Above(context.Background(), dir, a.in("")) }

// here returns the working directory with links resolved.
func (a *app) here() (string, error) { return resolvedDir("") }

func resolvedDir(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}

// atMostOne makes a command reject a second argument; what describes the first.
func atMostOne(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > 1 {
			return fmt.Errorf("%s takes one %s; got %d: ralph %s", cmd.Name(), what, len(args), cmd.Use)
		}
		return nil
	}
}

// noArgs makes a command reject arguments. instead is the flag that the user may have meant, or "".
func noArgs(instead string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		help := "; run `ralph help " + cmd.Name() + "`"
		if instead != "" {
			help = "; write " + instead + " " + args[0]
		}
		return fmt.Errorf("%s takes no argument %q%s", cmd.Name(), args[0], help)
	}
}
