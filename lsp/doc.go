// Package lsp, which may change in any version, is a language server for policies, what they include, their tests and their
// configuration: it shows in an editor, while you type, what ralph check finds.
//
// It reads the workspace of the editor and writes nothing. It runs no program, gathers no fact and asks no model: what it
// knows comes from the texts alone. Whether a person approved a policy, and how much time a hook has, only ralph check
// reports.
//
// A program that embeds ralph serves the words that it adds to the language with the options of its loops. Start with
// [Serve].
package lsp
