//go:build unix

package postgres_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Names reads page by page, and its caller may use the only connection meanwhile.
func TestNames(t *testing.T) {
	s := open(t, connect(t, shared.empty(t), func(c *pgxpool.Config) { c.MaxConns = 1 }))
	var want, got []string
	for i := range 150 {
		name := fmt.Sprint(i, "\x00\xff")
		want = append(want, name)
		for _, kind := range []string{"hint", "other"} {
			if err := s.Put(t.Context(), kind, name, []byte("{}"), ""); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, err := range s.Names(t.Context(), "hint") {
		if err != nil {
			t.Fatal(err)
		}
		if _, version, err := s.Get(t.Context(), "hint", name); version == "" || err != nil {
			t.Errorf("%q has the version %q, %v", name, version, err)
		}
		got = append(got, name)
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Names (-want +got):\n%s", diff)
	}
}

// A context bounds the call, not the lease. Without a process to renew it, it ends and is taken by another.
func TestLeaseEnds(t *testing.T) {
	pool := connect(t, shared.empty(t))
	s := open(t, pool)
	holder := func(want string) {
		t.Helper()
		if got, err := s.Holder(t.Context(), "run\x00"); got != want || err != nil {
			t.Errorf("the holder is %q, %v, want %q", got, err, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	release, _, err := s.Hold(ctx, "run\x00", "first")
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	holder("first")
	if _, err := pool.Exec(t.Context(), `UPDATE ralph_lease SET ends = now() - interval '1 second'`); err != nil {
		t.Fatal(err)
	}
	holder("")
	second, other, err := s.Hold(t.Context(), "run\x00", "second")
	if err != nil || second == nil {
		t.Fatalf("a lease that has ended is not taken: %q, %v", other, err)
	}
	defer second()
	release() // of what is lost
	holder("second")
}

// A lease is renewed for as long as its process lives.
func TestLeaseIsRenewed(t *testing.T) {
	pool := connect(t, shared.empty(t))
	s := open(t, pool)
	s.SetTerm(3 * time.Second)
	release, _, err := s.Hold(t.Context(), "run", "me")
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	var first, ends time.Time
	for n := 0; n < 2; {
		if err := pool.QueryRow(t.Context(), `SELECT ends FROM ralph_lease`).Scan(&ends); err != nil {
			t.Fatal(err)
		}
		if !ends.Equal(first) {
			first = ends
			n++
		}
	}
}
