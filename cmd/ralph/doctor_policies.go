package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/ralph-sdk/ralph/internal/approval"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/loop/host"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/schema"
	"github.com/ralph-sdk/ralph/state"
)

// examined is a policy of the project: one that a host asks, or one in .ralph.
type examined struct {
	name    string // as the command line takes it
	policy  policy
	program *rules.Program // nil if it cannot be used
	host    string         // that asks it, "" if none does
	scope   string
	entry   []string      // the policies of the entry that asks it, as it names them
	set     []string      // the values of params that the entry states
	forAll  bool          // the entry says --scope user
	within  time.Duration // that the entry gives ralph, 0 is the usual time
	values  paramValues
}

// param gives the value of a param in force, "" if the policy has none of that name.
func (e examined) param(name string) string {
	if v, ok := e.values.all()[name]; ok {
		return v
	}
	var doc struct {
		Params map[string]struct {
			Default string `yaml:"default"`
		} `yaml:"params"`
	}
	if yaml.Unmarshal(e.program.Files()[0].Src, &doc) != nil {
		return "" // a default that is no text
	}
	return doc.Params[name].Default
}

// reentryAdvice says what it means that a policy continues once per prompt, and how to
// change that; both are "" if it continues more often. Policies with such a choice
// call their param reentry, as ralph:guards/reentry does.
func (e examined) reentryAdvice() (what, fix string) {
	if e.param("reentry") != "once" {
		return "", ""
	}
	return "continues once per prompt, so it runs one task per prompt (reentry=once)", e.setAdvice("reentry=progress")
}

// checkPolicies loads the policies that hosts ask, and those of the project.
func (x *examination) checkPolicies(ctx context.Context) {
	x.asking(func(in hostSettings, e hookEntry, policies []string) {
		entry, set, _ := e.flags()
		for _, name := range policies {
			x.examine(ctx, examined{name: name, host: in.agent.host, scope: in.scope, entry: entry, set: set, forAll: e.forAll(), within: e.deadline()}, in.file.shown)
		}
	})
	_, parts := x.app.unusablePolicies(ctx, x.root.Dir())
	for _, name := range ownPolicies(x.root.Dir()) {
		if file := ".ralph/" + name + ".yaml"; !parts[file] {
			x.examine(ctx, examined{name: file}, "")
		}
	}
}

func (x *examination) examine(ctx context.Context, e examined, where string) {
	a, dir := x.app, x.root.Dir()
	p, err := findPolicy(dir, e.name)
	if err != nil {
		x.problem("policy", where, fmt.Sprintf("%s cannot be found: %v", e.name, err), "name a policy that exists: ralph install "+cmp.Or(e.host, host.ClaudeCode)+" --policy NAME")
		return
	}
	if slices.ContainsFunc(x.policies, func(o examined) bool { return o.policy.name == p.name && (o.host == e.host || e.host == "") }) {
		return
	}
	e.policy = p
	var diags rules.Diagnostics
	if e.values, err = params(p, e.set); err == nil {
		cfg := a.config(p, e.values)
		cfg.Deadline = cmp.Or(e.within, cfg.Deadline)
		e.program, diags = rules.Load(ctx, p.fsys, p.file, cfg)
	}
	switch {
	case err != nil:
		x.problem("policy", where, fmt.Sprintf("%s cannot be used: %v", e.name, err), "repair what it names")
	case e.program == nil:
		if len(e.set) == 0 {
			where = "" // nothing of the entry is in it
		}
		x.problem("policy", where, fmt.Sprintf("%s cannot be used, so the agent may stop: %s", e.name, firstError(diags)), "ralph check "+e.name+shellSet("", e.set))
	case len(diags) > 0:
		x.note("policy", "", fmt.Sprintf("%s has %s", e.name, plural(len(diags), "finding")), "ralph check "+e.name)
	}
	x.policies = append(x.policies, e)
	if e.program == nil {
		return
	}
	if why := a.needsTrust(e); why != nil {
		var names []string
		for _, f := range sensitive(e.program) {
			names = append(names, f.Name)
		}
		x.problem("untrusted", "", fmt.Sprintf("%s runs programs or asks models (%s), %s. Until you approve it, those facts are missing", e.name, strings.Join(names, ", "), whyNot(why)),
			"read it, then: ralph trust "+e.name)
	}
	x.checkShadow(e, where)
}

// whyNot says why a policy is not approved, without the way out, which is the fix.
func whyNot(unapproved error) string {
	var missing *approval.Missing
	if errors.As(unapproved, &missing) {
		return missing.Why
	}
	return unapproved.Error()
}

// checkShadow sees whether a file of the project stands in the place of a shipped policy.
func (x *examination) checkShadow(e examined, where string) {
	const check = "shadow"
	short := e.policy.shadows()
	if short == "" {
		return
	}
	x.note(check, "", fmt.Sprintf("%s of this project is used in the place of the shipped policy %s", e.policy.name, short), "")
	if e.scope != scopeUser || !e.policy.isProjects(e.name) {
		return
	}
	if !e.forAll {
		x.problem(check, where, fmt.Sprintf("the entry is for all projects and lacks --scope user, so any project can put its own policy in the place of the shipped %s", short),
			fmt.Sprintf("ralph install %s --scope user%s", e.host, policyFlags([]string{e.name})))
	} else if why := x.app.unapproved(e.policy, e.values, e.program.Files(), nil); why != nil {
		x.problem("untrusted", where, fmt.Sprintf("%s, %s. Until you approve it, the shipped policy %s decides for hooks of your own settings", e.policy.name, whyNot(why), short),
			"read it, then: ralph trust "+short)
	}
}

// checkState looks at the state files that a stop would read now.
func (x *examination) checkState(ctx context.Context) {
	seen := map[string]bool{}
	for _, p := range x.policies {
		if p.program == nil {
			continue
		}
		files := x.stateFiles(ctx, p)
		for _, f := range p.program.Facts() {
			path := files[f]
			key := path + "\x00" + p.policy.name
			if path == "" || seen[key] {
				continue
			}
			seen[key] = true
			r := readState(ctx, x.root, f, path)
			switch {
			case r.doc.Status == state.Invalid:
				x.problem("state", path, fmt.Sprintf("%s; %s cannot use it", r.doc.Problem, p.name), "repair the file")
				continue
			case r.doc.Status != state.OK || f.Schema == nil:
				continue
			}
			x.checkFields(f, path, r.doc, p.name)
		}
	}
}

// checkFields reports which fields of a state break their schema. A number below its
// minimum is kept, and ends the loop where a rule looks for it.
func (x *examination) checkFields(f *rules.Fact, path string, doc state.Doc, policy string) {
	found := f.Schema.Check(doc.Document)
	for i, bad := range found.Unusable {
		if i == 3 {
			x.problem("state", path, fmt.Sprintf("%s more", plural(len(found.Unusable)-i, "field")), "repair them too")
			break
		}
		x.problem("state", place(path, bad), fmt.Sprintf("%s %s; when a rule of %s reads it, the agent may stop", fieldName(bad), bad.Text(), policy), "repair the field")
	}
	notes := 0
	for _, bad := range found.Warnings {
		what := fieldName(bad) + " " + bad.Text()
		if bad.Keyword == "minimum" || bad.Keyword == "exclusiveMinimum" {
			x.problem("state", place(path, bad), what+"; "+policy+" may end the loop for it", "repair the field")
		} else if notes++; notes <= 3 {
			x.note("state", place(path, bad), what, "")
		}
	}
}

func place(path string, v schema.Violation) string {
	if v.Line == 0 {
		return path
	}
	return fmt.Sprintf("%s:%d:%d", path, v.Line, v.Col)
}

func fieldName(v schema.Violation) string {
	if v.Pointer == "" {
		return "the document"
	}
	return strings.TrimPrefix(v.Pointer, "/")
}

// stateFiles gives the files of a policy's facts: those whose path it spells, and
// those that a stop of an unknown session would lead it to. Nothing is changed by
// asking, no program is run and no model asked.
func (x *examination) stateFiles(ctx context.Context, p examined) map[*rules.Fact]string {
	files := map[*rules.Fact]string{}
	byName := map[string]*rules.Fact{}
	for _, f := range p.program.Facts() {
		if !f.Source.File || !f.Source.Editable {
			continue
		}
		byName[f.Name] = f
		if path, ok := f.File(""); ok {
			files[f] = path
		}
	}
	for _, read := range x.verdict(ctx, p.program).Trace.Facts {
		if f := byName[read.Name]; f != nil && read.Path != "" {
			files[f] = read.Path
		}
	}
	return files
}

// verdict is that of a policy on a stop of an unknown session.
func (x *examination) verdict(ctx context.Context, program *rules.Program) *rules.Verdict {
	l, err := loop.New(program, append(x.app.loopOptions(),
		loop.WithRoot(x.root.Dir()), loop.WithRecorder(nil), loop.WithTrust(func(*rules.Fact, []rules.File) error { return errors.New("which doctor leaves alone") }))...)
	if err != nil {
		return &rules.Verdict{}
	}
	return l.Decide(ctx, host.Event{Host: host.ClaudeCode, Name: host.Stop, SessionID: "ralph-doctor", Cwd: x.root.Dir()}).Verdict
}

// checkEnd looks for a loop that neither its limit nor its promise ends.
func (x *examination) checkEnd(l loopFile, r loopState) {
	field, _ := l.field(promiseFields())
	limit, hasLimit := r.number(maximumFields())
	maximum, t := l.field(maximumFields())
	ends := hasLimit && (limit > 0 || t.Min != nil && float64(limit) < *t.Min)
	if r.doc.Status != state.OK || field == "" || ends || r.text(promiseFields()) != "" {
		return
	}
	x.note("state", l.path, "the loop has neither a limit nor a promise: only the limits of "+l.policy.shortName()+" end it",
		strings.TrimSuffix("set "+field+" or "+maximum, " or ")+" in its front matter")
}

// checkLenient reports what of a front matter is not YAML.
func (x *examination) checkLenient(path string, doc state.Doc) {
	for line := range strings.Lines(doc.Problem) {
		where, what, ok := strings.Cut(strings.TrimSpace(line), ": ")
		switch {
		case slices.ContainsFunc(doc.Unusable, func(u schema.Violation) bool { return where == fmt.Sprintf("%s:%d", path, u.Line) }):
			// It is reported below, with the field.
		case !ok: // how many more there are
			x.note("state", path, where, "write the front matter as YAML")
		default:
			x.note("state", where, what, "write the line as YAML: name, colon, blank, value; quotes around a text")
		}
	}
	for _, u := range doc.Unusable {
		x.problem("state", place(path, u), fieldName(u)+": "+u.Text(), "put the whole value in quotes")
	}
}

// checkLoopFiles looks for loop files that are none, and for loops that were left over.
func (x *examination) checkLoopFiles(ctx context.Context) {
	var sessions []logged
	if x.store != nil {
		var err error
		if sessions, err = sessionsOf(x.store, x.root.Dir()); err != nil {
			x.problem("state-dir", "", err.Error(), "make the file readable")
		}
	}
	for _, l := range x.app.loopFiles(ctx, x.root) {
		r := l.read(ctx, x.root)
		gone := r.doc.Status == state.Missing
		if l.absent(x.root, r) {
			continue
		}
		fences := "begin the file with a line ---, then the fields, then another line ---; or start anew: ralph start " + l.policy.shortName() + " 'what to do' --force" + strings.TrimPrefix(l.args(), l.policy.shortName())
		// Of the policies that are examined, checkState looks at the file of all sessions.
		own := l.session != "" || !slices.ContainsFunc(x.policies, func(e examined) bool { return e.policy.name == l.policy.name })
		switch {
		case gone:
			x.problem("state", l.path, oneLine(r.doc.Problem)+", so there is no loop of "+l.name(), fences)
		case r.doc.Status == state.OK:
			x.checkLenient(l.path, r.doc)
		case own:
			x.problem("state", l.path, fmt.Sprintf("%s; %s cannot use it", r.doc.Problem, l.policy.shortName()), "repair the file, or: ralph stop "+l.args())
		}
		if r.doc.Status == state.OK && l.fact.Schema != nil && own {
			x.checkFields(l.fact, l.path, r.doc, l.policy.shortName())
		}
		if gone || r.paused() {
			continue
		}
		x.checkEnd(l, r)
		last := r.doc.ModTime
		for _, s := range sessions {
			if s.Policy == l.policy.name && (l.session == "" || s.Session == l.session) && s.Time.After(last) {
				last = s.Time
			}
		}
		name := l.policy.shortName()
		if x.now.Sub(last) > x.stale {
			next := "The next session here would continue it"
			if l.session != "" {
				next = "That session would continue it if it is resumed"
			}
			x.problem("stale-loop", l.path, fmt.Sprintf("a loop of %s is left over: its last activity was %s. %s", l.name(), ago(x.now, last), next),
				"ralph stop "+l.args())
			x.findings[len(x.findings)-1].repair = func(ctx context.Context) error {
				return x.app.putAway(ctx, x.root, l, r, "ralph doctor --fix", x.now)
			}
		}
		if !slices.ContainsFunc(x.policies, func(e examined) bool { return e.policy.name == l.policy.name && e.host != "" }) {
			x.note("no-hook", l.path, fmt.Sprintf("there is a loop of %s, but no agent uses that policy", name), "ralph install claude-code --policy "+name)
		}
	}
}

// checkPointers looks for what single sessions left over that had work of their own.
func (x *examination) checkPointers(ctx context.Context) {
	for _, t := range x.app.toolStates(ctx, x.root) {
		if t.session == "" {
			continue
		}
		pointer := x.root.Read(ctx, state.File{Path: t.pointer})
		r := t.read(ctx, x.root)
		last, why := r.doc.ModTime, "its last activity was "
		if t.path == "" || r.doc.Status == state.Missing {
			last, why = pointer.ModTime, "there is no work where it leads, and it was written "
		}
		if x.now.Sub(last) <= x.stale {
			continue
		}
		x.problem("stale-loop", t.pointer, fmt.Sprintf("the loop of %s is left over: %s%s", t.name(), why, ago(x.now, last)), "ralph stop "+t.args())
		x.findings[len(x.findings)-1].repair = func(ctx context.Context) error { return x.app.unpoint(ctx, x.root, t, x.now) }
	}
}
