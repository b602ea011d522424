package otel_test

import (
	"context"
	"fmt"
	"testing/fstest"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/ralph-sdk/ralph/contrib/otel"
	"github.com/ralph-sdk/ralph/loop"
)

// A program gives the providers that it has; these export to memory.
func ExampleRecorder() {
	spans := tracetest.NewInMemoryExporter()
	tracers := sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans))
	meters := sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewManualReader()))
	record, err := otel.Recorder(tracers, meters)
	if err != nil {
		fmt.Println(err)
		return
	}
	policies := fstest.MapFS{"fix.yaml": {Data: []byte("ralph: 1\nfacts: {failing: {value: tests}}\nrules: [{name: fix, when: failing > 0, continue: Fix the tests.}]\n")}}
	l, err := loop.Load(policies, "fix.yaml", loop.WithRecorder(record))
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := l.Decide(context.Background(), loop.Event{Session: "s1", Values: map[string]any{"failing": 3}}); err != nil {
		fmt.Println(err)
	}
	for _, s := range spans.GetSpans() {
		fmt.Println(s.Name)
		for _, a := range s.Attributes {
			fmt.Println(" ", a.Key, "=", a.Value.AsInterface())
		}
	}
	// Output:
	// ralph.decision
	//   ralph.policy = fix
	//   ralph.event = Stop
	//   ralph.outcome = continued
	//   ralph.rule = fix
	//   ralph.continuations = 1
	//   session.id = s1
}
