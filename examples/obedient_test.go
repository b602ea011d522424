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

	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/run"
)

// size is how much of a text an agent does before it ends its turn.
type size int

const (
	step size = iota // one attempt at a task, or one document
	part             // what is handed out, with its retries
	all              // also everything that comes after it
)

// An obedient agent takes a continuation literally: it does what a line asks for, copies what it shows, and knows
// nothing else. A line that it does not understand fails the test, and so does work that the text does not mention.
type obedient struct {
	dir    string         // the project
	size   size           // of its turns
	fails  map[string]int // how often a task fails yet, by its number
	work   int            // how much there is to do for a goal without a list
	remove bool           // it also removes the state when it writes a marker

	orders
}

// orders are what a continuation says.
type orders struct {
	state, list string
	shown       []string // the tasks that are handed out, as they are in the list
	index       int      // of the next task, where there is no list
	delegates   bool     // to an agent
	verifies    bool     // and ticks
	advances    bool     // the index moves, and the number of tasks is counted
	attempts    bool     // the attempts begin again with the next task
	retries     int      // attempts of a task; 0 if nothing is said of failures
	fixes       int      // fix tasks of a task
	giveUp      int      // what taskIteration is set to when they are used up
	finishes    bool     // the index is set to the number of tasks when no box is open
	phases      []string // of quick mode
	documents   []string
	shows       bool   // the next line is the marker
	marker      string // what it writes when it is true
	works       bool   // for a goal without a list
	said        []string
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
		{`When it is true, and not before, write this line:`, func(a *obedient, _ []string) { a.shows = true }},

		// A task, or a group of them.
		{`Continue (?:feature|spec): \S+ \(Task \d+/\d+, Iter \d+\)|## [A-Z].*`, nothing},
		{`Path: (\S+) \| Index: \d+ \| Iteration: \d+/\d+ \| Recovery: \w+`, func(a *obedient, is []string) { a.list = is[1] + "/tasks.md" }},
		{`By now \S+ has \d+ tasks, and unchecked boxes: .*|By now there are no tasks in \S+, so nothing is verified`, nothing},
		{`\s*- \[ \] .*`, func(a *obedient, is []string) { a.shown = append(a.shown, is[0]) }},
		{`1\. Read (\S+) and \S+/tasks\.md`, func(a *obedient, is []string) { a.state = is[1] }},
		{`2\. Delegate each task above via the Task tool to a spec-executor of its own, all in ONE message \(\[VERIFY\]: to qa-engineer\)`, func(a *obedient, _ []string) { a.delegates = true }},
		{`6\. Each has its own progress file, \S+\.progress-task-N\.md, where N is its index, \d+ to \d+\. Merge them into \.progress\.md afterwards`, nothing},
		{`3\. On TASK_COMPLETE \(qa-engineer: VERIFICATION_PASS\) verify it, and tick it where it is listed`, func(a *obedient, _ []string) { a.verifies = true }},
		{`4\. Set taskIndex to (\d+)`, func(a *obedient, is []string) { a.index, a.advances = number(is[1]), true }},
		{`4\. Set totalTasks to the number of items that are not nested, and taskIndex to the first open one of them, counted from 0`, func(a *obedient, _ []string) { a.advances = true }},
		{`5\. Set taskIteration to 1, unless it is a fix task; add 1 to globalIteration`, func(a *obedient, _ []string) { a.attempts = true }},
		{`- Delegate via the Task tool; do NOT implement it yourself`, nothing},
		{`- If a task fails, add 1 to taskIteration and to globalIteration\. Retry while taskIteration is at most (\d+); then stop`, func(a *obedient, is []string) { a.retries = number(is[1]) }},
		{"- Before the retry runs a fix task\\. At the failure insert it above the task, `- \\[ \\] ID\\.N \\[FIX ID\\] Fix: ERROR`, where ID is the number of the original", nothing},
		{`- Add 1 to fixTaskMap\[ID\]\.attempts for it\. If ID has had (\d+) fix tasks, set taskIteration to (\d+) instead, and stop`, func(a *obedient, is []string) {
			a.fixes, a.giveUp = number(is[1]), number(is[2])
		}},
		{`- NativeSync: .*|- Verify all \d layers \(see \S+\) before you tick a task|- On TASK_MODIFICATION_REQUEST .*|  Note it in modificationMap \(see \S+\)`, nothing},
		{`If no box is open, set taskIndex to totalTasks in (\S+), and leave the file to ralph\.`, func(a *obedient, is []string) { a.state, a.finishes = is[1], true }},

		// Quick mode.
		{`Spec \S+ is in quick mode, in the \w+ phase\. Do not stop before its tasks begin, and do not use AskUserQuestion:|decide yourself, in the simplest way that is usual in this project\.`, nothing},
		{`1\. Write what is missing of these documents, in this order: (.*)`, func(a *obedient, is []string) { a.documents = strings.Split(is[1], ", ") }},
		{`2\. After each of them set phase in (\S+) to the next of (.*)`, func(a *obedient, is []string) { a.state, a.phases = is[1], strings.Split(is[2], ", ") }},
		{`3\. Then set totalTasks there to the number of items of (\S+) that are not nested, and taskIndex to 0`, func(a *obedient, is []string) { a.list = is[1] }},
		{`4\. Run /ralph-specum:implement`, nothing},

		// A state that cannot be read: the agent picks the option that is not a command.
		{`ERROR: Corrupt state file: (\S+) .*`, func(a *obedient, is []string) { a.state = is[1] }},
		{`Recovery options, pick one:|1\. Run /\S+:implement, which writes the state again|2\. Run /\S+:cancel, which ends the work on this \w+`, nothing},
		{`3\. Write (\{.*\}) to it, with what else it had`, func(a *obedient, is []string) { a.edit(a.state, func(string) string { return is[1] }) }},

		// The limit, which is up to the user.
		{`ERROR: Maximum global iterations \(\d+\) reached for \S+\. The loop ends here: do no more tasks\.`, nothing},
		{`Recovery options, for the user to pick\. Name them, and what \S+ says failed; then stop\.|1\. Fix what failed, raise maxGlobalIterations in \S+, and prompt again|2\. Run /\S+:cancel, which ends this spec's run`, nothing},

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

// obey does what a continuation asks for, and returns the agent's final message of the turn.
func (a *obedient) obey(text string) string {
	a.orders = orders{}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		switch {
		case line == "":
			continue
		case a.shows:
			a.shows, a.marker = false, line
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
	case len(a.documents) > 0:
		a.write()
	case a.delegates:
		a.execute()
	case a.finishes:
		a.finish()
	case a.works:
		if a.work = max(0, a.work-1); a.work == 0 && a.marker != "" {
			a.say()
		}
	}
	return strings.Join(append([]string{"This is what I did."}, a.said...), "\n\n")
}

// say writes the marker.
func (a *obedient) say() {
	must(a.marker != "", "write a marker")
	a.said = append(a.said, a.marker)
	if a.remove {
		if err := os.Remove(filepath.Join(a.dir, a.state)); err != nil {
			panic(err)
		}
	}
}

// finish ends the work on a list in which no box is open.
func (a *obedient) finish() {
	must(a.finishes, "set taskIndex to totalTasks")
	must(!slices.ContainsFunc(a.items(), func(i item) bool { return !i.done }), "tick all boxes")
	a.set("taskIndex", a.get("totalTasks"))
	a.say()
}

// must ends the test where the text does not say what the agent is about to do.
func must(said bool, what string) {
	if !said {
		panic("the continuation does not say to " + what)
	}
}

// write writes the documents of quick mode.
func (a *obedient) write() {
	for i, name := range a.documents {
		text := "done\n"
		if strings.HasSuffix(name, "/tasks.md") {
			text = "- [ ] 1.1 Begin\n- [ ] 1.2 End\n"
		}
		a.edit(name, func(string) string { return text })
		a.set("phase", a.phases[i])
		if a.size == step && i < len(a.documents)-1 {
			return
		}
	}
	a.set("totalTasks", len(a.items()))
	a.set("taskIndex", 0)
}

// execute does the tasks in the text, and in the largest turns those after them.
func (a *obedient) execute() {
	must(a.verifies, "tick")
	must(a.advances, "set taskIndex")
	must(a.attempts, "set taskIteration")
	if len(a.shown) == 0 { // there is no list
		a.set("taskIndex", a.index)
		a.set("taskIteration", 1)
		a.add("globalIteration")
		return
	}
	for len(a.shown) > 0 {
		a.attempt()
		next := slices.IndexFunc(a.items(), func(i item) bool { return !i.done })
		switch {
		case next < 0:
			a.finish()
			return
		case a.size == step || a.retries == 0:
			return
		case a.size == all && len(a.shown) == 0:
			a.shown = []string{a.items()[next].line}
		}
	}
}

// attempt has each of the tasks that are handed out tried once. What is to be tried again is left, below its fix task.
func (a *obedient) attempt() {
	tried := a.shown
	a.shown = nil
	var passed, failed []item
	for _, line := range tried {
		i := a.items()[a.find(line)]
		if a.fails[i.id] > 0 {
			a.fails[i.id]--
			failed = append(failed, i)
		} else {
			passed = append(passed, i)
		}
	}
	for _, i := range passed {
		a.edit(a.list, func(s string) string { return strings.Replace(s, i.line, strings.Replace(i.line, "[ ]", "[x]", 1), 1) })
	}
	if len(passed) > 0 {
		top := slices.DeleteFunc(a.items(), func(i item) bool { return i.nested })
		a.set("totalTasks", len(top))
		if next := slices.IndexFunc(top, func(i item) bool { return !i.done }); next >= 0 {
			a.set("taskIndex", next)
		}
		a.add("globalIteration")
		if passed[0].fixes == "" {
			a.set("taskIteration", 1)
		}
	}
	for _, i := range failed {
		must(a.retries > 0, "count a failure")
		a.add("taskIteration")
		a.add("globalIteration")
		switch {
		case int(a.get("taskIteration").(float64)) > a.retries, a.fixes > 0 && !a.fix(i):
			a.shown = nil
			a.retries = 0 // it stops
			return
		}
		a.shown = append(a.shown, i.line)
	}
}

// fix inserts a fix task, or gives up.
func (a *obedient) fix(i item) bool {
	id := i.id
	if i.fixes != "" {
		id = i.fixes
	}
	tasks, _ := a.get("fixTaskMap").(map[string]any)
	if tasks == nil {
		tasks = map[string]any{}
	}
	of, _ := tasks[id].(map[string]any)
	n := 0.0
	if of != nil {
		n = of["attempts"].(float64)
	}
	if int(n) == a.fixes {
		a.set("taskIteration", a.giveUp)
		return false
	}
	tasks[id] = map[string]any{"attempts": n + 1}
	a.set("fixTaskMap", tasks)
	line := fmt.Sprintf("- [ ] %s.%v [FIX %s] Fix: it broke", id, n+1, id)
	a.edit(a.list, func(s string) string { return strings.Replace(s, i.line, line+"\n"+i.line, 1) })
	a.shown = append(a.shown, line)
	return true
}

// item is an item of a list in which each takes one line.
type item struct {
	line, id, fixes string
	done, nested    bool
}

func (a *obedient) items() (out []item) {
	data, err := os.ReadFile(filepath.Join(a.dir, a.list))
	if err != nil {
		panic(err)
	}
	for line := range strings.Lines(string(data)) {
		if is := itemLine.FindStringSubmatch(strings.TrimRight(line, "\n")); is != nil {
			out = append(out, item{is[0], is[3], is[4], is[2] == "x", is[1] != ""})
		}
	}
	return out
}

var itemLine = regexp.MustCompile(`^( *)- \[([ x])\] (\S+)(?: \[FIX (\S+)\])?.*$`)

// find returns where an open item is in the list.
func (a *obedient) find(line string) int {
	i := slices.IndexFunc(a.items(), func(i item) bool { return i.line == line })
	if i < 0 {
		panic("this is not in the list: " + line)
	}
	return i
}

func (a *obedient) edit(name string, change func(string) string) {
	file := filepath.Join(a.dir, filepath.FromSlash(name))
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
	policy string
	files  files
	fails  map[string]int
	work   int
	ends   string // the rule that ends the loop, if it is not done at the end
	early  bool   // it is done all the same if the agent does everything in one turn
	state  event  // what some fields of the state are then
	after  files  // what some files are then
}

const wiggumFile = ".claude/ralph-loop.local.md"

// goals are what an agent does without a list.
func goals() map[string]obedience {
	goal := func(fields string) string { return "---\n" + fields + "\n---\n\nGoal: build it\n" }
	return map[string]obedience{
		"stravinsky":                     {policy: "stravinsky", work: 3, files: files{loopFile: goal("completion_promise: It is built")}},
		"stravinsky, one of two":         {policy: "stravinsky", work: 2, files: files{loopFile: goal("completion_promise: It is built|It works")}},
		"stravinsky, the last iteration": {policy: "stravinsky", work: 2, files: files{loopFile: goal("max_iterations: 4\ncompletion_promise: It is built")}},
		"stravinsky, no promise":         {policy: "stravinsky", work: 2, files: files{loopFile: goal("max_iterations: 4")}, ends: "limit"},
		"ralph-wiggum":                   {policy: "ralph-wiggum", work: 3, files: files{wiggumFile: "---\ncompletion_promise: DONE\n---\nBuild it.\n"}},
		"ralph-wiggum, the last iteration": {policy: "ralph-wiggum", work: 2,
			files: files{wiggumFile: "---\nmax_iterations: 3\ncompletion_promise: DONE\n---\nBuild it.\n"}},
	}
}

// lists are what an agent does with a list of tasks, for speckit or specum.
func lists(policy string) map[string]obedience {
	const list = "- [x] 1.1 Begin\n- [ ] 1.2 Build it\n- [ ] 1.3 See that it holds [VERIFY]\n- [ ] 1.4 [P] Paint it\n- [ ] 1.5 [P] Describe it\n- [ ] 1.6 Sell it\n"
	start := func(fields string) string { return `{"phase": "execution", ` + fields + `}` }
	project := func(state, tasks string) files {
		if policy == "speckit" {
			return files{speckitPointer: "001-demo", speckitState: state, speckitTasks: tasks}
		}
		return files{specumPointer: "demo", specumState: state, specumTasks: tasks}
	}
	const whole = `"taskIndex": 0, "totalTasks": 6`
	out := map[string]obedience{
		"plain":          {files: project(start(whole), list)},
		"a failure":      {files: project(start(whole), list), fails: map[string]int{"1.2": 2, "1.5": 1}},
		"recovery":       {files: project(start(whole+`, "recoveryMode": true`), list), fails: map[string]int{"1.2": 3, "1.3": 1, "1.5": 1, "1.6": 2}},
		"a fix fails":    {files: project(start(whole+`, "recoveryMode": true`), list), fails: map[string]int{"1.2": 1, "1.2.1": 1}},
		"a broken state": {files: project("{", list)},

		"an index at the end":      {files: project(start(`"taskIndex": 2, "totalTasks": 2`), list)},
		"an index beyond the end":  {files: project(start(`"taskIndex": 9, "totalTasks": 6`), list)},
		"an index beyond a task":   {files: project(start(`"taskIndex": 4, "totalTasks": 6`), list)},
		"too few tasks":            {files: project(start(`"taskIndex": 0, "totalTasks": 3`), list)},
		"an index behind the list": {files: project(start(whole), strings.ReplaceAll(list, "[ ]", "[x]"))},
		"a nested box":             {files: project(start(`"taskIndex": 0, "totalTasks": 1`), "- [x] 1 Build it\n  - [ ] 1a Paint it\n")},
		"no list":                  {files: project(start(`"taskIndex": 0, "totalTasks": 2`), ""), ends: "no-tasks"},
		"done in the last round":   {files: project(start(`"taskIndex": 0, "totalTasks": 1, "globalIteration": 99`), "- [ ] 1 Build it\n")},
		"finished at the limit":    {files: project(start(`"taskIndex": 1, "totalTasks": 1, "globalIteration": 100`), "- [x] 1 Build it\n")},
		"iterations: 0":            {files: project(start(whole+`, "maxGlobalIterations": 0`), list), ends: "limit"},
		"iterations: 1":            {files: project(start(whole+`, "maxGlobalIterations": 1`), list), ends: "limit"},
		"iterations: 2":            {files: project(start(whole+`, "maxGlobalIterations": 2`), list), ends: "limit", early: true, state: event{"globalIteration": 2.0}},
		"iterations: 100":          {files: project(start(whole+`, "globalIteration": 98`), list), ends: "limit", early: true, state: event{"globalIteration": 100.0}},
	}
	attempts := func(name, limits string, fails int, done bool) {
		o := obedience{files: project(start(whole+limits), list), fails: map[string]int{"1.2": fails}}
		if !done {
			o.ends = "attempts"
		}
		out[fmt.Sprintf("%s, %d failures", name, fails)] = o
	}
	for limit, text := range map[int]string{0: `, "maxTaskIterations": 0`, 1: `, "maxTaskIterations": 1`, 2: `, "maxTaskIterations": 2`, 5: ""} {
		for _, fails := range []int{limit - 1, limit} {
			attempts(fmt.Sprintf("attempts: %d", limit), text, max(0, fails), fails < limit && limit > 0)
		}
	}
	for limit, text := range map[int]string{0: `, "maxFixTasksPerOriginal": 0`, 1: `, "maxFixTasksPerOriginal": 1`, 2: `, "maxFixTasksPerOriginal": 2`, 3: ""} {
		most := limit
		if limit == 0 {
			most = 4 // retries without fix tasks
		}
		for _, fails := range []int{most, most + 1} {
			attempts(fmt.Sprintf("fix tasks: %d", limit), text+`, "recoveryMode": true`, fails, fails == most)
		}
	}
	if policy == "specum" {
		out["quick mode"] = obedience{files: files{specumPointer: "demo", specumState: `{"quickMode": true}`}}
		epic := project(start(whole+`, "epicName": "big"`), list)
		epic[specumEpic], epic["specs/.current-epic"] = `{"specs": [{"name": "demo", "status": "in_progress"}]}`, "big"
		out["an epic"] = obedience{files: epic, after: files{specumEpic: `{"specs": [{"name": "demo", "status": "completed"}]}`}}
	}
	for name, o := range out {
		o.policy = policy
		out[name] = o
	}
	return out
}

// played calls test with each project for each kind of agent.
func played(t *testing.T, test func(t *testing.T, o obedience, a *obedient)) {
	for _, of := range []map[string]obedience{lists("speckit"), lists("specum"), goals()} {
		for name, o := range of {
			for sized, turns := range []string{"steps", "parts", "all"} {
				for _, remove := range []bool{false, true} {
					if o.work > 0 && sized > 0 || remove && name != "plain" && name != "an epic" {
						continue
					}
					t.Run(fmt.Sprintf("%s/%s/%s/remove=%v", o.policy, name, turns, remove), func(t *testing.T) {
						t.Parallel()
						test(t, o, &obedient{size: size(sized), fails: maps.Clone(o.fails), work: o.work, remove: remove})
					})
				}
			}
		}
	}
}

// An agent that obeys to the letter is done at the end, or at the limit, in a session with a hook: if the user lets it
// run, and if each prompt is continued once.
func TestObedienceInASession(t *testing.T) {
	played(t, func(t *testing.T, o obedience, a *obedient) {
		for _, reentry := range []string{"once", "progress"} {
			t.Run(reentry, func(t *testing.T) {
				a := *a
				a.fails = maps.Clone(a.fails)
				set := map[string]string{"reentry": reentry}
				if o.work > 0 {
					set = nil
				}
				p := newProject(t, o.policy, set, o.files)
				a.dir = p.dir
				said, active, prompt := "Here I am.", false, 1
				for range 80 {
					d := p.stop(event{"prompt_id": fmt.Sprint(prompt), "stop_hook_active": active, "last_assistant_message": said})
					switch {
					case d.Verdict.Action == rules.Continue:
						said, active = a.obey(d.Verdict.Reason), true
					case d.Verdict.Rule == "reentry/continued-before":
						said, active, prompt = "Here I am again.", false, prompt+1
					default:
						o.compare(t, &a, d.Verdict.Rule, d.Verdict.Success, fmt.Sprintf("%s; notices %q", d.Verdict.Reason, d.Notices))
						return
					}
				}
				t.Fatal("it does not end")
			})
		}
	})
}

// So it is in a run, in which each iteration has an agent of its own.
func TestObedienceInARun(t *testing.T) {
	played(t, func(t *testing.T, o obedience, a *obedient) {
		p := newProject(t, o.policy, nil, o.files)
		a.dir = p.dir
		end := p.run(a.obey, run.WithLimits(run.Limits{Iterations: 80}))
		o.compare(t, a, end.Rule, end.Ended == run.Success, fmt.Sprintf("%s: %s", end.Ended, end.Why))
	})
}

// compare compares how the work ended with how it should.
func (o obedience) compare(t *testing.T, a *obedient, rule string, success bool, why string) {
	t.Helper()
	ends := o.ends
	if o.early && a.size == all {
		ends = ""
	}
	if success != (ends == "") || ends != "" && rule != ends {
		t.Fatalf("it ends as %q, success %v, want %q: %s", rule, success, ends, why)
	}
	if a.list != "" && success {
		for _, i := range a.items() {
			if !i.done {
				t.Errorf("it is done, and this is open: %s", i.line)
			}
		}
	}
	if ends != "" {
		for field, want := range o.state {
			a.state = map[string]string{"speckit": speckitState, "specum": specumState}[o.policy]
			diff(t, want, a.get(field))
		}
	}
	for name, want := range o.after {
		data, err := os.ReadFile(filepath.Join(a.dir, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		diff(t, want, string(data))
	}
}

// A gate lets the agent stop after it did what the gate asked for.
func TestObedienceAtTheGate(t *testing.T) {
	p := newProject(t, "system3", nil, files{
		".claude/completion-state/promises/p-1.json": `{"id": "p-1", "summary": "Ship", "status": "in_progress", "ownership": {"owned_by": "worker-1"}}`,
		".claude/completion-state/promises/p-2.json": `{"id": "p-2", "summary": "Test", "status": "pending", "ownership": {"owned_by": "worker-1"}}`,
	})
	a := &obedient{dir: p.dir}
	for range 3 {
		d := p.stop(event{"session_id": "worker-1"})
		expect(t, d, "continue promises")
		a.obey(d.Verdict.Reason)
	}
	expect(t, p.stop(event{"session_id": "worker-1"}), "stop passed")
}
