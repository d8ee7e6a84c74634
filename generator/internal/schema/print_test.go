package schema

import (
	"encoding/json"
	"fmt"
	"strings"

	"apigen.dev/generator/internal/model"
)

// Print returns the tree below a type as text: a line for each property and element,
// indented, with the form, whether the property is required, its default, and what each layer of markers says, the
// nearest first. A type that is inside of itself is printed once.
func (t *Type) Print() string {
	p := printer{inside: map[*Type]bool{}}
	p.value("", t.Go.Name, t, t.Layers)
	return p.String()
}

type printer struct {
	strings.Builder
	inside map[*Type]bool
}

func (p *printer) value(indent, name string, t *Type, layers Layers, notes ...string) {
	words := []string{name + ":", string(t.JSON)}
	for _, word := range []string{t.Format, bits(t.Bits), known(t)} {
		if word != "" {
			words = append(words, word)
		}
	}
	words = append(words, notes...)
	for _, layer := range layers {
		if text := keywords(layer.Schema); text != "" {
			words = append(words, origin(layer, name)+text)
		}
	}
	fmt.Fprintln(p, indent+strings.Join(words, " "))
	if !t.Structural || p.inside[t] {
		return
	}
	p.inside[t] = true
	for _, property := range t.Properties() {
		var notes []string
		if property.Required {
			notes = append(notes, "required")
		}
		if d := property.Default; d != nil {
			notes = append(notes, "default="+d.JSON)
		}
		layers := append(Layers{{Schema: &property.Go.Schema}}, property.Type.Layers...)
		p.value(indent+"  ", property.Go.JSON, property.Type, layers, notes...)
	}
	if t.Elem != nil {
		p.value(indent+"  ", "*", t.Elem, append(layers.Items(), t.Elem.Layers...))
	}
	delete(p.inside, t)
}

func bits(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

// origin names the place of the markers: a type, or what has the name.
func origin(l Layer, name string) string {
	if l.Type != nil {
		return l.Type.Name
	}
	return name
}

// keywords returns the keywords of a layer as JSON; it is empty if there are none.
func keywords(s *model.Schema) string {
	found := Keywords(s)
	if rules := Validations(s); rules != nil {
		found["x-kubernetes-validations"] = rules
	}
	if len(found) == 0 {
		return ""
	}
	out, err := json.Marshal(found)
	if err != nil {
		return err.Error()
	}
	return string(out)
}

// known returns the last element of the path of a well-known type.
func known(t *Type) string { return string(t.Known[strings.LastIndexByte(string(t.Known), '/')+1:]) }
