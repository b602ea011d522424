package looptest

import (
	"context"
	"errors"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

// Source tests a source with a query that must find something: q.Fact is a fact of a program loaded with [loop.Config]
// of the source, such as program.Facts()[0], and q.Args are its arguments. Use [Writer], too, for a source that changes its facts.
func Source(t *testing.T, src loop.Source, q loop.Query) {
	t.Run("kind", func(t *testing.T) {
		kind := src.Kind()
		if kind.Name == "" {
			t.Error("the kind has no name")
		}
		if kind.Doc == "" {
			t.Error("the kind has no doc, which the schema of policies shows")
		}
		again := src.Kind()
		kind.Value.Around, kind.Value.Derive, again.Value.Around, again.Value.Derive = nil, nil, nil, nil // functions do not compare
		if !reflect.DeepEqual(again, kind) {
			t.Errorf("the kind was\n%+v\nand is\n%+v", kind, again)
		}
	})
	t.Run("value", func(t *testing.T) {
		values := make([]rules.Value, 4)
		var wg sync.WaitGroup
		for i := range values {
			wg.Go(func() { values[i] = src.Gather(t.Context(), q) })
		}
		wg.Wait()
		for _, v := range values {
			if v.Status != rules.OK {
				t.Fatalf("the fact is %s: %s; give a query that finds it", v.Status, v.Problem)
			}
			fits(t, src.Kind(), q, v)
			if first := values[0]; v.Version != "" && v.Version == first.Version && !reflect.DeepEqual(v.V, first.V) {
				t.Errorf("under one version %q the value is %v and %v", v.Version, first.V, v.V)
			}
		}
	})
	t.Run("a context that is done", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		done := make(chan rules.Value)
		go func() { done <- src.Gather(ctx, q) }()
		select {
		case v := <-done:
			fits(t, src.Kind(), q, v)
		case <-time.After(10 * time.Second):
			t.Fatal("Gather goes on although its context is done: it holds up the decision")
		}
	})
}

// fits checks a value against its kind.
func fits(t *testing.T, kind rules.SourceKind, q loop.Query, v rules.Value) {
	t.Helper()
	if v.Status != rules.OK {
		if v.Problem == "" && !v.Quiet {
			t.Errorf("the fact is %s without a problem that says why", v.Status)
		}
		return
	}
	if v = rules.ValueOf(q.Fact, v).Whole(t.Context()); v.Status != rules.OK { // as the loop converts it
		t.Errorf("the value is %s: %s", v.Status, v.Problem)
	}
	for _, u := range v.Unusable {
		t.Errorf("the value does not fit the fact: %s %s", u.Pointer, u.Message)
	}
	if kind.Value.Body {
		fields, _ := v.V.(map[string]any)
		if _, ok := fields["body"].(string); !ok {
			t.Error("the kind has a body, and the value has no text of that name")
		}
	}
	if kind.Editable && v.Version == "" {
		t.Error("the kind is editable, and the value has no version to compare")
	}
}

// Writer tests a writer: w changes what src gathers, and may be src. Each query is a fact whose value at path exists
// and is not value; two or more test that all of them change or none.
func Writer(t *testing.T, src loop.Source, w loop.Writer, path []any, value any, queries ...loop.Query) {
	gather := func(t *testing.T) []rules.Value {
		t.Helper()
		out := make([]rules.Value, len(queries))
		for i, q := range queries {
			if out[i] = rules.ValueOf(q.Fact, src.Gather(t.Context(), q)).Whole(t.Context()); out[i].Status != rules.OK {
				t.Fatalf("the fact of query %d is %s: %s", i, out[i].Status, out[i].Problem)
			}
			fits(t, src.Kind(), q, out[i])
		}
		return out
	}
	effects := func(of []rules.Value, value any) []rules.Effect {
		out := make([]rules.Effect, len(of))
		for i, v := range of {
			out[i] = rules.Effect{
				Kind: rules.SetEffect, Fact: queries[i].Fact.Name, Source: src.Kind().Name,
				File: v.Path, Version: v.Version, Path: path, Old: at(v.V, path), Value: value,
			}
		}
		return out
	}
	first := gather(t)
	if len(first) == 0 {
		t.Fatal("there is no query")
	}
	for i, v := range first {
		if reflect.DeepEqual(at(v.V, path), value) {
			t.Fatalf("query %d has the value %v already", i, value)
		}
	}
	unchanged := func(t *testing.T, before []rules.Value) {
		t.Helper()
		for i, v := range gather(t) {
			if !reflect.DeepEqual(v.V, before[i].V) {
				t.Errorf("what query %d gathers was %v and is %v", i, before[i].V, v.V)
			}
		}
	}
	t.Run("a context that is done", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := w.Write(ctx, effects(first, value)); err == nil {
			t.Error("Write returns no error, and its context is done")
		}
		unchanged(t, first)
	})
	t.Run("a stale version", func(t *testing.T) {
		for stale := range first {
			es := effects(first, value)
			es[stale].Version = "stale"
			if err := w.Write(t.Context(), es); !errors.Is(err, loop.ErrConflict) {
				t.Errorf("Write with effect %d of another version gives %v, want ErrConflict", stale, err)
			}
			unchanged(t, first)
		}
	})
	t.Run("written", func(t *testing.T) {
		if err := w.Write(t.Context(), effects(first, value)); err != nil {
			t.Fatalf("Write fails: %v", err)
		}
		then := gather(t)
		for i, v := range then {
			if got := at(v.V, path); !reflect.DeepEqual(got, value) {
				t.Errorf("query %d finds %v, want %v", i, got, value)
			}
			if v.Version == first[i].Version {
				t.Errorf("query %d finds another value under the same version %q", i, v.Version)
			}
		}
		if err := w.Write(t.Context(), effects(first, at(first[0].V, path))); !errors.Is(err, loop.ErrConflict) {
			t.Errorf("Write with the versions before gives %v, want ErrConflict", err)
		}
		unchanged(t, then)
	})
}

// at returns the value at a path.
func at(v any, path []any) any {
	for _, step := range path {
		switch step := step.(type) {
		case string:
			fields, _ := v.(map[string]any)
			v = fields[step]
		case int:
			list, _ := v.([]any)
			if step < 0 || step >= len(list) {
				return nil
			}
			v = list[step]
		}
	}
	return v
}
