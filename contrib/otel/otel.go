// Package otel shows decisions to OpenTelemetry: a span for each, a count by outcome, and how long they take.
//
// It promises that spans and metrics have names, outcomes and numbers, and no texts of users or agents. A span is a child of the one in
// the context of [loop.Loop.Decide]. What the store, sources and effects of the program record there stands beside it.
//
// It leaves out exporters, logs, and decisions that have no record, such as a second answer to one delivery.
//
// Begin with [Recorder].
//
//	attribute            of the span "ralph.decision", of the counter "ralph.decisions", of the histogram "ralph.decision.duration"
//	ralph.policy         all three: the name of the policy
//	ralph.event          all three: such as Stop
//	ralph.outcome        all three: such as continued, done or limit
//	ralph.rule           the span and the counter: the rule that decided, or the limit, such as limits.continuations
//	ralph.scope          the span: that of loop.WithScope
//	session.id           the span
//	ralph.continuations  the span: how often this prompt was continued
//
// The status of a span is Error if the outcome is failed. Each fact that was gathered is an event of the span, "ralph.fact", with
// ralph.fact.name and ralph.fact.status, which is ok, missing or invalid.
package otel

import (
	"context"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

const name = "github.com/ralph-sdk/ralph/contrib/otel"

// Recorder returns a recorder for [loop.WithRecorder]. A provider that is nil is the global one. The error is that the provider refuses a
// metric. The recorder never fails, and is safe for concurrent use; a program that also keeps records calls both from one of its own.
func Recorder(spans trace.TracerProvider, metrics metric.MeterProvider) (loop.Recorder, error) {
	if spans == nil {
		spans = otel.GetTracerProvider()
	}
	if metrics == nil {
		metrics = otel.GetMeterProvider()
	}
	tracer, meter := spans.Tracer(name), metrics.Meter(name)
	decisions, err := meter.Int64Counter("ralph.decisions", metric.WithUnit("{decision}"), metric.WithDescription("Decisions by outcome."))
	if err != nil {
		return nil, err
	}
	duration, err := meter.Float64Histogram("ralph.decision.duration", metric.WithUnit("s"), metric.WithDescription("How long decisions take."),
		metric.WithExplicitBucketBoundaries(.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60))
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, r loop.Record) error {
		common := []attribute.KeyValue{
			attribute.String("ralph.policy", r.Policy), attribute.String("ralph.event", r.Event), attribute.String("ralph.outcome", string(r.Outcome)),
		}
		duration.Record(ctx, r.Took.Seconds(), metric.WithAttributes(common...))
		if r.Rule != "" {
			common = append(common, attribute.String("ralph.rule", r.Rule))
		}
		decisions.Add(ctx, 1, metric.WithAttributes(common...))
		span(ctx, tracer, r, common)
		return nil
	}, nil
}

// span makes the span of a decision that has been made.
func span(ctx context.Context, tracer trace.Tracer, r loop.Record, common []attribute.KeyValue) {
	_, s := tracer.Start(ctx, "ralph.decision", trace.WithTimestamp(r.Time), trace.WithAttributes(common...))
	end := r.Time.Add(r.Took)
	defer s.End(trace.WithTimestamp(end))
	if !s.IsRecording() {
		return
	}
	s.SetAttributes(attribute.Int("ralph.continuations", r.Counts.Continuations))
	for key, value := range map[string]string{"session.id": r.Session, "ralph.scope": r.Scope} {
		if value != "" {
			s.SetAttributes(attribute.String(key, value))
		}
	}
	for _, f := range r.Facts {
		s.AddEvent("ralph.fact", trace.WithTimestamp(end), trace.WithAttributes(attribute.String("ralph.fact.name", f.Name), attribute.String("ralph.fact.status", f.Status)))
	}
	if r.Outcome == rules.Failed {
		s.SetStatus(codes.Error, "the decision failed; its record says why")
	}
}
