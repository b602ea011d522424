package bench

import (
	"strings"
	"testing"

	"cel.dev/cel-go/cel"

	"github.com/ralph-sdk/ralph/rules"
)

// What a beginner gets wrong in a condition, with what ralph and cel-go say of it: ralph's message has what to write instead.
func TestMistakes(t *testing.T) {
	for what, c := range map[string]struct{ condition, instead string }{
		"a misspelt field":      {`state.taskIndx < state.totalTasks`, `did you mean "taskIndex"`},
		"a misspelt name":       {`stat.phase == "execution"`, `did you mean "state"`},
		"a wrong type":          {`state.taskIndex < "3"`, `a number`},
		"a value of no enum":    {`state.phase == "exection"`, `did you mean "execution"`},
		"an unknown function":   {`lenght(state.phase) > 3`, `did you mean "len"`},
		"one = for two":         {`state.phase = "execution"`, `write ==`},
		"a text without quotes": {`state.phase == execution`, `"execution"`},
		"a bracket too few":     {`(state.taskIndex < 3 && stop_hook_active`, `)`},
	} {
		t.Run(what, func(t *testing.T) {
			of, cels := mistakeOfRalph(c.condition), mistakeOfCEL(t, c.condition)
			t.Logf("%s\n\nralph:\n%s\n\ncel-go:\n%s", c.condition, of, cels)
			if !strings.Contains(of, c.instead) {
				t.Errorf("ralph does not say %s:\n%s", c.instead, of)
			}
			if strings.Contains(cels, c.instead) && c.instead != ")" {
				t.Errorf("cel-go says it too")
			}
		})
	}
}

func mistakeOfRalph(condition string) string {
	src := `ralph: 1
facts:
  state:
    value: state
    schema: {properties: {phase: {enum: [plan, execution]}, taskIndex: {type: integer}, totalTasks: {type: integer}}}
rules:
  - name: go
    when: '` + condition + `'
    continue: Go on.
`
	p, err := rules.Parse("policy.yaml", []byte(src))
	if err == nil {
		return rules.Check(p).Error()
	}
	return err.Error()
}

func mistakeOfCEL(t *testing.T, condition string) string {
	state := cel.MapType(cel.StringType, cel.DynType)
	env, err := cel.NewEnv(cel.Variable("state", state), cel.Variable("stop_hook_active", cel.BoolType))
	if err != nil {
		t.Fatal(err)
	}
	if _, issues := env.Compile(condition); issues.Err() != nil {
		return issues.Err().Error()
	}
	return "nothing: it is found when it is evaluated, or never"
}
