package examples_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ralph-sdk/ralph/examples"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/run"
)

// An obedient agent takes a continuation literally: it does what a line asks for, and
// nothing else. A line that it does not understand fails the test, and so does work that
// the text does not mention.
type obedient struct {
	Dir    string         // the project
	Fails  map[string]int // how often a task fails yet, by its number
	Work   int            // how much there is to do for a goal without a list
	Remove bool           // it also removes the state when it writes a marker

	// What the continuation says.
	state, list  string
	index        int    // of the task, where there is a list
	tasks        []int  // that are handed out
	delegates    bool   // to an agent
	group        bool   // neighbours marked [P] run too
	ticks        bool   // what is done
	advances     bool   // the index moves to the next open item
	total        int    // what the index is set to when nothing is open; -1: the number of items
	reports      bool   // that nothing is open
	retries      int    // how many attempts a task gets
	fixes        int    // how many fix tasks a task gets
	giveUp       int    // what taskIteration is set to when they are used up; 0 if nothing is said
	counts       bool   // failures in the state
	keeps        string // the line that it writes once all is done
	works, reads bool
	said         []string
}

// saying is a line of a continuation and what an agent does for it.
type saying struct {
	line *regexp.Regexp
	do   func(a *obedient, is []string)
}

var sayings = func() (out []saying) {
	nothing := func(*obedient, []string) {}
	for _, s := range []struct {
		line string
		do   func(a *obedient, is []string)
	}{
		// What it reads.
		{`Continue (?:feature|spec): \S+ \(Task \d+/(\d+), Iter \d+\)`, func(a *obedient, is []string) { a.total = number(is[1]) }},
		{`## .*`, nothing},
		{`Path: (\S+) \| Index: (\d+) \| Iteration: \d+/\d+ \| Recovery: \w+(?: \| NativeSync: \w+)?`, func(a *obedient, is []string) {
			a.list, a.index = is[1]+"/tasks.md", number(is[2])
		}},
		{`1\. Read (\S+) and tasks\.md(?:; the task is item (\d+), counted from 0, or the next open one)?`, func(a *obedient, is []string) {
			a.state, a.reads = is[1], true
		}},
		{`- \[ \] .*|  - .*`, nothing}, // a task that is shown

		// The work.
		{`2\. Delegate (?:it|the task via the Task tool) to spec-executor \((?:qa-engineer for|to qa-engineer if it is marked) \[VERIFY\]\)`, func(a *obedient, _ []string) { a.delegates = true }},
		{`2\. Delegate each task via the Task tool to a spec-executor of its own, all in ONE message, with the progress file \S+, where N is its index, (\d+) to (\d+)`, func(a *obedient, is []string) {
			a.delegates = true
			for i := number(is[1]); i <= number(is[2]); i++ {
				a.tasks = append(a.tasks, i)
			}
		}},
		{`3\. On TASK_COMPLETE or VERIFICATION_PASS: verify, tick it, set taskIndex to the next open item and taskIteration to 1, add 1 to globalIteration`, func(a *obedient, _ []string) {
			a.ticks, a.advances = true, true
		}},
		{`3\. On TASK_COMPLETE \(qa-engineer: VERIFICATION_PASS\) verify and tick it`, func(a *obedient, _ []string) { a.ticks = true }},
		{`3\. When all wrote TASK_COMPLETE, verify and tick them, and merge their progress files into \.progress\.md`, func(a *obedient, _ []string) { a.ticks = true }},
		{`4\. Set taskIndex to the next open task \(\d+ unless you add tasks\) and taskIteration to 1; add 1 to globalIteration`, func(a *obedient, _ []string) { a.advances = true }},
		{`4\. If no item is open: set taskIndex to totalTasks, leave the state file to ralph, report that all tasks are complete|5\. If no box is open, set taskIndex to totalTasks and report that all tasks are complete\. Leave the state file to ralph`, func(a *obedient, _ []string) { a.reports = true }},
		{`- Delegate via the Task tool; do NOT implement (?:it )?yourself`, nothing},
		{`- Verify all \d layers before you advance \(see \S+\)`, nothing},
		{`- Start open \[P\] items right below a \[P\] item with it, in one message, up to a \[VERIFY\]`, func(a *obedient, _ []string) { a.group = true }},
		{`- On failure(?:: add 1 to taskIteration and globalIteration,| add 1 to taskIteration and globalIteration, and) retry(?: what failed)? while taskIteration is at most (\d+)`, func(a *obedient, is []string) {
			a.counts, a.retries = true, number(is[1])
		}},
		{"- Before a retry: add a fix task below the item, `- \\[ \\] ID\\.N \\[FIX ID\\] Fix: ERROR`, where ID is the item's number\\. Add 1 to totalTasks and to fixTaskMap\\[ID\\]\\.attempts, and run it\\. After (\\d+) of them set taskIteration to (\\d+) instead, and stop", func(a *obedient, is []string) {
			a.fixes, a.giveUp = number(is[1]), number(is[2])
		}},
		{"- Before a retry add a fix task below the task: `- \\[ \\] ID\\.N \\[FIX ID\\] Fix: ERROR`, where ID is \\S* for the first, with its Files and Verify\\. Add 1 to totalTasks and to fixTaskMap\\[ID\\]\\.attempts, ID\\.N to its fixTaskIds, set lastError, and run it\\. A task gets at most (\\d+); then stop", func(a *obedient, is []string) {
			a.fixes = number(is[1])
		}},
		{`- Native tasks: .*|- On TASK_MODIFICATION_REQUEST .*|- Add no other (?:new tasks|items to tasks\.md)`, nothing},

		// The state and the list do not agree.
		{`By its state this spec has no task left \(index \d+ of \d+\), yet (\S+) has unchecked boxes: \d+\.`, func(a *obedient, is []string) { a.list = is[1] }},
		{`1\. Look at every open box\. If the work is there, tick it; if not, have spec-executor do it first \(qa-engineer if it is marked \[VERIFY\]\)`, func(a *obedient, _ []string) {
			a.edit(a.list, func(s string) string { return strings.ReplaceAll(s, "[ ]", "[x]") })
		}},
		{`2\. Set taskIndex and totalTasks in (\S+) to the number of tasks\. Add no new ones`, func(a *obedient, is []string) {
			a.state = is[1]
			a.set("taskIndex", len(a.items()))
			a.set("totalTasks", len(a.items()))
		}},
		{`3\. When no box is open, report that all tasks are complete\. Leave the state file to ralph`, func(a *obedient, _ []string) { a.write(a.keeps) }},
		{`All boxes of \S+ are ticked, and the index is \d+ of \d+\.`, nothing},
		{`1\. Set taskIndex in (\S+) to (\d+)`, func(a *obedient, is []string) {
			a.state = is[1]
			a.set("taskIndex", number(is[2]))
		}},
		{`2\. Report that all tasks are complete\. Leave the state file to ralph`, func(a *obedient, _ []string) { a.write(a.keeps) }},

		// Quick mode.
		{`Spec \S+ is in quick mode, in the \w+ phase\. Do not stop here, and do not use AskUserQuestion: .*`, nothing},
		{`1\. Finish the (\w+) document in (\S+)`, func(a *obedient, is []string) {
			text := "done\n"
			if is[1] == "tasks" {
				text = "- [ ] 1.1 Begin\n- [ ] 1.2 End\n"
			}
			a.edit(is[2]+"/"+is[1]+".md", func(string) string { return text })
		}},
		{`2\. Set phase in (\S+) to (\w+)`, func(a *obedient, is []string) {
			a.state = is[1]
			a.set("phase", is[2])
		}},
		{`3\. Set totalTasks there to the number of tasks in (\S+), and taskIndex to 0`, func(a *obedient, is []string) {
			a.list = is[1]
			a.set("totalTasks", len(a.items()))
			a.set("taskIndex", 0)
		}},
		{`4\. Run /ralph-specum:implement`, nothing},

		// A state that cannot be read: an agent picks one of the options.
		{`ERROR: Corrupt state file: (\S+) .*`, func(a *obedient, is []string) { a.state = is[1] }},
		{`Recovery options, pick one:|1\. Run /\S+:implement, which writes the state again|2\. Run /\S+:cancel, which ends this \w+'s run`, nothing},
		{`3\. Repair (\S+) by hand`, func(a *obedient, is []string) {
			a.edit(is[1], func(string) string { return `{"phase": "execution", "taskIndex": 0, "totalTasks": 3}` })
		}},

		// Goals without a list.
		{`\[SYSTEM REMINDER - CONTINUATION LOOP ACTIVE\]|This is an automated continuation loop\. Review your progress:|- Check what has been completed|- If blocked, explain the issue|Iteration \d+ of \d+|Goal: .*`, nothing},
		{`- Continue working towards the goal|Build it\.`, func(a *obedient, _ []string) { a.works = true }},
		{`- If complete, explicitly state the completion promise`, nothing},

		// The gate of System 3.
		{`Session \S+ has open promises:|- \S+ \(\w+\) .*|Verify each with proof; TYPE is test, browser, api or manual\. If one no longer applies: cs-promise --cancel ID\. Then stop again\.`, nothing},
		{`Next: cs-promise --start (\S+)`, func(a *obedient, is []string) { a.promise(is[1], "in_progress") }},
		{`Next: cs-verify --promise (\S+) --type TYPE --proof PROOF`, func(a *obedient, is []string) { a.promise(is[1], "verified") }},
	} {
		out = append(out, saying{regexp.MustCompile("^(?:" + s.line + ")$"), s.do})
	}
	return out
}()

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		panic(err)
	}
	return n
}

// obey does what a continuation asks for, and returns the agent's final message of the
// turn.
func (a *obedient) obey(text string) string {
	*a = obedient{Dir: a.Dir, Fails: a.Fails, Work: a.Work, Remove: a.Remove}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if line == "When it is true, and not before, write this line:" {
			must(lines[i+1] == "", "write a line of its own")
			a.keeps, lines[i], lines[i+2] = lines[i+2], "", ""
		}
	}
	for _, line := range lines {
		line = strings.TrimRight(line, " ")
		if line == "" {
			continue
		}
		if !slices.ContainsFunc(sayings, func(s saying) bool {
			is := s.line.FindStringSubmatch(line)
			if is != nil {
				s.do(a, is)
			}
			return is != nil
		}) {
			panic("the agent does not understand: " + line)
		}
	}
	switch {
	case a.reads:
		a.execute()
	case a.works && a.Work > 0:
		a.Work--
	}
	if a.works && a.Work == 0 && a.keeps != "" {
		a.write(a.keeps)
	}
	if a.Remove && a.state != "" && slices.Contains(a.said, a.keeps) {
		if err := os.Remove(filepath.Join(a.Dir, a.state)); err != nil {
			panic(err)
		}
	}
	return strings.Join(append([]string{"This is what I did."}, a.said...), "\n\n")
}

func (a *obedient) write(text string) {
	a.said = append(a.said, text)
}

// must ends the test where the text does not say what the agent is about to do.
func must(said bool, what string) {
	if !said {
		panic("the continuation does not say to " + what)
	}
}

// execute does the tasks in the text.
func (a *obedient) execute() {
	must(a.delegates, "delegate")
	must(a.ticks, "tick")
	if len(a.tasks) == 0 {
		for i, item := range a.items() {
			if i >= a.index && !item.done {
				a.tasks = []int{i}
				break
			}
		}
	}
	if items := a.items(); a.group && len(a.tasks) == 1 && items[a.tasks[0]].parallel {
		for i := a.tasks[0] + 1; i < len(items) && items[i].parallel && !items[i].done; i++ {
			a.tasks = append(a.tasks, i)
		}
	}
	for len(a.tasks) > 0 {
		i := a.tasks[0]
		item := a.items()[i]
		if item.done {
			panic("a ticked task is handed out: " + item.text)
		}
		if a.Fails[item.id] == 0 {
			a.tick(i)
			a.tasks = a.tasks[1:]
			continue
		}
		a.Fails[item.id]--
		if !a.failed(i, item.id) {
			return
		}
	}
	must(a.advances, "set taskIndex")
	next := slices.IndexFunc(a.items(), func(i item) bool { return !i.done })
	a.set("taskIteration", 1)
	a.add("globalIteration")
	if next >= 0 {
		a.set("taskIndex", next)
		return
	}
	must(a.reports && a.keeps != "", "write a marker")
	a.set("taskIndex", a.get("totalTasks"))
	a.write(a.keeps)
}

// failed does what the text says of a failure, and reports whether the task is tried again.
func (a *obedient) failed(i int, id string) bool {
	must(a.counts, "count a failure")
	a.add("taskIteration")
	a.add("globalIteration")
	if int(a.get("taskIteration").(float64)) > a.retries {
		return false
	}
	if a.fixes == 0 {
		return true
	}
	all, _ := a.get("fixTaskMap").(map[string]any)
	if all == nil {
		all = map[string]any{}
	}
	of, _ := all[id].(map[string]any)
	if of == nil {
		of = map[string]any{"attempts": 0.0}
	}
	n := int(of["attempts"].(float64))
	if n == a.fixes {
		if a.giveUp > 0 {
			a.set("taskIteration", a.giveUp)
		}
		return false
	}
	of["attempts"] = n + 1
	all[id] = of
	a.set("fixTaskMap", all)
	a.add("totalTasks")
	a.edit(a.list, func(s string) string {
		lines := strings.SplitAfter(s, "\n")
		return strings.Join(slices.Insert(lines, i+1, fmt.Sprintf("- [x] %s.%d [FIX %s] Fix: it broke\n", id, n+1, id)), "")
	})
	for at := range a.tasks[1:] { // the others of its group move
		a.tasks[at+1]++
	}
	return true
}

// item is an item of a list in which each takes one line.
type item struct {
	text, id       string
	done, parallel bool
}

func (a *obedient) items() (out []item) {
	data, err := os.ReadFile(filepath.Join(a.Dir, a.list))
	if err != nil {
		panic(err)
	}
	for line := range strings.Lines(string(data)) {
		mark, text, _ := strings.Cut(strings.TrimSpace(line), "] ")
		id, _, _ := strings.Cut(text, " ")
		out = append(out, item{text, id, mark == "- [x", strings.Contains(text, "[P]")})
	}
	return out
}

func (a *obedient) tick(i int) {
	a.edit(a.list, func(s string) string {
		lines := strings.SplitAfter(s, "\n")
		lines[i] = strings.Replace(lines[i], "[ ]", "[x]", 1)
		return strings.Join(lines, "")
	})
}

func (a *obedient) edit(name string, change func(string) string) {
	file := filepath.Join(a.Dir, filepath.FromSlash(name))
	data, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		panic(err)
	}
	if err := os.WriteFile(file, []byte(change(string(data))), 0o644); err != nil {
		panic(err)
	}
}

// change edits the state.
func (a *obedient) change(do func(map[string]any)) {
	a.edit(a.state, func(s string) string {
		fields := map[string]any{}
		if err := json.Unmarshal([]byte(s), &fields); err != nil {
			panic(err)
		}
		do(fields)
		data, err := json.Marshal(fields)
		if err != nil {
			panic(err)
		}
		return string(data)
	})
}

func (a *obedient) set(field string, v any) { a.change(func(s map[string]any) { s[field] = v }) }

func (a *obedient) get(field string) (v any) {
	a.change(func(s map[string]any) { v = s[field] })
	return v
}

func (a *obedient) add(field string) {
	a.change(func(s map[string]any) {
		n, ok := s[field].(float64)
		if !ok {
			n = 1 // its default
		}
		s[field] = n + 1
	})
}

func (a *obedient) promise(id, status string) {
	a.state = ".claude/completion-state/promises/" + id + ".json"
	a.set("status", status)
}

// obedience is a project in which an agent does what it is asked for.
type obedience struct {
	policy  string
	files   files
	fails   map[string]int
	work    int
	givesUp string // the rule that ends the loop, if it is not done at the end
	after   files  // what some files are then; "" for one that is gone
}

func obediences() map[string]obedience {
	const (
		list     = "- [x] 1.1 Begin\n- [ ] 1.2 Build it\n- [ ] 1.3 See that it holds [VERIFY]\n- [ ] 1.4 [P] Paint it\n- [ ] 1.5 [P] Describe it\n- [ ] 1.6 Sell it\n"
		start    = `{"phase": "execution", "taskIndex": 0, "totalTasks": 6%s}`
		recovery = `, "recoveryMode": true`
	)
	speckitFiles := func(more string) files {
		return files{speckitPointer: "001-demo", speckitState: fmt.Sprintf(start, more), ".specify/specs/001-demo/tasks.md": list}
	}
	specumFiles := func(more string) files {
		return files{specumPointer: "demo", specumState: fmt.Sprintf(start, more), specumTasks: list}
	}
	goal := func(fields string) string { return "---\n" + fields + "\n---\n\nGoal: build it\n" }
	with := func(f files, name, text string) files {
		f[name] = text
		return f
	}
	epic := with(specumFiles(`, "epicName": "big"`), specumEpic, `{"specs": [{"name": "demo", "status": "in_progress"}]}`)
	epic["specs/.current-epic"] = "big"
	return map[string]obedience{
		"speckit":                         {policy: "speckit", files: speckitFiles("")},
		"speckit, a failure":              {policy: "speckit", files: speckitFiles(""), fails: map[string]int{"1.2": 2, "1.5": 1}},
		"speckit, in recovery":            {policy: "speckit", files: speckitFiles(recovery), fails: map[string]int{"1.2": 3, "1.3": 1, "1.5": 1, "1.6": 2}},
		"speckit, too many failures":      {policy: "speckit", files: speckitFiles(""), fails: map[string]int{"1.2": 9}, givesUp: "attempts"},
		"speckit, fix tasks used up":      {policy: "speckit", files: speckitFiles(recovery), fails: map[string]int{"1.2": 4}, givesUp: "attempts"},
		"speckit, a state to repair":      {policy: "speckit", files: with(with(speckitFiles(""), speckitState, "{"), ".specify/specs/001-demo/tasks.md", "- [ ] 1 a\n- [ ] 2 b\n- [ ] 3 c\n")},
		"specum":                          {policy: "specum", files: specumFiles("")},
		"specum, a failure":               {policy: "specum", files: specumFiles(""), fails: map[string]int{"1.2": 2, "1.5": 1}},
		"specum, in recovery":             {policy: "specum", files: specumFiles(recovery), fails: map[string]int{"1.2": 3, "1.3": 1, "1.5": 1, "1.6": 2}},
		"specum, too many failures":       {policy: "specum", files: specumFiles(""), fails: map[string]int{"1.2": 9}, givesUp: "attempts"},
		"specum, fix tasks used up":       {policy: "specum", files: specumFiles(recovery), fails: map[string]int{"1.2": 4}, givesUp: "attempts"},
		"specum, an epic":                 {policy: "specum", files: epic, after: files{specumEpic: `{"specs": [{"name": "demo", "status": "completed"}]}`}},
		"specum, quick mode":              {policy: "specum", files: files{specumPointer: "demo", specumState: `{"quickMode": true}`}},
		"specum, more boxes than tasks":   {policy: "specum", files: with(specumFiles(""), specumState, `{"phase": "execution", "taskIndex": 2, "totalTasks": 2}`)},
		"specum, all ticked, index short": {policy: "specum", files: with(specumFiles(""), specumTasks, strings.ReplaceAll(list, "[ ]", "[x]"))},
		"stravinsky":                      {policy: "stravinsky", work: 3, files: files{loopFile: goal("completion_promise: It is built")}},
		"stravinsky, one of two":          {policy: "stravinsky", work: 2, files: files{loopFile: goal("completion_promise: It is built|It works")}},
		"stravinsky, the last iteration":  {policy: "stravinsky", work: 2, files: files{loopFile: goal("max_iterations: 4\ncompletion_promise: It is built")}},
		"stravinsky, no promise":          {policy: "stravinsky", work: 2, files: files{loopFile: goal("max_iterations: 4")}, givesUp: "limit"},
		"ralph-wiggum":                    {policy: "ralph-wiggum", work: 3, files: files{wiggumFile: "---\ncompletion_promise: DONE\n---\nBuild it.\n"}},
		"ralph-wiggum, the last iteration": {policy: "ralph-wiggum", work: 2,
			files: files{wiggumFile: "---\nmax_iterations: 3\ncompletion_promise: DONE\n---\nBuild it.\n"}},
	}
}

const wiggumFile = ".claude/ralph-loop.local.md"

// An agent that obeys to the letter is done at the end, in a session with a hook, whether it
// leaves the state to ralph or removes it.
func TestObedienceInASession(t *testing.T) {
	for name, o := range obediences() {
		for _, remove := range []bool{false, true} {
			if remove && o.policy != "speckit" && o.policy != "specum" {
				continue // no text has a state file of the agent's
			}
			t.Run(fmt.Sprintf("%s/remove=%v", name, remove), func(t *testing.T) {
				t.Parallel()
				set := map[string]string{}
				if o.policy == "speckit" || o.policy == "specum" {
					set["reentry"] = "progress"
				}
				p := newProject(t, o.policy, set, o.files)
				a := &obedient{Dir: p.dir, Fails: maps.Clone(o.fails), Work: o.work, Remove: remove}
				said := "Here I am."
				for turn := range 40 {
					d := p.stop(event{"prompt_id": "p1", "stop_hook_active": turn > 0, "last_assistant_message": said})
					if d.Verdict.Action == rules.Continue {
						said = a.obey(d.Verdict.Reason)
						continue
					}
					if d.Verdict.Success != (o.givesUp == "") || o.givesUp != "" && d.Verdict.Rule != o.givesUp {
						t.Fatalf("it ends as %q, success %v; notices %q", verdict(d), d.Verdict.Success, d.Notices)
					}
					o.compare(t, p.dir)
					return
				}
				t.Fatal("it does not end")
			})
		}
	}
}

// So it is in a run, in which each iteration is a process.
func TestObedienceInARun(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, o := range obediences() {
		for _, remove := range []bool{false, true} {
			if remove && o.policy != "speckit" && o.policy != "specum" {
				continue
			}
			t.Run(fmt.Sprintf("%s/remove=%v", name, remove), func(t *testing.T) {
				t.Parallel()
				program, findings := rules.Load(t.Context(), examples.FS, o.policy+"/"+o.policy+".yaml", loop.Config())
				if program == nil {
					t.Fatal(findings)
				}
				p := newProject(t, o.policy, nil, o.files)
				agent := filepath.Join(t.TempDir(), "agent.json")
				data, err := json.Marshal(obedient{Dir: p.dir, Fails: o.fails, Work: o.work, Remove: remove})
				if err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(agent, data, 0o600); err != nil {
					t.Fatal(err)
				}
				r, err := run.New(program, run.Generic(), run.WithDir(p.dir), run.WithArgs(self), run.WithEnv(append(os.Environ(), obedientAgent+"="+agent)),
					run.WithLimits(run.Limits{Iterations: 40}))
				if err != nil {
					t.Fatal(err)
				}
				var output []string
				for ev := range r.Run(t.Context()) {
					switch ev.Kind {
					case run.AgentOutput:
						output = append(output, ev.Shown)
					case run.RunEnd:
						if (ev.Ended == run.Success) != (o.givesUp == "") {
							t.Fatalf("it ends as %s: %s\n%s", ev.Ended, ev.Why, strings.Join(output, "\n"))
						}
						o.compare(t, p.dir)
					}
				}
			})
		}
	}
}

func (o obedience) compare(t *testing.T, dir string) {
	t.Helper()
	got := files{}
	for name := range o.after {
		data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		got[name] = string(data)
	}
	if len(o.after) > 0 {
		diff(t, o.after, got)
	}
}

// A gate lets the agent stop after it did what the gate asked for.
func TestObedienceAtTheGate(t *testing.T) {
	p := newProject(t, "system3", nil, files{
		".claude/completion-state/promises/p-1.json": `{"id": "p-1", "summary": "Ship", "status": "in_progress", "ownership": {"owned_by": "worker-1"}}`,
		".claude/completion-state/promises/p-2.json": `{"id": "p-2", "summary": "Test", "status": "pending", "ownership": {"owned_by": "worker-1"}}`,
	})
	a := &obedient{Dir: p.dir}
	for range 3 {
		d := p.stop(event{"session_id": "worker-1"})
		expect(t, d, "continue promises")
		a.obey(d.Verdict.Reason)
	}
	expect(t, p.stop(event{"session_id": "worker-1"}), "stop passed")
}

// obedientAgent names the file in which the agent of a run is kept between its iterations.
const obedientAgent = "RALPH_TEST_OBEDIENT"

func TestMain(m *testing.M) {
	file := os.Getenv(obedientAgent)
	if file == "" {
		os.Exit(m.Run())
	}
	data, err := os.ReadFile(file)
	if err != nil {
		panic(err)
	}
	var a obedient
	if err := json.Unmarshal(data, &a); err != nil {
		panic(err)
	}
	fmt.Println(a.obey(os.Args[len(os.Args)-1]))
	if data, err = json.Marshal(a); err != nil {
		panic(err)
	}
	if err := os.WriteFile(file, data, 0o600); err != nil {
		panic(err)
	}
}
