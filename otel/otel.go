// Package otel observes decisions with OpenTelemetry: [Spans] records a span for each, and [Metrics] counts and
// measures them. Both take their provider as an argument and use no global one. Spans and metrics contain no texts of
// users or agents. The package may change in any version.
//
// A span has the name "ralph.decision" and these attributes, if known:
//
//	ralph.event the event, such as Stop
//	ralph.host the host that sent it
//	ralph.decision.id the caller's own ID of the decision
//	session.id the session
//	ralph.policy the name of the policy
//	ralph.scope of loop.WithScope
//	ralph.action continue, stop or ask
//	ralph.outcome how it ended, in a word of [loop.Outcome]
//	ralph.rule the rule that decided, or the limit, such as limits.continuations
//	ralph.applied whether it was applied: false for Preview
//	ralph.retries how often it was made again because something had changed
//	ralph.skipped why no rule was tried
//	error.type why it could not decide, such as fact or context; the span has the status Error
//
// Each fact that was gathered is an event of the span, "ralph.fact", with ralph.fact.name, ralph.fact.source,
// ralph.fact.status and ralph.fact.duration in seconds. They need a loop with a recorder, such as that of [Metrics].
// Sources, stores, effects and recorders receive the span's context: a query of a driver that records spans is its child.
//
// The metrics are those of the decisions that a loop records:
//
//	ralph.decisions a counter, by ralph.policy, ralph.scope, ralph.event, ralph.action, ralph.outcome, ralph.rule and error.type
//	ralph.decision.duration a histogram in seconds, by ralph.policy, ralph.scope, ralph.event, ralph.action and ralph.outcome
package otel

import (
	"cmp"
	"context"
	"errors"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/loop"
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
		attribute.String("ralph.rule", v.Rule),
		attribute.Bool("ralph.applied", d.Applied),
		attribute.Int("ralph.retries", d.Retries),
		attribute.String("ralph.skipped", d.Skipped),
		attribute.String("error.type", failure(string(v.Fault), d.Err != nil)),
	)...)
	for _, f := range v.Trace.Facts {
		span.AddEvent("ralph.fact", trace.WithAttributes(
			attribute.String("ralph.fact.name", f.Name),
			attribute.String("ralph.fact.source", f.Source),
			attribute.String("ralph.fact.status", cmp.Or(string(f.Status), "ok")),
			attribute.Float64("ralph.fact.duration", f.Took.Seconds()),
		))
	}
	switch {
	case d.Err != nil:
		span.SetStatus(codes.Error, d.Record(false).Error) // without private values
	case v.Fault != "":
		span.SetStatus(codes.Error, "")
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
	return metrics{decisions, duration}, nil
}

type metrics struct {
	decisions metric.Int64Counter
	duration  metric.Float64Histogram
}

func (m metrics) Record(ctx context.Context, r *loop.Record) error {
	by := known(
		attribute.String("ralph.policy", r.Policy),
		attribute.String("ralph.scope", r.Scope),
		attribute.String("ralph.event", r.Event),
		attribute.String("ralph.action", r.Action.String()),
		attribute.String("ralph.outcome", string(r.Outcome())),
	)
	m.decisions.Add(ctx, 1, metric.WithAttributes(append(by, known(
		attribute.String("ralph.rule", r.Rule),
		attribute.String("error.type", failure(string(r.Fault), r.Error != "")),
	)...)...))
	m.duration.Record(ctx, r.Took.Seconds(), metric.WithAttributes(by...))
	return nil
}

// failure returns the error.type of a decision: its fault, or that of the loop around the policy.
func failure(fault string, failed bool) string {
	if fault == "" && failed {
		return "loop"
	}
	return fault
}

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
