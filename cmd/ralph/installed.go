package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/host/setup"
	"github.com/ralph-sdk/ralph/internal/shellwords"
	"github.com/ralph-sdk/ralph/project"
)

// shellSet returns params as flags after a word, "" if there are none.
func shellSet(before string, set []string) string {
	var words []string
	for _, v := range set {
		words = append(words, "--set", v)
	}
	if words == nil {
		return ""
	}
	return before + " " + shellwords.Line(words)
}

// setAdvice returns how to set a param of the policy: by reinstalling its entry, or in the configuration if the entry
// has other policies to which --set would apply.
func (e examined) setAdvice(value string) string {
	if len(e.entry) > 1 {
		name, text, _ := strings.Cut(value, "=")
		return fmt.Sprintf("write `set: {%s: {%s: %s}}` into %s", e.Short(), name, text, project.ConfigFile)
	}
	fix := "ralph install " + cmp.Or(e.host, host.ClaudeCode)
	if e.host == "" { // no entry has it yet
		e.entry = []string{e.name}
	}
	fix += policyFlags(e.entry)
	fix += shellSet("", setup.SetOver(e.set, []string{value}))
	if e.scope != "" && e.scope != setup.ScopeProject {
		fix += " --scope " + e.scope
	}
	return fix
}
