package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ralph-sdk/ralph/internal/store"
	"github.com/ralph-sdk/ralph/internal/workspace"
	"github.com/ralph-sdk/ralph/internal/worktree"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/run"
	"github.com/ralph-sdk/ralph/state"
)

type runFlags struct {
	policy, prompt, until string
	client                string
	fresh, goOn           bool
	max                   int
	cost, tokens          string
	elapsed, iteration    time.Duration
	resume, attach        string
	list                  bool
	worktree, merge       bool
	format                string
	notify                string
	set                   []string
	project               string
	changed               func(flag string) bool // whether the user gave it
}

// What keeps the heap small: a run takes hours, and the agent needs the memory.
const (
	runGCPercent = 50
	runHeap      = 16 << 20
)

// worktreesDir holds the worktrees of runs, in ralph's own directory.
const worktreesDir = "worktrees"

// latestRun as the id of a run means the latest one of the project.
const latestRun = "latest"

func (a *app) runCommand() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run [flags] [-- AGENT [ARG]...]",
		Short: "Run an agent again and again until a policy says that the work is done",
		Long: "run starts the agent's command line, each time with a fresh context, and asks the policy after\n" +
			"each iteration: its continue text is the next prompt, and a stop ends the run. Without\n" +
			"--policy, --prompt is the prompt of every iteration. Without AGENT, the key run of the policy\n" +
			"names it, once you approved the policy. A run has limits: 100 iterations and 24 hours,\n" +
			"unless --max and --for say otherwise. Tokens and cost are known after an iteration, so\n" +
			"the run may be over such a limit by one iteration. Ctrl-C ends the run after the iteration in\n" +
			"progress, a second one at once. Hooks of the same policy leave the decision to the run.",
		Example: "  ralph run --policy speckit -- claude -p\n" +
			"  ralph run --prompt PROMPT.md --until 'ALL DONE' --max 20 -- codex exec\n" +
			"  ralph run --resume\n" +
			"  ralph run --list",
		RunE: func(cmd *cobra.Command, args []string) error {
			f.changed = cmd.Flags().Changed
			for _, id := range []*string{&f.resume, &f.attach} {
				if *id == latestRun && len(args) > 0 && cmd.ArgsLenAtDash() != 0 { // the id follows a blank
					*id, args = args[0], args[1:]
				}
			}
			if err := f.exclusive(); err != nil {
				return err
			}
			project, err := a.projectDir(f.project)
			if err != nil {
				return err
			}
			own, err := a.store()
			if err != nil {
				return err
			}
			switch {
			case f.list:
				return a.listRuns(own, project, f)
			case f.attach != "":
				return a.attach(cmd.Context(), own, project, f)
			}
			return a.begin(cmd.Context(), own, project, f, args)
		},
	}
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		var unknown *pflag.NotExistError
		var bare *pflag.ValueRequiredError
		if errors.As(err, &unknown) || errors.As(err, &bare) {
			err = fmt.Errorf("%w; if it belongs to the agent, put -- before the agent", err)
		}
		return err
	})
	fl := cmd.Flags()
	fl.StringVarP(&f.policy, "policy", "p", "", "policy `file`, or name of a shipped policy (default "+defaultPolicy+", unless --prompt is given)")
	fl.StringVar(&f.prompt, "prompt", "", "first prompt: a `file`, a text, or - for stdin; without a policy, the prompt of every iteration")
	fl.StringVar(&f.until, "until", "", "end by success once the agent's last message has this `text`, such as '<promise>DONE</promise>'")
	fl.StringVar(&f.client, "client", "", "`name` of the client whose output is read (default: by the program): "+strings.Join(clientNames(), ", "))
	fl.BoolVar(&f.fresh, "fresh", true, "begin each iteration with a fresh context")
	fl.BoolVar(&f.goOn, "continue", false, "go on with the client's session in each iteration")
	fl.IntVar(&f.max, "max", 0, "at most so many iterations (default "+strconv.Itoa(run.DefaultIterations)+")")
	fl.StringVar(&f.cost, "budget", "", "at most so much `money`, such as 5usd, if the client reports it")
	fl.StringVar(&f.tokens, "tokens", "", "at most so many `tokens`, such as 500k or 2M, if the client reports them")
	fl.DurationVar(&f.elapsed, "for", 0, "at most so long, such as 8h (default "+whole(run.DefaultElapsed)+")")
	fl.DurationVar(&f.iteration, "iteration", 0, "end an iteration that takes longer (default "+whole(run.DefaultIteration)+")")
	fl.StringVar(&f.resume, "resume", "", "go on with the run of this `id`, or with the latest one")
	fl.Lookup("resume").NoOptDefVal = latestRun
	fl.BoolVarP(&f.list, "list", "l", false, "list the runs of the project")
	fl.StringVar(&f.attach, "attach", "", "watch the run of this `id`, which another process runs, or the latest one")
	fl.Lookup("attach").NoOptDefVal = latestRun
	formatFlag(cmd, &f.format, "what happens", "text", "json")
	fl.StringVar(&f.notify, "notify", "", "`command` to run at the end, without a shell; RALPH_RUN_ENDED, RALPH_RUN_ITERATIONS and RALPH_RUN_WHY are in its environment")
	fl.BoolVar(&f.worktree, "worktree", false, "let the agent work in a git worktree and on a branch of its own")
	fl.BoolVar(&f.merge, "merge", false, "with --worktree: bring the branch back if the run ends by success")
	setFlag(fl, &f.set)
	projectFlag(fl, &f.project)
	return cmd
}

// whole is a time of whole hours.
func whole(d time.Duration) string { return strings.TrimSuffix(d.String(), "0m0s") }

// exclusive refuses flags that exclude each other, and blank ones that would mean that the flag was not given.
func (f runFlags) exclusive() error {
	for _, group := range [][]string{{"fresh", "continue"}, {"list", "attach", "resume"}} {
		group = slices.DeleteFunc(group, func(name string) bool { return !f.changed(name) })
		if len(group) > 1 {
			return fmt.Errorf("--%s and --%s exclude each other", group[0], group[1])
		}
	}
	for _, text := range []struct{ flag, value string }{
		{"prompt", f.prompt}, {"policy", f.policy}, {"until", f.until}, {"budget", f.cost}, {"tokens", f.tokens}, {"notify", f.notify},
	} {
		if f.changed(text.flag) && strings.TrimSpace(text.value) == "" {
			return fmt.Errorf("--%s is blank", text.flag)
		}
	}
	return nil
}

// aRun is a run about to start: what the flags say, or what is kept of the run to resume.
type aRun struct {
	flags   runFlags
	home    string // the project
	project string // where the agent works: the project, or the worktree
	args    []string
	prompt  string
	max     int           // iterations of the run to resume
	tree    worktree.Tree // the zero Tree if it has none
	options []run.Option

	policy  policy // the zero policy if a prompt is the policy
	values  paramValues
	program *rules.Program
}

// begin starts a run, or goes on with one, and shows it until it ends.
func (a *app) begin(ctx context.Context, own *store.Store, project string, f runFlags, args []string) error {
	limits, err := f.limits()
	if err != nil {
		return err
	}
	if why, off := workspace.Off("", a.getenv); off {
		return fmt.Errorf("%s: it turns loops off, and runs too", why)
	}
	var r aRun
	if f.resume != "" {
		r, err = a.resumed(ctx, own, project, f, args)
	} else {
		r, err = a.fresh(ctx, own, project, f, args)
	}
	if err != nil {
		return errors.Join(err, r.discard(ctx))
	}
	adapter, err := clientOf(r.flags.client, r.args)
	if err != nil {
		return errors.Join(err, r.discard(ctx))
	}
	in, ctx, stop := interruptions(ctx)
	defer stop()
	show := a.runView(f, cmp.Or(f.max, r.max), in)
	last, err := a.show(ctx, own, r, adapter, limits, in.first, show)
	show.close()
	if err != nil {
		return errors.Join(err, r.discard(ctx))
	}
	a.status = runStatus(last.Ended)
	if r.tree.Dir != "" {
		a.bringBack(context.WithoutCancel(ctx), r.tree, r.flags.merge && last.Ended == run.Success)
	}
	return a.notify(ctx, f.notify, last)
}

// show runs a run and shows its events. It gives the last one.
func (a *app) show(ctx context.Context, own *store.Store, r aRun, client run.Adapter, limits run.Limits, interrupt <-chan struct{}, view *runView) (last run.Event, err error) {
	var runner *run.Runner
	runner, err = run.New(r.program, client, append(r.options,
		run.WithState(own.Dir()), run.WithProject(loop.LocalStore(own.Dir())), run.WithLimits(limits), run.WithInterrupt(interrupt),
		run.WithControl(a.runControl(own, r.home, r.program.Name, func() string { return runner.ID() })), run.WithLoop(append(a.loopOptions(), loop.WithTrust(r.trust(a)))...),
	)...)
	if err != nil {
		return last, err
	}
	if err := own.EndRun(runner.ID(), false); err != nil {
		return last, err
	}
	debug.SetGCPercent(runGCPercent)
	debug.SetMemoryLimit(runHeap)
	for ev := range runner.Run(ctx) {
		view.event(ev)
		last = ev
	}
	return last, nil
}

// fresh prepares a new run.
func (a *app) fresh(ctx context.Context, own *store.Store, project string, f runFlags, args []string) (r aRun, err error) {
	r = aRun{flags: f, home: project, project: project, args: args}
	if f.merge && !f.worktree {
		return r, errors.New("--merge is for --worktree")
	}
	if r.prompt, err = a.runPrompt(project, f.prompt); err != nil {
		return r, err
	}
	switch {
	case f.policy != "":
		r.flags.policy = atHand(project, f.policy)
	case r.prompt == "":
		r.flags.policy = defaultPolicy
	case len(f.set) > 0:
		return r, errors.New("--set is for --policy: a prompt has no params")
	case len(r.prompt) > maxRepeated:
		return r, fmt.Errorf("without --policy the prompt has at most %d KiB, since a policy repeats it: have it name a file to read", maxRepeated>>10)
	}
	if err := a.runPolicy(ctx, &r); err != nil {
		return r, err
	}
	agent, err := r.defaults()
	if err != nil {
		return r, err
	}
	if f.worktree {
		if err := a.plant(ctx, own, &r); err != nil {
			return r, err
		}
	}
	if agent {
		if err := a.agentApproved(r); err != nil {
			return r, err
		}
	}
	labels := map[string]string{"policy": r.flags.policy}
	for i, s := range f.set {
		labels["set "+strconv.Itoa(i)] = s
	}
	if r.tree.Dir != "" {
		labels["branch"], labels["base"], labels["merge"] = r.tree.Branch, r.tree.Base, strconv.FormatBool(f.merge)
	}
	if agent {
		labels[agentOfPolicy] = "true"
	}
	r.options = append(r.options,
		run.WithDir(r.project), run.WithHome(project), run.WithArgs(r.args...), run.WithPrompt(r.prompt), run.WithUntil(f.until), run.WithLabels(labels))
	return r, nil
}

// agentOfPolicy labels a run whose command line is that of the policy.
const agentOfPolicy = "agent of the policy"

// defaults takes what the user's flags leave to the policy, and reports whether that is the agent too.
func (r *aRun) defaults() (agent bool, err error) {
	iteration, fresh := r.flags.iteration, r.flags.fresh && !r.flags.goOn
	if d := r.program.Run; d != nil {
		if !r.flags.changed("iteration") {
			iteration = d.Iteration
		}
		if !r.flags.changed("fresh") && !r.flags.changed("continue") {
			fresh = d.Fresh
		}
		if agent = len(r.args) == 0 && d.Agent != nil; agent {
			r.args = d.Agent.Args
		}
	}
	if iteration != 0 || r.flags.changed("iteration") {
		r.options = append(r.options, run.WithIteration(iteration))
	}
	if !fresh {
		r.options = append(r.options, run.WithContinue())
	}
	if len(r.args) == 0 {
		err = errors.New("there is no agent to run: write its command line behind --, such as: ralph run --policy speckit -- claude -p")
	}
	return agent, err
}

// agentApproved says why an agent that a policy names is not started. The agent of a run is the one with which it was started,
// and what it runs must be approved as it is now.
func (a *app) agentApproved(r aRun) error {
	agent := rules.Fact{Source: rules.SourceKind{Argv: true, Trust: "runs a program"}, Args: r.args}
	if err := a.unapprovedIn(r.project, r.policy, r.values, r.program.Files(), &agent); err != nil {
		return fmt.Errorf("the policy %s names the agent, %w", r.policy.name, err)
	}
	return nil
}

// resumed prepares to go on with a run.
func (a *app) resumed(ctx context.Context, own *store.Store, project string, f runFlags, args []string) (r aRun, err error) {
	if len(args) > 0 || f.policy != "" || f.prompt != "" || f.until != "" || f.worktree || f.merge || f.goOn || f.client != "" || len(f.set) > 0 || f.changed("fresh") || f.changed("iteration") {
		return r, errors.New("a run is resumed as it was started; give limits only")
	}
	info, err := a.runToResume(own, project, f.resume)
	if err != nil {
		return r, err
	}
	r = aRun{flags: f, home: info.Home, project: info.Root, args: info.Args, prompt: info.Prompt, max: info.Limits.Iterations, options: []run.Option{run.Resume(info.ID)}}
	r.flags.policy, r.flags.client = info.Labels["policy"], info.Client
	for i := 0; ; i++ {
		s, ok := info.Labels["set "+strconv.Itoa(i)]
		if !ok {
			break
		}
		r.flags.set = append(r.flags.set, s)
	}
	if branch := info.Labels["branch"]; branch != "" {
		r.tree = worktree.Tree{Main: info.Home, Dir: info.Root, Branch: branch, Base: info.Labels["base"]}
		r.flags.merge = info.Labels["merge"] == "true"
		if _, err := os.Stat(info.Root); errors.Is(err, fs.ErrNotExist) {
			return r, fmt.Errorf("the worktree of the run is gone; make it again from what was committed there: git worktree add --force %s %s",
				shellQuote(runtime.GOOS, info.Root), shellQuote(runtime.GOOS, branch))
		}
	}
	if err := a.runPolicy(ctx, &r); err != nil {
		return r, err
	}
	if info.Labels[agentOfPolicy] != "" {
		return r, a.agentApproved(r)
	}
	return r, nil
}

// plant makes the worktree of a run. It has only what is committed, so the files that the policy reads must be.
func (a *app) plant(ctx context.Context, own *store.Store, r *aRun) error {
	var files []string
	for _, f := range r.program.Facts() {
		for _, path := range f.Args {
			if f.Source.Path && !strings.Contains(path, "${") {
				files = append(files, path)
			}
		}
	}
	missing, err := worktree.Missing(ctx, r.home, files)
	if err != nil {
		return err
	}
	if len(missing) > 0 {
		return fmt.Errorf("the policy reads %s, which git does not have at HEAD, so a worktree would lack it: commit it first", strings.Join(missing, ", "))
	}
	id := strings.ToLower(rand.Text()[:8])
	tree, err := worktree.Add(ctx, r.home, filepath.Join(own.Dir(), worktreesDir, filepath.Base(r.home)+"-"+id), "ralph/"+id)
	if err != nil {
		return err
	}
	r.tree, r.project = tree, tree.Dir
	fmt.Fprintf(a.stderr, "ralph: the agent works in %s, on the branch %s\n", tree.Dir, tree.Branch)
	return nil
}

// discard removes the worktree of a run that did not start.
func (r aRun) discard(ctx context.Context) error {
	if r.tree.Dir == "" || r.flags.resume != "" {
		return nil
	}
	return r.tree.Remove(context.WithoutCancel(ctx))
}

// bringBack merges the branch of a run, or says where it is.
func (a *app) bringBack(ctx context.Context, t worktree.Tree, merge bool) {
	if !merge {
		fmt.Fprintf(a.stderr, "ralph: the work is on the branch %s in %s\n", t.Branch, t.Dir)
		return
	}
	if err := t.Merge(ctx); err != nil {
		fmt.Fprintf(a.stderr, "ralph: the branch was not merged: %v\n", err)
		return
	}
	fmt.Fprintf(a.stderr, "ralph: merged %s into %s\n", t.Branch, t.Base)
}

// runPolicy loads the policy of a run, or makes the one of a prompt. A worktree has the policies of its project.
func (a *app) runPolicy(ctx context.Context, r *aRun) (err error) {
	if r.flags.policy == "" {
		var diags rules.Diagnostics
		r.program, diags = rules.LoadBytes(ctx, promptName, []byte(promptPolicy), rules.Config{Set: map[string]string{"text": r.prompt}})
		if r.program == nil {
			return diags.Err()
		}
		return nil
	}
	if r.policy, err = findPolicy(r.home, r.flags.policy); err != nil {
		return err
	}
	if r.values, err = params(r.policy, r.flags.set); err != nil {
		return err
	}
	var diags rules.Diagnostics
	if r.program, diags = a.loadWith(ctx, r.policy, r.values); r.program == nil {
		return unusable(r.flags.policy, diags)
	}
	return nil
}

// trust says what the policy may run: what is approved for its project, as it is where the agent works.
func (r aRun) trust(a *app) func(*rules.Fact, []rules.File) error {
	if r.flags.policy == "" {
		return nil
	}
	return func(fact *rules.Fact, files []rules.File) error {
		return a.unapprovedIn(r.project, r.policy, r.values, files, fact)
	}
}

// promptPolicy gives the same prompt again and again: the limits of the run end it.
const (
	promptName   = "prompt"
	promptPolicy = `ralph: 1
description: One prompt, again and again.
params:
  text: {default: "", description: The prompt.}
limits: {continuations: 10000, total: 100000, elapsed: 720h}
rules:
  - name: again
    continue: ${text}
`
)

// How long a prompt may be, and one that is the text of a policy.
const (
	maxPrompt   = 1 << 20
	maxRepeated = 128 << 10
)

// openNamed opens a file that the user names. One of the project is read beneath it: no link that a repository brings leads out.
// Elsewhere it may be anything, such as the pipe of another program.
func (a *app) openNamed(project, name string) (fs.File, error) {
	abs := filepath.FromSlash(name)
	if here, err := a.here(); err == nil && !filepath.IsAbs(abs) {
		abs = filepath.Join(here, abs)
	}
	if rel, err := filepath.Rel(project, abs); err == nil && filepath.IsLocal(rel) {
		return state.Files(project).Open(filepath.ToSlash(rel))
	}
	return os.Open(name)
}

// runPrompt is the text that --prompt names.
func (a *app) runPrompt(project, name string) (string, error) {
	var r io.Reader
	switch {
	case name == "":
		return "", nil
	case name == "-":
		r = a.stdin
	default:
		file, err := a.openNamed(project, name)
		if err != nil {
			_, there := os.Lstat(name)
			ext := filepath.Ext(name)
			if there == nil || errors.Is(err, fs.ErrNotExist) && !strings.ContainsAny(name, " \n") && (ext == ".md" || ext == ".txt" || strings.ContainsRune(name, '/')) {
				return "", fmt.Errorf("the prompt cannot be read: %w", err)
			}
			return name, nil
		}
		defer file.Close()
		r = file
	}
	b, err := io.ReadAll(io.LimitReader(r, maxPrompt+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("the prompt cannot be read: %w", err)
	case len(b) > maxPrompt:
		return "", fmt.Errorf("the prompt is too large (the limit is %d MiB)", maxPrompt>>20)
	case strings.TrimSpace(string(b)) == "":
		return "", fmt.Errorf("the prompt in %s is empty", name)
	}
	return string(b), nil
}

// limits reads the limits of the flags.
func (f runFlags) limits() (l run.Limits, err error) {
	switch {
	case f.changed("max") && f.max < 1:
		return l, fmt.Errorf("--max takes a number of iterations from 1, not %d", f.max)
	case f.changed("for") && f.elapsed <= 0:
		return l, fmt.Errorf("--for takes a time such as 8h, not %s", f.elapsed)
	}
	l.Iterations, l.Elapsed = f.max, f.elapsed
	if f.cost != "" {
		number := strings.TrimPrefix(strings.TrimSuffix(strings.ToLower(f.cost), "usd"), "$")
		if l.Cost, err = strconv.ParseFloat(strings.TrimSpace(number), 64); err != nil || !(l.Cost > 0 && l.Cost < 1e9) {
			return l, fmt.Errorf("--budget takes an amount in US dollars such as 5usd, not %q", f.cost)
		}
	}
	if f.tokens != "" {
		number, factor := f.tokens, 1
		switch last := number[len(number)-1]; last {
		case 'k', 'K':
			number, factor = number[:len(number)-1], 1_000
		case 'm', 'M':
			number, factor = number[:len(number)-1], 1_000_000
		}
		n, err := strconv.ParseFloat(number, 64)
		if err != nil || !(n > 0 && n < 1e12) {
			return l, fmt.Errorf("--tokens takes a number such as 500k or 2M, not %q", f.tokens)
		}
		l.Tokens = int(n * float64(factor))
	}
	return l, nil
}

// runToResume finds the run that --resume names.
func (a *app) runToResume(own *store.Store, project, id string) (run.Info, error) {
	if id != latestRun {
		info, err := run.Find(own.Dir(), id)
		if err == nil && info.Running {
			err = fmt.Errorf("run %s is running; watch it with: ralph run --attach %[1]s", id)
		}
		return info, err
	}
	all, err := run.List(own.Dir(), project)
	if err != nil {
		return run.Info{}, err
	}
	for _, info := range all {
		if !info.Running && info.Ended != run.Success {
			return info, nil
		}
	}
	return run.Info{}, fmt.Errorf("there is no run to resume in %s; see: ralph run --list", project)
}

// runToWatch finds the run that --attach names. Without an id that is one that runs, if there is one.
func runToWatch(own *store.Store, project, id string) (run.Info, error) {
	if id != latestRun {
		return run.Find(own.Dir(), id)
	}
	all, err := run.List(own.Dir(), project)
	switch at := slices.IndexFunc(all, func(info run.Info) bool { return info.Running }); {
	case err != nil:
		return run.Info{}, err
	case len(all) == 0:
		return run.Info{}, fmt.Errorf("there is no run in %s", project)
	default:
		return all[max(at, 0)], nil
	}
}

func clientNames() []string {
	var names []string
	for _, c := range run.Clients() {
		names = append(names, c.Name())
	}
	return names
}

// clientOf is the adapter of a name, or without one that of the program.
func clientOf(name string, args []string) (run.Adapter, error) {
	if name == "" {
		return run.ClientOf(args), nil
	}
	for _, c := range run.Clients() {
		if c.Name() == name {
			return c, nil
		}
	}
	return nil, fmt.Errorf("--client is %s, not %q", alternatives(clientNames()), name)
}

// inRun reports whether a hook is asked within a run of this policy in this project, which then decides itself. A variable that is stale,
// or that an agent set, switches nothing off: the run must still be under way.
func (a *app) inRun(root, policy string) bool {
	id := a.getenv("RALPH_RUN")
	if id == "" {
		return false
	}
	own, err := a.store()
	if err != nil {
		return false
	}
	info, err := run.Find(own.Dir(), id)
	return err == nil && info.Running && info.Root == root && info.Policy == policy
}

// runStatus is the exit status of a run.
func runStatus(e run.End) int {
	switch e {
	case run.Success:
		return exitOK
	case run.Stopped:
		return exitFindings
	case run.AtLimit:
		return exitLimit
	case run.NoReset:
		return exitRateLimit
	case run.NoAccess:
		return exitNoAccess
	case run.TooManyFail:
		return exitCrashes
	case run.NoProgress:
		return exitNoProgress
	case run.Cancelled:
		return exitInterrupted
	}
	return exitFailed
}
