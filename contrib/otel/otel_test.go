package otel_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/ralph-sdk/ralph/contrib/otel"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

const policy = `ralph: 1
facts:
  left: {value: how many targets are left}
  build: {build: all}
limits: {continuations: 2}
rules:
  - {name: broken, when: build == "red", stop: the build is red}
  - {name: left, when: left > 0, continue: "secret: ${left}"}
  - {name: done, done: nothing is left}
`

// observed makes decisions, and returns their spans and metrics as texts.
func observed(t *testing.T, build error, left ...int) (spans, metrics []string) {
	t.Helper()
	exporter, reader := tracetest.NewInMemoryExporter(), sdkmetric.NewManualReader()
	tracers := sdktrace.NewTracerProvider(sdktrace.WithSyncer(exporter))
	r, err := otel.Recorder(tracers, sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)))
	if err != nil {
		t.Fatal(err)
	}
	l, err := loop.Load(fstest.MapFS{"p.yaml": {Data: []byte(policy)}}, "p.yaml", loop.WithRecorder(r), loop.WithScope("acme"),
		loop.WithSource("build", func(context.Context, loop.Event, rules.Query) (any, error) { return "green", build }))
	if err != nil {
		t.Fatal(err)
	}
	ctx, request := tracers.Tracer("program").Start(t.Context(), "request")
	for _, n := range left {
		if _, err := l.Decide(ctx, loop.Event{Session: "s1", Values: map[string]any{"left": n}}); err != nil {
			t.Fatal(err)
		}
	}
	request.End()
	for _, s := range exporter.GetSpans() {
		if s.Name == "request" {
			continue
		}
		if s.Parent.SpanID() != request.SpanContext().SpanID() || s.EndTime.Before(s.StartTime) {
			t.Errorf("the span %s is no child of the request, or ends before it begins", s.Name)
		}
		line := s.Name + " " + attributes(attribute.NewSet(s.Attributes...))
		for _, e := range s.Events {
			line += "; " + e.Name + " " + attributes(attribute.NewSet(e.Attributes...))
		}
		if s.Status.Code == codes.Error {
			line += "; error: " + s.Status.Description
		}
		spans = append(spans, line)
	}
	var all metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &all); err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, m := range all.ScopeMetrics[0].Metrics {
		switch data := m.Data.(type) {
		case metricdata.Sum[int64]:
			for _, p := range data.DataPoints {
				found[fmt.Sprintf("%s %s: %d", m.Name, attributes(p.Attributes), p.Value)] = true
			}
		case metricdata.Histogram[float64]:
			for _, p := range data.DataPoints {
				found[fmt.Sprintf("%s %s: %d", m.Name, attributes(p.Attributes), p.Count)] = p.Sum > 0
			}
		}
	}
	return spans, slices.Sorted(maps.Keys(found))
}

func attributes(s attribute.Set) string {
	return strings.ReplaceAll(s.Encoded(attribute.DefaultEncoder()), "ralph.", "")
}

func TestRecorder(t *testing.T) {
	for _, c := range []struct {
		name           string
		build          error
		left           []int
		spans, metrics []string
	}{
		{"continued to the limit", nil, []int{2, 1, 1}, []string{
			"ralph.decision continuations=1,event=Stop,outcome=continued,policy=p,rule=left,scope=acme,session.id=s1; ralph.fact fact.name=left,fact.status=ok; ralph.fact fact.name=build,fact.status=ok",
			"ralph.decision continuations=2,event=Stop,outcome=continued,policy=p,rule=left,scope=acme,session.id=s1; ralph.fact fact.name=left,fact.status=ok; ralph.fact fact.name=build,fact.status=ok",
			"ralph.decision continuations=2,event=Stop,outcome=limit,policy=p,rule=limits.continuations,scope=acme,session.id=s1; ralph.fact fact.name=left,fact.status=ok; ralph.fact fact.name=build,fact.status=ok",
		}, []string{
			"ralph.decision.duration event=Stop,outcome=continued,policy=p: 2",
			"ralph.decision.duration event=Stop,outcome=limit,policy=p: 1",
			"ralph.decisions event=Stop,outcome=continued,policy=p,rule=left: 2",
			"ralph.decisions event=Stop,outcome=limit,policy=p,rule=limits.continuations: 1",
		}},
		{"failed, without its reason", errors.New("secret"), []int{1}, []string{
			"ralph.decision continuations=0,event=Stop,outcome=failed,policy=p,rule=broken,scope=acme,session.id=s1; ralph.fact fact.name=build,fact.status=invalid; error: the decision failed; its record says why",
		}, []string{
			"ralph.decision.duration event=Stop,outcome=failed,policy=p: 1",
			"ralph.decisions event=Stop,outcome=failed,policy=p,rule=broken: 1",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			spans, metrics := observed(t, c.build, c.left...)
			if diff := cmp.Diff(c.spans, spans); diff != "" {
				t.Errorf("spans (-want +got)\n%s", diff)
			}
			if diff := cmp.Diff(c.metrics, metrics); diff != "" {
				t.Errorf("metrics (-want +got)\n%s", diff)
			}
		})
	}
}

// Without providers the global ones are used, which do nothing until the program sets them.
func TestGlobal(t *testing.T) {
	r, err := otel.Recorder(nil, nil)
	if err == nil {
		err = r(t.Context(), loop.Record{})
	}
	if err != nil {
		t.Error(err)
	}
}
