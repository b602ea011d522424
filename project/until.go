package project

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/host/setup"
	"github.com/ralph-sdk/ralph/internal/amount"
	"github.com/ralph-sdk/ralph/internal/home"
	"github.com/ralph-sdk/ralph/internal/jsontext"
	"github.com/ralph-sdk/ralph/internal/shellwords"
	"github.com/ralph-sdk/ralph/internal/workspace"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/state"
)

// UntilPolicy is the policy that [Project.Until] writes.
const UntilPolicy = ".ralph/until.yaml"

// untilState is the file that the loop of UntilPolicy is in.
const untilState = ".ralph/until.json"

// Until is a command that ends a piece of work by passing.
type Until struct {
	Command string        // for a shell
	Max     int           // continuations per prompt
	Pin     bool          // an approval covers the files that the command names; otherwise they are the agent's to change
	Took    time.Duration // how long the command took, as [Project.Try] measures it
}

// The time of a command whose duration is unknown, and the least that one is given.
const (
	maxTry   = 10 * time.Minute
	leastTry = time.Minute
)

// MaxUntil is the most continuations that a policy may allow per prompt.
const MaxUntil = 10_000

// timeout returns how long the command may take: three times as long as it took.
func (u Until) timeout() time.Duration {
	if u.Took == 0 {
		return maxTry
	}
	return max(leastTry, (3 * u.Took).Round(time.Second))
}

//go:embed template/until.yaml
var untilPolicy string

//go:embed template/try.yaml
var tryPolicy string

// policy returns the policy that continues until the command passes. The lines of its template that end with "# hook" make it
// a piece of work, with a file that ends with it. A run writes no file.
func (u Until) policy(hook bool) []byte {
	var b strings.Builder
	for line := range strings.Lines(untilPolicy) {
		text, only := strings.CutSuffix(strings.TrimSuffix(line, "\n"), "# hook")
		if hook || !only {
			b.WriteString(strings.TrimRight(text, " ") + "\n")
		}
	}
	return u.fill(b.String(), u.timeout())
}

// fill writes the values into a policy.
func (u Until) fill(policy string, timeout time.Duration) []byte {
	text := jsontext.Encode(strings.ReplaceAll(u.Command, "${", "$${"))
	literal := jsontext.Encode(string(jsontext.Encode(u.Command)))
	if u.Pin {
		policy = strings.Replace(policy, ", covers: []", "", 1)
	}
	return []byte(strings.NewReplacer("TEXT", string(text), "LITERAL", string(literal), "SHELL", strings.Join(shellwords.Shell(), ", "),
		"TIMEOUT", amount.Time(timeout), "MAX", strconv.Itoa(u.Max)).Replace(policy))
}

// Tried is how a command ended that is to pass.
type Tried struct {
	Passes   bool
	Unusable bool          // it did not report whether it passes: it cannot be run, a signal ended it, or its time was over
	Text     string        // the end of what it printed; if Unusable, why, first
	Took     time.Duration // until it ended
}

// Try runs a command as a policy would that waits for it. A person must have typed it: it needs no approval.
func (p *Project) Try(ctx context.Context, command string) (Tried, error) {
	return p.try(ctx, command, maxTry)
}

func (p *Project) try(ctx context.Context, command string, most time.Duration) (t Tried, err error) {
	if why, off := workspace.Off(p.dir, p.env); off {
		return t, fmt.Errorf("all loops are off: %s", why)
	}
	program, diags := rules.LoadBytes(ctx, "until", Until{Command: command}.fill(tryPolicy, most), p.Language())
	if err := diags.Err(); err != nil {
		return t, err
	}
	l, err := loop.New(program, append(slices.Clip(p.options), loop.WithRoot(p.dir), loop.WithEnv(p.env), loop.WithDeadline(most+time.Minute),
		loop.WithTrust(func(*rules.Fact, []rules.File) error { return nil }))...)
	if err != nil {
		return t, err
	}
	started := time.Now()
	d := l.Preview(ctx, p.event(""))
	if err := ctx.Err(); err != nil {
		return t, err
	}
	v := d.Verdict
	return Tried{Passes: v.Success, Unusable: !v.Success && v.Rule != "failed", Text: strings.TrimSpace(v.Reason), Took: time.Since(started)}, nil
}

// Waiting returns the command whose passing the loop of [UntilPolicy] waits for, and the loop; ok is false if there is none.
func (p *Project) Waiting(ctx context.Context) (u Until, l Loop, ok bool) {
	policy, err := p.policy(ctx, UntilPolicy)
	if err != nil || policy.Program == nil || policy.Program.Loop() == nil {
		return u, l, false
	}
	now, err := p.look(ctx, policy, "")
	if err != nil || !now.exists() {
		return u, l, false
	}
	src, _, err := p.root.ReadBytes(ctx, untilState)
	var work struct{ Command string }
	if err != nil || json.Unmarshal(src, &work) != nil {
		return u, l, false
	}
	l, err = p.lineOf(ctx, policy)
	pinned := func(f *rules.Fact) bool { return f.Name == "command" && f.Covers == nil }
	u = Until{Command: work.Command, Max: policy.Program.Limits().Continuations, Pin: slices.ContainsFunc(policy.Program.Facts(), pinned)}
	return u, l, err == nil
}

// Wait starts the loop that continues an agent until a command passes: it writes its policy, approves it, and starts it. A
// person must have typed the command. An existing loop of an earlier command must have ended.
func (p *Project) Wait(ctx context.Context, u Until) (*Started, error) {
	old, version, err := p.root.ReadBytes(ctx, UntilPolicy)
	if err != nil {
		return nil, err
	}
	first, _, _ := strings.Cut(untilPolicy, "\n")
	if version != "" && !bytes.HasPrefix(old, []byte(first)) {
		return nil, &ExistsError{File: UntilPolicy, Problem: "exists, and ralph until did not write it; move it away first"}
	}
	if err := p.root.Write(ctx, UntilPolicy, u.policy(true), version); err != nil {
		return nil, changed(UntilPolicy, err)
	}
	policy, err := p.Open(ctx, UntilPolicy, Load{})
	if err != nil {
		return nil, err
	}
	approval, err := p.Approvable(policy)
	if err == nil {
		err = p.Approve(approval)
	}
	if err != nil {
		return nil, err
	}
	return p.Start(ctx, UntilPolicy, StartRequest{})
}

// finish ends the loop of a policy whose entries are for one loop, and takes the entries away. The decision that ended it
// is the record of that.
func (p *Project) finish(ctx context.Context, policy Policy) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	now, err := p.look(ctx, policy, "")
	if err == nil && now.exists() {
		old := p.root.Read(ctx, state.File{Path: now.file})
		if err = p.apply(ctx, &state.Change{Path: now.file, Op: state.OpArchive, Version: old.Version, At: p.now()}); err == nil {
			err = p.begin(ctx, policy.Name) // so that no session reports that its file is gone
		}
	}
	_, taken := p.takeAway(ctx, policy.Name)
	return errors.Join(err, taken)
}

// takeAway removes the entries for one loop of a policy from the settings of hosts, and returns the files that had some.
func (p *Project) takeAway(ctx context.Context, policy string) (files []string, err error) {
	in := setup.Env{Project: p.dir, Home: home.Dir(p.env), Getenv: p.env, Deadline: p.Language().Deadline}
	for _, s := range in.Read(ctx).Settings {
		var once []setup.Entry
		for _, e := range s.Entries {
			asked, ok := e.Ralph()
			if !ok || !e.Once() || !e.Here() || len(asked) != 1 || s.Scope == setup.ScopeManaged {
				continue
			}
			if file, _ := policyFile(p.dir, asked[0]); file == policy {
				once = append(once, e)
			}
		}
		if len(once) == 0 {
			continue
		}
		after, failed := s.File.Without(once)
		if failed == nil {
			failed = s.File.Replace(ctx, after)
		}
		if failed == nil {
			files = append(files, s.File.Shown)
		}
		err = errors.Join(err, failed)
	}
	return files, err
}
