package run

import "time"

// Hasty waits a millisecond where a run waits for better times.
func Hasty() Option {
	return func(r *Runner) error {
		r.clock.backoff = func(int) time.Duration { return time.Millisecond }
		return nil
	}
}

// Clock returns a run with this clock.
func Clock(now func() time.Time) Option {
	return func(r *Runner) error { r.clock.now = now; return nil }
}

// Within is within.
func (res Result) Within(now time.Time) Result { return res.within(now) }
