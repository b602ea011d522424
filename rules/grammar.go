package rules

import "slices"

// LanguageVersion is the version of the policy language that this package reads,
// the value of the top-level key ralph.
const LanguageVersion = 1

// shape is what a key of the policy language takes.
type shape uint8

const (
	shapeText       shape = iota // plain text
	shapeName                    // text in kebab-case
	shapeTemplate                // text with ${expr} holes
	shapePath                    // a path with ${expr} holes
	shapeExpr                    // an expr expression
	shapeExprs                   // one, or a list of them
	shapeAssignment              // path = expression
	shapeBool                    //
	shapeInt                     // a whole number, 0 or more
	shapeCount                   // a whole number, 1 or more
	shapeDuration                // such as 30s, 5m, 24h
	shapeVersion                 // the language version
	shapeEvents                  // a list of event names
	shapeGate                    // first or all
	shapePer                     // prompt, session or project
	shapeWord                    // one of the words that a source names
	shapeAny                     // any value
	shapeSchema                  // a JSON Schema, or the name of one
	shapeFact                    // the name of a fact
	shapeWords                   // a list of templates
	shapeParams                  // name → JSON Schema with default
	shapeFacts                   // name → fact
	shapeLets                    // name → expression
	shapeBindings                // name → expression
	shapeLimits
	shapeUnless
	shapeRules
	shapeEffects
	shapePrune
	shapeFinally
)

// key is one key of an object of the policy language. The parser and the JSON
// Schema for editors are both made from tables of keys, so that they cannot
// disagree.
type key struct {
	name  string
	shape shape
	doc   string
}

// keys is the table of one kind of object.
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

// The tables. Their order is the order of the documentation.
func policyKeys() keys {
	return keys{
		{"ralph", shapeVersion, "Version of the policy language: 1."},
		{"description", shapeText, "What the loop is for, in a sentence."},
		{"prefix", shapeText, "Shown in brackets before every log line; ralph if absent."},
		{"events", shapeEvents, "Hook events that this policy decides; [Stop] if absent."},
		{"gate", shapeGate, "first: the first rule that holds decides. all: every continue rule that holds is told."},
		{"params", shapeParams, "Settings of the policy: name → a small JSON Schema with a default."},
		{"when", shapeExprs, "What the policy is for: while it is not true the agent may stop, and no rule is read. It knows params and ralph's own names."},
		{"facts", shapeFacts, "Named values: name → a source and its options. Gathered only when needed."},
		{"let", shapeLets, "Named expressions. Worked out only when needed, once per event."},
		{"limits", shapeLimits, "Bounds of the loop. They hold whatever the rules say."},
		{"progress", shapeExprs, "What changes when the loop gets on; counted by loop.repeats."},
		{"rules", shapeRules, "Tried in order; the first continue or stop whose when is true decides."},
		{"finally", shapeFinally, "Done after the verdict was applied, best effort."},
	}
}

func guardKeys() keys {
	return slices.DeleteFunc(policyKeys(), func(k key) bool {
		return !slices.Contains([]string{"ralph", "description", "params", "facts", "let", "rules"}, k.name)
	})
}

func ruleKeys() keys {
	return keys{
		{"name", shapeName, "Unique name in kebab-case."},
		{"when", shapeExprs, "An expression, or a list of which all must be true; absent means true."},
		{"continue", shapeTemplate, "The agent goes on, and this is what it is told."},
		{"stop", shapeTemplate, "The agent may stop; this says why, for the log and explain."},
		{"note", shapeTemplate, "Decides nothing; told to the person with the verdict."},
		{"notice", shapeTemplate, "Told to the person."},
		{"log", shapeTemplate, "Written to stderr, each line with the policy's prefix."},
		{"then", shapeEffects, "Changes that this rule asks for, in order."},
		{"unless_repeated", shapeUnless, "The rule steps aside after it has been in so many verdicts."},
	}
}

func includeKeys() keys {
	return keys{
		{"include", shapeText, "A file whose rules run here; shipped ones are written ralph:guards/NAME."},
		{"with", shapeBindings, "Values for the params of the included file, as expressions."},
		{"as", shapeName, "Name under which its rules are known; the file's base name if absent."},
	}
}

func effectKeys() keys {
	return keys{
		{"set", shapeAssignment, "fact.field = expression: change one value in a file."},
		{"delete", shapeFact, "Remove the file of a fact."},
		{"archive", shapeFact, "Move the file of a fact to .ralph/archive."},
		{"prune", shapePrune, "Remove files that match a pattern and are older than a time."},
	}
}

func pruneKeys() keys {
	return keys{
		{"glob", shapePath, "Which files; values of holes are taken literally."},
		{"older", shapeDuration, "How long ago they were last changed, at least."},
	}
}

func finallyKeys() keys {
	return keys{
		{"name", shapeText, "Name of the entry, for traces."},
		{"when", shapeExprs, "An expression, or a list of which all must be true; absent means true."},
		{"prune", shapePrune, "Remove files that match a pattern and are older than a time."},
		{"log", shapeTemplate, "Written to stderr, each line with the policy's prefix."},
	}
}

func limitKeys() keys {
	return keys{
		{"continuations", shapeInt, "Continuations in a row, at most; 500 if absent."},
		{"repeats", shapeInt, "Continuations in a row without progress, at most; no bound if absent."},
		{"elapsed", shapeDuration, "Time since the first continuation of the row, at most; 24h if absent."},
		{"total", shapeInt, "Continuations in a session, at most; 5000 if absent."},
	}
}

func unlessKeys() keys {
	return keys{
		{"times", shapeCount, "Step aside after this many verdicts."},
		{"within", shapeDuration, "Count only verdicts as recent as this; all if absent."},
		{"per", shapePer, "What is counted together: prompt, session (if absent) or project."},
	}
}

// factOptionKeys are the options that every source takes; each source adds its own.
func factOptionKeys() keys {
	return keys{
		{"default", shapeAny, "Stands in for a missing fact, completed by the schema."},
		{"timeout", shapeDuration, "How long gathering may take."},
	}
}
