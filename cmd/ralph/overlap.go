package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// hasPolicy reports whether a list of policies has one, by whichever of its names.
func hasPolicy(project string, policies []string, p policy) bool {
	return slices.ContainsFunc(policies, func(name string) bool {
		other, err := findPolicy(project, name)
		return err == nil && other.name == p.name
	})
}

// overlap refuses an entry that asks a policy which another entry of the host asks, in any scope: the loop would count each
// stop twice. The entry for just these policies in the scope itself is the one that install writes again.
func (a *app) overlap(ctx context.Context, g agent, project string, f installFlags) error {
	for _, scope := range g.scopes() {
		s, err := g.open(ctx, project, a.homeDir(), scope)
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
				if p, err := findPolicy(project, name); err != nil || !hasPolicy(project, orDefault(asked), p) {
					continue
				}
				return fmt.Errorf("%s already asks %s at %s, as %s says; two entries would count each stop twice.\n"+
					"To replace that entry, first run: ralph uninstall %s%s --scope %s\n"+
					"To give the policy other values in this project, keep the entry and write into %s: set: {%s: {NAME: VALUE}}",
					g.title, name, e.event, s.shown, g.host, uninstallFlags(asked, entries), scope, configFile, strings.TrimSuffix(baseName(name), ".yaml"))
			}
		}
	}
	return nil
}
