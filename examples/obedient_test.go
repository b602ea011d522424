package examples_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ralph-sdk/ralph/examples"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

// An obedient agent takes a continuation literally: it does what a line asks for, and knows nothing else. A line that it does not
// understand fails the test.
type obedient struct {
	t     *testing.T
	dir   string
	many  bool           // it goes on with retries and the next task before it ends its turn
	fails map[string]int // how often a task fails yet, by its number
	orders
}

// orders are what a continuation says.
type orders struct {
	state, list       string
	shown             []string // texts of the tasks that are handed out
	index             int      // where taskIndex goes; 0: it stays
	retries           int
	fixes, giveUp     int // fix tasks of a task, and what taskIteration is set to after them
	documents, phases []string
	marks             bool // the next line is the marker
	marker            string
}

// saying is a line of a continuation, and what an agent takes from it.
type saying struct {
	line string
	do   func(a *obedient, is []string)
}

var sayings = []saying{
	{`Continue (?:feature|spec): \S+ \(Task \d+/\d+, Iter \d+\)|## .*|.*Delegate it via the Task tool .*|Delegate all in ONE message, .*|Task: none is open|None is open|5\. Without a list do not write ALL_TASKS_COMPLETE|  - .*`, nil},
	{`Path: (\S+) \| Index: \d+ \| Iteration: \d+/\d+ \| Recovery: \w+.*`, func(a *obedient, is []string) { a.list = is[1] + "/tasks.md" }},
	{`(?:Task: i|I)ndex \d+; tell the user that .*`, func(a *obedient, _ []string) { a.shown = []string{""} }},
	{`(?:Task:|- \[ \]|-) (.+)`, func(a *obedient, is []string) { a.shown = append(a.shown, is[1]) }},
	{`1\. Read (\S+?)(?: and tasks\.md|; NativeSync: .*)`, func(a *obedient, is []string) { a.state = is[1] }},
	{`3\. On TASK_COMPLETE verify all \d layers.*, tick it, (?:set taskIndex to (\d+), taskIteration to 1, )?add 1 to globalIteration`, func(a *obedient, is []string) { a.index = number(is[1]) }},
	{`4\. On failure add 1 to taskIteration and globalIteration; retry while taskIteration is at most (\d+), then stop`, func(a *obedient, is []string) { a.retries = number(is[1]) }},
	{`Before a retry insert below the task: - \[ \] ID\.N \[FIX ID\] Fix: ERROR, count it in totalTasks and fixTaskMap\[ID\]\.attempts, and do it first`, nil},
	{`After (\d+) of these for an ID set taskIteration to (\d+) instead, and stop`, func(a *obedient, is []string) { a.fixes, a.giveUp = number(is[1]), number(is[2]) }},
	{`\d\. When every box is ticked, and not before, write this line:`, func(a *obedient, _ []string) { a.marks = true }},

	// A list that is not done at the end of the index, quick mode, and a state that cannot be read.
	{`taskIndex of spec \S+ is \d+ of \d+, but (\S+) has \d+ unchecked boxes:`, func(a *obedient, is []string) { a.list = is[1] }},
	{`1\. Delegate each via the Task tool to spec-executor, and tick it when it is done|Spec \S+ is in quick mode, in the \w* phase\..*|4\. Run /ralph-specum:implement`, nil},
	{`1\. Write what is missing of these: (.*)`, func(a *obedient, is []string) { a.documents = strings.Split(is[1], ", ") }},
	{`2\. After each of them set phase in (\S+) to the next of these: (.*)`, func(a *obedient, is []string) { a.state, a.phases = is[1], strings.Split(is[2], ", ") }},
	{`3\. Set totalTasks there to the number of tasks in (\S+), and taskIndex to 0`, func(a *obedient, is []string) { a.list = is[1] }},
	{`ERROR: Corrupt state file: (\S+): .*`, func(a *obedient, is []string) { a.state = is[1] }},
	{`Recovery options: run /\S+:implement, which writes it again, or /\S+:cancel, which ends the work\.`, func(a *obedient, _ []string) {
		a.write(a.state, `{"phase": "execution", "taskIndex": 0, "totalTasks": 4}`)
	}},
}

func number(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}

// obey does what a continuation asks for, and returns the agent's last message of the turn.
func (a *obedient) obey(text string) string {
	a.orders = orders{}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if a.marks && line != "" {
			a.marks, a.marker = false, line
		} else if line != "" {
			a.hear(line)
		}
	}
	if len(a.documents) > 0 {
		a.plan()
		a.shown = nil
	} else if len(a.shown) > 0 {
		for a.execute() && a.many {
		}
	}
	if a.marker != "" && !strings.Contains(a.read(a.list), "- [ ]") {
		return "This is what I did.\n\n" + a.marker
	}
	return "This is what I did."
}

func (a *obedient) hear(line string) {
	for _, s := range sayings {
		if is := regexp.MustCompile(`^\s*(?:` + s.line + `)$`).FindStringSubmatch(line); is != nil {
			if s.do != nil {
				s.do(a, is)
			}
			return
		}
	}
	a.t.Fatalf("the agent does not understand: %s", line)
}

// plan writes the documents of quick mode, one a turn or all.
func (a *obedient) plan() {
	for i, name := range a.documents {
		a.write(name, "- [ ] 1.1 Begin\n- [ ] 1.2 End\n")
		a.change(func(s map[string]any) { s["phase"] = a.phases[i] })
		if !a.many && i < len(a.documents)-1 {
			return
		}
	}
	a.change(func(s map[string]any) { s["totalTasks"], s["taskIndex"] = 2, 0 })
}

// execute tries each task that is handed out once, and reports whether there is more to do in this turn.
func (a *obedient) execute() bool {
	tried := a.shown
	a.shown = nil
	for _, task := range tried {
		id, _, _ := strings.Cut(task, " ")
		if a.fails[id] == 0 {
			a.write(a.list, strings.Replace(a.read(a.list), "- [ ] "+task, "- [x] "+task, 1))
		} else if a.fails[id]--; !a.fail(id, task) {
			return false
		}
	}
	if a.state == "" || len(a.shown) > 0 {
		return len(a.shown) > 0
	}
	a.change(func(s map[string]any) {
		s["globalIteration"] = more(s, "globalIteration", 1)
		if a.index > 0 {
			s["taskIndex"], s["taskIteration"] = a.index, 1
		}
	})
	if _, next, open := strings.Cut(a.read(a.list), "- [ ] "); open {
		task, _, _ := strings.Cut(next, "\n")
		a.shown, a.index = []string{task}, a.index+1
	}
	return len(a.shown) > 0
}

// fail counts an attempt that failed, inserts a fix task in recovery, and reports whether the task is to be tried again.
func (a *obedient) fail(id, task string) (again bool) {
	a.change(func(s map[string]any) {
		tries := more(s, "taskIteration", 1)
		s["taskIteration"], s["globalIteration"] = tries, more(s, "globalIteration", 1)
		if again = tries <= a.retries; again && a.fixes > 0 {
			fixed, _ := s["fixTaskMap"].(map[string]any)
			of, _ := fixed[id].(map[string]any)
			n := more(of, "attempts", 0)
			if n > a.fixes {
				s["taskIteration"], again = a.giveUp, false
				return
			}
			fix := fmt.Sprintf("%s.%d [FIX %s] Fix: it broke", id, n, id)
			a.write(a.list, strings.Replace(a.read(a.list), task+"\n", task+"\n- [ ] "+fix+"\n", 1))
			s["totalTasks"], s["fixTaskMap"] = more(s, "totalTasks", 0), map[string]any{id: map[string]any{"attempts": n}}
			a.shown = append(a.shown, fix)
		}
		a.shown = append(a.shown, task)
	})
	return again
}

// one more than the number in a field of a JSON object.
func more(m map[string]any, field string, otherwise int) int {
	if n, ok := m[field].(float64); ok {
		otherwise = int(n)
	}
	return otherwise + 1
}

func (a *obedient) must(err error) {
	a.t.Helper()
	if err != nil {
		a.t.Fatal(err)
	}
}

func (a *obedient) read(name string) string {
	b, err := os.ReadFile(filepath.Join(a.dir, name))
	a.must(err)
	return string(b)
}

// write writes a file that was last changed some time ago, so that a broken one is not read again.
func (a *obedient) write(name, text string) {
	path, ago := filepath.Join(a.dir, filepath.FromSlash(name)), time.Now().Add(-time.Minute)
	a.must(os.MkdirAll(filepath.Dir(path), 0o755))
	a.must(os.WriteFile(path, []byte(text), 0o644))
	a.must(os.Chtimes(path, ago, ago))
}

// change edits the state.
func (a *obedient) change(do func(map[string]any)) {
	s := map[string]any{}
	a.must(json.Unmarshal([]byte(a.read(a.state)), &s))
	do(s)
	b, err := json.Marshal(s)
	a.must(err)
	a.write(a.state, string(b))
}

// play lets the agent work until it may stop for good: a prompt that was continued once is followed by another.
func (a *obedient) play(policy, once string) loop.Decision {
	l, err := loop.Load(examples.Files(), policy+".yaml", loop.WithRoot(a.dir), loop.WithParams(map[string]string{"once": once}))
	a.must(err)
	said, again, prompt := "Here I am.", false, 1
	for range 60 {
		d, err := l.Decide(a.t.Context(), loop.Event{Session: "s1", PromptID: strconv.Itoa(prompt), Message: said, Names: map[string]any{"stop_hook_active": again}})
		a.must(err)
		switch {
		case d.Continue():
			if n := len(strings.Fields(d.Reason)); n > 110 && !strings.Contains(d.Reason, "Recovery: true") && !strings.Contains(d.Reason, "PARALLEL") {
				a.t.Errorf("%d words are too many:\n%s", n, d.Reason)
			}
			said, again = a.obey(d.Reason), true
		case again && d.Notice == "" && (d.Rule == "re-entry" || d.Rule == "waiting"):
			again, prompt = false, prompt+1
		default:
			return d
		}
	}
	a.t.Fatal("it does not end")
	return loop.Decision{}
}

// An agent that does only what the texts say comes to the right end: with one continuation a prompt, and with the whole list in one
// prompt; with one attempt a turn, and with many.
func TestObedience(t *testing.T) {
	const list = "- [x] 1.1 Begin\n- [ ] 1.2 Build it\n- [ ] 1.3 [P] Paint it\n- [ ] 1.4 [P] Describe it\n"
	const whole = `"phase": "execution", "taskIndex": 1, "totalTasks": 4`
	type play struct {
		state, list, ends string // ends is the rule that ends the loop if it is not done
		fails             map[string]int
	}
	plays := map[string]play{
		"plain":                 {state: whole, list: list},
		"failures":              {state: whole, list: list, fails: map[string]int{"1.2": 4, "1.4": 1}},
		"too many failures":     {state: whole, list: list, fails: map[string]int{"1.2": 5}, ends: "attempts"},
		"recovery":              {state: whole + `, "recoveryMode": true`, list: list, fails: map[string]int{"1.2": 3}},
		"a fix that fails":      {state: whole + `, "recoveryMode": true`, list: list, fails: map[string]int{"1.2": 1, "1.2.1": 1}},
		"too many fixes":        {state: whole + `, "recoveryMode": true`, list: list, fails: map[string]int{"1.2": 4}, ends: "attempts"},
		"an index that is late": {state: `"phase": "execution", "taskIndex": 0, "totalTasks": 4`, list: list},
		"all is ticked":         {state: whole, list: "- [x] 1.1 Begin\n"},
		"no list":               {state: whole, ends: "unverified"},
		"a corrupt state":       {state: `"`, list: list},
		"too few tasks":         {state: `"phase": "execution", "taskIndex": 1, "totalTasks": 1`, list: list},
		"quick mode":            {state: `"quickMode": true, "phase": "design"`},
	}
	for policy, files := range map[string][3]string{
		"speckit": {".specify/.current-feature", ".specify/specs/demo/.speckit-state.json", ".specify/specs/demo/tasks.md"},
		"specum":  {"specs/.current-spec", "specs/demo/.ralph-state.json", "specs/demo/tasks.md"},
	} {
		for name, p := range plays {
			if policy == "speckit" && name == "quick mode" {
				continue
			} else if policy == "speckit" && name == "too few tasks" {
				p.ends = "unverified"
			}
			for _, way := range []string{"once, one", "once, many", "whole, one", "whole, many"} {
				t.Run(policy+"/"+name+"/"+way, func(t *testing.T) {
					a := &obedient{t: t, dir: t.TempDir(), many: strings.HasSuffix(way, "many"), fails: maps.Clone(p.fails)}
					a.write(files[0], "demo")
					a.write(files[1], "{"+p.state+"}")
					a.write(files[2], p.list)
					d := a.play(policy, strconv.FormatBool(strings.HasPrefix(way, "once")))
					if done := d.Outcome == rules.Done; done != (p.ends == "") || !done && d.Rule != p.ends {
						t.Errorf("it ends as %s by %s: %s %s, want %q", d.Outcome, d.Rule, d.Reason, d.Notice, p.ends)
					}
				})
			}
		}
	}
}
