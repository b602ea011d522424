package loop

import (
	"context"
	"fmt"

	"github.com/ralph-sdk/ralph/internal/store"
)

// orders returns what persons order, approve and add for loops of this scope.
func (l *Loop) orders(ctx context.Context) (store.Orders, error) {
	docs, ok := l.kept.orders.(Documents)
	if !ok {
		return store.Orders{}, store.ErrNoDocuments
	}
	return store.OrdersAt(ctx, docs, ErrConflict, l.scope), nil
}

// ordered is what a decision has to know of orders and leases, as they were when its memory was loaded.
type ordered struct {
	stopped bool   // a person stopped the policy's loop
	paused  bool   // the policy is paused in the session
	hinted  bool   // the project has hints
	busy    string // the policy's live run, if the event does not belong to it
}

// orderKeys returns the keys under which [Store.Load] finds what a person ordered, and the live run. What the store lacks
// was never ordered in it.
func (d *Decision) orderKeys() (keys []Key) {
	l := d.loop
	o := store.OrdersIn(nil, l.scope)
	if _, ok := l.kept.orders.(Documents); ok {
		for _, n := range append([]store.Name{o.StopName(d.Root, l.name), o.HintName(d.Root)}, o.PauseNames(d.Root, l.name, d.Event.SessionID)...) {
			keys = append(keys, Key{Kind: n.Kind, Name: n.Name})
		}
	}
	if _, ok := l.kept.orders.(Leases); ok && d.Event.Run == "" {
		keys = append(keys, Key{Name: o.RunLease(d.Root, l.name)})
	}
	return keys
}

// ordersOf returns what entries of [Decision.orderKeys] say.
func ordersOf(entries []Entry) (o ordered) {
	for i, e := range entries {
		there := e.Version != ""
		switch {
		case e.Key.Kind == "":
			o.busy = e.Version
		case i == 0:
			o.stopped = there
		case i == 1:
			o.hinted = there
		default:
			o.paused = o.paused || there
		}
	}
	return o
}

// load loads the memory, and with it what persons ordered. In one store it is one Load.
func (d *Decision) load(ctx context.Context) (err error) {
	keys, kept := d.orderKeys(), d.loop.kept
	if kept.apart {
		if d.ordered, err = kept.ordered(ctx, keys); err != nil {
			return err
		}
		keys = nil
	}
	entries, err := d.gatherer.mem.load(ctx, keys...)
	switch {
	case kept.apart:
	case err == nil:
		d.ordered = ordersOf(entries)
	default: // what a person paused has no problem to report
		if o, failed := kept.ordered(ctx, keys); failed == nil && o.paused {
			d.ordered, err = o, nil
		}
	}
	return err
}

// ordered loads what persons ordered.
func (k kept) ordered(ctx context.Context, keys []Key) (ordered, error) {
	entries, err := k.orders.Load(ctx, keys...)
	if err == nil && len(entries) != len(keys) {
		err = fmt.Errorf("Store.Load returned %d entries for %d keys", len(entries), len(keys))
	}
	if err != nil {
		return ordered{}, memoryError{fmt.Errorf("it is not known whether the loop is stopped or paused: %w", err)}
	}
	return ordersOf(entries), nil
}
