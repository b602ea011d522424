package transcript

import "strings"

// blocks is the content of a message, in the shapes of all formats: a text, a list of blocks with a type, or a list of
// parts that are told apart by their keys.
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
	content.elements(func(v value) {
		if s, ok := v.decode(); ok {
			b.add(s)
			return
		}
		b.block(v)
	})
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
	if !v.fields(func(key []byte, v value) {
		switch string(key) {
		case "type":
			typ = v.text()
		case "text":
			text = v
		case "name":
			name = v.text()
		case "thought":
			thought = v.isTrue()
		case "functionCall":
			call = v
		case "functionResponse":
			response = v.there()
		}
	}) {
		return
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
	object.fields(func(key []byte, v value) {
		if string(key) == name {
			found = v
		}
	})
	return found
}

// names lists the names of objects in a list.
func names(list value) []string {
	var all []string
	list.elements(func(v value) {
		if name := member(v, "name").text(); name != "" {
			all = append(all, name)
		}
	})
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
