package docs_test

import (
	"go/constant"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/ralph-sdk/ralph/internal/reference"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

// bound is a row of the page of limits: what is bounded, by which constant, and what happens beyond it.
type bound struct {
	what     string
	constant string // PACKAGE.NAME
	unit     func(constant.Value) string
	beyond   string
}

func count(v constant.Value) string { return reference.Number(number(v)) }
func size(v constant.Value) string  { return reference.Size(number(v)) }
func span(v constant.Value) string  { return reference.Duration(time.Duration(number(v))) }
func word(v constant.Value) string  { return reference.Code(constant.StringVal(v)) }

func number(v constant.Value) int64 {
	n, _ := constant.Int64Val(constant.ToInt(v))
	return n
}

// bounds are the limits that users can meet, by section of the page.
func bounds() map[string][]bound {
	return map[string][]bound{
		"A decision": {
			{"hook input", "cmd/ralph.maxInput", size, "the agent may stop, and ralph reports why"},
			{"time for one event", "loop.defaultDeadline", span, "the agent may stop; `--deadline` sets another time"},
			{"time for one decision of a run, if its facts need no more", "project.usualDeadline", span, "the run ends, and ralph reports why"},
			{"seconds that the host waits, as `ralph install` writes it", "host/setup.hookTimeout", count, "the host goes on without an answer"},
			{"steps of an evaluation", "rules.defaultSteps", count, "the agent may stop, and ralph reports the place"},
			{"lists and objects inside one another, in an expression", "rules.maxNesting", count, "the expression fails"},
			{"a text that an expression makes", "rules.maxString", size, "the expression fails"},
			{"a text with `${…}`, rendered", "rules.maxText", size, "the rest is cut off"},
			{"a text for the agent", "rules.maxReason", size, "the rest is cut off; the end of the text says so, and ralph reports it"},
			{"a value of the memory, as JSON", "rules.maxMemoryValue", size, "it is not remembered: the agent may stop, and ralph reports it"},
			{"verdicts that `unless_repeated` remembers, for each rule", "rules.maxSaid", count, "the oldest is forgotten"},
			{"texts that a session remembers to have seen", "rules.maxSeen", count, "the oldest is forgotten, and shown again"},
		},
		"A policy": {
			{"one file", "internal/source.MaxSize", size, "error [`too-big`](../checks/too-big.md)"},
			{"values of one file", "internal/source.MaxNodes", count, "error `too-big`"},
			{"maps and lists inside one another", "internal/source.MaxDepth", count, "error [`yaml-depth`](../checks/yaml-depth.md)"},
			{"all files together", "rules.defaultLoadBytes", size, "error `too-big`"},
			{"values and parts of expressions of all files", "rules.defaultLoadNodes", count, "error `too-big`"},
			{"included files", "rules.defaultLoadIncludes", count, "error [`include`](../checks/include.md)"},
			{"includes inside one another", "rules.maxIncludeDepth", count, "error `include`"},
			{"instructions of all patterns", "rules.defaultLoadPatterns", count, "error `too-big`"},
			{"values of the memory", "rules.maxMemoryValues", count, "error `too-big`"},
			{"one expression", "rules.maxExprLength", size, "error [`syntax`](../checks/syntax.md)"},
			{"parts of one expression", "rules.maxExprNodes", count, "error `syntax`"},
			{"findings of one check", "rules.maxFindings", count, "further ones are not reported"},
			{"`.ralph/config.yaml`", "project.maxConfigSize", size, "the agent may stop, and ralph reports why"},
		},
		"Schemas and values": {
			{"a schema", "schema.MaxSchemaSize", size, "error [`schema`](../checks/schema.md)"},
			{"levels of a schema", "schema.maxLevels", count, "error `schema`"},
			{"instructions of the patterns of a schema", "schema.maxInstructions", count, "error `schema`"},
			{"a JSON document", "schema.MaxDocumentSize", size, "the fact is invalid"},
			{"lists and objects inside one another, in a document", "schema.MaxDepth", count, "the fact is invalid"},
			{"fields and elements of a wrong type in one document", "schema.maxUnusable", count, "the document is unusable"},
			{"whole numbers, plus or minus", "schema.maxInt", count, "it counts as that number"},
		},
		"Files of the project": {
			{"one file", "state.MaxFileSize", size, "the fact is invalid"},
			{"time to read a file", "state.defaultTimeout", span, "the fact is missing; `timeout` sets another time. It counts for disks that may hang"},
			{"what facts read of files in one decision, in all; each value of a document counts as 64 bytes", "loop.maxFileBytes", size, "the fact is missing"},
			{"time for walks through folders, and for disks that may hang, in all", "loop.maxFileTime", span, "the fact is missing, `exists` and `anyfile` are false, and ralph reports it"},
			{"front matter", "state.maxMatterSize", size, "the fact is invalid"},
			{"fields of `lenient` front matter", "state.maxFields", count, "the fact is invalid"},
			{"values of a YAML document", "state.maxYAMLNodes", count, "the fact is invalid"},
			{"files of a glob", "loop.maxGlob", count, "the others are left out, and `problem(fact)` says so; `max` sets another number"},
			{"files and folders that a glob looks at", "state.maxEntries", count, "the fact is missing"},
			{"a pattern", "state.maxPattern", size, "the fact is missing"},
			{"alternatives in braces of a pattern", "state.maxAlternatives", count, "the fact is missing"},
		},
		"Programs and git": {
			{"time for a program that an effect runs", "rules.runTimeout", span, "the program is ended with its children, and ralph reports it; `timeout` sets another time"},
			{"time for a program", "rules.execTimeout", span, "the program is ended with its children, and the fact is missing; `timeout` sets another time"},
			{"output of a program, for each of stdout and stderr", "loop.maxOutput", size, "the rest is dropped, and `problem(fact)` says so"},
			{"wait for the output of a program that has ended", "loop.afterExit", span, "what a child prints later is dropped"},
			{"time for git", "rules.gitTimeout", span, "the fact is missing; `timeout` sets another time"},
			{"names that git reports", "internal/git.maxOutput", size, "the rest is dropped, and `problem(fact)` says so"},
			{"time for one command of git in `ralph run --worktree`", "internal/git.maxTime", span, "git is ended, and the branch stays"},
			{"time in which git reads its configuration there", "internal/git.maxConfig", span, "git is ended, and the branch stays"},
		},
		"The session": {
			{"what is read of the session file, from its end", "host.DefaultMaxBytes", size, "older records are not seen, but in the turn"},
			{"what is searched of the turn before that", "host.DefaultSearchBytes", size, "older words of the turn are not seen, and the trace says so"},
			{"lines of a session file that is plain text", "host.PlainLines", count, "older lines are not seen"},
			{"input of a tool, as `transcript.turns` and a judge see it", "host.maxToolInput", size, "the rest is left out"},
			{"result of a tool, as a judge with `tool_results` sees it", "host.maxToolResult", size, "its end is kept"},
			{"markers that did not count, in one continuation", "loop.maxMissed", count, "the others are not named"},
			{"such a marker", "host.maxShownMarker", size, "the rest is left out"},
			{"commands and edits of a turn that `transcript.passed` and `transcript.passed_since_edit` look at", "host.maxActions", count, "older ones are not seen"},
			{"tasks on the list in the session file", "host.maxTasks", count, "later ones are not counted"},
			{"failed tests that a `junit` fact lists", "loop.maxFailedTests", count, "further ones are counted only"},
			{"what one of them says", "loop.maxFailedText", size, "it is cut"},
			{"tasks that a `tasks` fact reads", "loop.maxTasks", count, "the others are left out, and `problem(fact)` says so"},
		},
		"A judge": {
			{"model of `api: anthropic`, if the policy names none", "loop/judge.usualModel", word, "`api: openai` has none: the policy names it"},
			{"time for the answer", "rules.judgeTimeout", span, "the fact is missing; `timeout` sets another time"},
			{"turns of the conversation", "loop/judge.usualTurns", count, "older turns are not sent; `turns` sets another number"},
			{"tokens of the answer", "loop/judge.DefaultMaxTokens", count, "the answer is cut off, and the fact is missing; `max_tokens` sets another number"},
			{"one turn of the conversation", "loop/judge.MaxTurn", size, "its end is sent"},
			{"all turns of the conversation", "loop/judge.MaxExcerpt", size, "the oldest are left out"},
			{"the response of the service", "loop/judge.MaxResponse", size, "the fact is missing"},
			{"tries, where the service is busy", "loop/judge.maxTries", count, "the fact is missing"},
		},
		"A run": {
			{"iterations of a run", "run.DefaultIterations", count, "the run ends with status 10; `--max` sets another number"},
			{"time of a run", "run.DefaultElapsed", span, "the run ends with status 10; `--for` sets another time"},
			{"time of one iteration", "run.DefaultIteration", span, "the iteration ends as `timeout`; `--iteration` sets another time"},
			{"failures of the client in a row", "run.maxCrashes", count, "the run ends with status 13"},
			{"a prompt", "cmd/ralph.maxPrompt", size, "`ralph run` refuses it"},
			{"a prompt without a policy", "project.maxRepeated", size, "`ralph run` refuses it"},
			{"a prompt that the client takes as an argument", "run.maxArgument", size, "the run ends with status 3"},
			{"a line of the client's output", "run.MaxLine", size, "the rest of the line is not read"},
			{"the agent's last message", "run.maxText", size, "its end counts"},
			{"the output of an iteration, for each of stdout and stderr, as it is kept", "run.maxSpool", size, "the rest is not kept"},
			{"all folders of runs in a project", "run.maxKept", size, "the oldest runs are removed"},
			{"age of a run", "run.maxAge", span, "it is removed with the next run"},
		},
		"ralph's own files": {
			{"time that the memory of a session is kept after its last use", "loop.memoryAge", span, "the memory is removed, and the counts begin anew"},
			{"the memory of one loop", "internal/store.maxMemorySize", size, "the memory counts as damaged and begins anew, and ralph reports it"},
			{"the decision log", "internal/store.maxLogSize", size, "it becomes `decisions.jsonl.1`, and the one before is removed"},
			{"one record of the log", "internal/store.MaxLogLine", size, "long texts are cut, then the trace is shortened or left out"},
			{"a value in a record, as JSON", "loop.maxShown", size, "the rest is cut off"},
			{"loops that ended, as `ralph status` shows them", "project.maxFinished", count, "older ones are in the log"},
			{"a file of the project that an approval covers", "internal/approval.maxProgram", size, "the fact is missing"},
			{"words of a command line, times the directories that it names", "internal/approval.maxLookups", count, "the fact is missing"},
			{"the hints of a project, in all", "internal/store.maxList", size, "`ralph hint` refuses another one"},
			{"an approval", "internal/store.maxTrustSize", size, "the policy is not approved"},
			{"the pauses of a project", "internal/store.maxList", size, "the agent may stop, and ralph reports why"},
			{"time that one process may hold a lock for which another waits", "internal/store.maxHeld", span, "the agent may stop, and ralph reports why"},
			{"time to write a record", "loop.recordTime", span, "the record is not kept, and ralph reports it"},
		},
		"Trying a policy": {
			{"differences that `ralph diff` shows", "rules.maxDifferences", count, "further ones are not shown"},
			{"age of a file in a test, if the test does not say", "policytest.DefaultAge", span, "`age` sets another one"},
		},
	}
}

// inner are bounds that users do not meet: shapes of messages, effort, and what another bound implies.
func inner() map[string][]string {
	return map[string][]string{
		"cmd/ralph":               {"maxPolicies", "maxStack", "maxStdinPolicy"},
		"internal/nearest":        {"maxCandidates", "maxWord"},
		"internal/store":          {"maxMemoryHistory", "maxRunSize", "maxTempAge", "usualMemory"},
		"internal/git":            {"maxLink", "maxMessage"},
		"run":                     {"maxProblem", "maxReset", "maxSession", "maxShort", "maxStderr"},
		"loop":                    {"maxBad", "maxCutText", "maxCutTexts", "maxInMemory", "maxPause", "maxQuestions", "maxTraced"},
		"host":                    {"MaxInput", "maxExchange"},
		"loop/judge":              {"maxBraces"},
		"rules":                   {"maxCall", "maxCalls", "maxCover", "maxFormula", "maxInputJSON", "maxInputText", "maxMistaken"},
		"rules/internal/analysis": {"MaxConstant", "maxEnum"},
		"internal/source":         {"maxProblems"},
		"schema": {
			"defaultSteps", "maxConformSteps", "maxDefault", "maxErrors", "maxFormatted",
			"maxLocated", "maxNested", "maxPath", "maxPointers", "maxRare", "maxShownText", "maxShownValues", "maxSteps",
			"maxValues", "maxWarnings",
		},
		"state": {"maxRemarks", "maxShown", "maxTempAge"},
	}
}

// The page of limits takes its numbers from the constants. Every constant that bounds something is on it, or is said to
// be of no interest to users.
func TestLimitsPage(t *testing.T) {
	p := reference.New(t, "limits", "Limits")
	p.Text("What bounds a loop, and what ralph reads, keeps and waits for. Beyond a limit ralph fails safe: the agent may stop, or the fact is missing or invalid.")

	usual, highest := limitsOf(t, ""), limitsOf(t, "limits: {continuations: 1000000000, repeats: 1000000000, total: 1000000000, elapsed: 1000000h, failures: 1000000000, iterations: 1000000000}\n")
	p.Section(2, "A loop")
	p.Text("The keys are those of [`limits`](policy-keys.md#limits) in a policy. No policy exceeds the ceilings.")
	p.Table([]string{"limit", "if absent", "ceiling"},
		[]string{"`continuations`", reference.Number(usual.Continuations), reference.Number(highest.Continuations)},
		[]string{"`repeats`", "no limit", reference.Number(highest.Repeats)},
		[]string{"`elapsed`", reference.Duration(usual.Elapsed), reference.Duration(highest.Elapsed)},
		[]string{"`total`", reference.Number(usual.Total), reference.Number(highest.Total)},
		[]string{"`failures`", reference.Number(usual.Failures), reference.Number(highest.Failures)},
		[]string{"`tokens`", "no limit", "none"},
		[]string{"`iterations`, in a run", "no limit; `ralph run` has one", reference.Number(highest.Iterations)},
		[]string{"`cost`, in a run", "no limit", "none"})

	listed := inner()
	values := map[string]map[string]constant.Value{}
	for _, pkg := range packages(t) {
		values[pkg] = constants(t, pkg)
	}
	all := bounds()
	for _, title := range []string{"A decision", "A policy", "Schemas and values", "Files of the project", "Programs and git", "The session", "A judge", "A run", "ralph's own files", "Trying a policy"} {
		p.Section(2, title)
		rows := [][]string{{"what", "limit", "beyond it"}}
		for _, b := range all[title] {
			at := strings.LastIndex(b.constant, ".")
			pkg, name := b.constant[:at], b.constant[at+1:]
			v := values[pkg][name]
			if v == nil {
				t.Errorf("there is no constant %s", b.constant)
				continue
			}
			listed[pkg] = append(listed[pkg], name)
			rows = append(rows, []string{b.what, b.unit(v), b.beyond})
		}
		p.Table(rows...)
		delete(all, title)
	}
	for title := range all {
		t.Errorf("the section %q is not on the page", title)
	}
	bounding := regexp.MustCompile(`^(max|Max|default|Default|usual)[A-Z]|Timeout$`)
	for _, pkg := range slices.Sorted(maps.Keys(values)) {
		for name := range values[pkg] {
			if values[pkg][name].Kind() == constant.Int && bounding.MatchString(name) && !slices.Contains(listed[pkg], name) {
				t.Errorf("%s.%s is not on the page of limits: add it to bounds, or to inner if users do not meet it", pkg, name)
			}
		}
		for _, name := range listed[pkg] {
			if values[pkg][name] == nil {
				t.Errorf("there is no constant %s.%s any more", pkg, name)
			}
		}
	}
	p.Check()
}

// What options of sources say of their defaults is what the constants say.
func TestDefaultsOfOptions(t *testing.T) {
	for option, name := range map[string]string{"glob.max": "loop.maxGlob", "judge.turns": "loop/judge.usualTurns", "judge.max_tokens": "loop/judge.DefaultMaxTokens"} {
		at := strings.LastIndex(name, ".")
		want := constants(t, name[:at])[name[at+1:]].String()
		found := false
		for _, s := range rules.Sources() {
			for _, o := range s.Options {
				if s.Name+"."+o.Name == option {
					found = strings.Contains(o.Doc, want)
				}
			}
		}
		if !found {
			t.Errorf("the text about %s does not name its default, %s", option, want)
		}
	}
}

func limitsOf(t *testing.T, limits string) rules.Limits {
	t.Helper()
	src := "ralph: 1\n" + limits + "rules:\n  - {name: a, when: not stop_hook_active, continue: go on}\n"
	p, findings := rules.Load(t.Context(), fstest.MapFS{"policy.yaml": {Data: []byte(src)}}, "policy.yaml", loop.Config())
	if p == nil {
		t.Fatal(findings.Err())
	}
	return p.Limits()
}

// packages lists the packages of ralph itself.
func packages(t *testing.T) []string {
	t.Helper()
	seen := map[string]bool{}
	err := filepath.WalkDir(root(t), func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root(t), name)
		if err != nil {
			return err
		}
		base := d.Name()
		switch {
		case d.IsDir() && rel != "." && (strings.HasPrefix(base, ".") || base == "testdata" || base == "tools" || base == "examples"):
			return filepath.SkipDir
		case !d.IsDir() && strings.HasSuffix(base, ".go") && !strings.HasSuffix(base, "_test.go"):
			seen[filepath.ToSlash(filepath.Dir(rel))] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	delete(seen, "internal/reference") // for tests
	delete(seen, "loop/looptest")
	return slices.Sorted(maps.Keys(seen))
}
