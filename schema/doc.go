// Package schema compiles JSON Schemas and validates documents.
//
// For rules over a state file it promises:
//
//   - Types. A [Schema] has the type of every declared field, so that rules can be checked before they run. What cannot
//     be typed is anything, and [Schema.Widened] lists where and why.
//   - Values. [Schema.Check] returns the document with numbers as int or float64, strings that spell a declared number
//     or bool as that value, and defaults for missing and null fields. The result always has the declared type.
//   - Findings. A field of the wrong type is omitted and listed in [Result.Unusable]; an invalid value is kept and
//     listed in [Result.Warnings]. Each has a JSON pointer and, if known, line and column.
//   - Safety. No input makes it panic: size and depth are limited before parsing. Nothing is ever loaded, neither from
//     the network nor from a file.
//
// It leaves out files, YAML, and policies. [Compile] rejects remote and dynamic references, anchors and bundled schemas
// (a nested $id).
//
// The drafts are 2020-12, 2019-09 and 7; every keyword counts in each of them. The package itself checks the keywords
// that nearly all schemas use, and tests compare it to github.com/santhosh-tekuri/jsonschema/v5, which checks formats
// and schemas with unevaluatedProperties or unevaluatedItems. The content keywords are annotations.
//
// Start with [Compile], then call [Schema.Check] with [JSON.Document]:
//
//	s, err := schema.Compile("state.schema.json", source)
//	doc, err := schema.ParseJSON(bytes)
//	result := s.Check(doc)
package schema
