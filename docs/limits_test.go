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

// units says how the constants of testdata/limits.txt are shown. Its rows are what is bounded, by which constant, its unit,
// and what happens beyond it.
func units() map[string]func(constant.Value) string {
	return map[string]func(constant.Value) string{"count": count, "size": size, "span": span, "word": word}
}

func count(v constant.Value) string { return reference.Number(number(v)) }
func size(v constant.Value) string  { return reference.Size(number(v)) }
func span(v constant.Value) string  { return reference.Duration(time.Duration(number(v))) }
func word(v constant.Value) string  { return reference.Code(constant.StringVal(v)) }

func number(v constant.Value) int64 {
	n, _ := constant.Int64Val(constant.ToInt(v))
	return n
}

// inner are bounds that users do not meet: shapes of messages, effort, and what another bound implies.
func inner() map[string][]string {
	return map[string][]string{
		"cmd/ralph":               {"maxShownValue", "maxPolicies", "maxStack", "maxStdinPolicy"},
		"internal/nearest":        {"maxCandidates", "maxWord"},
		"internal/store":          {"maxLogSize", "maxText", "maxTexts", "maxTrustSize", "MaxLogLine", "maxMemoryHistory", "maxDocument", "maxOwner", "maxTempAge", "usualMemory"},
		"internal/git":            {"maxConfig", "maxLink", "maxMessage"},
		"project":                 {"maxFinished", "MaxUntil"},
		"run/step":                {"MaxText", "MaxPlan", "maxOutcomes", "maxName", "maxAllow"},
		"run":                     {"maxDenials", "maxProblem", "maxReset", "maxSession", "maxShown", "maxStderr"},
		"loop":                    {"maxAnswerText", "maxAnswersSize", "maxFailedText", "maxMissed", "maxShown", "maxBad", "maxCutTexts", "maxDigests", "maxInMemory", "maxPause", "maxQuestions", "maxTraced"},
		"host":                    {"maxOccurrences", "MaxInput", "maxExchange"},
		"loop/judge":              {"maxBraces"},
		"rules":                   {"maxDifferences", "maxFindings", "maxSeen", "maxTraced", "maxCall", "maxCalls", "maxCover", "maxFormula", "maxMistaken"},
		"rules/internal/analysis": {"MaxConstant", "maxEnum"},
		"internal/yamltree":       {"maxProblems"},
		"schema": {"maxInstructions", "maxLevels",
			"defaultSteps", "maxConformSteps", "maxDefault", "maxErrors", "maxFormatted",
			"maxLocated", "maxNested", "maxPath", "maxPointers", "maxRare", "maxRepeated", "maxRepeatedDepth", "maxShownText", "maxShownValues", "maxSlips", "maxSteps",
			"maxValues", "maxWarnings",
		},
		"stores/postgres": {"maxIdle"},
		"state":           {"maxAlternatives", "maxFields", "maxRemarks", "maxRepeated", "maxShown", "maxTempAge"},
		"view":            {"maxIterations", "maxRuns", "maxEvents", "maxPage", "maxText"},
		"temporal":        {"maxEvents"},
	}
}

// The page of limits takes its numbers from the constants. Every constant that bounds something is on it, or is listed
// here as internal.
func TestLimitsPage(t *testing.T) {
	p := reference.New(t, "limits", "Limits")
	p.Text("What bounds a loop, and how much ralph reads, keeps and waits for. For example, a streak has at most 500 continuations unless the policy sets another limit. Beyond a limit ralph fails safe: the agent may stop, or the fact is missing or invalid.")

	usual, highest := limitsOf(t, ""), limitsOf(t, "limits: {continuations: 1000000000, repeats: 1000000000, total: 1000000000, elapsed: 1000000h, failures: 1000000000, iterations: 1000000000}\n")
	p.Section(2, "A loop")
	p.Text("The keys are those of [`limits`](policy-keys.md#limits) in a policy. No policy can exceed the ceilings.")
	p.Table([]string{"limit", "default", "ceiling"},
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
	for _, section := range sections(t, "limits.txt") {
		p.Section(2, section.title)
		rows := [][]string{{"what", "limit", "beyond it"}}
		for _, row := range section.rows {
			what, from, unit, beyond := row[0], row[1], row[2], row[3]
			at := strings.LastIndex(from, ".")
			pkg, name := from[:at], from[at+1:]
			v := values[pkg][name]
			if v == nil {
				t.Errorf("there is no constant %s", from)
				continue
			}
			listed[pkg] = append(listed[pkg], name)
			rows = append(rows, []string{what, units()[unit](v), beyond})
		}
		p.Table(rows...)
	}
	bounding := regexp.MustCompile(`^(max|Max|default|Default|usual)[A-Z]|Timeout$`)
	for _, pkg := range slices.Sorted(maps.Keys(values)) {
		for name := range values[pkg] {
			if values[pkg][name].Kind() == constant.Int && bounding.MatchString(name) && !slices.Contains(listed[pkg], name) {
				t.Errorf("%s.%s is not on the page of limits: add it to testdata/limits.txt, or to inner if users do not meet it", pkg, name)
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
		for _, s := range rules.SourceKinds() {
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
		case d.IsDir() && rel != "." && (strings.HasPrefix(base, ".") || base == "testdata" || base == "tools" || base == "examples" || base == "web"):
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
