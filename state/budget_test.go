package state

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// All files together have the bytes of the budget. One that does not fit is missing, a
// smaller one after it is not; a list with one that does not fit is missing as a whole.
func TestBudgetOfBytes(t *testing.T) {
	const mib = 1 << 20
	home := newProject(t, map[string]string{"h/1": strings.Repeat("h", mib), "h/2": strings.Repeat("h", mib)})
	files := map[string]string{"small": "s", "big": strings.Repeat("b", mib), "many/note": "n"}
	for i := range 100 {
		files[fmt.Sprintf("many/%03d", i)] = strings.Repeat("m", mib/10)
	}
	p := newProject(t, files)
	p.SetHome(home.Dir())
	const spent = "was not read: the limit of 2 MiB for all files together is reached"
	one := func(path string) string {
		doc := p.Read(t.Context(), File{Path: path})
		if doc.Status != OK {
			return doc.Problem
		}
		return fmt.Sprint(len(doc.Text))
	}
	all := func(pattern string) string {
		got, _, err := ReadAll(t.Context(), p.Root, File{Path: pattern}, 0, func(d Doc) int { return len(d.Text) })
		if err != nil {
			return err.Error()
		}
		return fmt.Sprint(len(got))
	}
	for _, test := range []struct {
		name string
		do   func() []string
		want []string
	}{
		{"one by one", func() []string { return []string{one("big"), one("small"), one("big"), one("small")} }, []string{"1048576", "1", spent, "1"}},
		{"a list", func() []string { return []string{all("many/*"), one("small")} }, []string{spent, "1"}},
		{"a list that fits", func() []string { return []string{all("many/00*"), all("many/01*"), all("many/02*")} }, []string{"10", "10", spent}},
		{"the home directory too", func() []string { return []string{one("~/h/1"), all("~/h/*"), one("big")} }, []string{"1048576", spent, spent}},
		{"a file that is not there", func() []string { return []string{all("many/*"), one("nothing")} }, []string{spent, "does not exist"}},
	} {
		p.SetBudget(NewBudget(2*mib, time.Minute))
		if diff := cmp.Diff(test.want, test.do()); diff != "" {
			t.Errorf("%s (-want +got)\n%s", test.name, diff)
		}
	}
	p.SetBudget(nil)
	if got := all("many/*"); got != "101" {
		t.Errorf("without a budget %s", got)
	}
}

// A file that is read again and again until it settles counts once. What changes files
// reads them beyond the budget.
func TestBudgetOfWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProject(t, map[string]string{"a.json": `{"n": ` + strings.Repeat(" ", 1<<20)})
		p.age("a.json", 0)
		p.local = true
		b := NewBudget(2<<20, time.Minute)
		p.SetBudget(b)
		now := time.Now()
		doc := p.Read(t.Context(), File{Path: "a.json", Format: JSON, Now: func() time.Time { return now }})
		if doc.Status != Invalid || time.Since(now) < time.Second {
			t.Errorf("after %s: %+v", time.Since(now), doc)
		}
		if left := b.bytes.Load(); left != 2<<20-int64(len(`{"n": `))-1<<20 {
			t.Errorf("%d bytes are left", left)
		}
		if err := p.Apply(t.Context(), []Change{{Path: "a.json", Op: OpDelete, Version: doc.Version}}); err != nil {
			t.Error(err)
		}
	})
}

// Once the time for all is over, nothing is looked at.
func TestBudgetOfTime(t *testing.T) {
	for _, local := range []bool{true, false} {
		p := newProject(t, map[string]string{"d/a": "x"})
		p.local = local
		b := NewBudget(1<<20, 0)
		p.SetBudget(b)
		const late = "was not read: the limit of 0s for reading all files is reached"
		if _, _, err := ReadAll(t.Context(), p.Root, File{Path: "d/*"}, 0, func(d Doc) Doc { return d }); err == nil || err.Error() != late {
			t.Errorf("local %v: ReadAll: %v", local, err)
		}
		if !b.Late() {
			t.Errorf("local %v: it is not late", local)
		}
		if p.AnyFile("d/*") {
			t.Errorf("local %v: AnyFile looked", local)
		}
		if _, err := p.Prune(t.Context(), "d/*", 0, time.Now()); err == nil || !strings.Contains(err.Error(), late) || !p.Exists("d/a") && local {
			t.Errorf("local %v: Prune: %v", local, err)
		}
		if doc := p.Read(t.Context(), File{Path: "d/a"}); !local && doc.Problem != late && doc.Status != OK {
			t.Errorf("local %v: %+v", local, doc) // whichever comes first
		}
	}
}

// What walks take is taken from the time for all.
func TestBudgetOfTimeIsShared(t *testing.T) {
	b := NewBudget(1<<20, time.Minute)
	_, done := b.within(t.Context(), time.Hour)
	done()
	if left := time.Duration(b.time.Load()); left >= time.Minute || left <= 0 {
		t.Errorf("%s are left", left)
	}
}

// All documents together have the values of the budget.
func TestBudgetOfValues(t *testing.T) {
	list := func(n int) string { return `{"a": [` + strings.Repeat("1,", n-1) + `1]}` }
	p := newProject(t, map[string]string{
		"a.json": list(60), "b.json": list(60), "small.json": list(5), "text.json": `{"a": "` + strings.Repeat(`,[{\"`, 40) + `"}`,
		"l/a.json": list(60), "l/b.json": list(60),
		"ten.md": strings.Repeat("- [ ] x\n", 10), "twenty.md": strings.Repeat("- [ ] x\n", 20),
		"front.md": "---\na: [" + strings.Repeat("1,", 60) + "]\n---\n", "anchors.md": "---\na: &a [" + strings.Repeat("1,", 20) + "]\nb: [*a, *a, *a, *a, *a]\n---\n",
		"broken.json": list(80) + "x",
	})
	const spent = "was not read: the limit of 0 MiB for all files together is reached"
	read := func(path string) string {
		format := JSON
		switch {
		case strings.Contains(path, "*"):
			_, _, err := ReadAll(t.Context(), p.Root, File{Path: path, Format: JSON}, 0, func(d Doc) Doc { return d })
			if err != nil {
				return err.Error()
			}
			return "ok"
		case path == "front.md", path == "anchors.md":
			format = FrontMatter
		case strings.HasSuffix(path, ".md"):
			format = Checklist
		}
		doc := p.Read(t.Context(), File{Path: path, Format: format})
		if doc.Status == Missing && doc.Version != "" {
			return doc.Problem
		}
		return doc.Status.String()
	}
	for _, test := range []struct{ read, want string }{
		{"a.json b.json small.json", "ok|" + spent + "|ok"},
		{"a.json text.json", "ok|ok"}, // the content of a text is not a value
		{"l/*.json small.json", spent + "|ok"},
		{"a.json l/a*.json", "ok|" + spent},
		{"ten.md ten.md", "ok|" + spent},
		{"twenty.md ten.md", spent + "|ok"},
		{"a.json front.md", "ok|" + spent},
		{"anchors.md a.json", spent + "|ok"}, // aliases count as what they stand for
		{"broken.json a.json", "invalid|ok"},
	} {
		p.SetBudget(NewBudget(100*perValue+1000, time.Minute))
		var got []string
		for path := range strings.FieldsSeq(test.read) {
			got = append(got, read(path))
		}
		if diff := cmp.Diff(test.want, strings.Join(got, "|")); diff != "" {
			t.Errorf("%s (-want +got)\n%s", test.read, diff)
		}
	}
}
