package plan

import (
	"apigen.dev/generator/internal/model"
)

const valuesPath = "net/url"

var texts = &model.Type{Form: model.Slice, Elem: &model.Type{Form: model.Basic, Basic: "string"}}

func valuesType() *model.Type {
	return &model.Type{
		Name:    "Values",
		Package: &model.Package{Path: valuesPath, Name: "url"},
		Form:    model.Map, Key: texts.Elem, Elem: texts,
	}
}

// QueryConversion is the conversion of a request's query to options: each parameter to the field with its JSON name.
type QueryConversion struct {
	Pair
	// ByHand: the function is written by hand, and only an auto... beside it is generated.
	ByHand     bool
	Parameters []Parameter
}

// Parameter is a field that is set from a parameter.
type Parameter struct {
	// Path is the Go path of the struct with the field, from the variable out: out.Paging.
	Path  string
	Field *model.Field
	// Move says how the parameter's values, a []string, become the field's: a Call, an Assign of them all or of the
	// First, or a Cast.
	Move  *Move
	First bool
}

func (t *planner) queries() {
	for _, to := range t.explicit {
		p := Pair{valuesType(), to}
		q := &QueryConversion{Pair: p, ByHand: t.funcs.find(p) != nil}
		t.parameters(q, to, "out")
		t.checkDeclared("auto"+p.Function(), "rename it: conversions are generated under that name")
		if !q.ByHand {
			t.checkDeclared(p.Function(), "write it as "+p.signature(t.Package)+", or rename it")
		}
		t.FromQuery = append(t.FromQuery, q)
	}
}

func (t *planner) parameters(q *QueryConversion, typ *model.Type, path string) {
	for _, f := range typ.Fields {
		switch {
		case f.ConversionOff || f.Ignored || !f.Exported || isTypeMeta(f.Type):
		case f.Inline && f.Type.Form == model.Struct:
			t.parameters(q, f.Type, path+"."+f.Name)
		default:
			t.parameter(q, typ, f, path)
		}
	}
}

func (t *planner) parameter(q *QueryConversion, typ *model.Type, f *model.Field, path string) {
	p := Pair{texts, f.Type}
	x := Parameter{Path: path, Field: f, Move: &Move{Pair: p}}
	fn := t.funcs.find(p)
	if fn == nil {
		fn = baseConverter(p)
	}
	switch {
	case fn != nil && fn.Drop:
		x.Move.Kind = Nothing
	case fn != nil && !model.Identical(texts, f.Type):
		x.Move.Kind, x.Move.By = Call, fn
	case f.Type.Form == model.Basic && f.Type.Basic == "string":
		x.Move.Kind, x.First = Assign, true
	case model.Identical(texts, f.Type):
		x.Move.Kind = Assign
	case f.Type.Form == model.Slice && t.sameLayout(texts, f.Type):
		x.Move.Kind = Cast
		t.cast(p)
	default:
		t.Faults.Add(f.Pos, "field %s of %s can't be set from a query parameter: write %s in package %s, or mark the "+
			"field with +k8s:conversion-gen=false",
			f.Name, model.TypeText(typ), p.signature(t.Package), t.Package.Path)
		return
	}
	q.Parameters = append(q.Parameters, x)
}
