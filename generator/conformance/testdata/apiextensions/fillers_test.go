package pairs

import (
	"reflect"

	theirs "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	theirsfuzzer "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/fuzzer"
	theirsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	theirsv1beta1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"sigs.k8s.io/randfill"

	ours "example.com/conformance/apis/apiextensions"
	oursfuzzer "example.com/conformance/apis/apiextensions/fuzzer"
	oursv1 "example.com/conformance/apis/apiextensions/v1"
	oursv1beta1 "example.com/conformance/apis/apiextensions/v1beta1"
)

func init() {
	codecs := serializer.NewCodecFactory(runtime.NewScheme())
	fillers = append(fillers, oursfuzzer.Funcs(codecs)...)
	fillers = append(fillers, theirsfuzzer.Funcs(codecs)...)
	fillers = append(fillers,
		// Upstream's functions know the internal types alone, and values in JSON neither.
		anything[ours.JSON], anything[theirs.JSON],
		func(v *oursv1.JSON, c randfill.Continue) { v.Raw = text(c) },
		func(v *theirsv1.JSON, c randfill.Continue) { v.Raw = text(c) },
		func(v *oursv1beta1.JSON, c randfill.Continue) { v.Raw = text(c) },
		func(v *theirsv1beta1.JSON, c randfill.Continue) { v.Raw = text(c) },
		few[oursv1.JSONSchemaProps], few[theirsv1.JSONSchemaProps], few[oursv1beta1.JSONSchemaProps], few[theirsv1beta1.JSONSchemaProps],
	)
}

var texts = []string{``, `null`, `true`, `"a"`, `[1.5,"b",null]`, `{"c":{"d":[]}}`, `{`}

func text(c randfill.Continue) []byte { return []byte(texts[c.Intn(len(texts))]) }

func anything[T any](v *T, c randfill.Continue) {
	values := []any{nil, c.String(0), c.Bool(), float64(c.Intn(100)), []any{c.String(0), nil}, map[string]any{"a": []any{c.Bool()}}}
	*v, _ = values[c.Intn(len(values))].(T)
}

// few fills the values of a struct, and few of the fields that lead on: the type contains itself in a dozen ways.
func few[T any](v *T, c randfill.Continue) {
	s := reflect.ValueOf(v).Elem()
	for i := range s.NumField() {
		switch s.Field(i).Kind() {
		case reflect.Map, reflect.Slice, reflect.Pointer:
			if c.Intn(12) > 0 {
				continue
			}
		}
		c.Fill(s.Field(i).Addr().Interface())
	}
}
