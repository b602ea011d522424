package state

import (
	"strings"
	"unicode"

	"github.com/bmatcuk/doublestar/v4"
)

// protected lists what is never written or removed, at any depth: what configures git, ralph, an editor that runs tasks, or an agent's
// host. Who can write there chooses the programs that run next.
var protected = []string{
	".git", ".ralph", ".vscode",
	".claude/settings*.json", ".claude/{agents,commands,hooks,output-styles,plugins,rules,skills}", ".claude-plugin", ".claude.json", ".mcp.json",
	".agents", ".amp", ".augment", ".clinerules", ".codex", ".codex-plugin", ".config/opencode", ".copilot", ".cursor", ".devin", ".factory",
	".gemini", ".junie", ".kimi", ".openhands", ".opencode", ".qwen", ".roo", ".vibe", ".windsurf", "opencode.{json,jsonc}",
	".kiro/{agents,hooks,settings,steering}", ".github/{agents,copilot*,hooks}",
}

// atEnd matches blanks and points at the end of a name.
var atEnd = lazy(`[. ]+(/|$)`)

// isProtected reports whether a path from the root is a protected one or is below one. Systems that ignore case, blanks and points at the
// end, or invisible characters, take other spellings for the same name.
func isProtected(rel string) bool {
	name := strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return unicode.ToLower(unicode.ToUpper(r))
	}, rel)
	name = atEnd().ReplaceAllString(name, "$1")
	for _, p := range protected {
		if doublestar.MatchUnvalidated("**/"+p+"/**", name) {
			return true
		}
	}
	return false
}
