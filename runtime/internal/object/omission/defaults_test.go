package omission

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"
)

// completes completes objects of JSON, twice, and wants what they are written as.
func completes(t *testing.T, f *Form, set func(*lamp) func(), bodies map[string]string) {
	t.Helper()
	for body, want := range bodies {
		l, expected := &lamp{}, map[string]any{}
		if err := errors.Join(json.Unmarshal([]byte(body), l), json.Unmarshal([]byte(want), &expected)); err != nil {
			t.Fatal(err)
		}
		f.Complete(l, []byte(body), set(l))
		for range 2 {
			if got := written(t, f, l); !reflect.DeepEqual(got, expected) {
				t.Errorf("%s: %v, want %v", body, got, expected)
			}
			f.CompleteAgain(l, set(l))
		}
	}
}

// TestDefaultsIfSent: structs get defaults inside only if they are there: they were sent, although empty, or code has
// set them.
func TestDefaultsIfSent(t *testing.T) {
	f := FormOf(reflect.TypeFor[*lamp](), Rules{
		IfSent: []string{"spec", "spec.back.logo", "parts[*].logo", "named[*].logo", "none[*].there"},
	})
	set := func(l *lamp) func() {
		return func() {
			l.Spec.Width = 3
			if l.Spec.Back != nil {
				l.Spec.Back.Logo.Color = "red"
			}
			for i := range l.Parts {
				l.Parts[i].Logo.Color = "red"
			}
			for name, part := range l.Named {
				part.Logo.Color = "red"
				l.Named[name] = part
			}
		}
	}
	completes(t, f, set, map[string]string{
		`{}`: `{}`, `{"spec":{}}`: `{"spec":{"width":3}}`, `{"spec":null}`: `{}`,
		`{"spec":{"hue":""}}`:           `{"spec":{"width":3,"hue":""}}`,
		`{"spec":{"back":{"hue":"a"}}}`: `{"spec":{"width":3,"back":{"hue":"a"}}}`,
		`{"spec":{"back":{"logo":{"lines":[]}}}}`: `{"spec":{"width":3,"back":{` +
			`"logo":{"color":"red","lines":[]}}}}`,
		`{"parts":[{},{"logo":{}},{"logo":{"name":"a"}}],"named":{"a":{},"b":{"logo":{}}}}`: `{"parts":[` +
			`{},{"logo":{"color":"red"}},{"logo":{"name":"a","color":"red"}}],` +
			`"named":{"a":{},"b":{"logo":{"color":"red"}}}}`,
	})
	l := &lamp{Parts: []lampSpec{{}}}
	f.Complete(l, []byte(`{"parts":[{}]}`), set(l))
	l.Spec.Hue, l.Parts[0].Logo.Name = "set by code", "as well"
	f.CompleteAgain(l, set(l))
	if l.Spec.Width != 3 || l.Parts[0].Logo.Color != "red" {
		t.Errorf("%+v", l)
	}
}

// TestEmptyStructs: a struct with a default of its own that a client sends without members doesn't get that default,
// but those inside; what code sets in it later stays.
func TestEmptyStructs(t *testing.T) {
	const empty = `{"color":"red"}`
	f := FormOf(reflect.TypeFor[*lamp](), Rules{Empty: map[string]string{
		"spec.logo": empty, "parts[*].logo": empty, "named[*].logo": empty, "none[*].there": empty,
	}})
	setLogo := func(l *logo) {
		if reflect.ValueOf(*l).IsZero() {
			l.Name = "own"
		}
		if l.Color == "" {
			l.Color = "red"
		}
	}
	set := func(l *lamp) func() {
		return func() {
			setLogo(&l.Spec.Logo)
			for i := range l.Parts {
				setLogo(&l.Parts[i].Logo)
			}
			for name, part := range l.Named {
				setLogo(&part.Logo)
				l.Named[name] = part
			}
		}
	}
	const own, red = `{"name":"own","color":"red"}`, `{"color":"red"}`
	completes(t, f, set, map[string]string{
		`{"spec":{}}`:                    `{"spec":{"logo":` + own + `}}`,
		`{"spec":{"logo":{}}}`:           `{"spec":{"logo":` + red + `}}`,
		`{"spec":{"logo":null}}`:         `{"spec":{"logo":` + own + `}}`,
		`{"spec":{"logo":{"name":""}}}`:  `{"spec":{"logo":{"name":"","color":"red"}}}`,
		`{"spec":{"logo":{"name":"a"}}}`: `{"spec":{"logo":{"name":"a","color":"red"}}}`,
		`{"spec":{"logo":{}},"parts":[{},{"logo":{}}]}`: `{"spec":{"logo":` + red + `},"parts":[{"logo":` + own +
			`},{"logo":` + red + `}]}`,
		`{"spec":{"logo":{}},"named":{"a":{"logo":{}},"b":{}}}`: `{"spec":{"logo":` + red + `},"named":{"a":{"logo":` +
			red + `},"b":{"logo":` + own + `}}}`,
	})
	l := &lamp{}
	f.Complete(l, []byte(`{"spec":{"logo":{}}}`), set(l))
	l.Spec.Logo.Name = "set by code"
	f.CompleteAgain(l, set(l))
	if l.Spec.Logo.Name != "set by code" || l.Spec.Logo.Color != "red" {
		t.Errorf("%+v", l.Spec.Logo)
	}
}
