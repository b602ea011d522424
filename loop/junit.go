package loop

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"strings"

	"github.com/ralph-sdk/ralph/internal/text"
)

const (
	maxFailedTests = 100 // failed tests in the value; all are counted
	maxFailedText  = 500 // characters of the message of each
)

// suite is a report of tests, or a part of one, in JUnit's XML. No standard defines it; https://github.com/testmoapp/junitxml collects
// what runners agree on.
type suite struct {
	XMLName xml.Name
	Suites  []suite    `xml:"testsuite"`
	Cases   []testCase `xml:"testcase"`
}

type testCase struct {
	Name     string        `xml:"name,attr"`
	Class    string        `xml:"classname,attr"`
	Failures []testFailure `xml:"failure"`
	Errors   []testFailure `xml:"error"`
	Skipped  *struct{}     `xml:"skipped"`
}

type testFailure struct {
	Message string `xml:"message,attr"`
	Body    string `xml:",chardata"`
}

// all returns the test cases of a report.
func (s suite) all() []testCase {
	cases := s.Cases
	for _, inner := range s.Suites {
		cases = append(cases, inner.all()...)
	}
	return cases
}

// readJUnit returns the value of a report. It counts the test cases, because the sums in attributes differ between runners.
func readJUnit(b []byte) (any, error) {
	var root suite
	if err := xml.Unmarshal(b, &root); err != nil {
		return nil, fmt.Errorf("it is no JUnit report: %w", err)
	}
	if name := root.XMLName.Local; name != "testsuites" && name != "testsuite" {
		return nil, fmt.Errorf("it is no JUnit report: expected <testsuites> or <testsuite>, found <%s>", text.Line(text.Cut(name, 60)))
	}
	cases := root.all()
	failures, errors, skipped, failed := 0, 0, 0, []any{}
	for _, test := range cases {
		why := append(test.Failures, test.Errors...)
		if len(why) == 0 {
			if test.Skipped != nil {
				skipped++
			}
			continue
		}
		failures++ // a condition that asks for no failures means no errors too
		errors += min(1, len(test.Errors))
		if len(failed) < maxFailedTests {
			first, _, _ := strings.Cut(strings.TrimSpace(cmp.Or(why[0].Message, why[0].Body)), "\n")
			failed = append(failed, strings.Trim(test.Class+"."+test.Name, ".")+": "+text.Cut(first, maxFailedText))
		}
	}
	return map[string]any{"tests": len(cases), "failures": failures, "errors": errors, "skipped": skipped, "failed": failed}, nil
}
