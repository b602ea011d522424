package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ralph-sdk/ralph/internal/amount"
	"github.com/ralph-sdk/ralph/internal/vocab"
	"github.com/ralph-sdk/ralph/internal/workspace"
	"github.com/ralph-sdk/ralph/project"
	"github.com/ralph-sdk/ralph/run"
)

type runFlags struct {
	policy, prompt, said string
	until                string // command of ralph until
	client               string
	goOn                 bool
	limits               limitFlags
	iteration            time.Duration
	resume, answer       string
	list                 bool
	worktree             string
	notify               string
	format               string
	set                  []string
	changed              func(flag string) bool // whether the user set it
}

type limitFlags struct {
	max     int
	budget  []string
	elapsed time.Duration
}

// What --worktree does with the branch of a run that ended with success.
const (
	keepBranch  = "keep"
	mergeBranch = "merge"
)

// Limits on the heap: a run takes hours, and the agent needs the memory.
const (
	runGCPercent = 50
	runHeap      = 16 << 20
)

func (a *app) runCommand() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Annotations: exits("a rule with success: true, or --promise, ended the run",
			exit{exitFindings, "another rule, or no rule, ended the run"},
			exit{exitLimit, "a limit ended the run"},
			exit{exitRateLimit, "the rate limit resets after the time of the run"},
			exit{exitNoAccess, "the client cannot sign in, or the account cannot pay"},
			exit{exitCrashes, "the agent failed three times in a row"},
			exit{exitNoProgress, "the policy's limit of repeats ended the run"},
			exit{exitAsked, "a rule asks you, which --resume with --answer answers; or the client denied the agent the same twice in a row"},
			exit{exitWaiting, "the time of the run is over while a rule waits"},
			exit{exitInterrupted, "the run was interrupted"}),
		Use:   "run [flags] [-- AGENT [ARG]...]",
		Short: "Run an agent again and again until a policy says that the work is done",
		RunE: func(cmd *cobra.Command, args []string) error {
			f, args := f.with(cmd, args)
			p, err := a.open()
			if err != nil {
				return err
			}
			defer p.Close()
			if f.list {
				return a.listRuns(cmd.Context(), p, f)
			}
			return a.begin(cmd.Context(), p, f, args)
		},
	}
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		var unknown *pflag.NotExistError
		var bare *pflag.ValueRequiredError
		agents := errors.As(err, &unknown) || errors.As(err, &bare)
		if err = flagError(cmd, err); agents {
			err = fmt.Errorf("%w; if it belongs to the agent, put -- before the agent", err)
		}
		return err
	})
	fl := cmd.Flags()
	fl.StringVarP(&f.policy, "policy", "p", "", "decide by this policy `file` or shipped policy (default "+workspace.DefaultPolicy+", unless --prompt is set)")
	fl.StringVar(&f.prompt, "prompt", "", "use this prompt first: a `file`, the prompt itself, or - for stdin; without a policy, in every iteration")
	fl.StringVar(&f.said, "promise", "", "end with success once the agent's last message has this `text` alone on a line; prompts ask for it")
	fl.StringVar(&f.client, "client", "", "read the output of the client of this `name` (default: by the program): "+strings.Join(clientNames(), ", "))
	fl.BoolVar(&f.goOn, "continue", false, "continue the client's session in each iteration, instead of a fresh context")
	fl.IntVar(&f.limits.max, "max", 0, "end the run after this many iterations (default "+strconv.Itoa(run.DefaultIterations)+")")
	fl.StringArrayVar(&f.limits.budget, "budget", nil, "end the run after this `amount` of money, such as 5usd, of tokens, such as 500k or 2M, or of the client's usage window, such as 80%, if the client reports it; may be repeated")
	durationVar(fl, &f.limits.elapsed, "for", 0, "end the run after this `duration`, such as 8h or 2d (default "+amount.Time(run.DefaultElapsed)+")")
	durationVar(fl, &f.iteration, "iteration", 0, "end an iteration after this `duration` (default "+amount.Time(run.DefaultIteration)+")")
	fl.StringVar(&f.resume, "resume", "", "continue the run of this `id`, or the latest one")
	fl.Lookup("resume").NoOptDefVal = project.Latest
	fl.StringVar(&f.answer, vocab.Answer, "", "with --resume: answer the question with which the run ended with this `text`")
	fl.BoolVarP(&f.list, "list", "l", false, "list the runs of the project")
	restrict(cmd, "client", &f.client, clientNames()...)
	formatFlag(cmd, &f.format, "what happens", "text", "json")
	fl.StringVar(&f.worktree, "worktree", "", "let the agent work in its own git worktree, on its own branch; with merge, merge the branch if the run ends with success")
	fl.Lookup("worktree").NoOptDefVal = keepBranch
	restrict(cmd, "worktree", &f.worktree, keepBranch, mergeBranch)
	fl.StringVar(&f.notify, "notify", "", "run this `command` once the run has ended, with RALPH_OUTCOME and RALPH_REASON in its environment")
	setFlag(fl, &f.set)
	rejects(cmd, func(cmd *cobra.Command, args []string) error {
		f, args := f.with(cmd, args)
		var policies []string
		if f.policy != "" {
			policies = append(policies, f.policy)
		}
		return errors.Join(f.valid(args), a.unknown(cmd.Context(), "", policies...))
	})
	return cmd
}

// with returns the flags and the agent of a command line.
func (f runFlags) with(cmd *cobra.Command, args []string) (runFlags, []string) {
	f.changed = cmd.Flags().Changed
	if f.resume == project.Latest && len(args) > 0 && cmd.ArgsLenAtDash() != 0 { // the ID follows a blank
		f.resume, args = args[0], args[1:]
	}
	return f, args
}

// valid returns an error for limits that are none, flags that exclude each other, and blank ones, which would count as unset.
func (f runFlags) valid(args []string) error {
	kept := []string{"policy", "prompt", "promise", "worktree", "continue", "client", "set", "iteration"}
	_, limits := f.limits.read(f.changed)
	wrong := []error{limits, wrongIf(f.list && f.resume != "", "--list and --resume exclude each other"),
		wrongIf(f.resume != "" && (len(args) > 0 || slices.ContainsFunc(kept, f.changed)), "a run is resumed as it was started: only limits and an answer can be set")}
	for _, text := range []struct{ flag, value string }{
		{"prompt", f.prompt}, {"policy", f.policy}, {"promise", f.said}, {vocab.Answer, f.answer}, {"notify", f.notify},
	} {
		wrong = append(wrong, wrongIf(f.changed(text.flag) && strings.TrimSpace(text.value) == "", "--%s must not be blank", text.flag))
	}
	return errors.Join(wrong...)
}

// read returns the limits in the flags.
func (f limitFlags) read(changed func(flag string) bool) (l run.Limits, err error) {
	wrong := []error{wrongIf(changed("max") && f.max < 1, "--max must be 1 or more; got %d", f.max),
		wrongIf(changed("for") && f.elapsed <= 0, "--for must be a duration such as 8h or 2d; got %s", f.elapsed)}
	l.Iterations, l.Elapsed = f.max, f.elapsed
	for _, amount := range f.budget {
		wrong = append(wrong, spend(&l, amount))
	}
	return l, errors.Join(wrong...)
}

// spend sets the limit of money, tokens or the usage window to an amount.
func spend(l *run.Limits, amount string) error {
	text := strings.ToLower(strings.TrimSpace(amount))
	number, money := strings.CutSuffix(text, "usd")
	if !money {
		number, money = strings.CutPrefix(text, "$")
	}
	number, window := strings.CutSuffix(number, "%")
	factor := 1.0
	for suffix, f := range map[string]float64{"k": 1e3, "m": 1e6} {
		if rest, ok := strings.CutSuffix(text, suffix); ok {
			number, factor = rest, f
		}
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	switch n *= factor; {
	case err != nil || !(n > 0 && n < 1e12) || !money && !window && factor == 1 || window && (money || n > 100):
		return fmt.Errorf("--budget must be an amount of money such as 5usd, of tokens such as 500k or 2M, or of the usage window such as 80%%; got %q", amount)
	case window:
		l.Window = n
	case money:
		l.Cost = n
	default:
		l.Tokens = int(n)
	}
	return nil
}

func clientNames() (names []string) {
	for _, c := range run.Clients() {
		names = append(names, c.Name())
	}
	return names
}

// runStatus returns the exit status of a run.
func runStatus(e run.End) int {
	status, known := map[run.End]int{
		run.Success: exitOK, run.Stopped: exitFindings, run.AtLimit: exitLimit, run.NoReset: exitRateLimit, run.NoAccess: exitNoAccess,
		run.TooManyFail: exitCrashes, run.NoProgress: exitNoProgress, run.Asked: exitAsked, run.Denied: exitAsked, run.StillWaits: exitWaiting, run.Cancelled: exitInterrupted,
	}[e]
	if !known {
		return exitFailed
	}
	return status
}
