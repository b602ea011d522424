package loop

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/ralph-sdk/ralph/next/internal/text"
)

const (
	maxFailedTests = 100 // failed tests in the value; all are counted
	maxFailedText  = 500 // characters of the message of each
)

// readJUnit returns the value of a report of tests in JUnit's XML. No standard defines it;
// https://github.com/testmoapp/junitxml collects what runners agree on. It counts the test cases, because the sums in attributes
// differ between runners.
func readJUnit(b []byte) (any, error) {
	var tests, failures, faults, skipped int
	failed := []any{}
	inside := false // the root element
	for dec := xml.NewDecoder(bytes.NewReader(b)); ; {
		token, err := dec.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		start, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		name := start.Name.Local
		if !inside && name != "testsuites" && name != "testsuite" {
			return nil, fmt.Errorf("it is no JUnit report: expected <testsuites> or <testsuite>, found <%s>", text.Cut(name, 60))
		}
		inside = true
		if name != "testcase" {
			continue
		}
		var test testCase
		if err := dec.DecodeElement(&test, &start); err != nil {
			return nil, err
		}
		tests++
		why := append(test.Failures, test.Errors...)
		switch {
		case len(why) > 0:
			failures++ // whoever asks for no failures means no errors, too
			faults += min(1, len(test.Errors))
			if len(failed) < maxFailedTests {
				failed = append(failed, test.line(why[0]))
			}
		case test.Skipped != nil:
			skipped++
		}
	}
	if !inside {
		return nil, errors.New("it is no JUnit report: it has no element")
	}
	return map[string]any{"tests": tests, "failures": failures, "errors": faults, "skipped": skipped, "failed": failed}, nil
}

type testCase struct {
	Name     string        `xml:"name,attr"`
	Class    string        `xml:"classname,attr"`
	Failures []testFailure `xml:"failure"`
	Errors   []testFailure `xml:"error"`
	Skipped  *struct{}     `xml:"skipped"`
}

// line names a test and the first line of why it failed.
func (t testCase) line(why testFailure) string {
	name := strings.Trim(t.Class+"."+t.Name, ".")
	message, _, _ := strings.Cut(strings.TrimSpace(cmp.Or(why.Message, why.Body)), "\n")
	if message == "" {
		return name
	}
	return name + ": " + text.Cut(message, maxFailedText)
}

// testFailure is the failure or error of a test.
type testFailure struct {
	Message string `xml:"message,attr"`
	Body    string `xml:",chardata"`
}
