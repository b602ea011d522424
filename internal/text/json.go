package text

import (
	"encoding/json"
	"fmt"
	"strings"
)

// JSON returns a value as JSON on one line, with < and > as they are; what has no JSON, such as a function, as fmt prints it.
func JSON(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return fmt.Sprint(v)
	}
	return strings.TrimSpace(b.String())
}
