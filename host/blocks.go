package host

import "strings"

// blocks is the content of a message, in the shapes of all formats: a text, a list of blocks with a type, or a list of
// parts that differ in their keys.
type blocks struct {
	texts  []string
	tools  []string
	result bool // some block is what a tool gave back
	media  bool // some block is a picture or a document
}

func readBlocks(content value) blocks {
	var b blocks
	if s, ok := content.decode(); ok {
		b.add(s)
		return b
	}
	for c := content.elements(); c.next(); {
		if s, ok := c.value.decode(); ok {
			b.add(s)
		} else {
			b.block(c.value)
		}
	}
	return b
}

func (b *blocks) add(text string) {
	if strings.TrimSpace(text) != "" {
		b.texts = append(b.texts, text)
	}
}

func (b *blocks) block(v value) {
	var typ, name string
	var text, call value
	var thought, response bool
	for c := v.members(); c.next(); {
		switch string(c.key) {
		case "type":
			typ = c.value.text()
		case "text":
			text = c.value
		case "name":
			name = c.value.text()
		case "thought":
			thought = c.value.isTrue()
		case "functionCall":
			call = c.value
		case "functionResponse":
			response = c.value.there()
		}
	}
	switch {
	case typ == "text", typ == "output_text", typ == "input_text", typ == "" && !thought:
		b.add(text.text())
	case typ == "image", typ == "document", typ == "input_image":
		b.media = true
	case typ == "tool_use", typ == "server_tool_use", typ == "mcp_tool_use":
		b.tools = append(b.tools, name)
	case strings.HasSuffix(typ, "tool_result"):
		b.result = true
	}
	if call.there() {
		b.tools = append(b.tools, member(call, "name").text())
	}
	b.result = b.result || response
}

// member is the last of an object's members with that name, as decoders have it; nil if there is none.
func member(object value, name string) value {
	var found value
	for c := object.members(); c.next(); {
		if string(c.key) == name {
			found = c.value
		}
	}
	return found
}

// names lists the names of objects in a list.
func names(list value) []string {
	var all []string
	for c := list.elements(); c.next(); {
		if name := member(c.value, "name").text(); name != "" {
			all = append(all, name)
		}
	}
	return all
}

func hasAnyPrefix(s string, prefixes ...string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}
