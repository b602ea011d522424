package temporal

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"go.temporal.io/api/serviceerror"
	sdk "go.temporal.io/sdk/temporal"
)

// Only heartbeats that the server accepted are signs of life, and one that it refuses ends the attempt.
func TestAttend(t *testing.T) {
	for _, c := range []struct {
		name  string
		beats []error // then nil
		alive int     // signs within two minutes
		gone  bool
	}{
		{"all are accepted", nil, 12, false},
		{"10 s without a network", []error{nil, errors.New("unavailable"), nil}, 11, false},
		{"two minutes without a network", twelve(errors.New("unavailable")), 0, false},
		{"the attempt is over", []error{nil, serviceerror.NewNotFound("no")}, 1, true},
		{"it is cancelled", []error{sdk.NewCanceledError()}, 0, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := -1
				ctx, alive, stop := attend(t.Context(), 2*time.Minute/beats, func(context.Context) error {
					if n++; n < len(c.beats) {
						return c.beats[n]
					}
					return nil
				})
				over, signs := time.After(2*time.Minute-time.Second), 0
				for waiting := true; waiting; {
					select {
					case <-alive:
						signs++
					case <-over:
						waiting = false
					}
				}
				if gone := ctx.Err() != nil; signs != c.alive || gone != c.gone {
					t.Errorf("%d signs, gone %t", signs, gone)
				}
				stop()
			})
		})
	}
}

func twelve(err error) []error {
	all := make([]error, 12)
	for i := range all {
		all[i] = err
	}
	return all
}
