package run

import "time"

// Hasty waits a millisecond where a run waits for better times.
func Hasty() Option {
	return func(r *Runner) error {
		r.clock.backoff = func(int) time.Duration { return time.Millisecond }
		return nil
	}
}

// Within is within.
func (res Result) Within(now time.Time) Result { return res.within(now) }
