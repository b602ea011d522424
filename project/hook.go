package project

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/internal/workspace"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

// Hook finds the loops of an installed hook: its method Loops is the one of [loop.Hook]. It is safe for concurrent use.
type Hook struct {
	Config   Config        // Dir names the project; "" finds that of each event
	Policies []string      // names, see [Project.Find]; default: .ralph/policy.yaml
	Set      []string      // values of params, as name=value
	User     bool          // it is in the user's own settings, so a project counts only with the user's trust
	Once     bool          // it is for one loop of a policy, only in Config.Dir if that is set: when the loop ends, its entry is taken away
	Options  []loop.Option // of each loop
	Again    bool          // for a preview: show each notice again, instead of once in a session, and take no entry away
}

// Loops returns the loops of all policies for an event, none if loops are switched off. The notices are about policies
// that do not decide.
func (h Hook) Loops(ctx context.Context, ev host.Event) ([]*loop.Loop, []string, error) {
	if h.Config.Env == nil {
		h.Config.Env = os.Getenv
	}
	if _, off := workspace.Off("", h.Config.Env); off || h.elsewhere(ev) {
		return nil, nil, nil
	}
	var root string
	var all hookLoops
	defer func() { all.close() }()
	var err error
	for range 2 { // a file in a policy's head may make a nearer directory the project
		var nearer string
		if nearer, err = workspace.Find(ev.Cwd, h.Config.Dir, all.files, h.Config.Env); err != nil || nearer == root {
			break
		}
		root = nearer
		all.close()
		if all, err = h.in(ctx, root); err != nil {
			break
		}
	}
	if _, off := workspace.Off(root, h.Config.Env); off {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	var shown []string
	for _, notice := range all.notices {
		if h.Again || all.project.Once(ctx, ev.Host, ev.SessionID, root+notice) {
			shown = append(shown, "[ralph] "+notice)
		}
	}
	return all.loops, shown, nil
}

// elsewhere reports whether a hook for one loop of a project must not answer an event, which is of another project.
func (h Hook) elsewhere(ev host.Event) bool {
	if !h.Once || h.Config.Dir == "" {
		return false
	}
	dir, err := filepath.Abs(cmp.Or(workspace.Named("", h.Config.Env), ev.Cwd))
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	return err != nil || !workspace.Beneath(h.Config.Dir, dir)
}

// once returns the option of a loop whose entry is taken away when the loop has ended: when it is done or at a limit, or
// there is none any more.
func (h Hook) once(root string, policy Policy) loop.Option {
	end := func(d *loop.Decision) {
		o := d.Outcome()
		ended := d.Kept && (o == loop.Done || o == loop.Limited)
		gone := !h.Again && d.Verdict != nil && (d.Verdict.Cause == rules.NoLoop || d.Verdict.Cause == rules.Stopped)
		if !ended && !gone {
			return
		}
		c := h.Config
		c.Dir = root
		p, err := Open(c)
		if err != nil {
			return // the next event of the entry takes it away
		}
		defer p.Close()
		_ = p.finish(context.Background(), policy) // or else this
	}
	return loop.WithObserver(func(ctx context.Context, _ host.Event) (context.Context, func(*loop.Decision)) { return ctx, end })
}

// hookLoops are the loops of a hook's policies in a project.
type hookLoops struct {
	project *Project
	loops   []*loop.Loop
	files   []string // the HeadFiles that identify projects; .ralph identifies the project of a policy file
	notices []string // about policies that are not used
}

func (all hookLoops) close() {
	if all.project != nil {
		all.project.Close()
	}
}

func (h Hook) in(ctx context.Context, root string) (all hookLoops, err error) {
	c := h.Config
	c.Dir = root
	if all.project, err = Open(c); err != nil {
		return all, err
	}
	for _, name := range workspace.OrDefault(h.Policies) {
		if err := h.add(ctx, &all, name); err != nil {
			return all, err
		}
	}
	return all, nil
}

// add adds the loop of one policy. An unusable policy stops only itself: its loop lets the agent stop and reports why.
// A missing policy that no other replaces has no loop.
func (h Hook) add(ctx context.Context, all *hookLoops, name string) error {
	p := all.project
	opts := slices.Concat(p.options, []loop.Option{loop.Local(), loop.WithEnv(p.env), loop.WithClock(p.now), loop.WithRoot(p.dir)}, h.Options)
	if dir := h.Config.State; dir != "" && !p.foreign {
		opts = append([]loop.Option{loop.WithState(dir)}, opts...)
	}
	opts = append(p.where(), opts...)
	add := func(l *loop.Loop, err error) error {
		if err == nil {
			all.loops = append(all.loops, l)
		}
		return err
	}
	policy, err := p.Find(name)
	switch {
	case err != nil && h.User && p.Lacks(name) && !h.Once:
		return nil
	case err != nil && h.Once:
		all.notices = append(all.notices, fmt.Sprintf("the loop of %s has ended: %v", Short(name), err))
		if file, _ := policyFile(p.dir, name); !h.Again {
			_, _ = p.takeAway(ctx, file) // or else the next event does it
		}
		return nil
	case err != nil:
		return add(loop.Broken(name, err, opts...))
	}
	load := Load{Set: h.Set, Lazy: true}
	if h.User && policy.Beneath() {
		approved, err := p.openApproved(ctx, policy, Load{Set: h.Set})
		if err != nil {
			all.notices = append(all.notices, fmt.Sprintf("%s is not used, since it %s", policy.Name, strings.TrimPrefix(err.Error(), "which ")))
			var ok bool
			if approved, ok = ShippedPolicy(name); !ok {
				return nil
			}
		}
		policy = approved
	}
	if policy.Program == nil {
		if h.User {
			why := p.Distrusted()
			if why != nil && p.Configured(policy) {
				all.notices = append(all.notices, fmt.Sprintf("%s is not used: %v", ConfigFile, why))
			}
			load.Untrusted = why != nil
			opts = append(opts, loop.WithUserScope(func(string) error { return why }))
		}
		if policy, err = p.Load(ctx, policy, load); err != nil {
			if policy.Findings != nil {
				err = fmt.Errorf("the policy cannot be used; run `ralph check %s`\n%s", name, policy.Problem)
			}
			return add(loop.Broken(policy.Name, err, opts...))
		}
	}
	if !policy.Beneath() {
		all.files = append(all.files, policy.Program.HeadFiles()...)
	}
	if h.Once {
		opts = append(opts, h.once(p.dir, policy))
	}
	return add(loop.New(policy.Program, slices.Concat(policy.Options, opts, []loop.Option{loop.WithName(policy.Name)})...))
}
