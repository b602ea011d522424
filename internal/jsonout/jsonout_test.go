package jsonout_test

import (
	"bytes"
	"encoding/json"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/internal/jsonout"
)

func TestWriter(t *testing.T) {
	w := jsonout.To([]byte("before: "))
	w.Begin('{')
	w.Key("none")
	w.Begin('[')
	w.End(']')
	w.OptText("absent", "")
	w.OptText("text", "a")
	w.OptInt("absent", 0)
	w.OptInt("n", -3)
	w.OptBool("absent", false)
	w.OptBool("yes", true)
	w.OptValue("absent", nil)
	w.OptValue("value", []any{nil, 1, 2.5, "x", false, map[string]any{"k": 1}})
	w.OptTexts("absent", nil)
	w.OptTexts("texts", []string{"a", "b"})
	w.Key("list")
	w.Begin('[')
	w.Value(1)
	w.Raw([]byte(`{"raw":true}`), nil)
	w.Append(func(dst []byte) ([]byte, error) { return append(dst, "2"...), nil })
	w.Append(func(dst []byte) ([]byte, error) {
		in := jsonout.To(dst)
		in.Begin('{')
		in.End('}')
		return in.Bytes()
	})
	w.Value(nil)
	w.End(']')
	w.End('}')
	got, err := w.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	want := `before: {"none":[],"text":"a","n":-3,"yes":true,"value":[null,1,2.5,"x",false,{"k":1}],"texts":["a","b"],"list":[1,{"raw":true},2,{},null]}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestWriterTellsTheFirstError(t *testing.T) {
	w := jsonout.To(nil)
	w.Begin('[')
	w.Value(math.Inf(1))
	w.Value(func() {})
	w.End(']')
	_, err := w.Bytes()
	if want := "json: unsupported value: +Inf"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// A string is written as encoding/json writes it, whatever bytes it consists of, with
// and without regard to HTML.
func FuzzText(f *testing.F) {
	for _, s := range []string{"", "plain", `"\/`, "<a>&b", "\n\t\r\b\x00\x1f\x7f", "ä€😀", "\u2028\u2029", "\xff\xc3(", "a\ufffd"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, keep := range []bool{false, true} {
			var want bytes.Buffer
			enc := json.NewEncoder(&want)
			enc.SetEscapeHTML(!keep)
			if err := enc.Encode(s); err != nil {
				t.Fatal(err)
			}
			w := jsonout.To(nil)
			if keep {
				w.KeepSigns()
			}
			w.Text(s)
			got, err := w.Bytes()
			if err != nil || string(got)+"\n" != want.String() {
				t.Errorf("%q: %s, %v, want %s", s, got, err, want.String())
			}
		}
	})
}
