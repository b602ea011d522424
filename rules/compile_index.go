package rules

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/builtin"
	exprparser "github.com/expr-lang/expr/parser"

	"github.com/ralph-sdk/ralph/internal/yamltree"
	"github.com/ralph-sdk/ralph/schema"
)

// indexer fills an Index while a policy compiles. A nil indexer does nothing: hooks have none.
type indexer struct {
	c     *compiler
	index *Index
	syms  []*symbol                 // of the words, nil if there is none
	decls map[*scope]map[string]Pos // of names whose symbol another file declares
	kinds map[*symbol]string
	off   bool // while an expression is completed
}

func newIndexer(c *compiler) *indexer {
	if c.load.cfg.Index == nil {
		return nil
	}
	return &indexer{c: c, index: c.load.cfg.Index, decls: map[*scope]map[string]Pos{}, kinds: map[*symbol]string{}}
}

// add adds a word between two positions.
func (x *indexer) add(from, to Pos, w Word, s *symbol) {
	if x == nil || x.off {
		return
	}
	w.Pos, w.End = from, to
	x.index.Words, x.syms = append(x.index.Words, w), append(x.syms, s)
}

// declared adds the declaration at key.
func (x *indexer) declared(sc *scope, key *yamltree.Node, kind string) {
	if x == nil {
		return
	}
	at, s := sc.file.at(key.Start), sc.symbols[key.Value]
	if s != nil && s.pos != at { // a fact of another file, or a duplicate
		if x.decls[sc] == nil {
			x.decls[sc] = map[string]Pos{}
		}
		x.decls[sc][key.Value] = at
	} else if s != nil {
		x.kinds[s] = kind
	}
	x.add(at, sc.file.at(key.End()), Word{Kind: kind, Name: key.Value, Decl: at}, s)
}

// bound adds the name of a param of an included file, at a key of any file.
func (x *indexer) bound(f *file, key *yamltree.Node, of *document) {
	if x == nil {
		return
	}
	for _, d := range of.params {
		if d.name == key.Value {
			x.add(f.at(key.Start), f.at(key.End()), Word{Kind: "param", Name: d.name, Decl: of.file.at(d.key.Start)}, nil)
		}
	}
}

// node adds a name of the scope that is a whole node, or all of it but white space.
func (x *indexer) node(sc *scope, n *yamltree.Node) {
	if x != nil {
		s := snippetOf(sc, n)
		from, to := s.trimmed()
		x.named(&s, from, to, strings.TrimSpace(n.Value))
	}
}

// named adds a name of the scope in an expression.
func (x *indexer) named(s *snippet, from, to int, name string) {
	if x == nil {
		return
	}
	sym := s.scope.symbols[name]
	if sym == nil {
		return
	}
	decl := sym.pos
	if at, ok := x.decls[s.scope][name]; ok {
		decl = at
	}
	x.add(s.pos(from), s.pos(to), Word{Kind: x.kindOf(sym), Name: name, Decl: decl}, sym)
}

// kindOf returns the kind of a symbol that a policy declares.
func (x *indexer) kindOf(s *symbol) string {
	if kind := x.kinds[s]; kind != "" {
		return kind
	}
	switch s.kind {
	case factSymbol, askSymbol:
		return "fact"
	case letSymbol:
		return "let"
	case memorySymbol:
		return "memory"
	}
	return "param"
}

// indexBuiltin adds one of ralph's names or functions.
func (r *resolver) indexBuiltin(from, to ast.Node, name string) {
	if x := r.c.index; x != nil {
		a, b := from.Location(), to.Location()
		w := x.builtin(name)
		x.add(r.to.snippet.pos(min(a.From, b.From)), r.to.snippet.pos(max(a.To, b.To)), w, nil)
	}
}

// builtin returns the word of one of ralph's names or functions.
func (x *indexer) builtin(name string) Word {
	w := Word{Kind: "function", Name: name}
	if info := x.c.names.byName[name]; info != nil {
		w.Doc = info.Doc
		if !info.called() {
			w.Kind = "name"
			if info.typ != nil {
				w.Type = info.typ.String()
			}
		}
		return w
	}
	for _, a := range askForms() {
		if a.name == name {
			w.Doc = a.doc
		}
	}
	for _, f := range functions() {
		if f.Name == name {
			w.Doc = f.doc
		}
	}
	for _, f := range x.c.load.cfg.Functions {
		if f.Name == name {
			w.Doc = f.Doc
		}
	}
	if strings.HasPrefix(name, "env.") {
		w.Kind, w.Type, w.Doc = "name", textType.String(), "A variable of the environment."
	}
	return w
}

// field adds a field of a value of a type.
func (x *indexer) field(s *snippet, p *ast.StringNode, of *schema.Schema) {
	if x != nil {
		l := p.Location()
		x.add(s.pos(l.From), s.pos(l.To), fieldWord(p.Value, fieldOf(of, p.Value)), nil)
	}
}

func fieldWord(name string, t *schema.Schema) Word {
	w := Word{Kind: "field", Name: name}
	if t != nil {
		w.Type, w.Doc = t.String(), t.Doc
	}
	return w
}

// expression adds an expression, and the tokens of its tree, which is nil if it has none.
func (x *indexer) expression(s *snippet, tree *exprparser.Tree) {
	if x == nil || x.off {
		return
	}
	if tree == nil {
		x.index.Expressions = append(x.index.Expressions, Expression{
			Source: s.src, File: s.scope.file.name, At: func(rune int) Pos { return s.pos(rune) },
			Complete: func(before string) ([]Word, int) {
				x.index.mu.Lock()
				defer x.index.mu.Unlock()
				return x.complete(s.scope, before)
			},
		})
		return
	}
	runes := []rune(s.src)
	eachNode(tree.Node, func(n ast.Node) {
		kind := ""
		switch n := n.(type) {
		case *ast.StringNode: // but no field
			if at := n.Location().From; at < len(runes) && strings.ContainsRune("\"'`", runes[at]) {
				kind = "string"
			}
		case *ast.IntegerNode, *ast.FloatNode:
			kind = "number"
		case *ast.BinaryNode:
			if kind = "operator"; n.Operator == "??" {
				kind = ""
			}
		case *ast.UnaryNode, *ast.BoolNode, *ast.NilNode:
			kind = "operator"
		case *ast.BuiltinNode:
			l := n.Location()
			x.add(s.pos(l.From), s.pos(l.To), x.builtin(n.Name), nil)
		}
		if l := n.Location(); kind != "" && l.To > l.From {
			x.add(s.pos(l.From), s.pos(l.To), Word{Kind: kind}, nil)
		}
	})
}

// finish completes the words with what is known once all is declared.
func (x *indexer) finish() {
	if x == nil {
		return
	}
	for i, s := range x.syms {
		if s == nil {
			continue
		}
		w := x.symbolWord(s)
		x.index.Words[i].Type, x.index.Words[i].Doc = w.Type, w.Doc
	}
}

// symbolWord returns the word of a symbol that a policy declares.
func (x *indexer) symbolWord(s *symbol) Word {
	w := Word{Kind: x.kindOf(s), Name: s.name, Decl: s.pos}
	if s.typ != nil {
		w.Type, w.Doc = s.typ.String(), s.typ.Doc
	}
	switch {
	case s.fact != nil:
		w.Doc = s.fact.Source.Name + " " + strings.Join(s.fact.Args, " ")
		if s.fact.Source.Doc != "" {
			w.Doc += "\n\n" + s.fact.Source.Doc
		}
	case s.let != nil:
		w.Doc = cmp.Or(w.Doc, s.let.decl.expr.Value)
	}
	return w
}

// complete returns what can be at the end of a part of an expression of a scope.
func (x *indexer) complete(sc *scope, before string) (words []Word, begun int) {
	if at := yamltree.Unclosed(before); at >= 0 && strings.IndexByte("\"'`", before[at]) >= 0 {
		return x.values(sc, before[:at], ""), utf8.RuneCountInString(before[at+1:])
	}
	rest := strings.TrimRightFunc(before, func(r rune) bool { return r < 0x80 && isWord(byte(r)) })
	begun = len(before) - len(rest)
	if base, ok := strings.CutSuffix(rest, "."); ok {
		return x.members(sc, strings.TrimSuffix(base, "?")), begun
	}
	if rest != "" && strings.HasSuffix(rest, "(") {
		if head := strings.TrimSuffix(rest, "("); isAsk(head[len(strings.TrimRightFunc(head, func(r rune) bool { return r < 0x80 && isWord(byte(r)) })):]) {
			return x.declaredWords(sc, func(s *symbol) bool { return s.kind == factSymbol }), begun
		}
	}
	words = append(x.values(sc, rest, `"`), x.declaredWords(sc, func(*symbol) bool { return true })...)
	for _, name := range slices.Sorted(maps.Keys(sc.fields)) {
		words = append(words, fieldWord(name, sc.fields[name]))
	}
	names := append(x.c.names.flat(), x.c.names.functions()...)
	slices.Sort(names)
	for _, name := range names {
		if w := x.builtin(name); !sc.hides(name) {
			if _, group := x.c.names.namespaces[name]; group {
				w.Kind = "group"
			}
			words = append(words, w)
		}
	}
	for _, name := range builtin.Names {
		if !slices.Contains(names, name) {
			words = append(words, Word{Kind: "function", Name: name})
		}
	}
	return words, begun
}

// declaredWords returns the names of a scope that are wanted.
func (x *indexer) declaredWords(sc *scope, wanted func(*symbol) bool) (words []Word) {
	for _, name := range slices.Sorted(maps.Keys(sc.symbols)) {
		if s := sc.symbols[name]; wanted(s) {
			w := x.symbolWord(s)
			w.Name = name
			words = append(words, w)
		}
	}
	return words
}

// members returns the fields of the value at the end of an expression, which ends before its last dot.
func (x *indexer) members(sc *scope, base string) (words []Word) {
	at := operandAt(base)
	operand := base[at:]
	if members, ok := x.c.names.namespaces[operand]; ok && !sc.hides(operand) {
		for _, m := range slices.Sorted(slices.Values(members)) {
			w := x.builtin(operand + "." + m)
			w.Name = m
			words = append(words, w)
		}
		return words
	}
	if t := x.operand(sc, base); t != nil {
		for _, name := range slices.Sorted(maps.Keys(t.Fields)) {
			words = append(words, fieldWord(name, t.Fields[name]))
		}
	}
	return words
}

// operand returns the schema type of the operand at the end of an expression, nil if it is unknown. "" and # are an element of
// the list of a predicate, .field is a field of it.
func (x *indexer) operand(sc *scope, src string) *schema.Schema {
	at := operandAt(src)
	operand := src[at:]
	if operand != "" && operand != "#" && operand[0] != '.' {
		return x.typeOf(sc, operand)
	}
	t := elementOf(x.typeOf(sc, listBefore(src[:at])))
	if field, ok := strings.CutPrefix(operand, "."); ok {
		for step := range strings.SplitSeq(field, ".") {
			t = fieldOf(t, step)
		}
	}
	return t
}

// operandAt returns where the operand at the end of an expression begins: names, dots, calls and indexes.
func operandAt(s string) int {
	depth := 0
	at := len(s)
	for at > 0 {
		c := s[at-1]
		switch {
		case c == ')' || c == ']':
			depth++
		case (c == '(' || c == '[') && depth > 0:
			depth--
		case depth == 0 && !isWord(c) && c != '.' && c != '?' && c != '#':
			return at
		}
		at--
	}
	return at
}

// listBefore returns the list of the predicate that is open at the end of an expression: todo of `any(todo, .done and `.
func listBefore(s string) string {
	at, depth := len(s), 0
	for ; at > 0; at-- {
		switch s[at-1] {
		case ')', ']', '}':
			depth++
		case '(', '[', '{':
			depth--
		}
		if depth < 0 {
			break
		}
	}
	end, depth := len(s), 0
	for i := at; i < len(s); i++ {
		switch s[i] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		case ',':
			if depth == 0 {
				end = min(end, i)
			}
		}
	}
	return strings.TrimSpace(s[at:end])
}

// values returns what the right side of a comparison at the end of an expression can be.
func (x *indexer) values(sc *scope, before, quote string) (words []Word) {
	s := strings.TrimRight(before, " \t")
	if i := strings.LastIndex(s, "["); i >= 0 && !strings.Contains(s[i:], "]") { // in [a, b
		if left, ok := strings.CutSuffix(strings.TrimRight(s[:i], " "), " in"); ok {
			s = left + "=="
		}
	}
	for _, op := range []string{"==", "!="} {
		left, ok := strings.CutSuffix(s, op)
		if !ok {
			continue
		}
		left = strings.TrimRight(left, " \t")
		t := x.operand(sc, left)
		if t == nil {
			return nil
		}
		for _, v := range t.Enum {
			if text, ok := v.(string); ok {
				words = append(words, Word{Kind: "value", Name: quote + text + quote, Type: t.String(), Doc: t.Doc})
			}
		}
	}
	return words
}

// typeOf returns the schema type of an expression of a scope, nil if it is unknown.
func (x *indexer) typeOf(sc *scope, src string) *schema.Schema {
	c := x.c
	reported := c.diags
	c.diags, x.off = new(Diagnostics), true // what is being typed is not reported here
	defer func() { c.diags, x.off = reported, false }()
	tree, err := c.engine.parse(src)
	if src == "" || err != nil {
		return nil
	}
	l := &leaves{c: c, snippet: snippet{scope: sc, src: src, node: new(yamltree.Node)}, tree: tree}
	r := &resolver{c: c, scope: sc, src: src, to: l}
	n := tree.Node
	r.node(&n)
	return r.typed(n)
}
