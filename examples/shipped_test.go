package examples_test

import (
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"go.yaml.in/yaml/v3"

	"github.com/ralph-sdk/ralph/examples"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

// No shipped policy has a finding: neither an error nor a warning.
func TestShippedPoliciesAreClean(t *testing.T) {
	policies, err := fs.Glob(examples.FS, "*/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range policies {
		if strings.HasPrefix(name, "guards/") {
			continue // they are read where a policy includes them
		}
		t.Run(name, func(t *testing.T) {
			program, findings := rules.Load(t.Context(), examples.FS, name, loop.Config())
			if len(findings) > 0 {
				t.Error(findings.Format())
			}
			if program != nil && program.Description == "" {
				t.Error("it does not say what it is for")
			}
		})
	}
	for _, dir := range []string{"embed/minimal", "embed/source"} {
		t.Run(dir, func(t *testing.T) {
			cfg := loop.Config()
			if dir == "embed/source" {
				cfg.Sources = []rules.SourceKind{{Name: "coverage", Argument: "path"}}
			}
			if _, findings := rules.Load(t.Context(), os.DirFS(dir), "policy.yaml", cfg); len(findings) > 0 {
				t.Error(findings.Format())
			}
		})
	}
}

// The first line of every guard describes its purpose, and a policy can use it with only
// the params that have no default.
func TestGuards(t *testing.T) {
	guards, err := fs.Glob(examples.FS, "guards/*.yaml")
	if err != nil || len(guards) == 0 {
		t.Fatal(guards, err)
	}
	for _, file := range guards {
		name := strings.TrimSuffix(strings.TrimPrefix(file, "guards/"), ".yaml")
		t.Run(name, func(t *testing.T) {
			src, err := fs.ReadFile(examples.FS, file)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(string(src), "# "+name+": ") {
				t.Errorf("its first line does not begin with # %s:", name)
			}
			include := map[string]any{"include": "ralph:guards/" + name}
			if with := needed(t, src); len(with) > 0 {
				include["with"] = with
			}
			policy, err := yaml.Marshal(map[string]any{
				"ralph": 1,
				"rules": []any{include, map[string]any{"name": "done", "when": "stop_hook_active", "stop": "done"}},
			})
			if err != nil {
				t.Fatal(err)
			}
			fsys := fstest.MapFS{"policy.yaml": {Data: policy}}
			if _, findings := rules.Load(t.Context(), fsys, "policy.yaml", loop.Config()); len(findings) > 0 {
				t.Errorf("%s\n%s", findings.Format(), policy)
			}
		})
	}
}

// needed returns an expression for each param of a guard that has no default.
func needed(t *testing.T, guard []byte) map[string]string {
	t.Helper()
	var doc struct {
		Params map[string]map[string]any
	}
	if err := yaml.Unmarshal(guard, &doc); err != nil {
		t.Fatal(err)
	}
	byType := map[any]string{"integer": "loop.total", "number": "loop.total", "string": "session_id", "boolean": "stop_hook_active", "array": "transcript.texts"}
	with := map[string]string{}
	for name, param := range doc.Params {
		if _, ok := param["default"]; !ok {
			with[name] = byType[param["type"]]
		}
	}
	return with
}

// The demo projects are worked on by their policies as they are.
func TestDemosGoOn(t *testing.T) {
	for policy, rule := range map[string]string{"speckit": "next-task", "specum": "next-task", "stravinsky": "again"} {
		t.Run(policy, func(t *testing.T) {
			content := files{}
			demo := os.DirFS(policy + "/demo")
			err := fs.WalkDir(demo, ".", func(name string, d fs.DirEntry, err error) error {
				if err != nil || d.IsDir() {
					return err
				}
				data, err := fs.ReadFile(demo, name)
				content[name] = string(data)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			p := newProject(t, policy, nil, content)
			expect(t, p.stop(nil), "continue "+rule)
		})
	}
}
