package view_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/internal/store"
	"github.com/ralph-sdk/ralph/view"
)

// stream is an open stream of rows.
type stream struct {
	b     *browser
	lines *bufio.Scanner
	last  string // ID of the last event, as a browser keeps it
	rows  []row  // so far
}

// stream opens a stream after a row, or as a browser does again after the last event.
func (b *browser) stream(ctx context.Context, after int, last string) *stream {
	b.t.Helper()
	r := must(http.NewRequestWithContext(ctx, "GET", b.url+"/api/events?after="+strconv.Itoa(after), nil))
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	got := must(b.http.Do(r))
	b.t.Cleanup(func() { got.Body.Close() })
	if kind := got.Header.Get("Content-Type"); got.StatusCode != http.StatusOK || kind != "text/event-stream" {
		b.t.Fatalf("%s, %s", got.Status, kind)
	}
	s := &stream{b: b, lines: bufio.NewScanner(got.Body), last: last}
	s.lines.Buffer(nil, 8<<20)
	return s
}

// until reads until so many rows came.
func (s *stream) until(n int) {
	s.b.t.Helper()
	event, id := "", ""
	for len(s.rows) < n && s.lines.Scan() {
		name, value, _ := strings.Cut(s.lines.Text(), ": ")
		switch name {
		case "id":
			id = value
		case "event":
			event = value
		case "data":
			if event == "rows" {
				var list []row
				if err := json.Unmarshal([]byte(value), &list); err != nil {
					s.b.t.Fatal(err)
				}
				s.rows = append(s.rows, list...)
				if s.last = id; id != strconv.Itoa(list[len(list)-1].N) {
					s.b.t.Errorf("the event %s ends with the row %d", id, list[len(list)-1].N)
				}
			}
		}
	}
	if len(s.rows) != n {
		s.b.t.Fatalf("%d rows, want %d: %v", len(s.rows), n, s.lines.Err())
	}
}

func ids(list []row) (all []string) {
	for _, r := range list {
		all = append(all, r.ID)
	}
	return all
}

// Every decision is in the stream once, in order: also when the browser comes back, while the log is rotated, when a line was
// half written, or is one of a newer version.
func TestEvents(t *testing.T) {
	w := newWorld(t)
	want := []string{w.decide("s1"), w.decide("s2")}
	b := w.serve(view.Config{})
	before := b.all()
	if diff := cmp.Diff(want, ids(before)); diff != "" {
		t.Fatalf("at first (-want +got)\n%s", diff)
	}
	ctx, cancel := context.WithCancel(t.Context())
	s := b.stream(ctx, before[0].N, "")
	s.until(1) // the one after the first
	if diff := cmp.Diff(want[1:], ids(s.rows)); diff != "" {
		t.Errorf("after the first (-want +got)\n%s", diff)
	}
	want = append(want, w.decide("s1"))
	s.until(2)
	cancel()

	log := filepath.Join(w.state, "decisions.jsonl")
	torn := w.line("torn")
	f := must(os.OpenFile(log, os.O_APPEND|os.O_WRONLY, 0o600))
	must(f.WriteString(torn[:20]))
	again := b.stream(t.Context(), before[0].N, s.last) // the last event wins
	large := `"notices":[` + quoted(strings.Repeat("x", 900<<10)) + `]`
	must(f.WriteString(torn[20:] + "\n"))
	f.Close()
	want = append(want, "torn")
	for i := range 12 { // more than a file of the log holds
		id := fmt.Sprint("large-", i)
		w.append(w.line(id, large))
		want = append(want, id)
	}
	w.append(`{"v":2,"id":"newer","time":"2027-01-01T00:00:00Z","root":` + quoted(w.dir) + `,"policy":"p","action":{"new":"form"},"rule":7,"event":"Stop"}`)
	w.append(`not JSON`)
	w.append(`{"v":1,"id":"elsewhere","root":"/elsewhere"}`)
	want = append(want, "newer", w.decide("s3"))
	again.until(len(want) - 3)
	if diff := cmp.Diff(want[3:], ids(again.rows)); diff != "" {
		t.Errorf("behind the last event (-want +got)\n%s", diff)
	}
	if r := again.rows[len(again.rows)-2]; r.Outcome != "" || !strings.Contains(r.Said, "newer version") {
		t.Errorf("the row of a newer version is %+v", r)
	}
	if diff := cmp.Diff(want, ids(b.all())); diff != "" {
		t.Errorf("all (-want +got)\n%s", diff)
	}
	if files := must(filepath.Glob(filepath.Join(w.state, "decisions*"))); len(files) < 2 {
		t.Errorf("the log was not rotated: %v", files)
	}
}

// Decisions of several processes at once are all in the stream, once each.
func TestEventsOfManySessions(t *testing.T) {
	w := newWorld(t)
	b := w.serve(view.Config{})
	const sessions, each = 4, 50
	var all sync.WaitGroup
	for s := range sessions {
		all.Go(func() {
			own := store.Open(w.state)
			for i := range each {
				if err := own.AppendLog([]byte(w.line(fmt.Sprintf("%d-%d", s, i)))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	first, second := b.stream(t.Context(), 0, ""), b.stream(t.Context(), 0, "")
	first.until(sessions * each)
	second.until(sessions * each)
	all.Wait()
	if diff := cmp.Diff(ids(first.rows), ids(second.rows)); diff != "" {
		t.Errorf("two streams (-first +second)\n%s", diff)
	}
	seen := ids(first.rows)
	slices.Sort(seen)
	if n := len(slices.Compact(seen)); n != sessions*each {
		t.Errorf("%d different decisions, want %d", n, sessions*each)
	}
	for i, r := range first.rows {
		if r.N != first.rows[0].N+i {
			t.Fatalf("row %d has the number %d, and the first %d", i, r.N, first.rows[0].N)
		}
	}
}

// The latest rows come first, and older ones follow; the stream has those that the page cannot have yet.
func TestLongLog(t *testing.T) {
	w := newWorld(t)
	var want []string
	for i := range 1300 {
		id := fmt.Sprint("d", i)
		w.append(w.line(id))
		want = append(want, id)
	}
	b := w.serve(view.Config{})
	var latest rows
	b.ask("/api/decisions", &latest)
	if diff := cmp.Diff(want[800:], ids(latest.Rows)); diff != "" {
		t.Errorf("at first (-want +got)\n%s", diff)
	}
	s := b.stream(t.Context(), latest.Last, "")
	want = append(want, w.decide("s1"))
	s.until(1)
	all := b.all()
	if diff := cmp.Diff(want, ids(all)); diff != "" {
		t.Errorf("all (-want +got)\n%s", diff)
	}
	if n := all[len(all)-1].N - all[0].N; n != len(all)-1 {
		t.Errorf("%d rows have numbers %d apart", len(all), n)
	}
}
