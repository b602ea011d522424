package schema

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strconv"
	"strings"
)

// maxInt is the greatest integer that JSON parsers agree on, 2^53-1. Larger integers are saturated: a huge counter
// stays huge instead of overflowing.
const maxInt = 1<<53 - 1

// number returns v as rules see it: int if it is integral, saturated at ±maxInt (and then exact is false), otherwise
// float64. ok is false if v is not a number, or is NaN or infinite.
func number(v any) (n any, exact, ok bool) {
	switch v := v.(type) {
	case int:
		return saturate(int64(v))
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, false, false
		}
		return integral(v)
	case json.Number:
		return decimal(string(v))
	case int64, int32:
		return saturate(reflect.ValueOf(v).Int())
	case uint64, uint, uint32:
		return saturate(int64(min(reflect.ValueOf(v).Uint(), math.MaxInt64)))
	case float32:
		return number(float64(v))
	}
	return nil, false, false
}

const digits = "0123456789"

func saturate(i int64) (any, bool, bool) {
	switch {
	case i > maxInt:
		return maxInt, false, true
	case i < -maxInt:
		return -maxInt, false, true
	}
	return int(i), true, true
}

// integral converts an integral float, of any size, to an int.
func integral(f float64) (any, bool, bool) {
	if f != math.Trunc(f) {
		return f, true, true
	}
	return saturate(int64(min(max(f, -maxInt-1), maxInt+1)))
}

// decimal parses a number as people and JSON write it: "10", "-2.5", "1e1", and "08", which is eight. Unlike strconv it
// rejects hexadecimal, underscores, infinity, and a point without digits on both sides.
func decimal(s string) (any, bool, bool) {
	before, after, point := strings.Cut(s, ".")
	if strings.Trim(s, digits+"+-.eE") != "" ||
		point && (strings.TrimRight(before, digits) == before || strings.TrimLeft(after, digits) == after) {
		return nil, false, false
	}
	if len(s) <= 15 {
		if i, err := strconv.Atoi(s); err == nil {
			return i, true, true
		}
	}
	// Out of range is ±Inf, which whole saturates.
	f, err := strconv.ParseFloat(s, 64)
	if errors.Is(err, strconv.ErrSyntax) {
		return nil, false, false
	}
	return integral(f)
}

// spelledNumber parses a number written as a string, with optional white space around it.
func spelledNumber(s string) (n any, exact, ok bool) { return decimal(strings.TrimSpace(s)) }

// spelledBool parses a bool written as a string: true or false in any case, with optional white space around it. YAML
// 1.1's yes, no, on and off are strings, as in YAML 1.2.
func spelledBool(s string) (b, ok bool) {
	s = strings.TrimSpace(s)
	switch {
	case strings.EqualFold(s, "true"):
		return true, true
	case strings.EqualFold(s, "false"):
		return false, true
	}
	return false, false
}
