package schema

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// many writes n items with commas between them; %d in an item is its number.
func many(n int, item string) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		if strings.Contains(item, "%") {
			fmt.Fprintf(&b, item, i)
		} else {
			b.WriteString(item)
		}
	}
	return b.String()
}

func nested(n int, before, inside, after string) string {
	return strings.Repeat(before, n) + inside + strings.Repeat(after, n)
}

func mustCheck(t testing.TB, schema, doc string) Result {
	t.Helper()
	s, err := Compile("test.schema.json", []byte(schema))
	if err != nil {
		t.Fatal(err)
	}
	j, err := ParseJSON([]byte(doc))
	if err != nil {
		t.Fatal(err)
	}
	return s.Check(j)
}

// hostile are pairs that took from seconds to hours, or gigabytes.
var hostile = map[string]struct{ schema, doc string }{
	"alternatives":             {`{"additionalProperties": {"anyOf": [` + many(1000, `{"type":"string","minLength":%d}`) + `]}}`, `{` + many(40_000, `"k%d":1`) + `}`},
	"alternatives in a row":    {`{"items": {"oneOf": [` + many(1000, `{"minimum":%d}`) + `]}}`, `[` + many(40_000, `9999`) + `]`},
	"a tree of alternatives":   {`{"items": ` + nested(8, `{"oneOf":[{"type":"null"},{"anyOf":[`, `{"type":"string"}`, `,{"type":"boolean"}]}]}`) + `}`, `[` + many(40_000, `9`) + `]`},
	"many parts of one object": {`{"not": false, "allOf": [` + many(1000, `{}`) + `]}`, `{` + many(40_000, `"k%d":1`) + `}`},
	"enum of numbers":          {`{"not": false, "items": {"enum": [` + many(10_000, `%d`) + `]}}`, `[` + many(40_000, `-1`) + `]`},
	"enum of fractions":        {`{"not": false, "items": {"enum": [` + many(10_000, `1.%de-300`) + `]}}`, `[` + many(1_000, `0.5`) + `]`},
	"enum of objects":          {`{"not": false, "items": {"enum": [` + many(500, `{"k":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16],"z":%d}`) + `]}}`, `[` + many(2_000, `{"k":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16],"z":-1}`) + `]`},
	"enum of texts":            {`{"items": {"enum": [` + many(20_000, `"a%05d"`) + `]}}`, `[` + many(40_000, `"b"`) + `]`},
	"enum of lists":            {`{"items": {"enum": [` + many(500, `[[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16],%d]`) + `]}}`, `[` + many(10_000, `[[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16],-1]`) + `]`},
	"a long constant":          {`{"items": {"anyOf": [{"const":"` + strings.Repeat("a", 200_000) + `"}]}}`, `[` + many(40_000, `"b"`) + `]`},
	"multiples of a fraction":  {`{"items": {"allOf": [` + many(100, `{"multipleOf":1.%de-300}`) + `]}}`, `[` + many(10_000, `1.2345e-300`) + `]`},
	"lists in lists":           {`{"uniqueItems": true, "items": {"$ref": "#"}}`, nested(900, `[`, many(20_000, `"%d"`), `]`)},
	"patterns for names":       {`{"patternProperties": {` + many(1000, `"^k.*%dx":{}`) + `}}`, `{` + many(40_000, `"k%d":1`) + `}`},
	"a slow pattern":           {`{"not": {"pattern": "(a?){50}a{50}$"}}`, `"` + strings.Repeat("a", 1<<20) + `"`},
	"a slow pattern, own":      {`{"pattern": "(a?){50}a{50}$"}`, `"` + strings.Repeat("a", 1<<20) + `"`},
	"lengths of a long text":   {`{"allOf": [` + many(1000, `{"minLength":%d}`) + `]}`, `"` + strings.Repeat("é", 2<<20) + `"`},
	"formats":                  {`{"items": {"anyOf": [` + many(100, `{"format":"date-time"},{"format":"uri"},{"format":"email"}`) + `]}}`, `[` + many(40_000, `"::{}"`) + `]`},
	"required names":           {`{"not": false, "properties": {"a": {"items": {"anyOf": [{"required": [` + many(10_000, `"a%d"`) + `]}]}}}}`, `{"a":[` + many(10_000, `{}`) + `]}`},
	"dependent names":          {`{"items": {"dependentRequired": {"a": [` + many(10_000, `"a%d"`) + `]}}}`, `[` + many(1_000, `{"a":1}`) + `]`},
	"conditions":               {`{"items": {"allOf": [` + many(900, `{"if":{"minimum":%d},"then":{"maximum":3},"else":{"type":"null"}}`) + `]}}`, `[` + many(40_000, `5`) + `]`},
	"what is contained":        {`{"allOf": [` + many(1000, `{"contains":{"const":%d}}`) + `]}`, `[` + many(40_000, `-1`) + `]`},
	"what is left over":        {`{"allOf": [` + many(450, `{"unevaluatedProperties":{"minimum":%d}}`) + `]}`, `{` + many(40_000, `"k%d":1`) + `}`},
	"names of fields":          {`{"propertyNames": {"allOf": [` + many(1000, `{"minLength":%d}`) + `]}}`, `{` + many(40_000, `"k%d":1`) + `}`},
	"elements by index":        {`{"items": {"prefixItems": [{"allOf": [` + many(1000, `{"minimum":%d}`) + `]}]}}`, `[` + many(20_000, `[5]`) + `]`},
}

func TestCheckRefusesWhatTakesTooLong(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, and no goroutine meets another")
	}
	for name, tt := range hostile {
		t.Run(name, func(t *testing.T) {
			got := mustCheck(t, tt.schema, tt.doc)
			if got.Value == nil || len(got.Unusable) > 0 || len(got.Warnings) != 1 || !strings.HasPrefix(got.Warnings[0].Message, "cannot be checked: it is too large") {
				t.Errorf("unusable %v, warnings %.300v, want the one that it is too large", got.Unusable, got.Warnings)
			}
		})
	}
}

// What cannot even be read into its type is unusable.
func TestCheckRefusesWhatGrows(t *testing.T) {
	for name, tt := range map[string]struct{ schema, doc, want string }{
		"defaults":             {`{"items": {"properties": {` + many(3000, `"a%d":{"type":"integer","default":1}`) + `}}}`, `[` + many(100_000, `{}`) + `]`, "is too large for its schema"},
		"large defaults":       {`{"items": {"properties": {"a": {"default": [` + many(9000, `0`) + `]}}}}`, `[` + many(1000, `{}`) + `]`, "is too large for its schema"},
		"fields":               {`{"items": {"properties": {` + many(3900, `"a%d":{}`) + `}}}`, `[` + many(100_000, `{}`) + `]`, "is too large for its schema"},
		"keys that are a text": {`{"additionalProperties": {"items": {"type": "integer"}}}`, `{"` + strings.Repeat("k", 1<<20) + `":[` + many(1000, `"x"`) + `]}`, "JSON pointer is longer than"},
	} {
		t.Run(name, func(t *testing.T) {
			got := mustCheck(t, tt.schema, tt.doc)
			if got.Value != nil || len(got.Unusable) != 1 || got.Unusable[0].Pointer != "" || !strings.Contains(got.Unusable[0].Message, tt.want) {
				t.Errorf("unusable %.300v, want one that %s", got.Unusable, tt.want)
			}
		})
	}
}

// Documents as large as they are in practice are checked.
func TestCheckLargeDocuments(t *testing.T) {
	const schema = `{"items": {"type":"object","required":["id"],"additionalProperties":false,"properties":{"id":{"type":"integer","minimum":0},
		"title":{"type":"string","minLength":1,"maxLength":200},"tags":{"type":"array","items":{"type":"string","pattern":"^[a-z0-9-]+$"}},
		"state":{"enum":["a","b","c","d"]},"when":{"type":"string","format":"date-time"},"note":{"anyOf":[{"type":"string"},{"type":"null"}]}}}}`
	doc := `[` + many(30_000, `{"id":%d,"title":"a title of some words","tags":["ab","cd"],"state":"b","when":"2026-11-22T10:00:00Z","note":null}`) + `]`
	if got := mustCheck(t, schema, doc); len(got.Warnings)+len(got.Unusable) > 0 {
		t.Errorf("%.300v %.300v", got.Warnings, got.Unusable)
	}
}

// Nothing small is refused.
func TestCheckNeverRefusesSmallDocuments(t *testing.T) { rapid.Check(t, smallIsAffordable) }

func smallIsAffordable(t *rapid.T) {
	sub := func() any { return drawSchema(t, 2) }
	doc := map[string]any{"$defs": map[string]any{"a": sub(), "b": sub()}, "items": sub()}
	for keyword, value := range map[string]func() any{
		"anyOf": func() any { return []any{sub(), sub()} }, "oneOf": func() any { return []any{sub(), sub(), sub()} }, "not": sub,
		"if": sub, "then": sub, "else": sub, "contains": sub, "propertyNames": sub,
		"uniqueItems": func() any { return true }, "multipleOf": func() any { return 0.5 }, "format": func() any { return "regex" },
		"prefixItems":       func() any { return []any{sub()} },
		"patternProperties": func() any { return map[string]any{"^a": sub(), "é": sub()} },
		"dependentRequired": func() any { return map[string]any{"a": []any{"b"}} },
		"dependentSchemas":  func() any { return map[string]any{"a": sub()} },
	} {
		if rapid.IntRange(0, 2).Draw(t, keyword) == 0 {
			doc[keyword] = value()
		}
	}
	s, err := FromValue("drawn", doc)
	if err != nil {
		t.Skip(err)
	}
	for _, v := range s.Check(Document{Value: drawValue(t, 3)}).Warnings {
		if strings.HasPrefix(v.Message, "cannot be checked") {
			t.Fatal(v)
		}
	}
}

// Schemas that would take too long to compile are refused, by the library if only it takes long.
func TestCompileRefusesWhatTakesTooLong(t *testing.T) {
	for name, tt := range map[string]struct{ schema, want string }{
		"a pattern that repeats":  {`{"pattern": "` + strings.Repeat("(a{30}){30}", 200) + `"}`, "the patterns of the schema are too large"},
		"patterns that repeat":    {`{"patternProperties": {` + many(200, `"(a{30}){30}%d":{}`) + `}}`, "the patterns of the schema are too large"},
		"a long pattern":          {`{"pattern": "` + strings.Repeat("(a|b|cd*)+", 20_000) + `"}`, "the patterns of the schema are too large"},
		"many defaults":           {`{"$defs":{"d":{"properties":{` + many(2000, `"a%d":{"default":1}`) + `}}},"properties":{` + many(1000, `"b%d":{"$ref":"#/$defs/d","default":{}}`) + `}}`, "the default is too large for its schema"},
		"defaults in defaults":    {`{"$defs":{"d":{"default":[` + many(9000, `0`) + `]}},"properties":{"x":{"default":{},"properties":{` + many(3000, `"a%d":{"$ref":"#/$defs/d"}`) + `}}}}`, "the default is too large for its schema"},
		"a default far below":     {`{"default": {"` + strings.Repeat("k", 9000) + `": []}}`, "the default has a place whose JSON pointer is longer than"},
		"schemas below long keys": {`{"$defs": {"` + strings.Repeat("k", 100_000) + `": {"properties": {` + many(9000, `"a%d":{}`) + `}}}}`, "the schema is too big"},
		"schemas far below":       {nested(900, `{"items":`, `{}`, `}`), "128 levels deep"},
		"many schemas":            {`{"properties": {` + many(10_000, `"a%d":{}`) + `}}`, "the schema is too big"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Compile("test.schema.json", []byte(tt.schema))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("the error is %.300v, want %s", err, tt.want)
			}
		})
	}
}
