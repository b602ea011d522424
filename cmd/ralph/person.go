package main

import (
	"bufio"
	"errors"
	"fmt"
	"strings"

	"github.com/ralph-sdk/ralph/host"
)

// person returns an error unless a person says yes: on a terminal, or by a flag. In an agent's session there is no person.
func (a *app) person(question string, yes bool) error {
	if host.InSession(a.getenv) != "" {
		return errPerson
	}
	if yes {
		return nil
	}
	if !isTerminal(a.stdin) {
		return errors.New("this is no terminal to ask on: add --yes if you mean it")
	}
	fmt.Fprintf(a.stderr, "%s [y/N] ", question)
	answer, _ := bufio.NewReader(a.stdin).ReadString('\n') // no answer is no
	if s := strings.ToLower(strings.TrimSpace(answer)); s != "y" && s != "yes" {
		return errors.New("nothing was changed")
	}
	return nil
}
