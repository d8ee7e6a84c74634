// Package pairs compares functions of ours with upstream's, two by two: list_test.go has them.
package pairs

import (
	"reflect"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/conversion"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/randfill"

	"example.com/conformance/compare"
)

const rounds = 40

// pair is a function of ours and upstream's, or pointers to values of a type of ours and upstream's.
type pair struct{ mine, upstream any }

// fillers are functions that fill what can't be filled at random. Further files add to them.
var fillers = []any{
	func(v *runtime.Object, c randfill.Continue) { *v = &metav1.Status{Message: c.String(0)} },
}

// both makes two values, one of each side, of the same content.
func both(t *testing.T, mine, upstream reflect.Type, seed int64) (a, b reflect.Value) {
	t.Helper()
	a, b = reflect.New(mine), reflect.New(upstream)
	compare.Fill(seed, a.Interface(), fillers...)
	compare.Fill(seed, b.Interface(), fillers...)
	if d := compare.Difference(a.Interface(), b.Interface()); d != "" {
		t.Fatalf("the input differs: %s", d)
	}
	return a, b
}

func TestCopies(t *testing.T) {
	for _, p := range copies {
		mine, upstream := reflect.TypeOf(p.mine).Elem(), reflect.TypeOf(p.upstream).Elem()
		t.Run(upstream.String(), func(t *testing.T) {
			for seed := range int64(rounds) {
				a, b := both(t, mine, upstream, seed)
				x, y := reflect.New(mine), reflect.New(upstream)
				a.MethodByName("DeepCopyInto").Call([]reflect.Value{x})
				b.MethodByName("DeepCopyInto").Call([]reflect.Value{y})
				if d := compare.Difference(x.Interface(), y.Interface()); d != "" && !isNil(a) {
					t.Fatalf("seed %d: copies differ: %s", seed, d)
				}
				if d := compare.Difference(x.Interface(), a.Interface()); d != "" {
					t.Fatalf("seed %d: the copy differs from the original: %s", seed, d)
				}
				moreShared(t, seed, a, x, b, y)
			}
		})
	}
	if len(copies) == 0 {
		t.Log("there are no types with copies")
	}
}

// isNil tells a list or map that is nil, of which upstream's DeepCopyInto makes an empty one.
func isNil(v reflect.Value) bool {
	kind := v.Elem().Kind()
	return (kind == reflect.Slice || kind == reflect.Map) && v.Elem().IsNil()
}

func TestDefaults(t *testing.T) {
	for _, p := range defaults {
		mine, upstream := reflect.ValueOf(p.mine), reflect.ValueOf(p.upstream)
		t.Run(upstream.Type().In(0).String(), func(t *testing.T) {
			for seed := range int64(rounds) {
				a, b := both(t, mine.Type().In(0).Elem(), upstream.Type().In(0).Elem(), seed)
				mine.Call([]reflect.Value{a})
				upstream.Call([]reflect.Value{b})
				if d := compare.Difference(a.Interface(), b.Interface()); d != "" {
					t.Fatalf("seed %d: defaults differ: %s", seed, d)
				}
			}
		})
	}
}

// TestConversions calls each function on the same input, and the same garbage where the output goes.
func TestConversions(t *testing.T) {
	converted := 0
	mine, upstream := converter(func(p pair) any { return p.mine }), converter(func(p pair) any { return p.upstream })
	for _, p := range conversions {
		m, u := reflect.TypeOf(p.mine), reflect.TypeOf(p.upstream)
		t.Run(p.name, func(t *testing.T) {
			for seed := range int64(rounds) {
				a, b := both(t, m.In(0).Elem(), u.In(0).Elem(), seed)
				x, y := both(t, m.In(1).Elem(), u.In(1).Elem(), -1-seed)
				err, wrong := mine.Convert(a.Interface(), x.Interface(), nil), upstream.Convert(b.Interface(), y.Interface(), nil)
				if (err == nil) != (wrong == nil) {
					t.Fatalf("seed %d: %v, and upstream %v", seed, err, wrong)
				}
				if err != nil {
					continue
				}
				converted++
				if d := compare.Difference(x.Interface(), y.Interface()); d != "" {
					t.Fatalf("seed %d: %s", seed, d)
				}
				moreShared(t, seed, a, x, b, y)
			}
		})
	}
	if converted < len(conversions)*rounds/2 {
		t.Errorf("of %d objects, %d were converted", len(conversions)*rounds, converted)
	}
	t.Logf("%d types copied, %d defaulted; %d conversions of %d objects", len(copies), len(defaults), len(conversions), converted)
}

// converter converts with all functions of one side.
func converter(side func(pair) any) *conversion.Converter {
	out := conversion.NewConverter(nil)
	for _, p := range conversions {
		fn := reflect.ValueOf(side(p.pair))
		from, to := reflect.Zero(fn.Type().In(0)).Interface(), reflect.Zero(fn.Type().In(1)).Interface()
		err := out.RegisterUntypedConversionFunc(from, to, func(a, b any, s conversion.Scope) error {
			err, _ := fn.Call([]reflect.Value{reflect.ValueOf(a), reflect.ValueOf(b), reflect.ValueOf(s)})[0].Interface().(error)
			return err
		})
		if err != nil {
			panic(err)
		}
	}
	return out
}

// moreShared fails a test where our output shares memory with its input and upstream's doesn't.
func moreShared(t *testing.T, seed int64, in, out, upstreamIn, upstreamOut reflect.Value) {
	t.Helper()
	theirs := compare.AllShared(upstreamIn.Interface(), upstreamOut.Interface())
	for _, s := range compare.AllShared(in.Interface(), out.Interface()) {
		if !slices.Contains(theirs, s) {
			t.Fatalf("seed %d: upstream doesn't share, and we do: %s", seed, s)
		}
	}
}
