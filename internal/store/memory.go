package store

import (
	"encoding/json"
	"fmt"
	"time"
)

const (
	// maxGiven is how many times of one rule a memory keeps, the latest ones.
	maxGiven = 1000

	// maxGivenRules bounds how many rules a memory keeps times of.
	maxGivenRules = 1000
)

// A Memory is what a loop remembers from one event to the next. A row is the
// continuations given one after another within one turn.
type Memory struct {
	Turn          string             `json:"turn,omitempty"`          // the turn that the row belongs to
	Continuations int                `json:"continuations,omitempty"` // in this row
	Total         int                `json:"total,omitempty"`         // in this session
	Progress      string             `json:"progress,omitempty"`      // fingerprint of the progress at the latest continuation
	Same          int                `json:"same,omitempty"`          // how many of the row's latest continuations had that progress
	Since         time.Time          `json:"since,omitzero"`          // the row's first continuation; zero if none
	Latest        time.Time          `json:"latest,omitzero"`         // the row's latest continuation; zero if none
	Given         map[string][]Given `json:"given,omitempty"`         // rule to the times that it was in a verdict, oldest first
}

// Given is one time that a rule was in a verdict.
type Given struct {
	At   time.Time `json:"at"`
	Turn string    `json:"turn,omitempty"`
}

// LoadMemory reads the memory of key, which is of any form. Absence is the
// zero Memory with version "". A memory that cannot be understood is the zero
// Memory too, with an [*Error] that says so and a version that lets SaveMemory
// replace it: the caller goes on.
func (s *Store) LoadMemory(key string) (m Memory, version string, err error) {
	line, version, err := s.load(key)
	if err != nil || version == "" {
		return Memory{}, "", err
	}
	if err := json.Unmarshal(line, &m); err != nil {
		return Memory{}, version, &Error{Path: s.memoryPath(key), Op: "read", Err: fmt.Errorf("the memory of this loop is damaged and starts anew: %w", err)}
	}
	return m, version, nil
}

// SaveMemory writes the memory of key if it is still of the given version,
// else it fails with [ErrChanged]. The caller holds the lock [MemoryLock],
// which makes that atomic among all processes. It is not synced to the disk:
// after a power failure a memory may be an older one. Other errors are
// [*Error].
func (s *Store) SaveMemory(key string, m Memory, version string) error {
	m.Given = boundedGiven(m.Given)
	line, err := json.Marshal(m)
	if err != nil {
		return &Error{Path: s.memoryPath(key), Op: "write", Err: err}
	}
	return s.save(key, line, version)
}

// boundedGiven is a copy that is small enough to be kept. If there are too
// many rules, those that were given longest ago are forgotten.
func boundedGiven(given map[string][]Given) map[string][]Given {
	kept := make(map[string][]Given, len(given))
	for rule, times := range given {
		if len(times) > 0 {
			kept[rule] = times[max(0, len(times)-maxGiven):]
		}
	}
	for len(kept) > maxGivenRules {
		oldest := ""
		for rule, times := range kept {
			if oldest == "" || times[len(times)-1].At.Before(kept[oldest][len(kept[oldest])-1].At) {
				oldest = rule
			}
		}
		delete(kept, oldest)
	}
	return kept
}
