//go:build unix

package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/ralph-sdk/ralph/loop"
)

func TestDocuments(t *testing.T) {
	s := open(t, connect(t, shared.empty(t), func(c *pgxpool.Config) { c.MaxConns = 1 }))
	get := func(kind, name, want string) (version string) {
		t.Helper()
		data, version, err := s.Get(t.Context(), kind, name)
		if err != nil || string(data) != want || (data == nil) != (version == "") {
			t.Errorf("%q is %q, version %q, %v, want %q", name, data, version, err, want)
		}
		return version
	}
	put := func(kind, name string, data []byte, version string, want error) {
		t.Helper()
		if err := s.Put(t.Context(), kind, name, data, version); !errors.Is(err, want) {
			t.Errorf("Put of %q under %q returns %v, want %v", name, version, err, want)
		}
	}
	const odd = "a\x00\xff"
	get("pause", odd, "")
	put("pause", odd, []byte("x"), "1", loop.ErrConflict)
	put("pause", odd, nil, "", loop.ErrConflict)
	put("pause", odd, []byte("one\x00"), "", nil)
	put("pause", odd, []byte("x"), "", loop.ErrConflict)
	get("pause ", odd, "")
	first := get("pause", odd, "one\x00")
	put("pause", odd, []byte{}, first, nil)
	put("pause", odd, []byte("x"), first, loop.ErrConflict)
	put("pause", odd, nil, first, loop.ErrConflict)
	put("pause", odd, nil, get("pause", odd, ""), nil)
	get("pause", odd, "")

	var want, got []string
	for i := range 150 {
		name := fmt.Sprint(i, odd)
		want = append(want, name)
		put("hint", name, []byte("x"), "", nil)
		put("other", name, []byte("x"), "", nil)
	}
	for name, err := range s.Names(t.Context(), "hint") {
		if err != nil {
			t.Fatal(err)
		}
		get("hint", name, "x") // while it lists
		got = append(got, name)
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Names (-want +got):\n%s", diff)
	}
}

func TestLeases(t *testing.T) {
	pool := connect(t, shared.empty(t))
	s := open(t, pool)
	holder := func(want string) {
		t.Helper()
		if got, err := s.Holder(t.Context(), "run\x00"); got != want || err != nil {
			t.Errorf("the holder is %q, %v, want %q", got, err, want)
		}
	}
	holder("")
	var all sync.WaitGroup
	var mu sync.Mutex
	held := map[string]func(){}
	for i := range 8 {
		owner := fmt.Sprint("owner\x00", i)
		all.Go(func() {
			release, other, err := s.Hold(t.Context(), "run\x00", owner)
			if err != nil || (release == nil) != (other != "") {
				t.Errorf("Hold returns %t, %q, %v", release != nil, other, err)
			}
			if release != nil {
				mu.Lock()
				held[owner] = release
				mu.Unlock()
			}
		})
	}
	all.Wait()
	if len(held) != 1 {
		t.Fatalf("%d have the lease, want 1", len(held))
	}
	for owner, release := range held {
		holder(owner)
		release()
		release()
	}
	holder("")

	// A context bounds the call, not the lease. Without a process to renew it, it ends and is taken by another.
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
