package rules

import "sync"

// Index is what [Check] learns about the words of a policy and of what it includes, for editors: set [Config].Index to
// get it, also of a policy with errors. What the texts have once is there once for each include of their file.
type Index struct {
	Words       []Word
	Expressions []Expression

	mu sync.Mutex // of the compiler, which completes expressions
}

// Word is one occurrence of a name, or another token of an expression.
type Word struct {
	Pos, End Pos
	// Kind is fact, let, param, memory, rule or include, name (one of ralph's) or function, field (of a value), or the token
	// of an expression: string, number or operator.
	Kind string
	Name string
	Decl Pos    // where a policy declares it; of an include, the file. The zero Pos is nowhere
	Type string // of the value; "" is unknown
	Doc  string
}

// Expression is one expression, which may not compile.
type Expression struct {
	Source string
	// At returns the position in the file of a character of Source.
	At func(rune int) Pos
	// File is the name of the file.
	File string
	// Complete returns what can be at the end of a part of the expression that ends in a whole or begun word, and the
	// number of characters of that word. In a string it returns the values that the other side of a comparison can have,
	// with their quotes otherwise.
	Complete func(before string) (words []Word, begun int)
}
