// Package examples, which may change in any version, holds the policies that ship with
// ralph: one directory a system, with its policy, its tests and a demo project, and guards/
// with rules that other policies include as ralph:guards/NAME. tasks.yaml has what speckit and specum share.
//
// The files are embedded so that `--policy speckit` works without any of them on
// disk. The package holds nothing else; embed/ shows programs that use the SDK.
package examples

import "embed"

// FS holds the shipped policies as NAME/NAME.yaml and the guards as guards/NAME.yaml.
//
//go:embed double-shot-latte/double-shot-latte.yaml ralph-wiggum/ralph-wiggum.yaml speckit/speckit.yaml specum/specum.yaml
//go:embed stravinsky/stravinsky.yaml system3/system3.yaml todo-reminder/todo-reminder.yaml guards/*.yaml tasks.yaml
var FS embed.FS

// Tests holds the tests of the shipped policies as NAME/NAME_test.yaml.
//
//go:embed */*_test.yaml
var Tests embed.FS
