// Package state reads and changes the files that facts come from, below one directory.
//
// Start with [Open], then [Root.Read] a file and give its bytes to [ParseText], [ParseJSON], [ParseFrontMatter] or [ParseChecklist].
// To change a file, make its new bytes with [SetJSON] or [SetFrontMatter] and give both to [Root.Apply].
//
// It promises three things. Nothing outside of the directory is opened, whatever paths and links say; only regular files of at most
// [MaxFile] bytes are read, and reading never waits for a pipe or a device. An edit changes the bytes of one value and no other.
// A file is replaced in one step, and only if it is still as it was read.
//
// It leaves out what a value means: schemas, defaults and conditions are other packages'.
package state
