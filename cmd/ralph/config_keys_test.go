package main

import (
	"strings"
	"testing"
)

// Duplicate keys in the settings are reported with their line. However many there are, they cost no more than reading
// them: the decoder would report every pair.
func TestConfigKeysTwice(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, and no goroutine meets another")
	}
	const policy = "ralph: 1\nparams: {n: {type: integer, default: 0}}\nrules: [{name: go, continue: on}]\n"
	for name, c := range map[string]struct{ config, reported string }{
		"a policy":      {"set:\n  policy: {n: 1}\n  policy: {n: 2}\n", `:3:3: duplicate key ` + "`policy`"},
		"a param":       {"set: {policy: {n: 1, n: 1}}\n", `:1:22: duplicate key ` + "`n`"},
		"of the top":    {"set: {}\nset: {}\n", `:2:1: duplicate key ` + "`set`"},
		"15,000 of one": {"set:\n" + strings.Repeat(" x: {y: 1}\n", 15_000), `:3:2: duplicate key ` + "`x`"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHook(t, map[string]string{".ralph/policy.yaml": policy, ".ralph/config.yaml": c.config})
			r := h.run(t)
			if r.status != 0 || !strings.Contains(r.stdout, c.reported) || len(r.stdout) > 1000 {
				t.Errorf("status %d, stdout %.1000q", r.status, r.stdout)
			}
		})
	}
	r := newHook(t, map[string]string{".ralph/policy.yaml": policy, ".ralph/config.yaml": "set: {policy: {n: 1}, other: {n: 1}}\n"}).run(t)
	if a := r.answer(t); a.Decision != "block" {
		t.Errorf("settings with equal names in two policies: %+v", a)
	}
}
