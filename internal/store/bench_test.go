package store

import "testing"

func BenchmarkSaveMemory(b *testing.B) {
	s := Open(b.TempDir())
	line := []byte(`{"v":1,"streak":3,"total":7}`)
	for b.Loop() {
		_, version, err := s.LoadMemory(MemoryKey{Root: "k"})
		if err != nil {
			b.Fatal(err)
		}
		if err := s.SaveMemory(MemoryKey{Root: "k"}, line, version); err != nil {
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
