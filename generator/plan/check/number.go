package check

import (
	"math/big"
	"strconv"

	"apigen.dev/generator/model"
)

// Number returns a literal that Go and people read alike: 10, not 1e1.
func Number(text string) string {
	f, ok := new(big.Float).SetString(text)
	if !ok {
		return "0"
	}
	if f.IsInt() {
		i, _ := f.Int(nil)
		return i.String()
	}
	v, _ := f.Float64()
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// Integral reports whether the text is a whole number.
func Integral(text string) bool {
	f, ok := new(big.Float).SetString(text)
	return ok && f.IsInt()
}

// vacuous reports whether a bound excludes no value of the type, or is no value of it, which the compiler would not
// compare with one.
func vacuous(r *model.Rule, t *model.Type) bool {
	least, most, ok := model.IntegerLimits(t.Basic)
	bound, parsed := new(big.Int).SetString(Number(r.Text), 10)
	if !ok || !parsed {
		return false
	}
	if bound.Cmp(least) < 0 || bound.Cmp(most) > 0 {
		return true
	}
	return !r.Exclusive && (r.Check == model.Minimum && bound.Cmp(least) == 0 || r.Check == model.Maximum &&
		bound.Cmp(most) == 0)
}
