package loop

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// The log holds what the tags of Record say, whichever of its fields are filled.
func TestRecordJSON(t *testing.T) {
	for seed := range uint64(500) {
		var r Record
		fill(rand.New(rand.NewPCG(seed, 0)), reflect.ValueOf(&r).Elem())
		want, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		got, err := r.json()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Fatalf("seed %d (-want +got)\n%s", seed, diff)
		}
	}
}

// fill sets about half of what v consists of.
func fill(r *rand.Rand, v reflect.Value) {
	if r.IntN(2) == 0 && v.Kind() != reflect.Struct {
		return
	}
	texts := []string{"a", "a<b && \"c\"", "", "two\nlines", "ä"}
	switch {
	case v.Type() == reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(time.Unix(r.Int64N(1e9), r.Int64N(1e9)).UTC()))
		return
	case v.Kind() == reflect.Interface:
		v.Set(reflect.ValueOf([]any{texts[r.IntN(len(texts))], r.IntN(9), true, 1.5, []any{nil, "x"}, map[string]any{"k": 1}}[r.IntN(6)]))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(texts[r.IntN(len(texts))])
	case reflect.Int, reflect.Int64:
		v.SetInt(r.Int64N(100) - 50)
	case reflect.Uint8: // of few constants
		v.SetUint(1)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), r.IntN(3), 3))
		for i := range v.Len() {
			fill(r, v.Index(i))
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for _, key := range texts[:r.IntN(3)] {
			elem := reflect.New(v.Type().Elem()).Elem()
			fill(r, elem)
			v.SetMapIndex(reflect.ValueOf(key), elem)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(r, v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			fill(r, v.Field(i))
		}
	default:
		panic("no value for " + v.Type().String())
	}
}
