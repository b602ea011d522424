package web_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/web"
)

// All of a large log is reached by scrolling and by search, and the document never has more than 500 rows.
func TestLargeLog(t *testing.T) {
	if testing.Short() {
		t.Skip("it makes 10,000 decisions")
	}
	w := must(shared.full())(t)
	want := logged(t, w)
	if len(want) != decisions {
		t.Fatalf("the log has %d decisions", len(want))
	}
	p := serve(t, w)
	p.view("#/timeline")
	p.wait(fmt.Sprintf("document.querySelector('.found')?.textContent === '%s decisions'", "10,000"))
	if diff := cmp.Diff(want, p.ids()); diff != "" {
		t.Errorf("scrolled (-want +got)\n%s", diff)
	}

	p.eval("document.querySelector('input[type=search]').focus()", nil)
	ok(t, p.Type(want[4219]))
	p.wait("document.querySelector('.found')?.textContent === '1 of 10,000 decisions'")
	if diff := cmp.Diff([]string{want[4219]}, p.ids()); diff != "" {
		t.Errorf("found (-want +got)\n%s", diff)
	}
	p.view(web.Hash("timeline", "session", "session-7"))
	p.wait("document.querySelector('.found')?.textContent === '200 of 10,000 decisions'")
	if got := p.ids(); len(got) != decisions/sessions {
		t.Errorf("the session has %d rows", len(got))
	}
	p.calm()
}
