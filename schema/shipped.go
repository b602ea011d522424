package schema

import (
	"embed"
	"strings"
)

// shipped has the schemas of the state files that ralph's own policies read.
//
//go:embed shipped/*.schema.json
var shipped embed.FS

// Shipped returns the source of a schema that ships with ralph; ok is false for an unknown name.
func Shipped(name string) (src []byte, ok bool) {
	src, err := shipped.ReadFile("shipped/" + name + shippedSuffix)
	return src, err == nil
}

// ShippedNames returns the names of the schemas that ship with ralph, sorted.
func ShippedNames() []string {
	entries, _ := shipped.ReadDir("shipped") // it is embedded
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = strings.TrimSuffix(e.Name(), shippedSuffix)
	}
	return names
}

const shippedSuffix = ".schema.json"
