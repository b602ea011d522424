package rules

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/ralph-sdk/ralph/internal/text"
)

// slips reports what is written correctly and probably means something else.
func (c *inspector) slips() {
	for _, r := range c.p.rules {
		for _, t := range r.texts() {
			c.comment(t.node, true)
			c.braces(t.node)
		}
	}
	for _, x := range c.p.compiler.expressions {
		c.comment(x.at.node, false)
	}
	for _, n := range c.p.compiler.schemas {
		c.keywords(n, false)
	}
}

// comment reports a text or expression that ends where YAML sees a comment. After an expression it is one if a space follows the sign: what
// is cut otherwise cannot be parsed.
func (c *inspector) comment(n *yaml.Node, isText bool) {
	line, col := c.out.place(spot{n, utf8.RuneCountInString(n.Value)})
	src := []rune(c.out.lines[line-1])
	after := strings.TrimLeft(string(src[min(col-1, len(src)):]), " \t")
	if n.Style == 0 && strings.HasPrefix(after, "#") && (isText || !strings.HasPrefix(after, "# ")) {
		c.warn(at(&yaml.Node{Line: line, Column: len(src) - utf8.RuneCountInString(after) + 1}), utf8.RuneCountInString(after), "comment",
			"in YAML a # after a space begins a comment, and this is cut here", "put the whole value in quotes, or the comment on a line of its own", "")
	}
}

// braces reports {{name}}, which is a placeholder elsewhere.
func (c *inspector) braces(n *yaml.Node) {
	for _, m := range regexp.MustCompile(`(?:^|[^$])(\{\{ *\.?([\w.]+) *\}\})`).FindAllStringSubmatchIndex(n.Value, -1) {
		c.warn(spot{n, utf8.RuneCountInString(n.Value[:m[2]])}, m[3]-m[2], "placeholder", n.Value[m[2]:m[3]]+" is sent as it is", fmt.Sprintf("write ${%s} for a value", n.Value[m[4]:m[5]]), "")
	}
}

// The keywords of JSON Schema, of all its drafts; those whose values are names with schemas come first.
const (
	schemaMaps = "properties patternProperties $defs definitions dependentSchemas dependentRequired dependencies"
	schemaKeys = schemaMaps + ` type default title description examples enum const required items prefixItems additionalItems contains minContains maxContains
		additionalProperties propertyNames minProperties maxProperties minLength maxLength pattern format minimum maximum exclusiveMinimum exclusiveMaximum multipleOf
		minItems maxItems uniqueItems unevaluatedItems unevaluatedProperties allOf anyOf oneOf not if then else
		$schema $id id $ref $comment $anchor $dynamicRef $dynamicAnchor $recursiveRef $recursiveAnchor $vocabulary
		readOnly writeOnly deprecated contentEncoding contentMediaType contentSchema`
)

// keywords reports keys of a schema that are nearly keywords, which a validator ignores. named says that the keys are names.
func (c *inspector) keywords(n *yaml.Node, named bool) {
	known := strings.Fields(schemaKeys)
	for i, v := range n.Content {
		key := ""
		if n.Kind == yaml.MappingNode && i%2 == 1 {
			key = n.Content[i-1].Value
			if help := text.Nearest(key, known); !named && help != "" && !slices.Contains(known, key) {
				c.warn(at(n.Content[i-1]), 0, "schema", key+" is no keyword of JSON Schema, and is ignored", help, "")
			}
		}
		if named || !slices.Contains([]string{"default", "examples", "enum", "const"}, key) {
			c.keywords(v, !named && slices.Contains(strings.Fields(schemaMaps), key))
		}
	}
}
