package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"
)

// params are the values of a policy's params: those of .ralph/config.yaml under its
// name, and over them those of --set.
func params(p policy, set []string) (map[string]string, error) {
	values, err := configured(p)
	if err != nil {
		return nil, err
	}
	for _, s := range set {
		name, value, ok := strings.Cut(s, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("--set takes name=value, not %q", s)
		}
		values[name] = value
	}
	return values, nil
}

// configFile holds the values of params, by policy: set: {POLICY: {name: value}}.
const configFile = ".ralph/config.yaml"

const maxConfigSize = 256 << 10

// configured reads the values for one policy. They stand under its file name
// without folder and extension, or under the name that eval takes, which goes
// before.
func configured(p policy) (map[string]string, error) {
	values := map[string]string{}
	file := filepath.Join(p.project, filepath.FromSlash(configFile))
	info, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return values, nil
	}
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxConfigSize {
		return nil, fmt.Errorf("%s cannot be used: expected a readable file of at most %d KiB", configFile, maxConfigSize>>10)
	}
	src, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", configFile, err)
	}
	var doc struct {
		Set map[string]map[string]yaml.Node `yaml:"set"`
	}
	dec := yaml.NewDecoder(bytes.NewReader(src))
	dec.KnownFields(true)
	if err := dec.Decode(&doc); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: expected set: {POLICY: {name: value}}: %s", configFile, strings.TrimPrefix(err.Error(), "yaml: "))
	}
	base := strings.TrimSuffix(path.Base(p.name), path.Ext(p.name))
	for _, key := range []string{base, p.name} {
		for name, node := range doc.Set[key] {
			if node.Kind != yaml.ScalarNode {
				return nil, fmt.Errorf("%s:%d:%d: the value of %s must be one text, number or boolean", configFile, node.Line, node.Column, name)
			}
			values[name] = node.Value
		}
	}
	return values, nil
}
