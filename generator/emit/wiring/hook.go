package wiring

import "apigen.dev/generator/model"

// Hooks are the hand-written methods of a kind that a server calls on writes, or the functions that stand for them, in the order
// of a Strategy's fields: what only a server of our own can do.
func Hooks(r *model.Resource) []*model.Func {
	var out []*model.Func
	for _, c := range conventionsOf(r) {
		if m := r.Hub.Methods[c.name]; m != nil && c.fits(m, r.Hub) {
			out = append(out, m)
		} else if f := c.function(r.Hub); f != nil {
			out = append(out, f)
		}
	}
	return out
}
