package loop_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const junitShown = `${ok(r) ? string(r.tests) + " tests, " + string(r.failures) + " failed, " + string(r.skipped) + " skipped: " + join(map(r.failed, .class + "/" + .name + ": " + .text), "; ") : path(r) + " " + problem(r)}`

func TestJUnit(t *testing.T) {
	tests := []struct {
		name, report, want string
	}{
		{"suites", `<?xml version="1.0" encoding="UTF-8"?>
			<testsuites tests="9" failures="7">
				<testsuite name="a">
					<properties><property name="go.version" value="1"/></properties>
					<testcase classname="a" name="TestOne" time="0.1"></testcase>
					<testcase classname="a" name="TestTwo"><failure message="want 1" type="">at line 3</failure><system-out>long</system-out></testcase>
				</testsuite>
				<testsuite name="b">
					<testcase classname="b" name="TestThree"><skipped/></testcase>
					<testcase classname="b" name="TestFour"><error>
						panic &amp; more
					</error></testcase>
				</testsuite>
			</testsuites>`, "4 tests, 2 failed, 1 skipped: a/TestTwo: want 1; b/TestFour: panic & more"},
		{"one suite", `<testsuite><testcase name="x"/></testsuite>`, "1 tests, 0 failed, 0 skipped:"},
		{"no test ran", `<testsuites/>`, "0 tests, 0 failed, 0 skipped:"},
		{"a test that failed twice", `<testsuite><testcase name="x"><failure message="a"/><failure message="b"/><error message="c"/></testcase></testsuite>`, "1 tests, 1 failed, 0 skipped: /x: a"},
		{"a long text", `<testsuite><testcase name="x"><failure message="` + strings.Repeat("m", 600) + `"/></testcase></testsuite>`, "1 tests, 1 failed, 0 skipped: /x: " + strings.Repeat("m", 500) + "…"},
		{"many failures", `<testsuite>` + strings.Repeat(`<testcase><failure/></testcase>`, 102) + `</testsuite>`, "102 tests, 102 failed, 0 skipped: " + strings.TrimSuffix(strings.Repeat("/: ; ", 100), " ; ")},

		{"half written", `<testsuite><testcase name="x">`, "r.xml is not a JUnit report: XML syntax error on line 1: unexpected EOF"},
		{"another document", `<html></html>`, "r.xml is not a JUnit report: expected <testsuites> or <testsuite>, found <html>"},
		{"no document", `nothing`, "r.xml is not a JUnit report: it has no element"},
		{"an entity of its own", `<!DOCTYPE x [<!ENTITY e "eeee">]><testsuite><testcase name="&e;"/></testsuite>`, "r.xml is not a JUnit report: XML syntax error on line 1: invalid character entity &e;"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newProject(t, map[string]string{"r.xml": tt.report})
			l := p.loop(shown(`r: {junit: r.xml}`, junitShown))
			if diff := cmp.Diff(tt.want, said(p.run(l, p.stop()))); diff != "" {
				t.Error(diff)
			}
		})
	}
}
