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

// counted is the value of a report. It counts the test cases, because the sums in attributes differ between runners.
type counted struct {
	tests, failures, errors, skipped int
	failed                           []any
}

func readJUnit(b []byte) (any, error) {
	var root suite
	if err := xml.Unmarshal(b, &root); err != nil {
		return nil, fmt.Errorf("it is no JUnit report: %w", err)
	}
	if name := root.XMLName.Local; name != "testsuites" && name != "testsuite" {
		return nil, fmt.Errorf("it is no JUnit report: expected <testsuites> or <testsuite>, found <%s>", text.Line(text.Cut(name, 60)))
	}
	c := counted{failed: []any{}}
	c.add(root)
	return map[string]any{"tests": c.tests, "failures": c.failures, "errors": c.errors, "skipped": c.skipped, "failed": c.failed}, nil
}

func (c *counted) add(s suite) {
	for _, inner := range s.Suites {
		c.add(inner)
	}
	for _, test := range s.Cases {
		c.tests++
		why := append(test.Failures, test.Errors...)
		if len(why) == 0 {
			if test.Skipped != nil {
				c.skipped++
			}
			continue
		}
		c.failures++ // a condition that asks for no failures means no errors too
		c.errors += min(1, len(test.Errors))
		if len(c.failed) < maxFailedTests {
			first, _, _ := strings.Cut(strings.TrimSpace(cmp.Or(why[0].Message, why[0].Body)), "\n")
			c.failed = append(c.failed, strings.Trim(test.Class+"."+test.Name, ".")+": "+text.Cut(first, maxFailedText))
		}
	}
}
