package loop

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/internal/approval"
	"github.com/ralph-sdk/ralph/internal/escape"
	"github.com/ralph-sdk/ralph/internal/jsontext"
	"github.com/ralph-sdk/ralph/internal/room"
	"github.com/ralph-sdk/ralph/internal/store"
	"github.com/ralph-sdk/ralph/rules"
)

// Record is the record of a decision: one line of the decision log. Of private values, and of everything derived from
// them, it has the sizes: values of the environment, the raw input, what a policy or a source declares private, and the
// words of the user and the agent, unless the loop has [WithPrivate]. Each text is cut at 4 KiB. Times
// are RFC 3339 in UTC, durations nanoseconds with names that end with _ns; it can be unmarshaled. A V other than 1 is
// another form.
type Record struct {
	Head
	Shadows string `json:"shadows,omitempty"` // the shipped policy that the project's file of that name replaces
	Turn    string `json:"turn,omitempty"`
	At      string `json:"at,omitempty"` // file:line:col of the rule
	Kept    bool   `json:"kept"`         // memory was saved and the effects on facts were made

	// Streak is the loop memory before the decision.
	Streak struct {
		Continuations int    `json:"continuations"`
		Total         int    `json:"total"`
		Progress      string `json:"progress,omitempty"` // by this decision, known only after a continue

		Before  string        `json:"before,omitempty"`   // progress at the latest continuation
		Same    int           `json:"same,omitempty"`     // how many latest continuations had it
		Failed  int           `json:"failures,omitempty"` // how many of the latest continuations followed a failed turn
		Elapsed time.Duration `json:"elapsed_ns,omitempty"`
		Step    time.Duration `json:"step_ns,omitempty"`

		Waited map[string]time.Duration `json:"waited_ns,omitempty"` // how long rules with wait have waited, of those that were tried
	} `json:"streak"`
	Log     []string       `json:"log,omitempty"`
	Hint    string         `json:"hint,omitempty"`    // the user's, shown to the agent with the reason
	Finally []rules.Effect `json:"finally,omitempty"` // the effects after those of the verdict, as they are
	Cost    rules.Budget   `json:"cost"`              // of the evaluation
	Trace   rules.Trace    `json:"trace"`

	// Calls has the results of functions, by name and quoted argument, as in said("DONE"): a boolean, or a path.
	Calls map[string]any `json:"calls,omitempty"`
	// Repeated has the previous numbers of verdicts of tried rules with unless_repeated.
	Repeated map[string]int `json:"repeated,omitempty"`

	Retries int `json:"retries,omitempty"` // how often it was made again because something had changed
}

// Head is what a [Record] says of a decision without explaining it.
type Head struct {
	V       int       `json:"v"`  // the version, 1
	ID      string    `json:"id"` // of this decision: the event's, otherwise one that sorts after earlier ones
	Time    time.Time `json:"time"`
	Policy  string    `json:"policy"`
	Digest  string    `json:"digest,omitempty"` // of the policy, its includes and its schemas
	Scope   string    `json:"scope,omitempty"`  // of [WithScope]
	Root    string    `json:"root,omitempty"`
	Host    string    `json:"host,omitempty"`
	Event   string    `json:"event"`
	Session string    `json:"session,omitempty"`
	Agent   string    `json:"agent,omitempty"`
	// SessionFile is the path of the session's file, "" if the host names none. Its change is a sign of life.
	SessionFile string `json:"session_file,omitempty"`

	Run     string          `json:"run,omitempty"` // ID of the run of ralph run, if it comes from one
	Action  rules.Action    `json:"action"`
	Command string          `json:"command,omitempty"` // that ended the loop, such as ralph stop; then there is no event and no decision
	Rule    string          `json:"rule,omitempty"`
	Reason  string          `json:"reason,omitempty"`
	Success bool            `json:"success,omitempty"` // the rule that let the agent stop has success
	Bound   string          `json:"bound,omitempty"`
	Wait    *rules.Waiting  `json:"wait,omitempty"`  // of a wait: since when, and until when at the latest
	Cause   rules.Cause     `json:"cause,omitempty"` // why no rule decided, which Reason says to a person
	Loop    *rules.LoopInfo `json:"loop,omitempty"`  // the loop that the event found
	Limits  []rules.Limit   `json:"limits,omitempty"`
	Measure *rules.Measure  `json:"measure,omitempty"` // the progress, if the policy measures it
	Notices []string        `json:"notices,omitempty"`
	Notes   []string        `json:"notes,omitempty"`
	Noted   []string        `json:"noted,omitempty"` // the rules with notes
	// Effects are those of the verdict. Old and new values are shortened to fit on a line. An archive effect that was made
	// has the new path.
	Effects []rules.Effect `json:"effects,omitempty"`
	Tokens  int            `json:"tokens,omitempty"` // context size of the agent's last reply, if read
	USD     float64        `json:"usd,omitempty"`    // cost of the run so far in US dollars, if the client reports it
	Took    time.Duration  `json:"took_ns"`          // the time to decide

	// Failures are the effects after the verdict that were not made.
	Failures []Failure `json:"failures,omitempty"`

	// Iteration of the run after which it was made, 0 before the first.
	Iteration int `json:"iteration,omitempty"`
}

// head returns the head of the record, with private values.
func (d *Decision) head() Head {
	v := d.Verdict
	h := Head{
		V: 1, ID: d.id, Time: d.Time.UTC(), Policy: d.Policy, Scope: d.Scope, Root: d.Root, Host: d.Event.Host, Event: d.Event.Name, Session: d.Event.SessionID,
		Agent: d.Event.AgentID, SessionFile: d.Event.TranscriptPath, Run: d.Event.Run, Action: v.Action, Rule: v.Rule, Reason: v.Reason, Success: v.Success, Bound: v.Bound,
		Cause: v.Cause, Wait: v.Wait, Loop: v.Loop, Measure: v.Measure,
		Notices: slices.Concat(d.Notices, d.texts.known), Notes: d.Notes, USD: d.usd, Took: d.Took, Iteration: d.Event.Iteration,
	}
	h.Failures = d.Failures
	return h
}

// Record returns the decision as the log has it: private values, and what is made from them, appear as sizes. Words of
// the user and the agent are private unless the loop has [WithPrivate]. private shows all texts and effects; the trace
// hides the same as without it.
func (d *Decision) Record(private bool) Record {
	if d == nil || d.Verdict == nil {
		d = (*Loop)(nil).decision(host.Event{}) // reports that there is no loop
	}
	v := d.Verdict
	d.ID()
	r := Record{
		Head: d.head(), Shadows: shadowed(d.Policy), Turn: d.Event.Turn, At: v.Pos.String(), Kept: d.Kept, Log: d.Log, Cost: v.Cost,
		Hint: d.texts.hint, Trace: v.Trace, Calls: v.Trace.Calls, Retries: d.Retries,
	}
	if !private && (d.loop == nil || !d.loop.kept.private) {
		r.Hint = hidden(r.Hint)
		r.Reason = strings.TrimSuffix(r.Reason, d.texts.added)
		if d.texts.added != "" && !v.Private {
			r.Reason = strings.TrimLeft(r.Reason+"\n\n"+hidden(d.texts.added), "\n")
		}
	}
	if !private {
		if v.Private && r.Reason != "" {
			r.Reason = hidden(v.Reason)
		}
		r.Notices, r.Notes, r.Log = d.redact(r.Notices), d.redact(r.Notes), d.redact(r.Log)
	}
	r.Failures = slices.Clone(r.Failures)
	for i := range r.Failures {
		f := &r.Failures[i]
		f.Call.Effect = shownEffect(f.Call.Effect, private)
		if f.private && !private {
			f.Error = hidden(f.Error)
		}
	}
	if d.gatherer != nil && d.program != nil {
		d.recordMemory(&r)
		r.Digest = d.digest()
		if s := d.gatherer.session; s != nil {
			r.Tokens = s.Tokens()
		}
	}
	for _, part := range v.Parts {
		if part.Note != "" {
			r.Noted = append(r.Noted, part.Rule)
		}
		for _, e := range part.Effects {
			shown := shownEffect(e, private)
			if e.Kind == rules.ArchiveEffect && d.gatherer != nil {
				shown.To = d.gatherer.files.archived[e.File]
				if e.Private && !private {
					shown.To = hidden(shown.To)
				}
			}
			r.Effects = append(r.Effects, shown)
		}
	}
	for _, e := range v.Finally {
		r.Finally = append(r.Finally, shownEffect(e, private))
	}
	return r
}

// MarshalJSON returns the JSON of the decision's [Record], without private values. It is for reading: no decision can be made
// from it, so none can be applied in another process.
func (d *Decision) MarshalJSON() ([]byte, error) { return json.Marshal(d.Record(false)) }

// ID returns the ID of the decision and its record: that of the event, otherwise one that sorts after earlier ones.
func (d *Decision) ID() string {
	if d == nil {
		return ""
	}
	if d.id == "" {
		d.id = cmp.Or(d.Event.ID, store.LineID(d.Time))
	}
	return d.id
}

// recordMemory records the memory before the decision.
func (d *Decision) recordMemory(r *Record) {
	m, now := d.gatherer.mem.mine().Memory, d.Time
	r.Streak.Total, r.Streak.Progress = m.Total, shownProgress(d.Verdict.Progress)
	r.Limits = d.Verdict.Limits
	for _, l := range r.Limits {
		switch l.Name {
		case "continuations":
			r.Streak.Continuations = l.At
		case "total":
			r.Streak.Total = l.At // with what the session counts elsewhere
		}
	}
	if r.Streak.Continuations > 0 { // otherwise the event begins a turn
		r.Streak.Before, r.Streak.Same, r.Streak.Failed = shownProgress(m.Progress), m.Same, m.Failures
		r.Streak.Elapsed, r.Streak.Step = max(0, now.Sub(m.Since)), max(0, now.Sub(m.Latest))
	}
	for _, rule := range d.program.Rules() {
		if rule.Unless == nil && rule.Await == nil {
			continue
		}
		for _, s := range d.Verdict.Trace.Steps {
			if s.Rule != rule.Name {
				continue
			}
			if from := m.Waits[s.Rule]; !from.IsZero() && m.Turn == d.Verdict.Memory.Turn {
				if r.Streak.Waited == nil {
					r.Streak.Waited = map[string]time.Duration{}
				}
				r.Streak.Waited[s.Rule] = max(0, now.Sub(from))
			}
			if rule.Unless == nil {
				continue
			}
			if r.Repeated == nil {
				r.Repeated = map[string]int{}
			}
			r.Repeated[s.Rule] = s.Repeated
		}
	}
}

// shownProgress returns a fingerprint for the log. That of private progress stays in memory, because it could be used
// to test guesses.
func shownProgress(fingerprint string) string {
	if strings.HasPrefix(fingerprint, "private:") {
		return "(private)"
	}
	return fingerprint
}

// shownEffect returns an effect for the log, with or without private values.
func shownEffect(e rules.Effect, private bool) rules.Effect {
	if e.Kind == rules.LogEffect {
		e.Text = "" // it is in the log lines
	}
	if !e.Private || private {
		e.Old, e.Value = short(e.Old), short(e.Value)
		if args, ok := short(e.Args).(string); ok { // too long
			e.Args = []string{e.Args[0], args}
		}
		return e
	}
	e.Old, e.Value = sized(e.Old), sized(e.Value)
	for _, text := range []*string{&e.File, &e.Version, &e.Glob} {
		*text = hidden(*text)
	}
	if len(e.Args) > 0 { // the program is in the policy
		e.Args = []string{e.Args[0], hidden(strings.Join(e.Args[1:], " "))}
	}
	if len(e.Path) > 0 {
		e.Path = []any{hidden(fmt.Sprint(e.Path...))}
	}
	return e
}

// sized returns the size of a value.
func sized(v any) any {
	if v == nil {
		return nil
	}
	return hidden(fmt.Sprint(v))
}

// maxShown bounds a value in a record, in bytes of JSON.
const maxShown = maxText

// short returns a value, or the beginning of its JSON if that is long.
func short(v any) any {
	b, err := json.Marshal(v)
	switch {
	case err != nil:
		return fmt.Sprintf("(%T)", v)
	case len(b) <= maxShown:
		return v
	}
	return cutBytes(string(b), maxShown-len("…"))
}

// redact returns texts for the log, in which the size replaces each private one.
func (d *Decision) redact(texts []string) []string {
	texts = slices.Clone(texts)
	for i, t := range texts {
		if slices.Contains(d.texts.private, t) {
			texts[i] = hidden(t)
		}
	}
	return texts
}

// hidden returns the size of a text, "" if there is none.
func hidden(text string) string {
	if text == "" {
		return ""
	}
	return fmt.Sprintf("(%d bytes)", len(text))
}

// recordTime is how long records may take in addition to the decision.
const recordTime = time.Second

// forRecord bounds the time of one record by recordTime, and by half of the time that is left until recordTime after the
// deadline of ctx. However many recorders and loops there are, each has some time, and all together keep that bound.
func forRecord(ctx context.Context) (context.Context, context.CancelFunc) {
	long := recordTime
	if deadline, ok := ctx.Deadline(); ok {
		long = min(long, (time.Until(deadline)+recordTime)/2)
	}
	return context.WithTimeout(context.WithoutCancel(ctx), long)
}

// told is how much of a decision may have changed after its record was saved.
type told struct {
	saved, kept, failed           bool
	notices, known, log, failures int
	hint                          string
}

func (d *Decision) told() told {
	return told{true, d.Kept, d.Err != nil, len(d.Notices), len(d.texts.known), len(d.Log), len(d.Failures), d.texts.hint}
}

// recorded reports whether the decision has a record: not if it was made before, or is about nothing.
func (d *Decision) recorded() bool {
	return d.loop.kept.records() && (!d.Repeated || d.Err != nil) && (!d.Verdict.Cause.Untried() || d.noteworthy())
}

// record returns the record for a store that keeps records, otherwise nil.
func (d *Decision) record() *Record {
	if d.loop.kept.keeper == nil || !d.recorded() {
		return nil
	}
	r := d.Record(false)
	return &r
}

// records reports whether anything receives records.
func (k *kept) records() bool {
	return k.keeper != nil || len(k.recorders) > 0
}

// keep appends the decision to the log. Skipped decisions, where loops are off or the event is not the policy's, are
// left out, unless a loop exists or something could not be used. A log error is reported, and has no other effect.
func (d *Decision) keep(ctx context.Context) {
	all := d.loop.kept.recorders
	switch lost := d.lost(ctx); {
	case lost != nil:
		all = []Recorder{lost}
	case !d.recorded():
		return
	}
	r := d.Record(false)
	if keeper := d.loop.kept.keeper; keeper != nil && d.sent != d.told() {
		all = append([]Recorder{keeper}, all...)
	}
	for _, to := range all {
		d.send(ctx, to, r)
	}
}

// send gives a recorder the record of the decision.
func (d *Decision) send(ctx context.Context, to Recorder, r Record) {
	ctx, cancel := forRecord(ctx)
	defer cancel()
	failed := make(chan error, 1)
	files := d.program.Files
	log, isLog := to.(localStore)
	go func() { // a recorder that ignores its context does not keep the caller
		if isLog { // others need no more room than any goroutine
			room.Grow()
		}
		err := guarded("the recorder", func() error { return to.Record(ctx, &r) })
		if isLog && err == nil && r.Digest != "" {
			_ = log.dir.KeepText(r.Digest, r.Time, func() ([]byte, error) { return approval.Pack(files()) }) // only pictures need it
		}
		failed <- err
	}()
	var err error
	select {
	case err = <-failed:
	case <-ctx.Done():
		err = errors.New("the recorder did not return in time")
	}
	switch {
	case err != nil && isLog:
		d.problem("the decision is not in the log: " + err.Error())
	case err != nil:
		d.problem("a recorder does not have the decision: " + err.Error())
	}
}

// lost returns the log on disk if it lacks the record of a decision that was made before: the process that made it ended
// after it had counted. Other recorders may have the record.
func (d *Decision) lost(ctx context.Context) Recorder {
	if !d.Repeated || d.Err != nil || d.Time.Sub(d.answer.At) <= d.loop.bounds.deadline+recordTime { // it may be about to record it
		return nil
	}
	for _, to := range d.loop.kept.recorders {
		log, ok := to.(localStore)
		if !ok {
			continue
		}
		at := d.answer.At
		for r, err := range log.Records(ctx, LogFilter{Scope: d.Scope, Root: d.Root, Policy: d.Policy, Session: d.Event.SessionID, ID: d.Event.ID, Since: at}) {
			if err != nil || r.Event == d.Event.Name {
				return nil
			}
		}
		d.Time = at
		return log
	}
	return nil
}

// maxTraced is how many rules that did not hold keep their operands in the log, the latest ones. A policy of a thousand
// rules would otherwise write more than it decides.
const maxTraced = 200

// What a line of the log holds, in bytes: a record, a text in it, and a text if the record would be too long.
const (
	maxRecord = 64 << 10
	maxText   = 4 << 10
	leastText = 256
)

// logLine returns a record as a line that the log accepts. Each text is cut, and very many rules lose operands of their
// trace. A record that is too long is shortened, the largest texts first, then the trace, so that every decision has a
// line.
func logLine(r Record) ([]byte, error) {
	r.trace(maxTraced)
	line, err := r.line(maxText)
	if err == nil && len(line) <= maxRecord {
		return line, nil
	}
	r.Trace.Warnings = append(slices.Clone(r.Trace.Warnings), shortened)
	stages := []func(){func() {}, func() { r.trace(maxTraced / 2) }, r.cut, r.keepOutcome}
	if err == nil && len(jsontext.Clip(line, leastText)) > maxRecord { // shorter texts alone are not enough
		stages = stages[1:]
	}
	for _, shorten := range stages {
		shorten()
		if line, err = r.line(maxText); err != nil {
			continue
		}
		for most := maxText; most >= leastText; most /= 2 {
			if cut := jsontext.Clip(line, most); len(cut) <= maxRecord {
				return cut, nil
			}
		}
	}
	return line, err
}

// trace drops the operands of rules that did not hold, except for the latest ones.
func (r *Record) trace(latest int) {
	steps := slices.Clone(r.Trace.Steps)
	for i, s := range steps {
		own := *s // verdicts share steps
		if i < len(steps)-latest && s.Outcome == rules.No {
			own.Operands = nil
		}
		steps[i] = &own
	}
	r.Trace.Steps = steps
}

// line returns a record as a line of JSON that a person can print, in which each text has at most these bytes: invisible
// characters are escapes. An input that is longer is left out, because a replay needs all of it.
func (r Record) line(most int) ([]byte, error) {
	r.Trace.Inputs = slices.Clone(r.Trace.Inputs)
	for i := range r.Trace.Inputs {
		in := &r.Trace.Inputs[i]
		text, ok := in.Value.(string)
		if raw, isRaw := in.Value.(json.RawMessage); isRaw {
			text, ok = string(raw), true
		}
		if ok && len(text) > most {
			in.Value, in.Cut = nil, true
		}
	}
	line, err := json.Marshal(r)
	return []byte(escape.Person(string(jsontext.Clip(line, most)))), err
}

// Texts of a record that is too long.
const (
	maxCutTexts = 10 // of a list

	shortened = "the record was too long for the log, so its longest texts are cut"
)

// cut drops all but the first texts of each list, and all but the outcomes of the latest rules.
func (r *Record) cut() {
	for _, list := range []*[]string{&r.Notices, &r.Notes, &r.Noted, &r.Log} {
		*list = (*list)[:min(len(*list), maxCutTexts)]
	}
	r.Trace.Steps = r.Trace.Steps[max(0, len(r.Trace.Steps)-maxTraced/4):]
	for i := range r.Trace.Steps {
		r.Trace.Steps[i].Operands = nil
	}
}

// keepOutcome keeps only who decided what, and why.
func (r *Record) keepOutcome() {
	r.Trace = rules.Trace{Warnings: []string{shortened}}
	r.Effects, r.Finally, r.Calls, r.Repeated = nil, nil, nil, nil
}

// cutBytes returns a text, or its first n bytes if it is longer.
func cutBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}
