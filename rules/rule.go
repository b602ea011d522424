package rules

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/ralph-sdk/ralph/internal/text"
)

// rule is a rule with its expressions.
type rule struct {
	RuleInfo
	when        *expression // nil: always
	text        *template   // of the verb
	notice, log *template
	then        []*effect
	times       int           // of at_most; 0: any number
	session     bool          // times counts in the session, else in the prompt
	within      time.Duration // 0: the whole session
	at          spot
}

var (
	verbs    = []string{"continue", "stop", "done", "note"}
	ruleKeys = append([]string{"name", "when", "notice", "log", "then", "at_most"}, verbs...)
)

func (c *compiler) rules(f fields) {
	if f.values["rules"] == nil && f.whole() {
		c.report(at(f.node), 1, "missing-key", "the policy has no rules", "write rules: with a list of rules")
	}
	lines := map[string]int{}
	for _, n := range c.list(f.values["rules"], "rules") {
		r := c.rule(n)
		if first := lines[r.Name]; first > 0 {
			c.report(at(n), 1, "rule", fmt.Sprintf("there is a rule %s in line %d already", r.Name, first), "give each rule a name of its own")
		} else if r.Name != "" {
			lines[r.Name] = r.Line
		}
		c.p.rules, c.p.Rules = append(c.p.rules, r), append(c.p.Rules, r.RuleInfo)
	}
}

func (c *compiler) rule(n *yaml.Node) *rule {
	f := c.fields(n, "a rule", ruleKeys)
	r := &rule{RuleInfo: RuleInfo{Line: n.Line}, at: at(n)}
	if v := f.values["name"]; c.scalar(v, "name") {
		r.Name = v.Value
		if text.Line(r.Name) != r.Name {
			c.report(at(v), 1, "rule", "the name of the rule has a character that is not shown, such as a line break", "write it on one line")
		}
	} else if v == nil && f.whole() {
		c.report(at(n), 1, "rule", "the rule has no name", "begin it with name: NAME")
	}
	if v := f.values["when"]; v != nil && v.Kind != yaml.ScalarNode {
		c.report(at(v), 0, "type", "when is one condition", "join conditions with and, or; put one that begins with { or [ in quotes")
	} else if c.scalar(v, "when") {
		r.when = c.newExpression(at(v), v.Value)
		r.when.condition = true
	}
	found := slices.DeleteFunc(slices.Clone(verbs), func(verb string) bool { return f.values[verb] == nil })
	switch {
	case len(found) > 1:
		c.report(at(f.keys[found[1]]), 0, "rule", "a rule has one verb, and this has "+strings.Join(found, " and "), "make two rules of it")
	case len(found) == 1:
		r.Verb = found[0]
		r.text = c.template(f.values[r.Verb], r.Verb)
	case f.values["notice"] == nil && f.values["log"] == nil && f.values["then"] == nil && f.whole() && len(f.values) > 0:
		c.report(at(n), 1, "rule", "the rule does nothing", "give it continue, stop, done, note, notice, log or then")
	}
	r.notice, r.log = c.template(f.values["notice"], "notice"), c.template(f.values["log"], "log")
	r.then = c.effects(f.values["then"], "then")
	c.atMost(r, f.values["at_most"])
	return r
}

func (c *compiler) atMost(r *rule, n *yaml.Node) {
	if n == nil || n.Kind == yaml.ScalarNode {
		r.times = amount[int](c, n, "at_most")
		return
	}
	f := c.fields(n, "at_most", []string{"times", "within"})
	if f.values["times"] == nil {
		c.report(at(n), 1, "missing-key", "at_most has no times", "write at_most: {times: 2, within: 1h}")
	}
	r.session, r.times, r.within = true, amount[int](c, f.values["times"], "times"), amount[time.Duration](c, f.values["within"], "within")
}
