// Package state reads and edits the files of a project.
//
// It promises four things. Nothing outside the project is written, and nothing is read but what a path
// with "~/" in front names beneath the home directory:
// links are resolved first, what they lead to must lie beneath the root, and
// every access then goes through [os.Root]. Reading never fails: a [Doc] says
// whether there is a document, and if not, why, in words for a user. An edit
// changes the bytes of the values it was asked to change and no others; the
// result is decoded again and compared before anything is written. A write is
// whole or absent: a temporary file, fsync, a comparison with what was read,
// and a rename, so killing the process leaves the old file or the new one.
//
// It leaves out what the content means: schemas, rules and hosts are the
// business of other packages. It takes no locks: [Root.Apply] compares versions
// as its last step, which leaves a window of microseconds. A program that must close it
// holds a lock of its own on [Root.Target] around Apply, as ralph's hooks do.
//
// Start with [OpenRoot] and [Root.Read]; change files with [Root.Apply].
package state
