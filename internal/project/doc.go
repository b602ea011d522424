// Package project connects a directory with policies: it finds the project of a directory, the policy of a name, what a person approved,
// and the directory in which ralph keeps its own files. Commands share it; it prints nothing.
//
// Begin with [Find] and [Open].
package project
