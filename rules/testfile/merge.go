package testfile

import "maps"

// merged lays the situation of a test over that of its file. Values of facts are
// merged field by field, so that a test names only what is special about it.
func merged(base, own Given) Given {
	g := base
	g.Facts, g.Missing, g.Invalid = maps.Clone(base.Facts), maps.Clone(base.Missing), maps.Clone(base.Invalid)
	// However the file gives a fact, the test's own word counts.
	for name, v := range own.Facts {
		delete(g.Missing, name)
		delete(g.Invalid, name)
		if g.Facts == nil {
			g.Facts = map[string]any{}
		}
		if v == nil {
			delete(g.Facts, name)
			continue
		}
		g.Facts[name] = over(g.Facts[name], v)
	}
	for name, why := range own.Missing {
		delete(g.Facts, name)
		delete(g.Invalid, name)
		g.Missing = with(g.Missing, name, why)
	}
	for name, why := range own.Invalid {
		delete(g.Facts, name)
		delete(g.Missing, name)
		g.Invalid = with(g.Invalid, name, why)
	}
	g.Files = maps.Clone(base.Files)
	for path, s := range own.Files {
		if s.none {
			delete(g.Files, path)
			continue
		}
		g.Files = with(g.Files, path, s)
	}
	maps.DeleteFunc(g.Files, func(_ string, s Source) bool { return s.none })
	for name, v := range own.Input {
		g.Input = with(maps.Clone(g.Input), name, v)
	}
	if own.Spoken {
		g.Spoken, g.Transcript, g.Text = true, own.Transcript, own.Text
	}
	if own.Host != "" {
		g.Host = own.Host
	}
	g.Problem = joined(base.Problem, own.Problem)
	g.Env = joined(base.Env, own.Env)
	g.Set = joined(base.Set, own.Set)
	g.Names = joined(base.Names, own.Names)
	g.Memory = joined(base.Memory, own.Memory)
	g.Repeated = joined(base.Repeated, own.Repeated)
	if !own.Now.IsZero() {
		g.Now = own.Now
	}
	if own.Loop != nil {
		g.Loop = own.Loop
	}
	if own.Exists != nil {
		g.Exists = own.Exists
	}
	if own.IsDir != nil {
		g.IsDir = own.IsDir
	}
	if own.Which != nil {
		g.Which = own.Which
	}
	g.at = joined(base.at, own.at)
	return g
}

// over lays one value over another: objects are joined, all else is replaced.
func over(base, own any) any {
	b, ok1 := base.(map[string]any)
	o, ok2 := own.(map[string]any)
	if !ok1 || !ok2 {
		return own
	}
	out := maps.Clone(b)
	for k, v := range o {
		out[k] = over(out[k], v)
	}
	return out
}

func with[V any](m map[string]V, key string, v V) map[string]V {
	if m == nil {
		m = map[string]V{}
	}
	m[key] = v
	return m
}

func joined[V any](base, own map[string]V) map[string]V {
	if len(own) == 0 {
		return base
	}
	out := maps.Clone(base)
	if out == nil {
		out = map[string]V{}
	}
	maps.Copy(out, own)
	return out
}
