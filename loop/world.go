package loop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/internal/process"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/state"
)

// work is one decision of one event. It is the world of its evaluations.
type work struct {
	*Loop
	broken error // the policy cannot be used
	ev     Event
	key    string // of the session
	counts string // the name of the policy's counts in it
	now    time.Time
	began  time.Time // by the clock of the machine
	memory rules.Memory
	talk   talk

	root, home *state.Root // opened when they are first needed

	asked   bool // for approval
	refused string

	verdict  rules.Verdict
	answer   Decision
	repeated bool // the answer is that of an earlier delivery
}

// within calls f with the work on an event and a context that ends at the deadline.
func (l *Loop) within(ctx context.Context, ev Event, f func(context.Context, *work) error) (err error) {
	defer caught(&err)
	w := &work{Loop: l, ev: ev, key: l.key(sessionKind, ev.Session), counts: l.policy.Name, now: l.now(), began: time.Now()}
	if ev.Session == "" {
		dir := cmp.Or(l.root, ev.Dir)
		if dir == "" {
			return misuse("the event names no session and no directory, so nothing can be counted: set Event.Session")
		}
		w.key = l.key(sessionKind, "", dir)
	}
	w.ev.Name = cmp.Or(ev.Name, "Stop")
	if agent, _ := ev.Names["agent_id"].(string); agent != "" && ev.Name == "SubagentStop" {
		w.counts += "/" + agent
	}
	w.talk.ev = &w.ev
	ctx, cancel := context.WithTimeoutCause(cmp.Or(ctx, context.Background()), l.Deadline(), errLate)
	defer cancel()
	defer func() {
		for _, r := range []*state.Root{w.root, w.home} {
			if r != nil {
				r.Close()
			}
		}
	}()
	return f(ctx, w)
}

// files returns the directory from which a path counts, and the path there: the project, or the home directory if that is allowed.
func (w *work) files(path string) (*state.Root, string, error) {
	root, dir := &w.root, w.config.root
	rest, home := strings.CutPrefix(path, homePrefix)
	if home {
		if err := w.may("home"); err != nil {
			return nil, "", err
		}
		root = &w.home
		if dir, _ = w.env("HOME"); dir == "" {
			dir, _ = os.UserHomeDir()
		}
	}
	if dir == "" {
		return nil, "", fmt.Errorf("the loop has no root: %w", fs.ErrNotExist)
	}
	var err error
	if *root == nil {
		*root, err = state.Open(dir)
	}
	return *root, rest, err
}

// Name returns one of ralph's names: what the event says of it, else what the conversation and the counts say.
func (w *work) Name(ctx context.Context, name string) (any, error) {
	if v, ok := w.ev.Names[name]; ok {
		return v, nil
	}
	switch name {
	case "session_id":
		return w.ev.Session, nil
	case "cwd":
		return w.ev.Dir, nil
	case "stop_hook_active":
		return !w.ev.Run && w.memory.Continuations > 0, nil
	case "last_assistant_message":
		return w.talk.message(ctx)
	case "transcript":
		return w.transcript(ctx)
	case "busy":
		return w.busy(), nil
	case "your_turn":
		return w.yourTurn(ctx)
	case "asked":
		s, err := w.talk.message(ctx)
		s = strings.Trim(strings.TrimSpace(s), "*_`\"')")
		return strings.HasSuffix(s, "?") || strings.HasSuffix(s, "？"), err
	}
	variable, ok := strings.CutPrefix(name, "env.")
	if !ok {
		return nil, nil
	}
	if err := w.may("env"); err != nil {
		return nil, err
	}
	if v, ok := w.env(variable); ok {
		return v, nil
	}
	return nil, nil
}

// busy reports whether a subagent or a wake-up that comes once will start the agent again.
func (w *work) busy() bool {
	some := func(name string, f func(m map[string]any) bool) bool {
		list, _ := w.ev.Names[name].([]any)
		return slices.ContainsFunc(list, func(v any) bool { m, ok := v.(map[string]any); return ok && f(m) })
	}
	return some("background_tasks", func(task map[string]any) bool { return task["status"] == "running" && task["type"] != "shell" }) ||
		some("session_crons", func(cron map[string]any) bool { return cron["recurring"] != true })
}

// yourTurn reports whether the host plans, or the last tool asked the user.
func (w *work) yourTurn(ctx context.Context) (bool, error) {
	if w.ev.Run {
		return false, nil
	}
	if w.ev.Names["permission_mode"] == "plan" {
		return true, nil
	}
	turn, err := w.talk.turn(ctx)
	if err != nil || len(turn.Tools) == 0 {
		return false, err
	}
	last := turn.Tools[len(turn.Tools)-1].Name
	return last == "AskUserQuestion" || last == "ExitPlanMode", nil
}

// Ask answers the functions said, mentions, exists and which.
func (w *work) Ask(ctx context.Context, function, argument string) (any, error) {
	switch function {
	case "said":
		i, err := w.talk.indexed(ctx)
		return err == nil && i.said(argument), err
	case "mentions":
		i, err := w.talk.indexed(ctx)
		return err == nil && i.mentions(argument), err
	case "exists":
		ctx, cancel := context.WithTimeoutCause(ctx, filesTime, tooLate(filesTime))
		defer cancel()
		root, pattern, err := w.files(argument)
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		} else if err != nil {
			return nil, err
		}
		paths, err := root.Glob(ctx, pattern)
		return len(paths) > 0, err
	case "which":
		if strings.ContainsAny(argument, `/\`) {
			return "", nil
		}
		path, _ := process.Find(argument, "") // none is "", whatever the reason
		return path, nil
	}
	return nil, fmt.Errorf("there is no function %s", function)
}

// classes are what reaches beyond the project; "all" names each of them.
var classes = []string{"exec", "run", "judge", "env", "home", "all"}

// errUnapproved reports something that only a person may allow. Its text may reach the agent, so it does not say how.
var errUnapproved = errors.New("it needs a person's approval")

// may reports why a class of things is not permitted.
func (w *work) may(class string) error {
	if slices.Contains(w.allow, class) || slices.Contains(w.allow, "all") {
		return nil
	}
	return w.approved(class)
}

// approved asks for approval, once.
func (w *work) approved(what string) error {
	switch {
	case w.asked:
	case w.approval == nil:
		w.refused = fmt.Sprintf("%s: %s is not allowed: see loop.WithAllow and loop.WithApproval", w.policy.Name, what)
	default:
		w.refused = w.approval()
	}
	w.asked = true
	if w.refused != "" {
		return errUnapproved
	}
	return nil
}
