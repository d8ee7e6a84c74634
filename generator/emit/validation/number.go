package validation

import (
	"math"
	"math/big"
	"strconv"

	"apigen.dev/generator/model"
)

// limits are the least and the greatest value of each type of whole numbers.
var limits = map[string][2]*big.Int{
	"int":    {big.NewInt(math.MinInt64), big.NewInt(math.MaxInt64)},
	"int8":   {big.NewInt(math.MinInt8), big.NewInt(math.MaxInt8)},
	"int16":  {big.NewInt(math.MinInt16), big.NewInt(math.MaxInt16)},
	"int32":  {big.NewInt(math.MinInt32), big.NewInt(math.MaxInt32)},
	"rune":   {big.NewInt(math.MinInt32), big.NewInt(math.MaxInt32)},
	"int64":  {big.NewInt(math.MinInt64), big.NewInt(math.MaxInt64)},
	"uint":   {new(big.Int), new(big.Int).SetUint64(math.MaxUint64)},
	"uint8":  {new(big.Int), big.NewInt(math.MaxUint8)},
	"byte":   {new(big.Int), big.NewInt(math.MaxUint8)},
	"uint16": {new(big.Int), big.NewInt(math.MaxUint16)},
	"uint32": {new(big.Int), big.NewInt(math.MaxUint32)},
	"uint64": {new(big.Int), new(big.Int).SetUint64(math.MaxUint64)},
}

// number is a literal that Go and people read alike: 10, not 1e1.
func number(text string) string {
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

// integral tells whether the text is a whole number.
func integral(text string) bool {
	f, ok := new(big.Float).SetString(text)
	return ok && f.IsInt()
}

// vacuous tells whether the bound is no value of the type, or one that excludes nothing: the compiler would not take a
// comparison with the former.
func vacuous(r *model.Rule, t *model.Type) bool {
	limit, ok := limits[t.Basic]
	bound, parsed := new(big.Int).SetString(number(r.Text), 10)
	if !ok || !parsed {
		return false
	}
	least, most := bound.Cmp(limit[0]), bound.Cmp(limit[1])
	if least < 0 || most > 0 {
		return true
	}
	return !r.Exclusive && (r.Check == model.Minimum && least == 0 || r.Check == model.Maximum && most == 0)
}
