// Package schema reads JSON Schemas and judges documents by them.
//
// It promises four things for rules over a state file:
//
//   - Types. A [Schema] says what every declared field holds, so that a rule can be checked before it is ever run.
//     What cannot be typed is typed as anything, and [Schema.Widened] says where and why.
//   - Values. [Schema.Check] returns the document with numbers as int or float64, text that spells a declared number or
//     bool as that value, and defaults in place of absent and null fields. What it returns always has the declared type.
//   - Findings. A field of a wrong type is left out and listed in [Result.Unusable]; a wrong value is kept and listed in
//     [Result.Warnings]. Each has a JSON pointer and, where the document knows it, line and column.
//   - Safety. No input makes it panic: size and depth are capped before anything is parsed. Nothing is ever fetched, neither
//     over the network nor from a file.
//
// It leaves out reading files, YAML, and anything about policies. Remote and dynamic references, anchors and bundled schemas
// (a nested $id) are refused when the schema is compiled.
//
// The drafts are 2020-12, 2019-09 and 7; a keyword counts in each of them. A checker of its own judges by the keywords that
// nearly all schemas make do with, and tests hold it equal to github.com/santhosh-tekuri/jsonschema/v5, which judges schemas
// with unevaluatedProperties or unevaluatedItems, and the formats. The content keywords are annotations.
//
// Start with [Compile], then call [Schema.Check] with [JSON.Document]:
//
//	s, err := schema.Compile("state.schema.json", source)
//	doc, err := schema.ParseJSON(bytes)
//	result := s.Check(doc)
package schema
