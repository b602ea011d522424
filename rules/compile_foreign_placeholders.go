package rules

import (
	"regexp"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/internal/yamltree"
)

// checkForeign reports text that looks like a placeholder of a shell or of another template language. It skips code in
// backquotes: a text may ask the agent to run it.
func (c *compiler) checkForeign(sc *scope, n *yamltree.Node) {
	if !strings.Contains(n.Value, "{{") && strings.Count(n.Value, "$") == strings.Count(n.Value, "${") {
		return
	}
	placeholders := regexp.MustCompile(`\{\{[^{}\n]*\}\}|\$\([^()\n]*\)|\$[A-Za-z_]\w*`)
	for _, g := range placeholders.FindAllStringIndex(n.Value, 20) {
		before, written := n.Value[:g[0]], n.Value[g[0]:g[1]]
		if strings.Count(before, "`")%2 == 1 || strings.LastIndex(before, "${") > strings.LastIndex(before, "}") {
			continue
		}
		name, variable := strings.TrimPrefix(written, "$"), written[0] == '$' && written[1] != '('
		if variable && !slices.Contains(sc.declared(), name) {
			continue // such as $HOME in a command for the agent
		}
		help := "no shell runs here: declare a fact {" + execOf(strings.Trim(written, "$()")) + "} and write ${FACT.stdout}; put it in backquotes if the agent should run it"
		switch {
		case variable:
			help = "write ${" + name + "}"
		case written[0] == '{':
			help = "write ${…} with an expression"
			words := strings.Fields(strings.Trim(written, "{}-"))
			switch {
			case len(words) == 0:
			case slices.Contains([]string{"if", "else", "elif", "end", "endif", "for", "endfor", "range", "with", "define", "template", "include"}, words[0]):
				help = `a text has no blocks: write ${condition ? "one" : "other"}, or one rule for each case`
			case len(words) == 1:
				help = "write ${" + strings.TrimLeft(words[0], ".$") + "}"
			}
		}
		from := len([]rune(before))
		c.report(sc.file, n.At(from), n.At(from+len([]rune(written))), Warning, "foreign-placeholder", help, inCode(written)+" stays in the text as it is")
	}
}
