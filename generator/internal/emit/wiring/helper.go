package wiring

import (
	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/internal/emit/gocode"
)

func (p *printer) helpers(f *jen.File) {
	for _, helper := range []struct {
		called bool
		text   string
	}{{p.textual, jsonCell}, {p.dated, dateCell}, {p.selecting, selectorText}, {p.scoped, groupScope}} {
		if helper.called {
			f.Add(gocode.Code(helper.text))
		}
	}
	p.readers(f)
}

const jsonCell = `
// jsonCell shows a value as its JSON, without the quotes where that is a string.
func jsonCell(value any) api.Cell {
	data, err := json.Marshal(value)
	if err != nil || string(data) == "null" {
		return api.Cell{}
	}
	var text string
	if json.Unmarshal(data, &text) == nil {
		return api.Text(text)
	}
	return api.Text(string(data))
}`

const dateCell = `
// dateCell shows the time since a date in text.
func dateCell(text string) api.Cell {
	date, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return api.Cell{}
	}
	return api.Age(date)
}`

const selectorText = `
// selectorText is a label selector as clients of Scale read it; one that can't be read selects nothing.
func selectorText(s *metav1.LabelSelector) string {
	selector, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		return ""
	}
	return selector.String()
}`

// groupScope is the conversion.Scope that hand-written conversion functions get. Generated functions call each other
// and hand the scope on; a hand-written one may ask it to convert a member, which takes a scheme.
const groupScope = `
// groupScope lets conversion functions convert what they hold: it looks functions up in a scheme of the group, which is
// made when one is first asked for.
type groupScope struct {
	scheme func() (*runtime.Scheme, error)
}

func newScope() conversion.Scope {
	return groupScope{scheme: sync.OnceValues(func() (*runtime.Scheme, error) {
		scheme := runtime.NewScheme()
		return scheme, AddToScheme(scheme)
	})}
}

// Convert converts from one object to another, both pointers.
func (s groupScope) Convert(from, to any) error {
	scheme, err := s.scheme()
	if err != nil {
		return err
	}
	return scheme.Convert(from, to, nil)
}

// Meta is empty: there is no context beyond the objects.
func (groupScope) Meta() *conversion.Meta {
	return &conversion.Meta{}
}`
