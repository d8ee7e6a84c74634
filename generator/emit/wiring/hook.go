package wiring

import "apigen.dev/generator/model"

// Hooks are the hand-written methods of a kind that a server calls on writes, in the order of a Strategy's fields: what only a
// server of our own can do.
func Hooks(r *model.Resource) []*model.Func {
	var out []*model.Func
	for _, c := range conventions() {
		if m := r.Hub.Methods[c.name]; m != nil && c.fits(m, r.Hub) {
			out = append(out, m)
		}
	}
	return out
}
