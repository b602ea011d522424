package engine_test

import (
	"testing"

	"github.com/ralph-sdk/ralph/examples"
	"github.com/ralph-sdk/ralph/policytest"
	"github.com/ralph-sdk/ralph/web/playground/engine"
)

// BenchmarkDecide is what a change of the state costs.
func BenchmarkDecide(b *testing.B) {
	const policy, tests = "specum/specum.yaml", "specum/specum_test.yaml"
	files := map[string]string{}
	src, err := examples.FS.ReadFile(policy)
	if err != nil {
		b.Fatal(err)
	}
	files[policy] = string(src)
	if src, err = examples.Tests.ReadFile(tests); err != nil {
		b.Fatal(err)
	}
	file, _ := policytest.Parse(tests, src)
	s, err := engine.SituationOf(file.Tests[len(file.Tests)/2])
	if err != nil {
		b.Fatal(err)
	}
	var e engine.Engine
	e.Load(engine.Files{Policy: policy, Files: files})
	for b.Loop() {
		if d := e.Decide(b.Context(), s); d.Record == nil {
			b.Fatal(d.Problem)
		}
	}
}
