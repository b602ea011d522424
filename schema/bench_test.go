package schema_test

import (
	"bytes"
	"testing"

	"github.com/ralph-sdk/ralph/schema"
)

var benchState = []byte(`{
  "featureId": "001", "name": "user-auth", "basePath": ".specify/specs/001-user-auth", "phase": "execution",
  "taskIndex": 2, "totalTasks": 10, "taskIteration": 1, "maxTaskIterations": 5, "globalIteration": 7,
  "maxGlobalIterations": 100, "awaitingApproval": false, "recoveryMode": false
}`)

// What a hook pays: one schema, one state file.
func BenchmarkCompileAndCheck(b *testing.B) {
	src, _ := schema.Shipped("speckit-state")
	b.ReportAllocs()
	for b.Loop() {
		s, err := schema.Compile("speckit-state", src)
		if err != nil {
			b.Fatal(err)
		}
		check(b, s)
	}
}

// A state file may have a long list, which is read as a whole.
func BenchmarkLarge(b *testing.B) {
	s := shipped(b, "speckit-state")
	src := append([]byte(`{"history": [`), bytes.Repeat([]byte(`{"id": "a", "done": true, "n": 12, "tags": ["a", "b"]}, `), 5000)...)
	src = append(src, `{}], "phase": "execution", "taskIndex": 2}`...)
	b.Run("parse", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := schema.ParseJSON(src); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("check", func(b *testing.B) {
		doc, _ := schema.ParseJSON(src)
		b.ReportAllocs()
		for b.Loop() {
			s.Check(doc)
		}
	})
}

func check(b *testing.B, s *schema.Schema) {
	j, err := schema.ParseJSON(benchState)
	if err != nil {
		b.Fatal(err)
	}
	if got := s.Check(j); got.Unusable != nil || got.Warnings != nil {
		b.Fatal(got)
	}
}
