package jsontext

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// found is the scan of a document, at all depths.
func found(v Value) any {
	switch {
	case bytes.HasPrefix(v, []byte("{")):
		object := map[string]any{}
		c := v.Members()
		for c.Next() {
			object[string([]rune(string(c.Key)))] = found(c.Value)
		}
		if !c.Whole {
			return "torn"
		}
		return object
	case bytes.HasPrefix(v, []byte("[")):
		list := []any{}
		c := v.Elements()
		for c.Next() {
			list = append(list, found(c.Value))
		}
		if !c.Whole {
			return "torn"
		}
		return list
	case bytes.HasPrefix(v, []byte(`"`)):
		return v.Text()
	}
	switch string(v) {
	case "true":
		return true
	case "false":
		return false
	case "null":
		return nil
	}
	return json.Number(v)
}

func decoded(data []byte) (any, bool) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var v any
	if !json.Valid(data) || dec.Decode(&v) != nil {
		return nil, false
	}
	return v, true
}

// In a valid document the scan finds what a decoder finds; in any other it finds something or nothing, and ends.
func FuzzScan(f *testing.F) {
	for _, s := range []string{
		`{}`, `[]`, ` { "a" : [ 1 , -2.5e3 , { "b" : null } ] , "c\n\"\\" : "x\u003c\\" } `, `{"a":1,"a":2}`, `{"a":{"a":1},"a":{"b":2}}`,
		`{"a":"\ud83d\ude00 \ud83d"}`, "{\"\xff\":\"\xff\"}", `{"a":1`, `{"a"}`, `{"a":}`, `{,}`, `[1,]`, `[[]`, `{"a":1}}`, `"\"`, `{"":"\\\""}`, `{"a":[}]}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 4<<10 {
			return // to look into everything takes time quadratic in the depth, which no reader does
		}
		v := Value(bytes.TrimSpace(data))
		got := found(v)
		want, valid := decoded(v)
		if !valid {
			return
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%s (-want +got):\n%s", data, diff)
		}
	})
}

// No prefix of an object is taken for a whole one.
func TestTornObjects(t *testing.T) {
	const whole = `{"type":"assistant","n":[1,{"x":"}\""}],"message":{"content":"a"}}`
	for i := range len(whole) {
		if reachesEnd(whole[:i]) {
			t.Errorf("%s is taken for whole", whole[:i])
		}
	}
	if !reachesEnd(whole) || !reachesEnd(" {} ") {
		t.Error("the whole is taken for torn")
	}
	if reachesEnd(whole + "x") {
		t.Error("what stands behind the whole is passed over")
	}
}

func reachesEnd(s string) bool {
	c := Value(s).Members()
	for c.Next() {
	}
	return c.Whole
}
