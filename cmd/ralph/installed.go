package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/host"
)

// installedSet gives the values of params that the entries for these policies state.
func installedSet(entries []hookEntry, policies []string) (set []string) {
	for _, e := range entries {
		if asked, ok := e.ralph(); ok && samePolicies(asked, policies) {
			_, own, _ := e.flags()
			set = setOver(set, own)
		}
	}
	return set
}

// setOver puts values over others of the same params, each in its place, as name=value.
func setOver(set, over []string) []string {
	set = slices.Clone(set)
	for _, v := range over {
		name, _, _ := strings.Cut(v, "=")
		i := slices.IndexFunc(set, func(old string) bool { return strings.HasPrefix(old, name+"=") })
		if i < 0 {
			set = append(set, v)
		} else {
			set[i] = v
		}
	}
	return set
}

// shellSet gives values of params as flags behind a word, "" if there are none.
func shellSet(before string, set []string) string {
	var words []string
	for _, v := range set {
		words = append(words, "--set", v)
	}
	if words == nil {
		return ""
	}
	return before + " " + shellLine(words)
}

// setAdvice says how to give a param of the policy another value: by the whole command
// that installs its entry, or by the configuration where the entry asks other policies
// too, which --set is for as well.
func (e examined) setAdvice(value string) string {
	if len(e.entry) > 1 {
		name, text, _ := strings.Cut(value, "=")
		return fmt.Sprintf("write `set: {%s: {%s: %s}}` into %s", e.policy.shortName(), name, text, configFile)
	}
	fix := "ralph install " + cmp.Or(e.host, host.ClaudeCode)
	switch {
	case len(e.entry) == 1:
		fix += " --policy " + shellLine(e.entry)
	case e.host == "": // no entry asks it yet
		fix += policyFlags([]string{e.name})
	}
	fix += shellSet("", setOver(e.set, []string{value}))
	if e.scope != "" && e.scope != scopeProject {
		fix += " --scope " + e.scope
	}
	return fix
}
