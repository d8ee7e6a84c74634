package wiring

import "apigen.dev/generator/model"

// hasDefaults tells whether SetObjectDefaults is emitted for a kind: its package asks for defaulting functions, and
// something below the kind has a default, a marker's or a hand-written SetDefaults function's.
func hasDefaults(home *model.Package, t *model.Type) bool {
	asked := home.Defaulter || t.Defaulter == "true" || t.Defaulter == "covers"
	return asked && t.Defaulter != "false" && defaulted(home, t, map[*model.Type]bool{})
}

func defaulted(home *model.Package, t *model.Type, seen map[*model.Type]bool) bool {
	if t == nil || seen[t] {
		return false
	}
	seen[t] = true
	if t.Default != nil || (t.Package != nil && home.Func("SetDefaults_"+t.Name) != nil) {
		return true
	}
	for _, f := range t.Fields {
		if f.Default != nil || (!f.Ignored && defaulted(home, f.Type, seen)) {
			return true
		}
	}
	return defaulted(home, t.Elem, seen)
}
