package policytest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/internal/vocab"
)

// key is one key of a test file. The JSON Schema, by which files are checked, and the
// reference are made from the tables of keys.
type key struct {
	name   string
	schema map[string]any
	doc    string
}

type keys []key

func (ks keys) names() []string {
	names := make([]string, len(ks))
	for i, k := range ks {
		names[i] = k.name
	}
	return names
}

func (ks keys) has(name string) bool {
	return slices.ContainsFunc(ks, func(k key) bool { return k.name == name })
}

func (ks keys) object() map[string]any {
	properties := map[string]any{}
	for _, k := range ks {
		p := map[string]any{"description": k.doc}
		maps.Copy(p, k.schema)
		properties[k.name] = p
	}
	return map[string]any{"type": "object", "additionalProperties": false, "properties": properties}
}

func typed(names ...any) map[string]any {
	if len(names) == 1 {
		return map[string]any{"type": names[0]}
	}
	return map[string]any{"type": names}
}

func listOf(item map[string]any) map[string]any {
	return map[string]any{"type": "array", "items": item}
}

func mapOf(value map[string]any) map[string]any {
	return map[string]any{"type": "object", "additionalProperties": value}
}

// either takes what one of the schemas takes; they are of different types, so one schema
// with all their keywords says it, and what is wrong in a value has its own place.
func either(schemas ...map[string]any) map[string]any {
	out := map[string]any{}
	var types []any
	for _, s := range schemas {
		maps.Copy(out, s)
		if several, ok := s["type"].([]any); ok {
			types = append(types, several...)
		} else {
			types = append(types, s["type"])
		}
	}
	out["type"] = types
	return out
}

func count() map[string]any { return map[string]any{"type": "integer", "minimum": 0} }

func duration() map[string]any { return map[string]any{"type": "string", "format": "go-duration"} }

func moment() map[string]any { return map[string]any{"type": "string", "format": "date-time"} }

func enum(words vocab.Enum) map[string]any { return map[string]any{"type": "string", "enum": words} }

func fileKeys() keys {
	test := testKeys().object()
	test["required"] = []any{"name", "expect"}
	tests := listOf(test)
	tests["minItems"] = 1
	return keys{
		{"policy", typed("string"), "The policy that is tested: a path relative to this file, or the name of a shipped one; NAME.yaml for NAME_test.yaml by default."},
		{"given", givenKeys().object(), "What every test starts from; a test's own given goes over it."},
		{"tests", tests, "The tests."},
	}
}

func testKeys() keys {
	expect := expectKeys().object()
	expect["minProperties"] = 1
	return keys{
		{"name", map[string]any{"type": "string", "minLength": 1}, "What the policy does here, as a sentence; unique in the file."},
		{"given", givenKeys().object(), "The situation, over that of the file: objects are merged, null takes away."},
		{"event", map[string]any{"type": "string", "examples": vocab.Events()}, "The event; defaults to Stop. A program may have some of its own."},
		{"expect", expect, "What the policy must say and do."},
	}
}

func givenKeys() keys {
	text := typed("string")
	texts := either(text, listOf(text))
	words := either(listOf(text), mapOf(text))
	message := messageKeys().object()
	message["minProperties"], message["maxProperties"] = 1, 1
	input := inputKeys().object()
	delete(input, "additionalProperties")
	return slices.Concat(keys{
		{"facts", mapOf(map[string]any{}), "Values of facts. They go through their schemas: defaults are filled in, wrong types are unusable."},
		{"missing", words, "Facts that are missing: a list, or a map from fact to reason."},
		{"invalid", words, "Facts that are invalid: a map from fact to reason, or a list."},
		{"problem", mapOf(text), "What is wrong with facts that can be used all the same, such as elements that were left out."},
		{"files", mapOf(either(typed("string", "null"), sourceKeys().object())), "Files of the project, by path, read by the real sources. A path that ends in / is a folder, one that begins with ~/ lies in the home directory."},
		{"transcript", either(text, listOf(message)), "The session, the oldest message first, or as plain text; its end is last_assistant_message, too."},
		{"env", mapOf(typed("string", "number", "boolean", "null")), "Environment variables; all others are unset."},
		{vocab.Now, moment(), "Time of the event."},
		{"loop", loopKeys().object(), "The loop memory."},
		{"session", named("session.").object(), "What is known of the session."},
		{"run", named("run.").object(), "How the run stands, as ralph run knows it."},
		{"repeated", mapOf(count()), "In how many verdicts rules with unless_repeated have been."},
		{"memory", mapOf(map[string]any{}), "Values of the policy's memory; all others have their defaults."},
		{"set", mapOf(typed("string", "number", "boolean")), "Values of params."},
		{vocab.Exists, texts, "Paths for which exists() holds, and anyfile() of a pattern that they match, beside the files and the paths of facts."},
		{vocab.IsDir, texts, "Paths for which isdir() holds, beside the files."},
		{vocab.Which, texts, "Programs that which() finds; all others are not there."},
		{vocab.Host, text, "The host, such as codex; none that is known by default."},
		{"input", input, "Further fields of the hook input."},
	}, inputKeys())
}

// named are the names of a group, such as "run.", as keys with which a test gives their values.
func named(group string) (ks keys) {
	for _, e := range vocab.Names() {
		if name, ok := strings.CutPrefix(e.Name, group); ok {
			ks = append(ks, keyOf(name, e))
		}
	}
	return ks
}

// inputKeys are the names of the hook input that a test can give.
func inputKeys() (ks keys) {
	defaults := inputs("the project")
	for _, e := range vocab.Inputs() {
		if e.Name == vocab.HookEventName { // it has a key of the test
			continue
		}
		k := keyOf(e.Name, e)
		if v, ok := defaults[e.Name]; ok {
			k.doc = strings.TrimSuffix(k.doc, ".") + fmt.Sprintf("; defaults to %v.", v)
		}
		ks = append(ks, k)
	}
	return ks
}

// inputs is the hook input of a test that gives none.
func inputs(project string) map[string]any {
	return map[string]any{vocab.SessionID: "test", vocab.Cwd: project, vocab.PermissionMode: "default", vocab.StopHookActive: false}
}

// keyOf is the key that takes the value of a name.
func keyOf(name string, e vocab.Entry) key {
	k := key{name, typed("string"), e.Doc}
	switch zero := e.Zero.(type) {
	case bool:
		k.schema = typed("boolean")
	case int:
		k.schema = count()
	case *float64:
		k.schema = map[string]any{"type": "number", "minimum": 0}
	case time.Duration:
		k.schema = duration()
	case time.Time:
		k.schema = moment()
	case vocab.Enum:
		k.schema = enum(zero[1:]) // the first is ""
	case vocab.Items:
		k.schema = listOf(typed("object"))
	}
	return k
}

// gives reports whether a test can give this name of the hook input.
func gives(name string) bool { return inputKeys().has(name) }

func sourceKeys() keys {
	return keys{
		{"text", typed("string"), "Content of the file."},
		{"age", duration(), "How long ago it was changed; defaults to 10m."},
	}
}

func messageKeys() keys {
	text := typed("string")
	return keys{
		{string(byUser), text, "What the user wrote."},
		{string(byAssistant), text, "What the agent wrote."},
		{string(byTool), text, "Name of a tool that the agent used."},
		{string(byCommand), text, "A shell command that the agent ran."},
		{string(byResult), text, "What the tool before gave back."},
		{string(byFailure), text, "The same, where it failed."},
		{string(byEdit), text, "A file that the agent wrote or edited."},
		{string(byFailed), enum(vocab.Failures()), "How the turn failed."},
		{string(byTokens), count(), "Size of the context with the last reply."},
		{string(byContinuation), text, "What a Stop hook answered the agent."},
		{string(bySubagent), text, "What an agent of the agent wrote."},
	}
}

func loopKeys() keys {
	return append(slices.DeleteFunc(named("loop."), func(k key) bool { return k.name == "name" }), keys{
		{"failures", count(), "Latest continuations that followed a turn that failed."},
		{"seen", typed("boolean"), "The session's last decision had the loop, so a state that is missing now was removed."},
	}...)
}

func expectKeys() keys {
	text := typed("string")
	patterns := listOf(map[string]any{"type": "string", "pattern": `\S`})
	texts := either(text, patterns)
	verdict := either(typed("string", "boolean"), patterns)
	effect := effectKeys().object()
	effect["minProperties"] = 1
	effect["additionalProperties"] = map[string]any{"description": "Arguments of a verb that a program has of its own."}
	effects := listOf(effect)
	return keys{
		{"continue", verdict, "The agent goes on, with this reason: a text that occurs, /a regular expression/ in which ^ and $ are the ends of lines, a list of them, or true."},
		{"stop", verdict, "The agent may stop, for this reason: as continue."},
		{"rule", text, "The rule that decides, or limits.NAME; an empty text means none."},
		{"success", typed("boolean"), "Whether the stop says that the work is done."},
		{"measure", either(measureKeys().object(), typed("null")), "How far the work is; null if it is not measured."},
		{"reason", texts, "The reason, whatever the verdict."},
		{"notice", texts, "Notices to the user, notes included; an empty text means none."},
		{"note", texts, "Notes of note rules; an empty text means none."},
		{"log", texts, "Lines for stderr; an empty text means none."},
		{"effects", effects, "All changes that the rules ask for, in order and in the form of a policy, but for those of the memory."},
		{"finally", effects, "All that is done after the verdict."},
		{"memory", mapOf(map[string]any{}), "Values of the policy's memory after the verdict; all others may be anything."},
		{"files", mapOf(either(typed("string", "null"), patterns)), "All files that change: path to whole content, to a list of texts in it, or to null for a file that is gone."},
		{"read", listOf(text), "Facts that were read."},
		{"unread", listOf(text), "Facts that were not read."},
	}
}

func measureKeys() keys {
	return keys{
		{"done", typed("number"), "How much is done."},
		{"total", typed("number"), "How much there is in all."},
	}
}

func effectKeys() keys {
	text := typed("string")
	return keys{
		{"set", text, "fact.field = value"},
		{"delete", text, "Name of a fact."},
		{"archive", text, "Name of a fact."},
		{"prune", either(text, pruneKeys().object()), "Pattern of the files."},
		{"run", listOf(text), "The program and its arguments."},
		{"log", text, "Only in finally: a log line."},
	}
}

func pruneKeys() keys {
	text := typed("string")
	return keys{
		{"glob", text, "Which files."},
		{"older", duration(), "How long ago they were changed, at least."},
	}
}

// Schema returns the JSON Schema of test files, for editors. Parse checks files by it.
func Schema() []byte {
	o := fileKeys().object()
	o["required"] = []any{"tests"}
	o["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	o["title"] = "tests of a ralph policy"
	b, err := json.MarshalIndent(o, "", "  ")
	if err != nil { // only literals of this file are marshalled
		panic(err)
	}
	return append(b, '\n')
}
