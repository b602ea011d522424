package form

// Check is one check of policies: what a finding names. Its page is
// docs/checks/ID.md.
type Check struct {
	ID       string
	Severity string // error, warning or info
	Doc      string // what it finds, one sentence without a full stop
}

// Checks lists all checks, in the order of docs/checks.md.
func Checks() []Check {
	return []Check{
		// The file.
		{"read", "error", "the policy cannot be read"},
		{"too-big", "error", "files or patterns that are too large for a policy"},
		{"encoding", "error", "a file that is not UTF-8, or has invisible characters"},
		{"version", "error", "the version of the policy language is missing or not known"},

		// YAML.
		{"yaml-syntax", "error", "text that is not YAML"},
		{"yaml-tag", "error", "a ! at the start of a value, which YAML reads as a tag"},
		{"yaml-comment", "error", "a # in an expression, which YAML reads as the start of a comment"},
		{"yaml-flow", "error", "a comma in an expression between braces or brackets"},
		{"yaml-alias", "error", "anchors, aliases and merge keys"},
		{"yaml-key", "error", "a key that is not a text"},
		{"yaml-document", "error", "a file without a document, or with two"},
		{"yaml-depth", "error", "maps and lists that are nested too deeply"},
		{"duplicate-key", "error", "a key that occurs twice"},
		{"syntax", "error", "a value of the wrong form, or an expression that cannot be read"},
		{"unknown-key", "error", "a key that the language does not have"},
		{"bad-value", "error", "a value that a key does not take"},
		{"empty", "error", "an expression that is empty"},
		{"own-when", "error", "a when of the policy itself among its rules"},
		{"loop", "error", "a loop without its state"},
		{"loop-private", "error", "a name or owner of a loop that reads something private"},

		// Names.
		{"bad-name", "error", "a name that expressions cannot use"},
		{"reserved-name", "error", "a name that every policy has already"},
		{"duplicate-name", "error", "a name that is declared twice"},
		{"ambiguous-name", "error", "a name that is also a field of the inline fact"},
		{"unknown-name", "error", "a name that is not declared"},
		{"unknown-field", "error", "a field that the schema does not declare"},
		{"early-name", "error", "a name that is read before it is known"},
		{"unknown-fact", "error", "a fact that is not declared"},
		{"unknown-memory", "error", "a value of memory that is not declared"},
		{"unknown-function", "error", "a function that does not exist"},
		{"unknown-param", "error", "a param that the policy or the included file does not have"},
		{"cycle", "error", "facts and lets that depend on each other"},
		{"unused", "warning", "a fact, let, param or memory that nothing reads, or a memory that nothing changes"},

		// Types.
		{"type", "error", "an expression whose parts have types that do not fit"},
		{"not-bool", "error", "a condition that is neither true nor false"},
		{"call", "error", "a function that is not called, or is called with the wrong arguments"},
		{"enum", "error", "a comparison with a value that the schema does not allow"},
		{"never-nil", "error", "a comparison with nil of what is never nil"},
		{"optional-field", "warning", "a field that may be absent, used where it is required"},
		{"mixed-types", "warning", "a field that may be absent, used as a value of another type"},
		{"bad-argument", "warning", "a value with which a function or an operator always fails, or is never true"},
		{"unknown-event", "warning", "a comparison with an event that the policy does not decide"},
		{"unknown-host", "warning", "a comparison with a host that ralph does not know"},

		// Facts, params and schemas.
		{"fact-source", "error", "a fact without a source, or with several"},
		{"fact-returns", "error", "a judge without the schema of its answer"},
		{"fact-option", "warning", "an option that needs another one, which is not there"},
		{"bad-path", "warning", "a path or pattern that ralph refuses to read"},
		{"late-fact", "warning", "a fact that may take longer than the hook"},
		{"exec-program", "error", "a program to run that is not written in the policy"},
		{"exec-option", "warning", "a value that a program could take for an option"},
		{"inline", "error", "an inline fact without a schema, or a second one"},
		{"default", "error", "a default that does not fit the schema or the source"},
		{"param-value", "error", "a param without a value, or with one that does not fit"},
		{"schema", "error", "a schema that cannot be used"},
		{"schema-keyword", "warning", "a keyword in a schema that has no effect"},
		{"schema-widened", "warning", "a part of a schema that the types do not follow"},
		{"no-schema", "warning", "a fact whose fields cannot be checked"},
		{"hook-raw", "warning", "the raw hook input, which differs between hosts"},

		// Rules, texts, effects, includes.
		{"no-rules", "warning", "a policy without rules"},
		{"rule-name", "error", "a rule without a name in kebab-case"},
		{"verbs", "error", "a rule with two verbs"},
		{"success", "error", "success in a rule without stop"},
		{"does-nothing", "warning", "a rule without a verb, a message or an effect"},
		{"unless-times", "error", "unless_repeated without a count"},
		{"limit-ceiling", "warning", "a limit above its ceiling"},
		{"template", "error", "a text whose hole is never closed"},
		{"cut-text", "warning", "an unquoted text that a # cuts off"},
		{"verb-text", "warning", "a continue, stop or note whose text is only true or false"},
		{"foreign-hole", "warning", "a hole of a shell or of another template language in a text"},
		{"assignment", "error", "a set or remember that is not an assignment"},
		{"prune", "error", "a prune without a pattern or an age"},
		{"effect-type", "error", "a value that what is set or remembered never has"},
		{"effect-args", "error", "arguments that an effect of the embedding program does not take"},
		{"include", "error", "an included file that cannot be used"},
		{"include-name", "error", "two includes with the same name"},
		{"include-cycle", "error", "files that include each other"},

		// The program that loads the policy.
		{"config", "error", "a source, function, event or effect that a program cannot add"},
		{"unapproved", "info", "a fact or effect that does nothing until the policy is approved"},
		{"not-allowed", "error", "something that the program does not allow the policy to use"},
		{"internal", "error", "a bug in ralph"},
		// The policy as a whole.
		{"never-true", "warning", "a condition that no state makes true"},
		{"always-true", "warning", "a condition that no state makes false"},
		{"contradiction", "warning", "conditions that are never true together"},
		{"shadowed-rule", "warning", "a rule that never decides, because earlier rules do"},
		{"event-verb", "warning", "a continue, stop or note that holds only at events that take none"},
		{"unreachable", "warning", "rules after one that always decides"},
		{"undecided-value", "warning", "a value of an enum for which no rule decides, while other values have rules"},
		{"unguarded-fact", "info", "a fact whose absence ends the loop without a report"},
		{"unbounded-continue", "warning", "a rule that continues an agent that changes nothing, until the built-in limits end the loop"},
		{"set-missing", "warning", "a set that finds no file and has no default to make it from"},
		{"bare-continue", "warning", "a rule that continues even if a fact cannot be read"},

		// Comments.
		{"bad-ignore", "warning", "a ralph:ignore without a check or without a reason"},
		{"unused-ignore", "warning", "a ralph:ignore that silences nothing"},
	}
}
