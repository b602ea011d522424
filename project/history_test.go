package project_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/internal/store"
	"github.com/ralph-sdk/ralph/project"
)

func opened(t *testing.T) (p *project.Project, add func(line string)) {
	t.Helper()
	own := t.TempDir()
	p, err := project.Open(project.Config{Dir: t.TempDir(), State: own, Env: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	root, _ := json.Marshal(p.Dir()) // a string
	return p, func(line string) {
		t.Helper()
		if err := store.Open(own).AppendLog(fmt.Appendf(nil, `{"root":%s,"event":"Stop",%s}`, root, line)); err != nil {
			t.Fatal(err)
		}
	}
}

// A project that is asked again shows what the log has by then.
func TestStatusAgain(t *testing.T) {
	p, add := opened(t)
	finished := func(want ...string) {
		t.Helper()
		s, err := p.Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range s.Finished {
			got = append(got, f.Name+" "+f.Reason)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}
	ended := func(n int, loop, reason string) {
		t.Helper()
		add(fmt.Sprintf(`"v":1,"id":"%d","time":"2026-11-23T10:00:%02dZ","policy":"p","action":"stop","rule":"r","success":true,"reason":%q,"loop":{"name":%q,"state":%q}`, n, n, reason, loop, loop+".md"))
	}
	finished()
	ended(1, "one", "first")
	finished("one first")
	finished("one first")
	ended(2, "two", "second")
	ended(3, "one", "again")
	finished("one again", "two second")
	ended(4, "three", "third")
	finished("three third", "one again", "two second")
}

// A session whose latest decision ended a loop does not hide that another one ended it later.
func TestStatusOfSessionsAgain(t *testing.T) {
	p, add := opened(t)
	const ended = `"action":"stop","rule":"r","success":true,"loop":{"name":"one","state":"one.md"}`
	add(`"v":1,"id":"1","time":"2026-11-23T10:00:01Z","policy":"p","session":"a","reason":"first",` + ended)
	add(`"v":1,"id":"2","time":"2026-11-23T10:00:02Z","policy":"p","session":"b","reason":"second",` + ended)
	add(`"v":1,"id":"3","time":"2026-11-23T10:00:03Z","policy":"p","session":"b","action":"continue","rule":"r"`)
	for range 2 {
		s, err := p.Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Finished) != 1 || s.Finished[0].Reason != "second" {
			t.Errorf("finished are %+v, want the second", s.Finished)
		}
	}
}

// Decisions with an ID are found without the others, including those of a newer version.
func TestHistoryOfID(t *testing.T) {
	p, add := opened(t)
	add(`"v":1,"id":"a","policy":"p"`)
	add(`"v":1,"id":"b","policy":"p","reason":"not \"a\""`)
	add(`"v":2,"id":"a","policy":"q","rule":{"new":"form"}`)
	add(`"v":1,"id":"ab","policy":"r","rule":7`) // none of ours
	for _, tt := range []struct {
		q    project.Query
		want []string
	}{
		{project.Query{ID: "a"}, []string{"a p 0", "a q 0"}},
		{project.Query{ID: "b"}, []string{"b p 0"}},
		{project.Query{ID: "a", Last: 1}, []string{"a q 0"}},
		{project.Query{ID: "c"}, nil},
		{project.Query{ID: `"`}, nil},
		{project.Query{}, []string{"a p 3", "b p 2", "a q 1"}},
	} {
		entries, err := p.History(tt.q)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range entries {
			got = append(got, fmt.Sprint(e.ID, " ", e.Policy, " ", e.Number))
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%+v (-want +got)\n%s", tt.q, diff)
		}
	}
}
