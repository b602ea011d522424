package run

import "time"

// Hasty does not wait where a run waits for better times.
func Hasty() Option {
	return func(r *Runner) error {
		r.clock.hasty = true
		return nil
	}
}

// Within is within.
func (res Result) Within(now time.Time) Result { return res.within(now) }
