package crd

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"sort"
	"testing"
)

// known are the differences that are meant, by the place where they are and why. theirs is what controller-gen has.
var known = []struct {
	place, reason string
	theirs        any
}{
	{`\.azureDisk\.properties\.(cachingMode|kind)\.default$`,
		"controller-gen skips +default=ref(...); apigen reads the constant, as defaulter-gen does", nil},
	{`\.healthConditions\.items\.properties\.(message|reason)\.maxLength$`,
		"controller-gen doesn't read +k8s:maxLength; " +
			"apigen's three products (server, OpenAPI, definition) agree on it", nil},
	{`\.(evictionResponders|scheduling)\..*\.format$`, "controller-gen doesn't read +k8s:format", nil},
	{`\.(wide|getConcurrency|timeout)\.format$`,
		"controller-gen writes int32 for uint32, of which a cluster refuses values beyond int32", "int32"},
}

// TestDefinitions makes the definitions of each project with both generators. The definitions are equal up to ordering,
// except for the known differences, and a cluster accepts ours where it accepts controller-gen's.
func TestDefinitions(t *testing.T) {
	if testing.Short() {
		t.Skip("loads the packages of real projects")
	}
	tool, met := controllerGen(t), map[string]bool{}
	for _, s := range sources {
		t.Run(s.name, func(t *testing.T) {
			theirs, ours := s.theirs(t, tool), s.ours(t)
			if len(theirs) == 0 {
				t.Fatal("controller-gen wrote nothing")
			}
			for _, name := range slices.Sorted(maps.Keys(theirs)) {
				if ours[name] == nil {
					t.Errorf("%s is missing", name)
					continue
				}
				for _, d := range differences(theirs[name], ours[name], name) {
					if reason := meant(d); reason != "" {
						met[reason] = true
						continue
					}
					t.Error(d)
				}
				accepted(t, name, ours[name])
			}
			for _, name := range slices.Sorted(maps.Keys(ours)) {
				if theirs[name] == nil {
					t.Errorf("%s is too much", name)
				}
			}
			t.Logf("%d definitions", len(ours))
		})
	}
	for _, k := range known {
		if !met[k.reason] && !t.Failed() {
			t.Errorf("no document differs any more where %s: %s", k.place, k.reason)
		}
	}
}

// difference is a place where two documents differ.
type difference struct {
	place        string
	theirs, ours any
}

func (d difference) String() string {
	return fmt.Sprintf("%s: controller-gen has %#v, apigen %#v", d.place, d.theirs, d.ours)
}

// meant is the reason for a difference that is known, or empty.
func meant(d difference) string {
	for _, k := range known {
		if d.theirs == k.theirs && regexp.MustCompile(k.place).MatchString(d.place) {
			return k.reason
		}
	}
	return ""
}

// sets are the lists whose order means nothing.
var sets = regexp.MustCompile(`\.(x-kubernetes-validations|enum|allOf)$`)

// differences are the places where two documents differ.
func differences(theirs, ours any, place string) []difference {
	var out []difference
	switch w := theirs.(type) {
	case map[string]any:
		g, ok := ours.(map[string]any)
		if !ok {
			break
		}
		keys := maps.Clone(w)
		maps.Copy(keys, g)
		for _, k := range slices.Sorted(maps.Keys(keys)) {
			out = append(out, differences(w[k], g[k], place+"."+k)...)
		}
		return out
	case []any:
		g, ok := ours.([]any)
		if !ok || len(g) != len(w) {
			break
		}
		if sets.MatchString(place) {
			w, g = ordered(w), ordered(g)
		}
		for i := range w {
			out = append(out, differences(w[i], g[i], fmt.Sprintf("%s[%d]", place, i))...)
		}
		return out
	}
	if reflect.DeepEqual(theirs, ours) {
		return nil
	}
	return []difference{{place, theirs, ours}}
}

func ordered(list []any) []any {
	out := slices.Clone(list)
	sort.SliceStable(out, func(i, j int) bool { return fmt.Sprint(out[i]) < fmt.Sprint(out[j]) })
	return out
}
