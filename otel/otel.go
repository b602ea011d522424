// Package otel observes decisions with OpenTelemetry: [Spans] records a span for each, [Metrics] counts and measures
// them, and [Skips] counts those that are not recorded. All take their provider as an argument and use no global one.
// Spans and metrics contain no texts of users or agents. The package may change in any version.
//
// These attributes, if known, are those of the span "ralph.decision" (S), of the counters "ralph.decisions" and
// "ralph.conflicts" (C), of the histogram "ralph.decision.duration" in seconds (D), and of the counter "ralph.skips" (K):
//
//	attribute          of       what it is
//	ralph.policy       S C D K  the name of the policy
//	ralph.scope        S C D K  of loop.WithScope
//	ralph.event        S C D K  the event, such as Stop
//	ralph.action       S C D    continue, stop, ask or wait
//	ralph.outcome      S C D K  how it ended, in a word of loop.Outcome
//	ralph.cause        S C   K  why, in a word of loop.Head.Ended
//	ralph.rule         S C      the rule that decided, or the limit, such as limits.continuations
//	ralph.limit        S C      the limit that turned a continue into a stop, such as continuations
//	error.type         S C      of a failed decision its cause, such as fact or context
//	ralph.host         S        the host that sent the event
//	ralph.decision.id  S        the caller's own ID of the decision
//	session.id         S        the session
//	ralph.kept         S        whether memory and changes were saved: false for Preview
//	ralph.retries      S        how often it was made again because something had changed: conflicts
//	ralph.repeated     S        true if the event had the ID of one that was decided
//	ralph.failures     S        how many effects after the verdict were not made
//
// The status of a span is Error if the outcome is failed or an effect was not made. "ralph.conflicts" adds the retries of
// each decision. "ralph.effects.failed" counts effects that were not made, with ralph.policy, ralph.scope, ralph.effect, which
// is the name or kind of the effect, and ralph.dead, which says that it is not tried again.
// "ralph.skips" counts the decisions in which no rule was tried, most of which no log has; the other metrics are those of
// the decisions that a loop records.
//
// Each fact that was gathered is an event of the span, "ralph.fact", with ralph.fact.name, ralph.fact.source,
// ralph.fact.status and ralph.fact.duration in seconds. They need a loop with a recorder, such as that of [Metrics].
// Sources, stores, effects and recorders receive the span's context: a query of a driver that records spans is its child.
package otel

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

// scope is the instrumentation scope of spans and metrics.
const scope = "github.com/ralph-sdk/ralph/otel"

// Spans returns an option that records a span for each call of Run, Preview and Apply, and for each policy that a hook
// evaluates. The provider must not be nil.
func Spans(p trace.TracerProvider) loop.Option {
	if p == nil {
		return func(*loop.Loop) error {
			return errors.New("otel.Spans has no tracer provider: leave it out, or give otel.GetTracerProvider()")
		}
	}
	tracer := p.Tracer(scope)
	return loop.WithObserver(func(ctx context.Context, ev host.Event) (context.Context, func(*loop.Decision)) {
		ctx, span := tracer.Start(ctx, "ralph.decision", trace.WithAttributes(known(
			attribute.String("ralph.event", ev.Name),
			attribute.String("ralph.host", ev.Host),
			attribute.String("ralph.decision.id", ev.ID),
			attribute.String("session.id", ev.SessionID),
		)...))
		return ctx, func(d *loop.Decision) {
			defer span.End()
			if span.IsRecording() {
				describe(span, d)
			}
		}
	})
}

// describe sets the span's attributes when the decision is done.
func describe(span trace.Span, d *loop.Decision) {
	v := d.Verdict
	span.SetAttributes(known(
		attribute.String("ralph.event", d.Event.Name),
		attribute.String("ralph.policy", d.Policy),
		attribute.String("ralph.scope", d.Scope),
		attribute.String("ralph.action", v.Action.String()),
		attribute.String("ralph.outcome", string(d.Outcome())),
		attribute.String("ralph.cause", string(d.Cause())),
		attribute.String("ralph.rule", v.Rule),
		attribute.String("ralph.limit", v.Bound),
		attribute.Bool("ralph.kept", d.Kept),
		attribute.Int("ralph.retries", d.Retries),
		attribute.Int("ralph.failures", len(d.Failures)),
		attribute.String("error.type", fault(v.Cause)),
	)...)
	if d.Repeated {
		span.SetAttributes(attribute.Bool("ralph.repeated", true))
	}
	for _, f := range v.Trace.Facts {
		span.AddEvent("ralph.fact", trace.WithAttributes(
			attribute.String("ralph.fact.name", f.Name),
			attribute.String("ralph.fact.source", f.Source),
			attribute.String("ralph.fact.status", cmp.Or(string(f.Status), "ok")),
			attribute.Float64("ralph.fact.duration", f.Took.Seconds()),
		))
	}
	switch {
	case d.Outcome() == loop.Failed:
		span.SetStatus(codes.Error, d.Record(false).Reason) // without private values
	case len(d.Failures) > 0:
		span.SetStatus(codes.Error, effect(d.Failures[0])+" was not made")
	}
}

// Metrics returns a recorder that counts and measures decisions, for [loop.WithRecorder]. The provider must not be nil.
func Metrics(p metric.MeterProvider) (loop.Recorder, error) {
	if p == nil {
		return nil, errors.New("otel.Metrics has no meter provider: leave it out, or give otel.GetMeterProvider()")
	}
	meter := p.Meter(scope)
	decisions, err := meter.Int64Counter("ralph.decisions",
		metric.WithUnit("{decision}"), metric.WithDescription("Decisions on events of agents."))
	if err != nil {
		return nil, err
	}
	duration, err := meter.Float64Histogram("ralph.decision.duration",
		metric.WithUnit("s"), metric.WithDescription("How long decisions take, with all that they gather."),
		metric.WithExplicitBucketBoundaries(.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 25))
	if err != nil {
		return nil, err
	}
	conflicts, err := meter.Int64Counter("ralph.conflicts",
		metric.WithUnit("{conflict}"), metric.WithDescription("How often decisions were made again because something had changed."))
	if err != nil {
		return nil, err
	}
	failed, err := meter.Int64Counter("ralph.effects.failed",
		metric.WithUnit("{effect}"), metric.WithDescription("Effects after a verdict that were not made."))
	if err != nil {
		return nil, err
	}
	return metrics{decisions, conflicts, failed, duration}, nil
}

// Skips returns an option that counts the decisions in which no rule was tried: no loop records most of them, so that
// [Metrics] does not see them. The provider must not be nil.
func Skips(p metric.MeterProvider) loop.Option {
	if p == nil {
		return func(*loop.Loop) error {
			return errors.New("otel.Skips has no meter provider: leave it out, or give otel.GetMeterProvider()")
		}
	}
	skips, err := p.Meter(scope).Int64Counter("ralph.skips",
		metric.WithUnit("{decision}"), metric.WithDescription("Events at which no rule was tried."))
	if err != nil {
		return func(*loop.Loop) error { return err }
	}
	return loop.WithObserver(func(ctx context.Context, _ host.Event) (context.Context, func(*loop.Decision)) {
		return ctx, func(d *loop.Decision) {
			if !d.Verdict.Cause.Untried() {
				return
			}
			skips.Add(ctx, 1, metric.WithAttributes(known(
				attribute.String("ralph.policy", d.Policy),
				attribute.String("ralph.scope", d.Scope),
				attribute.String("ralph.event", d.Event.Name),
				attribute.String("ralph.outcome", string(d.Outcome())),
				attribute.String("ralph.cause", string(d.Cause())),
			)...))
		}
	})
}

// fault returns a cause that is a fault, otherwise "".
func fault(c rules.Cause) string {
	if !c.Failed() {
		return ""
	}
	return string(c)
}

type metrics struct {
	decisions metric.Int64Counter
	conflicts metric.Int64Counter
	failed    metric.Int64Counter
	duration  metric.Float64Histogram
}

func (m metrics) Record(ctx context.Context, r *loop.Record) error {
	outcome, cause := r.Ended()
	by := known(
		attribute.String("ralph.policy", r.Policy),
		attribute.String("ralph.scope", r.Scope),
		attribute.String("ralph.event", r.Event),
		attribute.String("ralph.action", r.Action.String()),
		attribute.String("ralph.outcome", string(outcome)),
	)
	counted := metric.WithAttributes(append(slices.Clip(by), known(
		attribute.String("ralph.cause", string(cause)),
		attribute.String("ralph.rule", r.Rule),
		attribute.String("ralph.limit", r.Bound),
		attribute.String("error.type", fault(r.Cause)),
	)...)...)
	m.decisions.Add(ctx, 1, counted)
	if r.Retries > 0 {
		m.conflicts.Add(ctx, int64(r.Retries), counted)
	}
	for _, f := range r.Failures {
		m.failed.Add(ctx, 1, metric.WithAttributes(append(known(
			attribute.String("ralph.policy", r.Policy),
			attribute.String("ralph.scope", r.Scope),
			attribute.String("ralph.effect", effect(f)),
		), attribute.Bool("ralph.dead", f.Dead))...))
	}
	m.duration.Record(ctx, r.Took.Seconds(), metric.WithAttributes(by...))
	return nil
}

// effect returns what kind of effect failed.
func effect(f loop.Failure) string { return cmp.Or(f.Call.Effect.Name, string(f.Call.Effect.Kind)) }

// known returns all without empty strings and zeros.
func known(all ...attribute.KeyValue) []attribute.KeyValue {
	kept := all[:0]
	for _, a := range all {
		if a.Value.AsInterface() != "" && a.Value.AsInterface() != int64(0) {
			kept = append(kept, a)
		}
	}
	return kept
}
