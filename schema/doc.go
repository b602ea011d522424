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
// The drafts are 2020-12, 2019-09 and 7, and github.com/santhosh-tekuri/jsonschema/v5 has the last word on what satisfies
// them, except for the formats date-time and go-duration, which ralph checks, and for the content keywords, which are
// annotations. Schemas that keep to the everyday keywords are checked by a small checker of our own, which spares the
// process that library's compilation; tests hold the two equal. The library sees a document only if a count of what it
// would compare stays below a limit.
//
// Start with [Compile], then call [Schema.Check] with [JSON.Document]:
//
//	s, err := schema.Compile("state.schema.json", source)
//	doc, err := schema.ParseJSON(bytes)
//	result := s.Check(doc.Document())
package schema
