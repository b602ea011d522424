package rules

import "slices"

// CheckInfo describes one check of policies: what [Diagnostic.Check] names. Its
// section in docs/checks.md is called by its id.
type CheckInfo struct {
	ID       string   `json:"id"`
	Severity Severity `json:"severity"`
	Doc      string   `json:"doc"` // what it finds, one sentence without a full stop
}

// Checks lists all checks, in the order of docs/checks.md.
func Checks() []CheckInfo {
	return slices.Concat([]CheckInfo{
		// The file.
		{"read", Error, "the policy cannot be read"},
		{"too-big", Error, "files or patterns that are too large for a policy"},
		{"encoding", Error, "a file that is not UTF-8, or has invisible characters"},
		{"version", Error, "the version of the policy language is missing or not known"},

		// YAML.
		{"yaml-syntax", Error, "text that is not YAML"},
		{"yaml-tag", Error, "a ! at the start of a value, which YAML reads as a tag"},
		{"yaml-comment", Error, "a # in an expression, which YAML reads as the start of a comment"},
		{"yaml-flow", Error, "a comma in an expression between braces or brackets"},
		{"yaml-alias", Error, "anchors, aliases and merge keys"},
		{"yaml-key", Error, "a key that is not a text"},
		{"yaml-document", Error, "a file without a document, or with two"},
		{"yaml-depth", Error, "maps and lists that are nested too deeply"},
		{"duplicate-key", Error, "a key that occurs twice"},
		{"syntax", Error, "a value of the wrong form, or an expression that cannot be read"},
		{"unknown-key", Error, "a key that the language does not have"},
		{"bad-value", Error, "a value that a key does not take"},
		{"empty", Error, "an expression that is empty"},
		{"own-when", Error, "a when of the policy itself among its rules"},
		{"loop", Error, "a loop without its state"},
		{"loop-private", Error, "a name or owner of a loop that reads something private"},

		// Names.
		{"bad-name", Error, "a name that expressions cannot use"},
		{"reserved-name", Error, "a name that every policy has already"},
		{"duplicate-name", Error, "a name that is declared twice"},
		{"ambiguous-name", Error, "a name that is also a field of the inline fact"},
		{"unknown-name", Error, "a name that is not declared"},
		{"unknown-field", Error, "a field that the schema does not declare"},
		{"early-name", Error, "a name that is read before it is known"},
		{"unknown-fact", Error, "a fact that is not declared"},
		{"unknown-memory", Error, "a value of memory that is not declared"},
		{"unknown-function", Error, "a function that does not exist"},
		{"unknown-param", Error, "a param that the policy or the included file does not have"},
		{"cycle", Error, "facts and lets that depend on each other"},
		{"unused", Warning, "a fact, let, param or memory that nothing reads, or a memory that nothing changes"},

		// Types.
		{"type", Error, "an expression whose parts have types that do not fit"},
		{"not-bool", Error, "a condition that is neither true nor false"},
		{"call", Error, "a function that is not called, or is called with the wrong arguments"},
		{"enum", Error, "a comparison with a value that the schema does not allow"},
		{"never-nil", Error, "a comparison with nil of what is never nil"},
		{"optional-field", Warning, "a field that may be absent, used where it is required"},
		{"mixed-types", Warning, "a field that may be absent, used as a value of another type"},
		{"bad-argument", Warning, "a value with which a function or an operator always fails, or is never true"},
		{"unknown-event", Warning, "a comparison with an event that the policy does not decide"},
		{"unknown-host", Warning, "a comparison with a host that ralph does not know"},

		// Facts, params and schemas.
		{"fact-source", Error, "a fact without a source, or with several"},
		{"fact-returns", Error, "a judge without the schema of its answer"},
		{"fact-option", Warning, "an option that needs another one, which is not there"},
		{"bad-path", Warning, "a path or pattern that ralph refuses to read"},
		{"late-fact", Warning, "a fact that may take longer than the hook"},
		{"exec-program", Error, "a program to run that is not written in the policy"},
		{"inline", Error, "an inline fact without a schema, or a second one"},
		{"default", Error, "a default that does not fit the schema or the source"},
		{"param-value", Error, "a param without a value, or with one that does not fit"},
		{"schema", Error, "a schema that cannot be used"},
		{"schema-keyword", Warning, "a keyword in a schema that has no effect"},
		{"schema-widened", Warning, "a part of a schema that the types do not follow"},
		{"no-schema", Warning, "a fact whose fields cannot be checked"},
		{"hook-raw", Warning, "the raw hook input, which differs between hosts"},

		// Rules, texts, effects, includes.
		{"no-rules", Warning, "a policy without rules"},
		{"rule-name", Error, "a rule without a name in kebab-case"},
		{"verbs", Error, "a rule with two verbs"},
		{"success", Error, "success in a rule without stop"},
		{"does-nothing", Warning, "a rule without a verb, a message or an effect"},
		{"unless-times", Error, "unless_repeated without a count"},
		{"limit-ceiling", Warning, "a limit above its ceiling"},
		{"template", Error, "a text whose hole is never closed"},
		{"cut-text", Warning, "an unquoted text that a # cuts off"},
		{"verb-text", Warning, "a continue, stop or note whose text is only true or false"},
		{"foreign-hole", Warning, "a hole of a shell or of another template language in a text"},
		{"assignment", Error, "a set or remember that is not an assignment"},
		{"prune", Error, "a prune without a pattern or an age"},
		{"effect-type", Error, "a value whose type is not that of what is set or remembered"},
		{"effect-value", Warning, "a value that the field never has"},
		{"effect-args", Error, "arguments that an effect of the embedding program does not take"},
		{"include", Error, "an included file that cannot be used"},
		{"include-name", Error, "two includes with the same name"},
		{"include-cycle", Error, "files that include each other"},

		// The program that loads the policy.
		{"config", Error, "a source, function, event or effect that a program cannot add"},
		{"unapproved", Info, "a fact or effect that does nothing until the policy is approved"},
		{"not-allowed", Error, "something that the program does not allow the policy to use"},
		{"internal", Error, "a bug in ralph"},
	}, []CheckInfo{
		// The policy as a whole.
		{"never-true", Warning, "a condition that no state makes true"},
		{"always-true", Warning, "a condition that no state makes false"},
		{"contradiction", Warning, "conditions that are never true together"},
		{"shadowed-rule", Warning, "a rule that never decides, because earlier rules do"},
		{"event-verb", Warning, "a continue, stop or note that holds only at events that take none"},
		{"unreachable", Warning, "rules after one that always decides"},
		{"undecided-value", Warning, "a value of an enum for which no rule decides, while other values have rules"},
		{"unguarded-fact", Info, "a fact whose absence ends the loop without a report"},
		{"unbounded-continue", Warning, "a rule that continues an agent that changes nothing, until the built-in limits end the loop"},
		{"set-missing", Warning, "a set that finds no file and has no default to make it from"},
		{"bare-continue", Warning, "a rule that continues even if a fact cannot be read"},

		// Comments.
		{"bad-ignore", Warning, "a ralph:ignore without a check or without a reason"},
		{"unused-ignore", Warning, "a ralph:ignore that silences nothing"},
	})
}

// severityOf gives the severity of a check.
func severityOf(id string) Severity {
	all := Checks()
	i := slices.IndexFunc(all, func(c CheckInfo) bool { return c.ID == id })
	if i < 0 {
		return Error
	}
	return all[i].Severity
}
