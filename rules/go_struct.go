package rules

import (
	"cmp"
	"encoding"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// goType is what reading a value of a Go type takes.
type goType struct {
	marshals  bool // encoding/json asks the value how it is written
	addressed bool // the same, if it can be addressed
	zero      bool // it has a method IsZero
	fields    []goField
	byName    map[string]int // of fields
}

// goField is a field of a struct as encoding/json writes it.
type goField struct {
	name                        string
	index                       []int
	tagged                      bool
	omitEmpty, omitZero, quoted bool
}

var (
	goTypes sync.Map // *goType by reflect.Type

	marshalerType = reflect.TypeFor[json.Marshaler]()
	texterType    = reflect.TypeFor[encoding.TextMarshaler]()
	zeroerType    = reflect.TypeFor[interface{ IsZero() bool }]()
)

func goTypeOf(t reflect.Type) *goType {
	if known, ok := goTypes.Load(t); ok {
		return known.(*goType)
	}
	marshals := func(t reflect.Type) bool { return t.Implements(marshalerType) || t.Implements(texterType) }
	g := &goType{marshals: t.Kind() != reflect.Interface && marshals(t), zero: t.Implements(zeroerType)}
	g.addressed = t.Kind() != reflect.Pointer && marshals(reflect.PointerTo(t))
	if t.Kind() == reflect.Struct && !g.marshals {
		g.fields = goFields(t)
		g.byName = make(map[string]int, len(g.fields))
		for i, f := range g.fields {
			g.byName[f.name] = i
		}
	}
	known, _ := goTypes.LoadOrStore(t, g)
	return known.(*goType)
}

// goFields returns the fields of a struct by the rules of encoding/json: of fields with one name the outermost counts,
// then the one with a tag; otherwise none.
func goFields(t reflect.Type) (all []goField) {
	type level struct {
		t     reflect.Type
		index []int
	}
	visited := map[reflect.Type]bool{}
	next, often := []level{{t: t}}, map[reflect.Type]int{}
	for len(next) > 0 {
		now, count := next, often
		next, often = nil, map[reflect.Type]int{}
		for _, l := range now {
			if visited[l.t] {
				continue
			}
			visited[l.t] = true
			for i := range l.t.NumField() {
				sf := l.t.Field(i)
				ft := sf.Type
				if ft.Name() == "" && ft.Kind() == reflect.Pointer {
					ft = ft.Elem()
				}
				tag := sf.Tag.Get("json")
				if tag == "-" || !sf.IsExported() && !(sf.Anonymous && ft.Kind() == reflect.Struct) {
					continue
				}
				name, rest, _ := strings.Cut(tag, ",")
				if !validTag(name) {
					name = ""
				}
				index := append(slices.Clip(l.index), i)
				if name == "" && sf.Anonymous && ft.Kind() == reflect.Struct {
					if often[ft]++; often[ft] == 1 {
						next = append(next, level{ft, index})
					}
					continue
				}
				options := strings.Split(rest, ",")
				f := goField{
					name: cmp.Or(name, sf.Name), index: index, tagged: name != "",
					omitEmpty: slices.Contains(options, "omitempty"), omitZero: slices.Contains(options, "omitzero"),
					quoted: slices.Contains(options, "string") && (ft.Kind() >= reflect.Bool && ft.Kind() <= reflect.Float64 || ft.Kind() == reflect.String),
				}
				all = append(all, f)
				if count[l.t] > 1 { // embedded twice, so each name is there twice
					all = append(all, f)
				}
			}
		}
	}
	slices.SortStableFunc(all, func(a, b goField) int {
		tagged := 0
		if a.tagged != b.tagged {
			if tagged = 1; a.tagged {
				tagged = -1
			}
		}
		return cmp.Or(strings.Compare(a.name, b.name), len(a.index)-len(b.index), tagged)
	})
	var out []goField
	for i := 0; i < len(all); {
		n := i + 1
		for n < len(all) && all[n].name == all[i].name {
			n++
		}
		if n == i+1 || len(all[i].index) != len(all[i+1].index) || all[i].tagged != all[i+1].tagged {
			out = append(out, all[i])
		}
		i = n
	}
	slices.SortFunc(out, func(a, b goField) int { return slices.Compare(a.index, b.index) })
	return out
}

func validTag(name string) bool {
	return name != "" && strings.IndexFunc(name, func(r rune) bool {
		return !strings.ContainsRune("!#$%&()*+-./:;<=>?@[]^_{|}~ ", r) && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) < 0
}

// of returns the field of a struct; ok is false if encoding/json omits it.
func (f *goField) of(v reflect.Value) (field reflect.Value, ok bool) {
	for i, n := range f.index {
		if i > 0 && v.Kind() == reflect.Pointer {
			if v.IsNil() {
				return v, false
			}
			v = v.Elem()
		}
		v = v.Field(n)
	}
	return v, !(f.omitEmpty && isEmpty(v) || f.omitZero && isZero(v))
}

func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Array, reflect.Map, reflect.Slice, reflect.String:
		return v.Len() == 0
	case reflect.Struct:
		return false
	}
	return v.IsZero()
}

func isZero(v reflect.Value) bool {
	switch t := goTypeOf(v.Type()); {
	case t.zero && !(v.Kind() == reflect.Pointer && v.IsNil()) && v.CanInterface():
		return v.Interface().(interface{ IsZero() bool }).IsZero()
	case v.CanAddr() && v.Addr().CanInterface():
		if z, ok := v.Addr().Interface().(interface{ IsZero() bool }); ok {
			return z.IsZero()
		}
	}
	return v.IsZero()
}
