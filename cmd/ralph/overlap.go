package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
)

// An overlap is an entry of a host's settings that asks a policy which another entry asks too:
// the loop would count each stop twice.
type overlap struct {
	policy string // that both ask
	event  string // at which
	file   string // of the entry that is there
	scope  string // of that file
	flags  string // with which uninstall removes it
}

// hasPolicy reports whether a list of policies has one, by whichever of its names.
func hasPolicy(project string, policies []string, p policy) bool {
	return slices.ContainsFunc(policies, func(name string) bool {
		other, err := findPolicy(project, name)
		return err == nil && other.name == p.name
	})
}

// overlaps finds the entries of a host, in any scope, that ask one of the policies. The entry
// for just these policies in the scope itself is the one that install writes anew.
func (a *app) overlaps(ctx context.Context, g agent, project string, f installFlags) (found []overlap) {
	home := a.homeDir()
	for _, scope := range g.scopes() {
		s, err := g.open(ctx, project, home, scope)
		if err != nil {
			continue // doctor reports it
		}
		entries, _ := s.hookEntries()
		for _, e := range entries {
			asked, ok := e.ralph()
			if !ok || e.ends() || scope == f.scope && samePolicies(asked, f.policies) {
				continue
			}
			for _, name := range orDefault(f.policies) {
				p, err := findPolicy(project, name)
				if err == nil && hasPolicy(project, orDefault(asked), p) {
					found = append(found, overlap{name, e.event, s.shown, scope, uninstallFlags(asked, entries)})
				}
			}
		}
	}
	return found
}

// refusal says that an entry is not installed beside another, and the way out.
func (o overlap) refusal(g agent) error {
	return fmt.Errorf("%s already asks %s at %s, as %s says; two entries would count each stop twice.\n"+
		"To replace that entry, first run: ralph uninstall %s%s --scope %s\n"+
		"To give the policy other values in this project, keep the entry and write into %s: set: {%s: {NAME: VALUE}}",
		g.title, o.policy, o.event, o.file, g.host, o.flags, cmp.Or(o.scope, scopeProject), configFile, strings.TrimSuffix(baseName(o.policy), ".yaml"))
}
