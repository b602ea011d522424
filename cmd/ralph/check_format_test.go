package main

import (
	"encoding/json"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/rules"
)

// findings has one of each kind: with and without place, line, help, situation,
// related places, and with characters that forms must escape.
func findings() rules.Diagnostics {
	at := func(line, col int) rules.Pos { return rules.Pos{File: "a b,c:d.yaml", Line: line, Col: col} }
	return rules.Diagnostics{
		{Pos: rules.Pos{File: "gone.yaml"}, Check: "read", Message: "there is no file gone.yaml"},
		{
			Pos: at(3, 5), End: at(3, 9), Check: "enum", Message: `100% wrong: "a" | "b"`, Help: "write = or: |",
			Line: "\twhen: x == | # = help: no",
		},
		{
			Pos: at(7, 1), End: at(9, 2), Severity: rules.Warning, Check: "shadowed-rule", Message: "warning: told twice", Line: "- name: b",
			Situation: json.RawMessage(`{"missing":["state"]}`), Related: []rules.Related{{Pos: at(1, 1), Message: "here"}},
		},
		{Pos: at(8, 1), End: at(8, 2), Severity: rules.Info, Check: "unguarded-fact", Message: "not so bad", Line: "x"},
	}
}

// Colors change nothing but colors.
func TestColored(t *testing.T) {
	codes := regexp.MustCompile(`\x1b\[[0-9;]*m`)
	got := colored(findings())
	if diff := cmp.Diff(findings().Format(), codes.ReplaceAllString(got, "")); diff != "" {
		t.Errorf("without its colours (-plain +coloured):\n%s", diff)
	}
	if !codes.MatchString(got) {
		t.Error("there are no colours")
	}
}

func TestGithubCommands(t *testing.T) {
	want := `::error file=gone.yaml,title=read::there is no file gone.yaml
::error file=a b%2Cc%3Ad.yaml,line=3,col=5,endLine=3,endColumn=9,title=enum::100%25 wrong: "a" | "b"%0Ahelp: write = or: |
::warning file=a b%2Cc%3Ad.yaml,line=7,col=1,endLine=9,endColumn=2,title=shadowed-rule::warning: told twice%0Asituation: {"missing":["state"]}%0Anote: here (a b,c:d.yaml:1:1)
::notice file=a b%2Cc%3Ad.yaml,line=8,col=1,endLine=8,endColumn=2,title=unguarded-fact::not so bad
`
	if diff := cmp.Diff(want, githubCommands(findings())); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
