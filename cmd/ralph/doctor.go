package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ralph-sdk/ralph/host/setup"
	"github.com/ralph-sdk/ralph/internal/amount"
	"github.com/ralph-sdk/ralph/internal/store"
	"github.com/ralph-sdk/ralph/project"
	"github.com/ralph-sdk/ralph/state"
)

func (a *app) doctorCommand() *cobra.Command {
	var format string
	var fix bool
	cmd := &cobra.Command{
		Annotations: exits("no problem was found", exit{exitFindings, "a problem was found; notes do not count"}),
		Use:         "doctor",
		Short:       "Find what keeps loops from working, with the fix",
		Args:        noArgs(""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.doctor(cmd.Context(), format, fix)
		},
	}
	formatFlag(cmd, &format, "the report", "text", "json")
	cmd.Flags().BoolVar(&fix, "fix", false, "make the repairs that lose nothing: archive left-over loop files, rewrite ralph's own entries in settings")
	return cmd
}

// The levels of findings.
const (
	levelProblem = "problem"
	levelNote    = "note"
)

// A finding is a problem that doctor reports.
type finding struct {
	Check string `json:"check"`
	Level string `json:"level"`
	Where string `json:"where,omitempty"` // a file or variable
	What  string `json:"what"`
	Fix   string `json:"fix,omitempty"`
	Fixed bool   `json:"fixed,omitempty"` // by --fix

	repair func(context.Context) error // nil if the user must do it
}

// doctorReport is what doctor reports.
type doctorReport struct {
	Project  string    `json:"project"`
	Log      int64     `json:"log_bytes"`    // of the decision log
	Policies int64     `json:"policy_bytes"` // of the texts of policies that are kept for it
	Findings []finding `json:"findings"`
}

// An examination is a run of doctor.
type examination struct {
	app       *app
	project   *project.Project
	root      *state.Root
	store     *store.Store // nil if there is no directory for one
	now       time.Time
	installed *setup.Installed
	policies  []examined
	findings  []finding
	reported  map[string]bool // problems of states, by text
}

// problem reports a problem with its fix, which may have several steps.
func (x *examination) problem(check, where, what string, fix ...string) {
	x.findings = append(x.findings, finding{Check: check, Level: levelProblem, Where: where, What: what, Fix: strings.Join(fix, "\n")})
}

func (x *examination) note(check, where, what, fix string) {
	x.findings = append(x.findings, finding{Check: check, Level: levelNote, Where: where, What: what, Fix: fix})
}

func (a *app) doctor(ctx context.Context, format string, fix bool) error {
	p, err := a.open()
	if err != nil {
		return err
	}
	defer p.Close()
	root, err := state.OpenRoot(p.Dir())
	if err != nil {
		return err
	}
	defer root.Close()
	x := &examination{app: a, project: p, root: root, now: time.Now(), findings: []finding{}, reported: map[string]bool{}, installed: a.setupIn(root.Dir()).Read(ctx)}
	x.checkStore(ctx)
	x.checkSwitch()
	x.checkSettings(ctx)
	x.checkGates(ctx)
	x.checkProgram()
	x.checkPolicies(ctx)
	x.checkOwnPlugin(ctx)
	x.checkOtherHooks()
	x.checkPlugins(ctx)
	x.checkBlockCap()
	x.checkState(ctx)
	x.checkLoops(ctx)

	if fix {
		x.repair(ctx)
	}
	problems := 0
	for _, f := range x.findings {
		if !f.Fixed && f.Level == levelProblem {
			problems++
		}
	}
	if problems > 0 {
		a.status = exitFindings
	}
	var log, texts int64
	if x.store != nil {
		log, texts = x.store.Sizes()
	}
	if format == "json" {
		return a.encodeJSON(doctorReport{root.Dir(), log, texts, x.findings})
	}
	paint := a.palette()
	for _, f := range x.findings {
		where := ""
		if f.Where != "" {
			where = f.Where + ": "
		}
		what, source, _ := strings.Cut(f.What, "\n")
		shade := map[string]string{levelProblem: red, levelNote: blue}[f.Level]
		fmt.Fprintf(a.stdout, "%s %s%s [%s]\n", paint.in(shade, fmt.Sprintf("%-8s", f.Level)), where, what, f.Check)
		for line := range strings.Lines(source) { // of the policy, with the position marked
			fmt.Fprintf(a.stdout, "         %s\n", strings.TrimRight(line, "\n"))
		}
		switch {
		case f.Fixed:
			fmt.Fprintf(a.stdout, "         fixed: %s\n", f.Fix)
		case f.Fix != "":
			fmt.Fprintf(a.stdout, "         fix: %s\n", strings.ReplaceAll(f.Fix, "\n", "\n              "))
		}
	}
	if log > 0 {
		fmt.Fprintf(a.stdout, "%s: the decision log has %d KiB, the policies kept with it %d KiB\n", x.store.Dir(), (log+1023)>>10, (texts+1023)>>10)
	}
	if problems == 0 {
		fmt.Fprintln(a.stdout, "no problem found")
	} else {
		fmt.Fprintf(a.stdout, "%s found\n", amount.Of(problems, "problem"))
	}
	return nil
}

// repair makes the repairs that lose nothing.
func (x *examination) repair(ctx context.Context) {
	for i, f := range x.findings {
		if f.repair == nil {
			continue
		}
		if err := f.repair(ctx); err != nil {
			x.findings[i].What += "; --fix failed: " + oneLine(err.Error())
			continue
		}
		x.findings[i].Fixed = true
	}
}

// checkStore checks whether loop memory can be saved: without it no loop continues.
func (x *examination) checkStore(ctx context.Context) {
	const check = "state-dir"
	dir, err := store.DefaultDir(x.app.getenv)
	if err != nil {
		x.problem(check, "", err.Error(), "export RALPH_STATE_DIR=DIR in the environment of the agent")
		return
	}
	x.store = store.Open(dir)
	if err := x.store.KeepLog(x.app.getenv("RALPH_LOG_KEEP")); err != nil {
		x.note(check, "RALPH_LOG_KEEP", err.Error()+"; the default is used", "export RALPH_LOG_KEEP=256MiB in the environment of the agent, or unset it")
	}
	if err = x.store.Refused(x.root.Dir()); err == nil {
		var unlock func()
		if unlock, err = x.store.Lock(ctx, []string{check}); err == nil {
			unlock()
		}
	}
	if err != nil {
		x.problem(check, dir, "no loop continues, and no approval counts: "+err.Error(), "have a directory outside of the project that only you can write to; export RALPH_STATE_DIR=DIR names another one")
	}
}
