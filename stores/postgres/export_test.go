package postgres

import "time"

// SetTerm sets the term of the leases that a store takes from now on.
func (s *Store) SetTerm(d time.Duration) { s.term = d }
