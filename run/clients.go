package run

import "slices"

// Clients are the adapters in the box; the last one is [Generic].
func Clients() []Adapter {
	return []Adapter{Claude(), Codex(), Gemini(), Qwen(), Copilot(), Generic()}
}

// ClientOf is the adapter for a command line, by the name of its program: [Generic] for one that is not known. For a
// client that another program starts, such as npx, take the adapter by its name.
func ClientOf(args []string) Adapter {
	if len(args) == 0 {
		return Generic()
	}
	clients := Clients()
	name := program(args[0])
	if i := slices.IndexFunc(clients, func(a Adapter) bool { return a.Name() == name }); i >= 0 {
		return clients[i]
	}
	return Generic()
}
