package host

// gemini reads a record of Gemini CLI: a message that changes is written again, with the same id. A continuation is
// a user record like a prompt.
func (r *record) gemini() entry {
	b := readBlocks(r.content)
	e := entry{id: r.id, texts: b.texts, rewritten: true}
	switch {
	case r.typ == "gemini":
		e.kind, e.tools = assistant, append(b.tools, names(r.toolCalls)...)
		e.tokens = r.tokens.Field("total").Int()
	case b.result:
		e.kind = result
	case len(b.texts) == 0 && !b.media:
		e.kind = noise
	default:
		e.kind = opening
	}
	return e
}
