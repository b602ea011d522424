package simulate

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/schema"
)

// units is how much work there is where no file says so.
const units = 3

// agent is what stands in for a coding agent.
type agent struct {
	session  *session
	kind     Kind
	rand     *rand.Rand
	kinds    map[string]rules.SourceKind // files that the policy reads, to the kind of their source
	patterns []string                    // that it reads files by
	listed   bool                        // it reads the host's task list
	done     int                         // units of work
	written  int                         // units that others can see are done
	finished bool                        // nothing is left, and the agent said so
	asked    []string                    // shell commands whose passing the policy asks for
	changed  []string                    // files that it wrote since its last commit
	commits  int
	crashed  bool              // it just did
	broken   map[string][]byte // files that were left half written, to what they should hold
}

func newAgent(s *session) *agent {
	h := fnv.New64a()
	h.Write([]byte(s.options.Agent))
	return &agent{
		session: s, kind: s.options.Agent, rand: rand.New(rand.NewPCG(s.options.Seed, h.Sum64())),
		kinds: map[string]rules.SourceKind{}, broken: map[string][]byte{},
	}
}

// see learns from a decision which files the policy reads.
func (a *agent) see(d *loop.Decision) {
	kinds := map[string]rules.SourceKind{}
	for _, f := range a.session.program.Facts() {
		kinds[f.Name] = f.Source
	}
	for _, f := range d.Verdict.Trace.Facts {
		switch kind := kinds[f.Name]; {
		case f.Path == "" || f.Status == rules.Missing:
		case kind.Glob:
			if !slices.Contains(a.patterns, f.Path) {
				a.patterns = append(a.patterns, f.Path)
			}
		default:
			a.kinds[f.Path] = kind
		}
	}
}

// act does what this kind of agent does between two stops. words is what it says
// last.
func (a *agent) act() (did, words string, err error) {
	a.crashed = false
	kind := a.kind
	if kind == Random {
		others := Kinds()
		kind = others[a.rand.IntN(len(others)-1)]
	}
	switch kind {
	case Stuck:
		return "got nowhere", "I am not sure how to go on.", nil
	case Forgetful:
		a.done++
		return "worked, wrote nothing down", "Step " + strconv.Itoa(a.done) + " is done.", nil
	case Lying:
		a.finished = a.kind == Lying
		return "claimed to be done", a.claim(), nil
	case Crashing:
		return a.crash()
	}
	return a.work()
}

// work does the next unit, or says that all is done.
func (a *agent) work() (did, words string, err error) {
	for _, file := range sortedKeys(a.broken) {
		data := a.broken[file]
		delete(a.broken, file)
		return "repaired " + file, "The state file is in order again.", a.write(file, data)
	}
	a.done, a.written = a.done+1, a.written+1
	did, left, err := a.advance()
	if err != nil {
		return "", "", err
	}
	if left {
		return did, "Step " + strconv.Itoa(a.done) + " is done, more is left.", nil
	}
	a.finished = true
	if err := a.prove(); err != nil {
		return "", "", err
	}
	return did + ", said so", a.claim(), nil
}

// prove runs the commands that the policy asks for, which pass, and commits.
func (a *agent) prove() error {
	for _, command := range a.asked {
		if err := a.session.runs(command); err != nil {
			return err
		}
	}
	if len(a.changed) > 0 {
		a.commits, a.changed = a.commits+1, nil
	}
	return nil
}

// repository is what git reports about a path of the project: a branch on which the
// agent commits when its work is done.
func (a *agent) repository(path string) map[string]any {
	changed := []any{}
	for _, file := range slices.Sorted(slices.Values(a.changed)) {
		if path == "" || path == "." || file == path || strings.HasPrefix(file, strings.TrimSuffix(path, "/")+"/") {
			changed = append(changed, file)
		}
	}
	return map[string]any{
		"repo": true, "branch": "main", "head": fmt.Sprintf("%040x", a.commits+1),
		"dirty": len(changed) > 0, "changed": changed, "ahead": a.commits, "behind": 0,
	}
}

// claim says that all is done, in every form that the policy listens for.
func (a *agent) claim() string {
	words := []string{"Everything is done."}
	for _, w := range a.words() {
		words = append(words, "", w, "<promise>"+w+"</promise>")
	}
	return strings.Join(words, "\n")
}

// words are those by which the loop ends: what rules ask for by name, and what a
// field that is called a promise holds.
func (a *agent) words() []string {
	var out []string
	add := func(w string) {
		if w = strings.TrimSpace(w); w != "" && !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	for _, r := range a.session.program.Rules() {
		for _, text := range r.Operands() {
			for _, function := range []string{"said", "promised", "mentions"} {
				for _, w := range quoted(text, function) {
					add(w)
				}
			}
		}
	}
	for _, file := range a.files() {
		fields, err := a.fields(file)
		if err != nil {
			continue
		}
		for _, name := range sortedKeys(fields) {
			if text, ok := fields[name].(string); ok && strings.Contains(name, "promise") {
				first, _, _ := strings.Cut(text, "|")
				add(first)
			}
		}
	}
	return out
}

// judged is what a model says that looks at the agent's work: that there is more
// to do, as long as there is.
func (a *agent) judged(decl *rules.Fact) rules.Value {
	answer := map[string]any{}
	if decl.Schema != nil {
		for name, t := range decl.Schema.Type().Fields {
			switch t.Kind {
			case schema.Bool:
				answer[name] = !a.finished
			case schema.String:
				answer[name] = "simulated"
			}
		}
		return rules.Value{V: decl.Schema.Complete(answer)}
	}
	return rules.Value{V: answer}
}

// tasks is the host's task list: one task a unit.
func (a *agent) tasks() []any {
	list := make([]any, units)
	for i := range list {
		status := "pending"
		switch {
		case i < a.written:
			status = "completed"
		case i == a.written:
			status = "in_progress"
		}
		n := strconv.Itoa(i + 1)
		list[i] = map[string]any{
			"id": n, "subject": "Step " + n, "description": "", "status": status, "activeForm": "", "owner": "",
			"blocks": []any{}, "blockedBy": []any{},
		}
	}
	return list
}
