package loop

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/state"
)

const (
	maxFailedTests = 100 // failed tests listed in the value; all are counted
	maxFailedText  = 500 // bytes of the message of each
)

// gatherJUnit reads the report of a test run in JUnit's XML, which test runners of all languages write. No standard
// defines it; https://github.com/testmoapp/junitxml collects what runners agree on.
func gatherJUnit(ctx context.Context, q Query) rules.Value {
	var report map[string]any
	_, v := q.read(ctx, state.File{Format: state.Text, Check: func(doc state.Doc) (err error) {
		if report, err = readJUnit(ctx, strings.NewReader(doc.Text)); err != nil {
			return fmt.Errorf("is not a JUnit report: %w", err)
		}
		return nil
	}})
	if v.Status == rules.OK {
		v.V = report
	}
	return v
}

// readJUnit returns the value of a report. It counts the test cases, because the sums in attributes differ between runners.
func readJUnit(ctx context.Context, r io.Reader) (map[string]any, error) {
	var tests, failures, skipped int
	failed := []any{}
	inside := false // the root element
	for dec := xml.NewDecoder(r); ; {
		token, err := dec.Token()
		if err == io.EOF {
			break
		}
		if err = errors.Join(err, context.Cause(ctx)); err != nil {
			return nil, err
		}
		start, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		name := start.Name.Local
		if !inside && name != "testsuites" && name != "testsuite" {
			return nil, fmt.Errorf("expected <testsuites> or <testsuite>, found <%s>", cutBytes(name, 60))
		}
		inside = true
		if name != "testcase" {
			continue
		}
		var test struct {
			Name     string        `xml:"name,attr"`
			Class    string        `xml:"classname,attr"`
			Failures []testFailure `xml:"failure"`
			Errors   []testFailure `xml:"error"`
			Skipped  *struct{}     `xml:"skipped"`
		}
		if err := dec.DecodeElement(&test, &start); err != nil {
			return nil, err
		}
		tests++
		switch why := append(test.Failures, test.Errors...); {
		case len(why) > 0:
			if failures++; failures <= maxFailedTests {
				failed = append(failed, map[string]any{"name": test.Name, "class": test.Class, "text": why[0].text()})
			}
		case test.Skipped != nil:
			skipped++
		}
	}
	if !inside {
		return nil, errors.New("it has no element")
	}
	return map[string]any{"tests": tests, "failures": failures, "skipped": skipped, "failed": failed}, nil
}

// testFailure is the failure or error of a test.
type testFailure struct {
	Message string `xml:"message,attr"`
	Body    string `xml:",chardata"`
}

func (f testFailure) text() string {
	text := strings.TrimSpace(f.Message)
	if text == "" {
		text = strings.TrimSpace(f.Body)
	}
	return cutBytes(text, maxFailedText)
}
