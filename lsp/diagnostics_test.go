package lsp_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What a policy, what it includes, its tests and its configuration lack is shown while one types, in the file where it is.
func TestDiagnostics(t *testing.T) {
	const policy = `ralph: 1
facts:
  state: {json: s.json, schema: {properties: {phase: {enum: [plan, work]}}}}
rules:
  - name: go
    when: state.phaze == "work" # 𝒳
    continue: "on"
`
	for _, tt := range []struct {
		name  string
		files map[string]string // saved
		open  [][2]string
		want  map[string]string
	}{
		{
			name: "a policy",
			open: [][2]string{{".ralph/p.yaml", policy}},
			want: map[string]string{".ralph/p.yaml": "5:16-5:21: 1 unknown-field: unknown field \"phaze\"; the declared fields are \"phase\"\ndid you mean \"phase\"?"},
		},
		{
			name: "another file", open: [][2]string{{"compose.yaml", "services: {a: }\n"}},
			want: map[string]string{"compose.yaml": ""},
		},
		{
			name: "what an open policy includes, unsaved", files: map[string]string{".ralph/guard.yaml": "ralph: 1\n"},
			open: [][2]string{
				{".ralph/guard.yaml", "ralph: 1\nparams: {most: {type: integer}}\nrules:\n  - {name: a, when: mots > 1, stop: enough}\n"},
				{".ralph/p.yaml", "ralph: 1\nrules:\n  - {include: guard.yaml, with: {most: 3}}\n  - {name: go, continue: \"on\"}\n"},
			},
			want: map[string]string{".ralph/guard.yaml": "3:20-3:24: 1 unknown-name: unknown name \"mots\"\ndid you mean \"most\"?", ".ralph/p.yaml": ""},
		},
		{
			name: "what a saved policy includes", files: map[string]string{".ralph/p.yaml": "ralph: 1\nrules:\n  - {include: guard.yaml, with: {most: 3}}\n  - {name: go, continue: \"on\"}\n"},
			open: [][2]string{{".ralph/guard.yaml", "ralph: 1\nparams: {most: {type: integer}}\nrules:\n  - {name: a, when: loop.total > most, stop: enough}\n"}},
			want: map[string]string{".ralph/guard.yaml": ""},
		},
		{
			name: "tests", files: map[string]string{".ralph/p.yaml": "ralph: 1\nrules:\n  - {name: go, continue: \"on\"}\n"},
			open: [][2]string{{".ralph/p_test.yaml", "tests:\n  - name: goes\n    expect: {rule: og}\n"}},
			want: map[string]string{".ralph/p_test.yaml": "2:19-2:21: 1 unknown-name: the policy has no rule \"og\"\ndid you mean \"go\"?"},
		},
		{
			name: "a configuration", files: map[string]string{".ralph/p.yaml": "ralph: 1\nparams: {most: {type: integer, default: 3}}\nrules:\n  - {name: go, when: loop.total < most, continue: \"on\"}\n"},
			open: [][2]string{{".ralph/config.yaml", "set: {p: {mots: 4}}\n"}},
			want: map[string]string{".ralph/config.yaml": "0:16-0:17: 1 unknown-param: the policy has no param \"mots\"\ndid you mean \"most\"?"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := edit(t, tt.files)
			for _, f := range tt.open {
				e.open(f[0], f[1])
			}
			got := map[string]string{}
			for name, want := range tt.want {
				got[name] = e.settled(name, 1, want)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}
