package form

import "slices"

// PolicyKeys returns the keys of a policy. The order of this and the other tables is the order of the documentation.
func PolicyKeys() Keys {
	return Keys{
		{"ralph", Version, "Version of the policy language."},
		{"description", Text, "What the loop is for, in a sentence."},
		{"prefix", Text, "Shown in brackets before every log line; ralph by default."},
		{"events", Events, "Hook events that this policy decides; [Stop] by default."},
		{"gate", Gate, "first (the default): the first rule that holds decides. all: every continue rule that holds is shown to the agent."},
		{"params", Params, "Settings of the policy, each with a small JSON Schema; private: true for one that the log must not show."},
		{"when", Exprs, "Where the policy applies: unless it is true, the agent may stop and no rule is tried."},
		{"loop", Loop, "The fact that holds the loop, its name, owner and start. Without a loop the agent may stop and no rule is tried."},
		{"facts", Facts, "Named values, gathered only when needed."},
		{"memory", Memory, "Small values that the loop keeps between events."},
		{"let", Lets, "Named expressions. Evaluated only when needed, once per event."},
		{"limits", Limits, "Limits of the loop. They hold whatever the rules say."},
		{"progress", Exprs, "What changes when the loop makes progress; loop.repeats counts continuations without a change."},
		{"measure", Measure, "How far the work is, for ralph status and the log. It decides nothing."},
		{"run", Run, "Defaults of ralph run. They decide nothing."},
		{"rules", Rules, "Tried in order; the first continue, stop, ask or wait whose when is true decides."},
		{"finally", Finally, "Done after every verdict that was applied. A failure changes nothing."},
	}
}

// GuardKeys returns the keys of a file that is included.
func GuardKeys() Keys {
	return slices.DeleteFunc(PolicyKeys(), func(k Key) bool {
		return !slices.Contains([]string{"ralph", "description", "params", "facts", "memory", "let", "rules"}, k.Name)
	})
}

// LoopKeys returns the keys of loop.
func LoopKeys() Keys {
	return Keys{
		{"state", Fact, "The fact that holds the loop. While it is missing, there is no loop."},
		{"name", Template, "What status, log and explain call the loop; defaults to the file of its state."},
		{"on", Exprs, "While it is false, the loop is switched off."},
		{"owner", Expr, "The session that owns the loop. While it is empty, every session of the project does."},
		{"start", Starts, "What ralph start writes: the name of a fact, and its value with ${start.NAME} in it."},
	}
}

// RuleKeys returns the keys of a rule.
func RuleKeys() Keys {
	return Keys{
		{"name", Name, "Unique name in kebab-case."},
		{"when", Exprs, "When the rule holds; true by default."},
		{"continue", Parts, "Continues the agent with this text."},
		{"stop", Parts, "Lets the agent stop. The text is the reason, shown only by log and explain."},
		{"ask", Parts, "Lets the agent stop, and asks a person this question. The name answer has the answer in the next decision."},
		{"wait", Parts, "Lets the agent stop until something has happened. The text says what; needs until and for."},
		{"until", Exprs, "Only with wait, required. Once it is true, the rule does not hold."},
		{"every", Duration, "Only with wait: how often a run evaluates until; 10s or more, 1m by default."},
		{"for", Duration, "Only with wait, required: the longest wait; 24h at most. Then the next rules are tried, and waited is true."},
		{"on_unknown", Halt, "Only with continue: the agent may stop if when is unknown, for whatever reason."},
		{"success", Bool, "Only with stop: the work is done. Without it, the loop gave up or had nothing to do."},
		{"empty", OK, "Only with success: a checklist without a box, or without a file, is done too."},
		{"note", Parts, "Decides nothing; shown to the user with the verdict, and on UserPromptSubmit to the agent."},
		{"notice", Parts, "Shown to the user."},
		{"log", Parts, "Written to stderr, each line with the policy's prefix."},
		{"then", Effects, "Changes that this rule asks for, in order."},
		{"unless_repeated", Unless, "Skips the rule after it was part of this many verdicts."},
	}
}

// PartKeys returns the keys of a part of a text.
func PartKeys() Keys {
	return Keys{
		{"when", Exprs, "The part is left out unless it is true."},
		{"text", Template, "The text of the part. Required."},
	}
}

// IncludeKeys returns the keys of an include among rules.
func IncludeKeys() Keys {
	return Keys{
		{"include", Text, "A file whose rules run here; shipped ones are written ralph:guards/NAME."},
		{"with", Bindings, "Values for the params of the included file, as expressions."},
		{"as", Text, "Prefix of the names of its rules; the file's base name by default. With \"\" the rules keep their names."},
	}
}

// FactParamKeys returns the keys of a param of an included file that is a fact of the including policy.
func FactParamKeys() Keys {
	return Keys{
		{"fact", Name, "Source that the fact must have. Under with, the param takes the name of a fact."},
		{"inline", Bool, "Whether the fields of the fact are names too."},
	}
}

// EffectKeys returns the keys of an effect, of which it has one.
func EffectKeys() Keys {
	return Keys{
		{"set", Assignment, "fact.field = expression: change one value in a file."},
		{"remember", Assignment, "name = expression: change one value of memory."},
		{"delete", Fact, "Remove the file of a fact."},
		{"archive", Fact, "Move the file of a fact to .ralph/archive."},
		{"prune", Prune, "Remove files that match a pattern and are older than a duration."},
		{"run", Words, "Run a program of an approved policy, once the verdict was applied."},
	}
}

// RunKeys returns the keys of an effect that runs a program.
func RunKeys() Keys {
	return Keys{
		{"run", Words, "The program and its arguments."},
		{"timeout", Duration, "How long the program may take before it is ended; 2s by default."},
		{"covers", Args, "Patterns of the project's files that the approval covers, as for exec."},
	}
}

// PruneKeys returns the keys of prune.
func PruneKeys() Keys {
	return Keys{
		{"glob", Path, "Pattern of the files. A value in a placeholder is taken literally."},
		{"older", Duration, "Minimum time since they were last changed."},
	}
}

// FinallyKeys returns the keys of an entry of finally.
func FinallyKeys() Keys {
	return Keys{
		{"name", Text, "Name of the entry, shown in traces. Any string."},
		{"when", Exprs, "When it is done; true by default."},
		{"prune", Prune, "Remove files that match a pattern and are older than a duration."},
		{"log", Parts, "Written to stderr, each line with the policy's prefix."},
	}
}

// LimitKeys returns the keys of limits.
func LimitKeys() Keys {
	return Keys{
		{"continuations", Limit, "Maximum number of continuations per prompt; 500 by default."},
		{"repeats", Limit, "Maximum number of consecutive continuations without progress; no limit by default."},
		{"elapsed", Span, "Maximum time since the first continuation of the streak; 24h by default."},
		{"total", Limit, "Maximum number of continuations per session, of policies with this name or content; 5000 by default."},
		{"tokens", Limit, "Maximum number of tokens of the session, or of the run; no limit by default, and with 0."},
		{"failures", Limit, "Maximum number of consecutive continuations after a turn that failed; 0 by default."},
		{"iterations", Limit, "Maximum number of iterations of a run; `ralph run` allows 100 by default."},
		{"cost", Amount, "Maximum cost of a run in US dollars; no limit by default, and with 0."},
	}
}

// MeasureKeys returns the keys of measure.
func MeasureKeys() Keys {
	return Keys{
		{"done", Expr, "How much is done, as a number."},
		{"total", Expr, "How much there is in all, as a number."},
	}
}

// AgentKeys returns the keys of the policy's own run.
func AgentKeys() Keys {
	return Keys{
		{"client", Text, "The program of the agent, such as claude. Run once the policy is approved."},
		{"args", Args, "Its arguments. They cannot have placeholders."},
		{"fresh", Bool, "Each iteration has a fresh context; true by default."},
		{"iteration", Duration, "How long an iteration may take before it is ended; 1h by default."},
	}
}

// UnlessKeys returns the keys of unless_repeated.
func UnlessKeys() Keys {
	return Keys{
		{"times", Count, "Skip the rule after this many verdicts. The maximum is 1,000: no more are remembered."},
		{"within", Duration, "Count only verdicts as recent as this; all by default."},
		{"per", Per, "What is counted together: prompt, session (the default) or project."},
	}
}

// FactOptionKeys returns the options that every source takes; each source adds its own.
func FactOptionKeys() Keys {
	return Keys{
		{"default", Any, "Value of the fact while it is missing, completed by the schema; the fact is then ok. It never replaces an invalid value."},
		{"timeout", Duration, "How long gathering may take; each source has a default."},
		{"private", Bool, "Log, explain, status and view show only the size of the value and of what is made from it."},
	}
}

// SourceOptionKeys returns the options of some sources.
func SourceOptionKeys() Keys {
	return Keys{
		{"schema", Schema, "JSON Schema of the document, of each file of a glob, or of the field json of exec."},
		{"returns", Schema, "JSON Schema of the answer."},
		{"inline", Bool, "The fields of this fact are names too. At most one fact can be inline, and it needs a schema."},
		{"covers", Args, "Patterns of the project's files that the approval covers, instead of the program and the file that an interpreter runs; [] is the command line only."},
		{"lenient", Bool, "Front matter that is not YAML is read field by field; problem(fact) reports which fields."},
	}
}
