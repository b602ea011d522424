package loop

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadJUnit(t *testing.T) {
	const report = `<?xml version="1.0"?>
<testsuites tests="99"><testsuite name="api">
  <testcase classname="api" name="TestA"/>
  <testcase classname="api" name="TestB"><failure message="got 1, want 2&#10;at b.go">more</failure></testcase>
  <testcase name="TestC"><error>broke</error></testcase>
  <testcase name="TestD"><skipped/></testcase>
</testsuite></testsuites>`
	got, err := readJUnit([]byte(report))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"tests": 4, "failures": 2, "errors": 1, "skipped": 1, "failed": []any{"api.TestB: got 1, want 2", "TestC: broke"}}
	if diff := cmp.Diff(any(want), got); diff != "" {
		t.Errorf("the report (-want +got):\n%s", diff)
	}
	many, err := readJUnit([]byte("<testsuite>" + strings.Repeat(`<testcase name="x"><failure/></testcase>`, 150) + "</testsuite>"))
	if m, ok := many.(map[string]any); err != nil || !ok || m["failures"] != 150 || len(m["failed"].([]any)) != maxFailedTests {
		t.Errorf("of 150 failed tests, %v, %v", many, err)
	}
	for _, bad := range []string{"", "text", "<html/>", "<testsuite>", "<testsuite><testcase></testsuite>"} {
		if v, err := readJUnit([]byte(bad)); err == nil {
			t.Errorf("%q is the report %v", bad, v)
		}
	}
}
