package escape

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// Secrets returns a command line to show. What may be a secret is left out with the rest of its argument: the value in
// NAME=VALUE, whether it is an argument, an option or part of a shell command, and what follows a name such as --api-key,
// "X-Token:" or Bearer, also as the next argument. secret reports whether such a name says that it is one.
func Secrets(args []string) (shown []string, secret bool) {
	const name = `[\w-]*(?:key|token|secret|passw|auth|credential)[\w-]*`
	inside := regexp.MustCompile(`(?i)(` + name + `["']?\s*[:=]\s*)|((?:^|\s)--?` + name + `\s+)|(\bbearer\s+)|(://)[^/\s@]+@`)
	before := regexp.MustCompile(`(?i)^(?:--?` + name + `|bearer|` + name + `:)$`)
	shown = slices.Clone(args)
	for i, arg := range args {
		if i > 0 && before.MatchString(args[i-1]) && !strings.HasPrefix(arg, "-") {
			shown[i], secret = "…", true
			continue
		}
		end := assigned(arg)
		if at := inside.FindStringSubmatchIndex(arg); at != nil {
			if end = min(end, cmp.Or(max(at[3], 0), max(at[5], 0), max(at[7], 0), max(at[9], 0))); end < len(arg) {
				secret = true
			}
		}
		if end < len(arg) {
			shown[i] = arg[:end] + "…"
		}
	}
	return shown, secret
}

// assigned returns the place after the first NAME= or --NAME= in an argument, or its length.
func assigned(arg string) int {
	for at, c := range arg {
		if c != '=' {
			continue
		}
		name := strings.TrimRightFunc(arg[:at], func(r rune) bool {
			return r == '_' || r == '-' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
		})
		if len(name) < at && (name == "" || strings.ContainsRune(" \t\n\"'`=:;,&|?(", rune(name[len(name)-1]))) {
			return at + 1
		}
	}
	return len(arg)
}
