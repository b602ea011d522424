// Package host speaks the hook protocols of coding agents: it turns the input of a hook into a [loop.Event], decisions into the answer
// that the host reads, and it reads and edits the settings in which a host finds its hooks.
//
// No input makes it panic. A JSON answer is one object or nothing, with status 0: hosts drop an answer with any other byte beside it, and
// disagree on every other status. Every text in an answer is safe to show. A session file is read from its end, at most 16 MiB of it, and
// torn, unknown and huge records are skipped; its format may change with any version of a host.
//
// The package leaves out policies, counts and projects, and writes no file. A program that has a loop of its own needs one call,
// [Answer]. Others start with [Decode], decide, and end with [Encode].
package host
