package main

import (
	"errors"

	"github.com/spf13/pflag"
)

// A sessionID is the value of --session. It is never empty: an unset shell variable must not select all sessions.
type sessionID string

func (s *sessionID) String() string { return string(*s) }
func (s *sessionID) Type() string   { return "session" }

func (s *sessionID) Set(id string) error {
	if id == "" {
		return errors.New("it is empty")
	}
	*s = sessionID(id)
	return nil
}

// sessionVar declares --session. unknown allows an ID that ralph does not know.
func sessionVar(fl *pflag.FlagSet, session *string, usage string, unknown bool) {
	then := "an unknown one is an error"
	if unknown {
		then = "an unknown ID is used as it is"
	}
	fl.Var((*sessionID)(session), "session", usage+": its `id` or a unique prefix, as ralph log prints it; "+then)
}
