package option_test

import (
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/internal/option"
)

func TestFill(t *testing.T) {
	var (
		clock func() time.Time
		name  string
		of    map[string]int
		store io.Closer
	)
	said := func(err error) string {
		if err == nil {
			return ""
		}
		return err.Error()
	}
	const none, twice = "x has no value: leave it out", "x is given twice: give it once, since it has one value"
	for what, fill := range map[string]func(empty bool) error{
		"a function": func(empty bool) error {
			if empty {
				return option.Fill("x", &clock, nil, "leave it out")
			}
			return option.Fill("x", &clock, time.Now, "leave it out")
		},
		"a name": func(empty bool) error {
			if empty {
				return option.Fill("x", &name, "", "leave it out")
			}
			return option.Fill("x", &name, "a", "leave it out")
		},
		"a map": func(empty bool) error {
			if empty {
				return option.Fill("x", &of, nil, "leave it out")
			}
			return option.Fill("x", &of, map[string]int{}, "leave it out")
		},
		"an interface": func(empty bool) error {
			if empty {
				return option.Fill("x", &store, nil, "leave it out")
			}
			return option.Fill[io.Closer]("x", &store, io.NopCloser(nil), "leave it out")
		},
	} {
		got := []string{said(fill(true)), said(fill(false)), said(fill(false)), said(fill(true))}
		if diff := cmp.Diff([]string{none, "", twice, none}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
}

func TestAdd(t *testing.T) {
	var all map[string]int
	for i, name := range []string{"a", "b", "a"} {
		if err := option.Add("x", name, &all, i); (err != nil) != (i == 2) {
			t.Errorf("%d: %v", i, err)
		}
	}
	for _, tt := range []struct {
		values map[string]int
		want   string
	}{
		{nil, "x has no value: leave it out, or give a map, which may be empty"},
		{map[string]int{}, "<nil>"},
		{map[string]int{"c": 4}, "<nil>"},
		{map[string]int{"c": 5, "b": 5}, `x has "b" twice: give it once, or give one of the two another name`},
	} {
		err := option.AddAll("x", &all, tt.values)
		if got := fmt.Sprint(err); got != tt.want {
			t.Errorf("AddAll(%v) = %s, want %s", tt.values, got, tt.want)
		}
	}
	if diff := cmp.Diff(map[string]int{"a": 0, "b": 1, "c": 4}, all); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestLeast(t *testing.T) {
	for _, tt := range []struct{ a, b, want time.Duration }{{0, 0, 0}, {0, 2, 2}, {2, 0, 2}, {1, 2, 1}, {2, 1, 1}} {
		if got := option.Least(tt.a, tt.b); got != tt.want {
			t.Errorf("Least(%d, %d) = %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}
