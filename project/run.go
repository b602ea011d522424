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

	"github.com/ralph-sdk/ralph/host/setup"
	"github.com/ralph-sdk/ralph/internal/shellwords"
	"github.com/ralph-sdk/ralph/internal/store"
	"github.com/ralph-sdk/ralph/internal/workspace"
	"github.com/ralph-sdk/ralph/internal/worktree"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/run"
	"github.com/ralph-sdk/ralph/run/step"
)

// RunRequest describes a run. With Resume, only limits and the answer may be set.
type RunRequest struct {
	Policy    string   // default: none with a prompt, otherwise the default policy
	Set       []string // values of params, as name=value
	Prompt    string   // of the first iteration; without a policy, of each
	Said      string   // line in the agent's last message that ends the run with success; prompts ask for it
	Until     string   // command that ends the run with success by passing, for a shell; no other policy and no prompt
	Agent     []string // command line; default: the policy's
	Client    string   // the client whose output is parsed; default: by the program
	Continue  *bool    // resume the client's session in each iteration; default: the policy's setting, or a fresh context
	Iteration *time.Duration
	Worktree  bool   // the agent works in its own git worktree and branch
	Merge     bool   // as Worktree, and merge that branch if the run ends with success
	Resume    string // ID of an ended run, or [Latest]
	Answer    string // to the question of the run to resume

	Limits    run.Limits
	Watch     run.Watch       // ends the agent with this process; the zero value is none
	Interrupt <-chan struct{} // closing it ends the run after the current iteration
}

// Latest means the latest run of the project.
const Latest = "latest"

// Run is a run to start or resume.
type Run struct {
	Dir        string // where the agent works: the project, or a worktree of it
	Branch     string // of the worktree, or ""
	Iterations int    // the most that the run and its policy allow

	home   *Project
	policy Policy // without a program if there is only a prompt
	agent  []string
	named  bool // the policy names the agent, not the user
	tree   worktree.Tree
	merge  bool
	driven bool // by another driver
	runner *run.Runner
	opts   []run.Option
}

// Labels with which a run keeps its request.
const (
	labelPolicy = "policy"
	labelSet    = "set "
	labelBranch = "branch"
	labelBase   = "base"
	labelMerge  = "merge"
	labelNamed  = "agent of the policy"
	labelUntil  = "until"
)

//go:embed template/prompt.yaml
var promptPolicy []byte

// Maximum length of a prompt that becomes the text of a policy.
const maxRepeated = 128 << 10

// Run prepares a run, including its worktree.
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

// fresh returns a new run.
func (p *Project) fresh(ctx context.Context, q RunRequest) (r *Run, err error) {
	r = &Run{Dir: p.dir, home: p, agent: q.Agent, merge: q.Merge}
	if len(q.Agent) > 0 { // report errors in its command line first
		client, err := clientOf(q.Client, q.Agent)
		if err == nil {
			_, err = client.Command(run.Invocation{Args: q.Agent, Dir: p.dir})
		}
		if err != nil {
			return r, err
		}
	}
	bounded := q.Said != "" || q.Limits != run.Limits{}
	switch {
	case q.Answer != "":
		return r, errors.New("--answer needs --resume: it answers the question with which a run ended; run `ralph run --list` to find the run")
	case q.Until != "":
	case q.Policy == "" && q.Prompt == "" && p.Lacks(workspace.DefaultPolicy):
		return r, fmt.Errorf("no policy decides when the run ends, since there is no %s; run `ralph init` to write one, name one with --policy, or use --prompt with --promise or --max", workspace.DefaultPolicy)
	case q.Policy == "" && q.Prompt == "":
		q.Policy = workspace.DefaultPolicy
	case q.Policy != "":
	case len(q.Set) > 0:
		return r, errors.New("--set needs --policy: a prompt has no params")
	case len(q.Prompt) > maxRepeated:
		return r, fmt.Errorf("without --policy the prompt must have at most %d KiB, since a policy repeats it; write it to a file and name that file in the prompt", maxRepeated>>10)
	case q.Policy == "" && !bounded:
		return r, errors.New("nothing decides when the run ends: add --promise TEXT that the agent writes when it is done, a limit such as --max 10, or --policy NAME")
	}
	if err := r.load(ctx, q); err != nil {
		return r, err
	}
	if err := r.defaults(q); err != nil {
		return r, err
	}
	if q.Worktree || q.Merge {
		if err := r.plant(ctx); err != nil {
			return r, err
		}
	}
	labels := map[string]string{labelPolicy: q.Policy}
	if q.Until != "" {
		labels[labelUntil] = q.Until
	}
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
		run.WithDir(r.Dir), run.WithHome(p.dir), run.WithArgs(r.agent...), run.WithLabels(labels))
	if q.Prompt != "" {
		r.opts = append(r.opts, run.WithPrompt(q.Prompt))
	}
	if q.Said != "" {
		r.opts = append(r.opts, run.WithSaid(q.Said))
	}
	return r, nil
}

// resumed returns a run that continues another one, with its settings.
func (p *Project) resumed(ctx context.Context, q *RunRequest) (*Run, error) {
	info, err := p.toResume(ctx, q.Resume)
	if err != nil {
		return nil, err
	}
	home := p
	if info.Home != p.dir {
		if home, err = p.at(info.Home); err != nil {
			return nil, err
		}
	}
	r := &Run{Dir: info.Root, home: home, agent: info.Command, named: info.Labels[labelNamed] != "", opts: []run.Option{run.Resume(info.ID)}}
	if q.Answer != "" {
		if info.Ended != run.Asked {
			return nil, fmt.Errorf("run %s asks nothing, so --answer has no question; run `ralph run --resume=%[1]s` to continue it", info.ID)
		}
		r.opts = append(r.opts, run.WithAnswer(q.Answer))
	}
	q.recall(info.Labels, info.Client, info.Prompt)
	if branch := info.Labels[labelBranch]; branch != "" {
		r.tree = worktree.Tree{Main: info.Home, Dir: info.Root, Branch: branch, Base: info.Labels[labelBase]}
		r.Branch, r.merge = branch, info.Labels[labelMerge] == "true"
		if _, err := os.Stat(info.Root); errors.Is(err, fs.ErrNotExist) {
			return r, fmt.Errorf("the worktree of the run is gone; run `git worktree add --force %s %s` to make it again from what was committed there",
				shellwords.Quote(runtime.GOOS, info.Root), shellwords.Quote(runtime.GOOS, branch))
		}
	}
	return r, r.load(ctx, *q)
}

// recall sets what the labels of a run keep of its request.
func (q *RunRequest) recall(labels map[string]string, client, prompt string) {
	q.Policy, q.Until, q.Client, q.Prompt = labels[labelPolicy], labels[labelUntil], client, prompt
	for i := 0; ; i++ {
		s, ok := labels[labelSet+strconv.Itoa(i)]
		if !ok {
			return
		}
		q.Set = append(q.Set, s)
	}
}

// State returns a run that has not begun, as a state that another driver can drive, and the documents that it names. Only
// the policy as it is now may decide.
func (r *Run) State() (s step.State, documents map[string]string) {
	s = r.runner.State()
	s.Plan.Digest = r.policy.Digest()
	return s, r.runner.Documents()
}

// Program returns the policy of the run.
func (r *Run) Program() *rules.Program { return r.policy.Program }

// Driven returns the runner of a run that another driver drives, see [run.Driven]: the agent works in dir, a work tree of the
// project. The project has the run's policy, and what it runs must be approved here. It is an error if the policy is not the
// one with which the run was started.
func (p *Project) Driven(ctx context.Context, s step.State, documents map[string]string, dir string, w run.Watch) (*run.Runner, error) {
	if err := p.own.Refused(p.dir); err != nil {
		return nil, err
	}
	s.Plan.Root, s.Plan.Home = dir, p.dir
	plan, prompt := s.Plan, s.Plan.Prompt.Text
	if name := plan.Prompt.Document; name != "" {
		prompt = documents[name]
	}
	q := RunRequest{Watch: w}
	q.recall(plan.Labels, plan.Client, prompt)
	r := &Run{Dir: dir, home: p, agent: plan.Args, named: plan.Labels[labelNamed] != "", driven: true, opts: []run.Option{run.Driven(s, documents)}}
	if err := r.load(ctx, q); err != nil {
		return nil, err
	}
	if plan.Digest != "" && r.policy.Digest() != plan.Digest {
		return nil, fmt.Errorf("the policy %s is not the one with which the run was started: have the same commit here and there", plan.Policy)
	}
	err := r.prepare(q)
	return r.runner, err
}

// toResume finds the run to resume.
func (p *Project) toResume(ctx context.Context, id string) (run.Info, error) {
	var info run.Info
	var err error
	if id == Latest {
		var all []run.Info
		if all, err = p.runs(ctx); err != nil {
			return info, err
		}
		i := slices.IndexFunc(all, func(info run.Info) bool { return info.Running || info.Ended != run.Success })
		if i < 0 {
			return info, fmt.Errorf("there is no run to resume in %s; run `ralph run --list`", p.dir)
		}
		info = all[i]
	} else if info, err = run.Find(ctx, p.kept, p.scope, id); errors.Is(err, store.ErrNoRun) {
		err = fmt.Errorf("%w; run `ralph run --list`", err)
	}
	if err == nil && info.Running {
		of := ""
		if policy := info.Labels[labelPolicy]; policy != "" {
			of = " " + Short(policy)
		}
		err = fmt.Errorf("run %s is in progress: wait until it ends, or run `ralph stop%s` to end it after its iteration", info.ID, of)
	}
	return info, err
}

// Runs returns the runs of the project, latest first.
func (p *Project) Runs() ([]run.Info, error) { return p.runs(context.Background()) }

func (p *Project) runs(ctx context.Context) ([]run.Info, error) {
	return run.List(ctx, p.kept, p.scope, p.dir)
}

// Printed returns at most most bytes from the end of the agent's output in one of [Project.Runs].
func (p *Project) Printed(id string, most int64) (run.Printed, error) {
	all, err := p.Runs()
	if i := slices.IndexFunc(all, func(info run.Info) bool { return info.ID == id }); i >= 0 {
		return all[i].Printed(most)
	}
	return run.Printed{}, cmp.Or(err, store.ErrNoRun)
}

// load loads the policy of a run, or builds one from its prompt or its command. A worktree uses the policies of its project.
func (r *Run) load(ctx context.Context, q RunRequest) (err error) {
	if q.Until != "" {
		var diags rules.Diagnostics
		u := Until{Command: q.Until, Max: MaxUntil} // the run has the limit
		r.policy.Program, diags = rules.LoadBytes(ctx, "until", u.policy(false), r.home.Language())
		return diags.Err()
	}
	if q.Policy == "" {
		var diags rules.Diagnostics
		r.policy.Program, diags = rules.LoadBytes(ctx, "prompt", promptPolicy, rules.Config{Set: map[string]string{"text": q.Prompt}})
		return diags.Err()
	}
	r.policy, err = r.home.Open(ctx, q.Policy, Load{Set: q.Set})
	return err
}

// defaults sets what the request leaves to the policy.
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
		return errors.New("there is no agent to run; write its command line after --, for example `ralph run --policy speckit -- claude -p`")
	}
	return nil
}

// plant creates the worktree of a run. It has only committed files, so the files that the policy reads must be
// committed.
func (r *Run) plant(ctx context.Context) error {
	var files []string
	for _, f := range r.policy.Program.Facts() {
		for _, path := range f.Args {
			if (f.Source.Argument == "path" || f.Source.Argument == "pattern") && !strings.Contains(path, "${") {
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
	r.tree, err = worktree.Add(ctx, r.Dir, filepath.Join(r.home.Trees(), filepath.Base(r.Dir)+"-"+id), "ralph/"+id)
	if err != nil {
		r.tree = worktree.Tree{}
		return err
	}
	r.Dir, r.Branch = r.tree.Dir, r.tree.Branch
	return nil
}

// prepare creates the runner.
func (r *Run) prepare(q RunRequest) error {
	client, err := clientOf(q.Client, r.agent)
	if err != nil {
		return err
	}
	if r.named {
		client = approvedAgent{client, r.approved}
	}
	p, name := r.home, r.policy.Name
	if name == "" {
		name = "prompt"
		if q.Until != "" {
			name = "until"
			if !r.driven {
				r.opts = append(r.opts, run.WithFiles(p.own.Dir()))
			}
		}
	}
	if r.policy.Name == "" && q.Resume == "" && !r.driven { // the policy of a prompt leaves the time to the run
		q.Limits.Elapsed = cmp.Or(q.Limits.Elapsed, run.DefaultElapsed)
	}
	if q.Watch != (run.Watch{}) {
		r.opts = append(r.opts, run.WithWatch(q.Watch))
	}
	if q.Interrupt != nil {
		r.opts = append(r.opts, run.WithInterrupt(q.Interrupt))
	}
	r.opts = append(r.opts, run.WithName(name), run.WithLoop(r.loopOptions()...))
	if !r.driven {
		r.opts = append(r.opts, run.WithStore(p.kept, p.scope), run.WithLimits(q.Limits), run.WithControl(p.control))
	}
	if r.runner, err = run.New(r.policy.Program, client, r.opts...); err == nil && !r.driven {
		r.Iterations = r.limits().Iterations
	}
	return err
}

// loopOptions returns the options of the loop of a run, whose agent works in the project or a work tree of it. What the policy
// runs must be approved in the project, and be where the agent works as it was approved. A policy without a name, which
// a person typed, needs no approval.
func (r *Run) loopOptions() []loop.Option {
	p, policy := r.home, r.policy
	opts := append(slices.Clip(p.options), loop.Local(), loop.WithEnv(p.env), loop.WithDeadline(policy.Deadline(p.Language().Deadline)), loop.WithTrust(func(fact *rules.Fact, files []rules.File) error {
		if policy.Name == "" {
			return nil
		}
		return p.unapproved(policy, r.Dir, files, fact)
	}))
	if !p.foreign || r.driven { // what another driver drives has its log on this machine
		opts = append(opts, loop.WithState(p.own.Dir()))
	}
	return opts
}

// clientOf returns the adapter by name, or without a name by the program.
func clientOf(name string, args []string) (run.Adapter, error) {
	if name == "" {
		return run.ClientOf(args), nil
	}
	clients := run.Clients()
	if i := slices.IndexFunc(clients, func(c run.Adapter) bool { return c.Name() == name }); i >= 0 {
		return clients[i], nil
	}
	return nil, fmt.Errorf("unknown client %q", name)
}

// approvedAgent is the agent of a policy. The user must have approved it as it is at each start, because an agent can
// change it.
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

// approved returns why a policy's agent may not start. A run keeps the agent with which it started.
func (r *Run) approved() error {
	started := &rules.Fact{Source: rules.SourceKind{Argument: "words", Trust: "runs a program"}, Args: r.agent}
	if err := r.home.unapproved(r.policy, r.Dir, r.policy.Program.Files(), started, setup.Starting(r.Dir)...); err != nil {
		return fmt.Errorf("the policy %s names the agent, %w", r.policy.Name, err)
	}
	return nil
}

// control returns whether every policy of the project is paused. Other orders are for the run to read.
func (p *Project) control() run.Control {
	if _, off := workspace.Off(p.dir, func(string) string { return "" }); off {
		return run.Pause
	}
	return run.GoOn
}

// Events runs the agent and yields the events; the last one has the reason for the end.
func (r *Run) Events(ctx context.Context) iter.Seq[run.Event] { return r.runner.Run(ctx) }

// Merge merges the branch of the worktree, if the request asks for it and the run ended with success. It returns the
// branch that now has the work.
func (r *Run) Merge(ctx context.Context, end run.End) (branch string, err error) {
	if !r.merge || end != run.Success {
		return r.Branch, nil
	}
	return r.tree.Base, r.tree.Merge(ctx)
}
