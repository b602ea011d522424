package host

import (
	"strings"

	"github.com/ralph-sdk/ralph/internal/jsontext"
)

// blocks is the content of a message, in the shapes of all formats: a text, a list of blocks with a type, or a list of
// parts that differ in their keys.
type blocks struct {
	texts  []string
	tools  []string
	result bool // some block is what a tool gave back
	media  bool // some block is a picture or a document
}

func readBlocks(content jsontext.Value) blocks {
	var b blocks
	if s, ok := content.Decode(); ok {
		b.add(s)
		return b
	}
	for c := content.Elements(); c.Next(); {
		if s, ok := c.Value.Decode(); ok {
			b.add(s)
		} else {
			b.block(readBlock(c.Value))
		}
	}
	return b
}

func (b *blocks) add(text string) {
	if strings.TrimSpace(text) != "" {
		b.texts = append(b.texts, text)
	}
}

func (b *blocks) block(block block) {
	switch typ := block.typ; {
	case typ == "text", typ == "output_text", typ == "input_text", typ == "" && !block.thought:
		b.add(block.text.Text())
	case typ == "image", typ == "document", typ == "input_image":
		b.media = true
	case typ == "tool_use", typ == "server_tool_use", typ == "mcp_tool_use":
		b.tools = append(b.tools, block.name)
	case strings.HasSuffix(typ, "tool_result"):
		b.result = true
	}
	if block.call.There() {
		b.tools = append(b.tools, block.call.Field("name").Text())
	}
	b.result = b.result || block.response
}

// block is one block of the content of a message.
type block struct {
	typ, name                  string
	text, input, content, call jsontext.Value
	thought, response, failed  bool
}

func readBlock(v jsontext.Value) (b block) {
	for c := v.Members(); c.Next(); {
		switch string(c.Key) {
		case "type":
			b.typ = c.Value.Text()
		case "text":
			b.text = c.Value
		case "name":
			b.name = c.Value.Text()
		case "input":
			b.input = c.Value
		case "content":
			b.content = c.Value
		case "is_error":
			b.failed = c.Value.IsTrue()
		case "thought":
			b.thought = c.Value.IsTrue()
		case "functionCall":
			b.call = c.Value
		case "functionResponse":
			b.response = c.Value.There()
		}
	}
	return b
}

// names lists the names of objects in a list.
func names(list jsontext.Value) []string {
	var all []string
	for c := list.Elements(); c.Next(); {
		if name := c.Value.Field("name").Text(); name != "" {
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
