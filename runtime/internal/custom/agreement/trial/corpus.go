package trial

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"apigen.dev/runtime/registry"
)

// Corpus is what is known of the kinds of a project, whose objects may have hundreds of members.
type Corpus struct {
	// Definitions is a folder with one file for each kind.
	Definitions string
	// Samples are objects of each kind, by apiVersion and kind.
	Samples map[string][]json.RawMessage
	// Known are the differences that remain, by their reasons, as of a Trial, behind the name of the resource:
	// "books: only the type refuses spec.isbn".
	Known map[string][]string
}

// ReadCorpus reads a corpus from a file of JSON.
func ReadCorpus(t *testing.T, file string) (c Corpus) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(data, &c)
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Run holds each stored kind of the groups to its definition, as Trial does. Few objects don't show all that is known.
func (c Corpus) Run(t *testing.T, groups []registry.Group) {
	found := findings{}
	for _, group := range groups {
		for _, resource := range group.Resources {
			info := resource.Info()
			if info.Storage == "" {
				continue
			}
			plural := info.Names.Plural
			definition, err := os.ReadFile(filepath.Join(c.Definitions, group.Name+"_"+plural+".yaml"))
			if err != nil {
				t.Error(err)
				continue
			}
			tr := Trial{
				Group: group, Resource: resource, Definition: definition, Thin: true, Texts: texts, Right: 2,
				Samples: c.Samples[group.Name+"/"+info.Storage+" "+info.Names.Kind],
			}
			t.Run(plural+"."+group.Name, func(t *testing.T) {
				for difference, object := range tr.find(t) {
					found[plural+": "+difference] = object
				}
			})
		}
	}
	found.judge(t, c.Known, long())
}

// texts are values of strings: some match the usual patterns.
var texts = []string{"", "x", "ab", "5", "5s", "1Gi", "http://example.com", "a.example.com/b", "True"}
