package plan

import (
	"fmt"

	"apigen.dev/generator/internal/diag"
	"apigen.dev/generator/internal/model"
)

// Uncovered reports the fields that are lost in conversions of servers: the function that is written by hand leaves its
// struct to the generated one, which can't convert them, and names them nowhere.
func (p *Plan) Uncovered() diag.Errors {
	var out diag.Errors
	if !p.RuntimeAvailable {
		return out
	}
	for _, c := range p.Conversions() {
		if !p.Writes(c.Package) || !c.Package.Own() {
			continue
		}
		for _, f := range c.Functions {
			if fn := c.Package.Func(f.Pair.Function()); f.ByHand && fn != nil && fn.BodyNames["auto"+fn.Name] {
				f.uncovered(fn, &out)
			}
		}
	}
	return out
}

func (c *Conversion) uncovered(fn *model.Func, out *diag.Errors) {
	from, to := c.texts(nil)
	for _, x := range c.Problems {
		why, markers := to+" has no such field", "+apigen:conversion:preserve or +apigen:conversion:drop"
		switch {
		case x.move == nil || fn.BodyNames[x.move.Field.Name]:
			continue
		case x.rule != nil:
			in, out := x.rule.texts(nil)
			why, markers = fmt.Sprintf("no rule converts %s to %s", in, out), "+apigen:conversion:drop"
		case !x.lost():
			continue
		}
		pos := x.pos
		if c.In.Package == nil || !c.In.Package.Own() {
			pos = fn.Pos
		}
		out.Add(pos, "field %s of %s is lost: %s, and %s doesn't name the field: convert it there, or mark it with %s",
			x.Field, from, why, fn.Name, markers)
	}
}
