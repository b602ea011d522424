package project

import (
	"cmp"
	"context"
	"crypto/rand"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/internal/shellwords"
	"github.com/ralph-sdk/ralph/internal/store"
	"github.com/ralph-sdk/ralph/internal/workspace"
	"github.com/ralph-sdk/ralph/internal/worktree"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/run"
)

// RunRequest says what an agent is run for, again and again. One with Resume has only limits beside it.
type RunRequest struct {
	Policy    string   // default: a prompt is the policy, and without one the default policy
	Set       []string // values of params, as name=value
	Prompt    string   // of the first iteration, and without a policy of each
	Until     string   // text in the agent's last message that ends the run by success
	Agent     []string // command line; default: that of the policy
	Client    string   // whose output is read; default: by the program
	Continue  *bool    // the client's session in each iteration; default: that of the policy, or a fresh context
	Iteration *time.Duration
	Worktree  bool   // the agent works in a git worktree and on a branch of its own
	Merge     bool   // bring that branch back if the run ends by success
	Resume    string // ID of a run that ended, or [Latest]

	Limits    run.Limits
	Interrupt <-chan struct{} // the run ends after its iteration once it is closed
}

// Latest is the latest run of the project.
const Latest = "latest"

// Run is a run of an agent that is about to start, or to continue.
type Run struct {
	Dir        string // in which the agent works: the project, or a worktree of it
	Branch     string // of the worktree, "" if there is none
	Iterations int    // most of a run that is resumed, 0 if that is not known

	home   *Project
	policy Policy // without a program where a prompt is the policy
	agent  []string
	named  bool // the policy names the agent, not the user
	tree   worktree.Tree
	merge  bool
	runner *run.Runner
	opts   []run.Option
}

// What a run keeps of its request.
const (
	labelPolicy = "policy"
	labelSet    = "set "
	labelBranch = "branch"
	labelBase   = "base"
	labelMerge  = "merge"
	labelNamed  = "agent of the policy"
)

//go:embed template/prompt.yaml
var promptPolicy []byte

// How long a prompt may be that is the text of a policy.
const maxRepeated = 128 << 10

// Run prepares a run. Its worktree, if it has one, exists then.
func (p *Project) Run(ctx context.Context, q RunRequest) (r *Run, err error) {
	if err := p.own.Refused(p.dir); err != nil {
		return nil, err
	}
	if why, off := workspace.Off("", p.env); off {
		return nil, fmt.Errorf("%s, which disables runs: unset it to start one", why)
	}
	if q.Resume != "" {
		r, err = p.resumed(ctx, &q)
	} else {
		r, err = p.fresh(ctx, q)
	}
	if err == nil {
		err = errors.Join(r.prepare(q), ctx.Err())
	}
	if err != nil && r != nil && q.Resume == "" && r.tree.Dir != "" {
		err = errors.Join(err, r.tree.Remove(context.WithoutCancel(ctx)))
	}
	return r, err
}

// fresh makes a new run.
func (p *Project) fresh(ctx context.Context, q RunRequest) (r *Run, err error) {
	r = &Run{Dir: p.dir, home: p, agent: q.Agent, merge: q.Merge}
	if len(q.Agent) > 0 { // what is wrong with its command line is said first
		client, err := clientOf(q.Client, q.Agent)
		if err == nil {
			_, err = client.Command(run.Invocation{Args: q.Agent, Dir: p.dir})
		}
		if err != nil {
			return r, err
		}
	}
	bounded := q.Until != "" || q.Limits != run.Limits{}
	switch {
	case q.Merge && !q.Worktree:
		return r, errors.New("--merge is for --worktree")
	case q.Policy == "" && q.Prompt == "" && p.Lacks(workspace.DefaultPolicy):
		return r, fmt.Errorf("no policy says when the run ends, as there is no %s: write one with ralph init, name one with --policy, or write --prompt with --until or --max", workspace.DefaultPolicy)
	case q.Policy == "" && q.Prompt == "":
		q.Policy = workspace.DefaultPolicy
	case q.Policy != "":
	case len(q.Set) > 0:
		return r, errors.New("--set is for --policy: a prompt has no params")
	case len(q.Prompt) > maxRepeated:
		return r, fmt.Errorf("without --policy the prompt has at most %d KiB, since a policy repeats it: have it name a file to read", maxRepeated>>10)
	case q.Policy == "" && !bounded:
		return r, errors.New("nothing says when the run ends: add --until TEXT that the agent writes when it is done, a limit such as --max 10, or --policy NAME")
	}
	if err := r.load(ctx, q); err != nil {
		return r, err
	}
	if err := r.defaults(q); err != nil {
		return r, err
	}
	if q.Worktree {
		if err := r.plant(ctx); err != nil {
			return r, err
		}
	}
	labels := map[string]string{labelPolicy: q.Policy}
	for i, s := range q.Set {
		labels[labelSet+strconv.Itoa(i)] = s
	}
	if r.tree.Dir != "" {
		labels[labelBranch], labels[labelBase], labels[labelMerge] = r.tree.Branch, r.tree.Base, strconv.FormatBool(q.Merge)
	}
	if r.named {
		labels[labelNamed] = "true"
	}
	r.opts = append(r.opts,
		run.WithDir(r.Dir), run.WithHome(p.dir), run.WithArgs(r.agent...), run.WithPrompt(q.Prompt), run.WithUntil(q.Until), run.WithLabels(labels))
	return r, nil
}

// resumed makes a run that continues another one, as that was started.
func (p *Project) resumed(ctx context.Context, q *RunRequest) (*Run, error) {
	info, err := p.toResume(q.Resume)
	if err != nil {
		return nil, err
	}
	home := p
	if info.Home != p.dir {
		if home, err = Open(Config{Dir: info.Home, State: p.own.Dir(), Options: p.options, Env: p.env, Now: p.now}); err != nil {
			return nil, err
		}
	}
	r := &Run{Dir: info.Root, Iterations: info.Limits.Iterations, home: home, agent: info.Command, named: info.Labels[labelNamed] != "", opts: []run.Option{run.Resume(info.ID)}}
	q.Policy, q.Client, q.Prompt = info.Labels[labelPolicy], info.Client, info.Prompt
	for i := 0; ; i++ {
		s, ok := info.Labels[labelSet+strconv.Itoa(i)]
		if !ok {
			break
		}
		q.Set = append(q.Set, s)
	}
	if branch := info.Labels[labelBranch]; branch != "" {
		r.tree = worktree.Tree{Main: info.Home, Dir: info.Root, Branch: branch, Base: info.Labels[labelBase]}
		r.Branch, r.merge = branch, info.Labels[labelMerge] == "true"
		if _, err := os.Stat(info.Root); errors.Is(err, fs.ErrNotExist) {
			return r, fmt.Errorf("the worktree of the run is gone; make it again from what was committed there: git worktree add --force %s %s",
				shellwords.Quote(runtime.GOOS, info.Root), shellwords.Quote(runtime.GOOS, branch))
		}
	}
	return r, r.load(ctx, *q)
}

// toResume finds the run to resume.
func (p *Project) toResume(id string) (run.Info, error) {
	if id != Latest {
		info, err := run.Find(p.own.Dir(), id)
		switch {
		case errors.Is(err, store.ErrNoRun):
			err = fmt.Errorf("%w; see: ralph run --list", err)
		case err == nil && info.Running:
			err = fmt.Errorf("run %s is running", id)
		}
		return info, err
	}
	all, err := p.Runs()
	if err != nil {
		return run.Info{}, err
	}
	if i := slices.IndexFunc(all, func(info run.Info) bool { return !info.Running && info.Ended != run.Success }); i >= 0 {
		return all[i], nil
	}
	return run.Info{}, fmt.Errorf("there is no run to resume in %s; see: ralph run --list", p.dir)
}

// Runs lists the runs of the project, the latest first.
func (p *Project) Runs() ([]run.Info, error) { return run.List(p.own.Dir(), p.dir) }

// Printed returns at most so many bytes of the end of what the agent of one of [Project.Runs] printed.
func (p *Project) Printed(id string, most int64) (run.Printed, error) {
	all, err := p.Runs()
	if i := slices.IndexFunc(all, func(info run.Info) bool { return info.ID == id }); i >= 0 {
		return all[i].Printed(most)
	}
	return run.Printed{}, cmp.Or(err, store.ErrNoRun)
}

// load loads the policy of a run, or makes the one of a prompt. A worktree has the policies of its project.
func (r *Run) load(ctx context.Context, q RunRequest) (err error) {
	if q.Policy == "" {
		var diags rules.Diagnostics
		r.policy.Program, diags = rules.LoadBytes(ctx, "prompt", promptPolicy, rules.Config{Set: map[string]string{"text": q.Prompt}})
		return diags.Err()
	}
	r.policy, err = r.home.Open(ctx, q.Policy, Load{Set: q.Set})
	return err
}

// defaults takes what the request leaves to the policy.
func (r *Run) defaults(q RunRequest) error {
	if d := r.policy.Program.Run; d != nil {
		if q.Iteration == nil && d.Iteration != 0 {
			q.Iteration = &d.Iteration
		}
		if q.Continue == nil {
			on := !d.Fresh
			q.Continue = &on
		}
		if r.named = len(r.agent) == 0 && d.Agent != nil; r.named {
			r.agent = d.Agent.Args
		}
	}
	if q.Iteration != nil {
		r.opts = append(r.opts, run.WithIteration(*q.Iteration))
	}
	if q.Continue != nil && *q.Continue {
		r.opts = append(r.opts, run.WithContinue())
	}
	if len(r.agent) == 0 {
		return errors.New("there is no agent to run: write its command line behind --, such as: ralph run --policy speckit -- claude -p")
	}
	return nil
}

// plant makes the worktree of a run. It has only what is committed, so the files that the policy reads must be.
func (r *Run) plant(ctx context.Context) error {
	var files []string
	for _, f := range r.policy.Program.Facts() {
		for _, path := range f.Args {
			if f.Source.Path && !strings.Contains(path, "${") {
				files = append(files, path)
			}
		}
	}
	missing, err := worktree.Missing(ctx, r.Dir, files)
	if err != nil {
		return err
	}
	if len(missing) > 0 {
		return fmt.Errorf("the policy reads %s, which git does not have at HEAD, so a worktree would lack it: commit it first", strings.Join(missing, ", "))
	}
	id := strings.ToLower(rand.Text()[:8])
	r.tree, err = worktree.Add(ctx, r.Dir, filepath.Join(r.home.own.Dir(), worktreesDir, filepath.Base(r.Dir)+"-"+id), "ralph/"+id)
	if err != nil {
		r.tree = worktree.Tree{}
		return err
	}
	r.Dir, r.Branch = r.tree.Dir, r.tree.Branch
	return nil
}

// prepare makes the runner.
func (r *Run) prepare(q RunRequest) error {
	client, err := clientOf(q.Client, r.agent)
	if err != nil {
		return err
	}
	if r.named {
		client = approvedAgent{client, r.approved}
	}
	p, name := r.home, cmp.Or(r.policy.Name, "prompt")
	opts := append(slices.Clip(p.options), loop.Local(), loop.WithEnv(p.env), loop.WithDeadline(r.policy.Deadline(p.Language().Deadline)), loop.WithTrust(func(fact *rules.Fact, files []rules.File) error {
		if r.policy.Name == "" {
			return nil
		}
		return p.unapproved(r.policy, r.Dir, files, fact)
	}))
	r.runner, err = run.New(r.policy.Program, client, append(r.opts,
		run.WithName(name), run.WithState(p.own.Dir()), run.WithProject(loop.LocalStore(p.own.Dir())), run.WithLimits(q.Limits), run.WithInterrupt(q.Interrupt),
		run.WithControl(func() run.Control { return p.control(name, r.runner.ID()) }), run.WithLoop(opts...),
	)...)
	if err == nil {
		err = p.own.EndRun(r.runner.ID(), false)
	}
	return err
}

// clientOf is the adapter of a name, or without one that of the program.
func clientOf(name string, args []string) (run.Adapter, error) {
	if name == "" {
		return run.ClientOf(args), nil
	}
	clients := run.Clients()
	if i := slices.IndexFunc(clients, func(c run.Adapter) bool { return c.Name() == name }); i >= 0 {
		return clients[i], nil
	}
	return nil, fmt.Errorf("there is no client %q", name)
}

// approvedAgent is the agent that a policy names. What it runs must be approved as it is at each start: an agent can change it.
type approvedAgent struct {
	run.Adapter
	approved func() error
}

func (g approvedAgent) Command(i run.Invocation) (run.Command, error) {
	if err := g.approved(); err != nil {
		return run.Command{}, err
	}
	return g.Adapter.Command(i)
}

// approved says why an agent that a policy names is not started. The agent of a run is the one with which it was started.
func (r *Run) approved() error {
	started := agent(rules.Fact{Source: rules.SourceKind{Argv: true, Trust: "runs a program"}, Args: r.agent}, r.Dir)
	if err := r.home.unapproved(r.policy, r.Dir, r.policy.Program.Files(), started); err != nil {
		return fmt.Errorf("the policy %s names the agent, %w", r.policy.Name, err)
	}
	return nil
}

// control asks whether a run was stopped, and whether it, its policy, or every policy is paused in the project.
func (p *Project) control(policy, id string) run.Control {
	if p.own.RunEnding(id) {
		return run.Leave
	}
	if _, off := workspace.Off(p.dir, func(string) string { return "" }); off {
		return run.Pause
	}
	pauses, _ := p.own.Pauses(p.dir)
	if slices.ContainsFunc(pauses, func(o store.Pause) bool { return o.Covers(policy, run.Session(id)) }) {
		return run.Pause
	}
	return run.GoOn
}

// Events runs the agent, and returns what happens; the last event says how the run ended.
func (r *Run) Events(ctx context.Context) iter.Seq[run.Event] { return r.runner.Run(ctx) }

// Merge brings the branch of the worktree back, if the request says so and the run ended by success. It returns the branch
// that has the work now.
func (r *Run) Merge(ctx context.Context, end run.End) (branch string, err error) {
	if !r.merge || end != run.Success {
		return r.Branch, nil
	}
	return r.tree.Base, r.tree.Merge(ctx)
}
