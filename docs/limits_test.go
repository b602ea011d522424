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
	"time"

	"github.com/ralph-sdk/ralph/internal/reference"
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

// inner are bounds that users do not meet: shapes of messages, effort, what another bound implies, and what only an attack or a mistake
// reaches, which its message explains.
func inner() map[string][]string {
	return map[string][]string{
		"cmd/ralph":               {"maxShownValue", "maxPolicies", "maxStack", "maxStdinPolicy"},
		"internal/nearest":        {"maxCandidates", "maxWord"},
		"internal/store":          {"maxHeld", "maxLogSize", "maxText", "maxTexts", "maxTrustSize", "MaxLogLine", "maxMemoryHistory", "maxDocument", "maxOwner", "maxTempAge", "usualMemory"},
		"internal/git":            {"maxTime", "maxOutput", "maxConfig", "maxLink", "maxMessage"},
		"project":                 {"maxFinished", "MaxUntil"},
		"run/step":                {"MaxDenied", "MaxText", "MaxPlan", "maxOutcomes", "maxName", "maxAllow"},
		"run":                     {"MaxLine", "maxDenials", "maxProblem", "maxReset", "maxSession", "maxShown", "maxStderr", "maxWindow"},
		"loop":                    {"maxLocked", "maxFailedText", "maxMissed", "maxShown", "maxBad", "maxCutTexts", "maxDigests", "maxInMemory", "maxPause", "maxQuestions", "maxTraced"},
		"host":                    {"maxTasks", "maxActions", "maxOccurrences", "MaxInput", "maxExchange"},
		"loop/judge":              {"MaxResponse", "maxBraces"},
		"rules":                   {"maxNesting", "maxExprNodes", "defaultLoadPatterns", "defaultLoadNodes", "maxClockBack", "maxDifferences", "maxFindings", "maxSeen", "maxTraced", "maxCall", "maxCalls", "maxCover", "maxFormula", "maxMistaken"},
		"rules/internal/analysis": {"MaxConstant", "maxEnum"},
		"internal/yamltree":       {"MaxNodes", "maxProblems"},
		"schema": {"MaxDepth", "MaxUnusable", "maxInstructions", "maxLevels",
			"defaultSteps", "maxConformSteps", "maxDefault", "maxErrors", "maxFormatted",
			"maxLocated", "maxNested", "maxPath", "maxPointers", "maxRare", "maxRepeated", "maxRepeatedDepth", "maxShownText", "maxShownValues", "maxSlips", "maxSteps",
			"maxValues", "maxWarnings",
		},
		"stores/postgres": {"maxIdle"},
		"state":           {"maxYAMLNodes", "maxPattern", "maxAlternatives", "maxFields", "maxRemarks", "maxRepeated", "maxShown", "maxTempAge"},
		"view":            {"maxPrinted", "maxIterations", "maxRuns", "maxEvents", "maxPage", "maxText"},
		"temporal":        {"maxEvents"},
	}
}

// The page of limits takes its numbers from the constants. Every constant that bounds something is on it, or is listed
// here as internal.
func TestLimitsPage(t *testing.T) {
	p := reference.New(t, "limits", "Limits")
	p.Text("How much ralph reads, keeps and waits for; [`limits`](policy-keys.md#limits) of a policy bound its loop. The last column has what happens beyond a limit, which ralph reports: for example, the fact is *missing* or *invalid*.")

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
		case d.IsDir() && rel != "." && (strings.HasPrefix(base, ".") || base == "testdata" || base == "examples" || rel == "next"):
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
