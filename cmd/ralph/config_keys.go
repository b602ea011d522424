package main

import (
	"fmt"

	"go.yaml.in/yaml/v3"
)

// twice reports a key that occurs twice in a mapping of the settings. The decoder finds every pair of them instead, so
// that a file of equal keys would take memory with the square of its size.
func twice(n *yaml.Node) error {
	seen := map[string]bool{}
	for i, part := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 && part.Kind == yaml.ScalarNode {
			if seen[part.Value] {
				return fmt.Errorf("%d:%d: the key %q occurs twice", part.Line, part.Column, part.Value)
			}
			seen[part.Value] = true
		}
		if err := twice(part); err != nil {
			return err
		}
	}
	return nil
}
