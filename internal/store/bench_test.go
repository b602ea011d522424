package store

import "testing"

func BenchmarkSaveMemory(b *testing.B) {
	s := Open(b.TempDir())
	for b.Loop() {
		m, version, err := s.LoadMemory("k")
		if err != nil {
			b.Fatal(err)
		}
		m.Total++
		if err := s.SaveMemory("k", m, version); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppendLog(b *testing.B) {
	s := Open(b.TempDir())
	line := []byte(`{"rule":"next-task","verdict":"continue"}`)
	for b.Loop() {
		if err := s.AppendLog(line); err != nil {
			b.Fatal(err)
		}
	}
}
