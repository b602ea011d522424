package rules

import (
	"fmt"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// rule is a rule with its expressions.
type rule struct {
	name, verb  string
	when        *expression // nil: always
	text        *template   // of the verb
	notice, log *template
	then        []*effect
	times       int           // of at_most; 0: any number
	session     bool          // times counts in the session, else in the prompt
	within      time.Duration // 0: the whole session
	line        int
}

// decides reports whether a rule that holds ends the trying.
func (r *rule) decides() bool { return r.verb != "" && r.verb != "note" }

var (
	verbs    = []string{"continue", "stop", "done", "note"}
	ruleKeys = append([]string{"name", "when", "notice", "log", "then", "at_most"}, verbs...)
)

func (c *compiler) rules(f fields) {
	if !f.has("rules") {
		c.reportNode(f.node, "missing-key", "the policy has no rules", "write rules: with a list of rules")
		return
	}
	lines := map[string]int{}
	for _, n := range c.list(f.values["rules"], "rules") {
		r := c.rule(n)
		if r == nil {
			continue
		}
		if first := lines[r.name]; first > 0 {
			c.reportNode(n, "rule", fmt.Sprintf("there is a rule %s in line %d already", r.name, first), "give each rule a name of its own")
		} else if r.name != "" {
			lines[r.name] = r.line
		}
		info := RuleInfo{Name: r.name, Verb: r.verb, Line: r.line}
		if r.when != nil {
			info.When = r.when.source
		}
		c.p.rules = append(c.p.rules, r)
		c.p.Rules = append(c.p.Rules, info)
	}
}

func (c *compiler) rule(n *yaml.Node) *rule {
	f := c.fields(n, "a rule", ruleKeys...)
	if n.Kind != yaml.MappingNode {
		return nil
	}
	r := &rule{line: n.Line}
	if v := f.values["name"]; v == nil {
		c.reportNode(n, "rule", "the rule has no name", "begin it with name: NAME")
	} else if c.scalar(v, "name") {
		r.name = v.Value
	}
	if v := f.values["when"]; v != nil {
		switch {
		case v.Tag == "!!null":
			c.reportNode(f.keys["when"], "rule", "when has no condition", "write a condition, or leave when out for a rule that always holds")
		case c.scalar(v, "when"):
			r.when = c.newExpression(spot{v, 0}, v.Value, aCondition)
		}
	}
	c.verb(r, f)
	if v := f.values["notice"]; v != nil {
		r.notice = c.template(v, "notice")
	}
	if v := f.values["log"]; v != nil {
		r.log = c.template(v, "log")
	}
	if v := f.values["then"]; v != nil {
		r.then = c.effects(v, "then")
	}
	if v := f.values["at_most"]; v != nil {
		c.atMost(r, v)
	}
	return r
}

func (c *compiler) verb(r *rule, f fields) {
	var found []string
	for _, v := range verbs {
		if f.has(v) {
			found = append(found, v)
		}
	}
	switch {
	case len(found) > 1:
		second := f.keys[found[1]]
		if f.keys[found[0]].Line > second.Line {
			second = f.keys[found[0]]
		}
		c.reportNode(second, "rule", "a rule has one verb, and this has "+strings.Join(found, " and "), "make two rules of it")
	case len(found) == 1:
		r.verb = found[0]
		r.text = c.template(f.values[r.verb], r.verb)
	case !f.has("notice") && !f.has("log") && !f.has("then"):
		c.reportNode(f.node, "rule", "the rule does nothing", "give it continue, stop, done, note, notice, log or then")
	}
}

func (c *compiler) atMost(r *rule, n *yaml.Node) {
	if n.Kind == yaml.ScalarNode {
		r.times = c.number(n, "at_most")
		return
	}
	f := c.fields(n, "at_most", "times", "within")
	r.session = true
	if v := f.values["times"]; v != nil {
		r.times = c.number(v, "times")
	} else {
		c.reportNode(n, "missing-key", "at_most has no times", "write at_most: {times: 2, within: 1h}")
	}
	if v := f.values["within"]; v != nil {
		r.within = c.duration(v, "within")
	}
}
