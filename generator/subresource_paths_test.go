package generator_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"apigen.dev/generator"
	"apigen.dev/generator/internal/report"
)

// partial gives the ships a list of cabins, whose guests have a path of their own, and a status. In v1beta1, harbour is
// called port. Markers are those of a version's Ship, hooks those of the hub.
func partial(t *testing.T, markers func(version string) string, hooks string) generator.Options {
	return subresources(t, func(version, data string) string {
		collecting := data
		tag := func(name string) string {
			if version == "" {
				return ""
			}
			return " `json:\"" + name + "\"`"
		}
		data = strings.Replace(data, "\tCrew    *Crew", "\t// +listType=map\n\t// +listMapKey=name\n\tCabins []Cabin"+
			tag("cabins")+"\n\tHull Hull"+tag("hull")+"\n\tHolds map[string]Hull"+tag("holds")+"\n\tLoose []Hull"+
			tag("loose")+"\n\tCrew    *Crew", 1)
		data += "\ntype Cabin struct {\n\tName string" + tag("name") + "\n\tGuests []string" + tag("guests") +
			"\n\tLimit *int32" + tag("limit") + "\n\t// +listType=map\n\t// +listMapKey=number\n\tBerths []Berth" +
			tag("berths") + "\n}\n\ntype Berth struct {\n\tNumber int32" + tag("number") + "\n\tLinen string" +
			tag("linen") + "\n}\n\ntype Hull struct{ Paint string" + tag("paint") + " }\n"
		if version == "" {
			if strings.Contains(data, "package apis") {
				return collecting
			}
			return strings.Replace(data, "\tSpec ShipSpec\n", "\tSpec ShipSpec\n\tStatus ShipStatus\n", 1) +
				"\ntype ShipStatus struct{ Lights int32 }\n" + hooks
		}
		if version == "v1beta1" {
			data = strings.Replace(data, "Harbour string `json:\"harbour,omitempty\"`",
				"Port string `json:\"port,omitempty\"`", 1)
			data = strings.Replace(data, "\tPort string", "\t// +apigen:conversion:name=Harbour\n\tPort string", 1)
		}
		data = strings.Replace(data, "// +apigen:subresource:name=docking\n",
			markers(version)+"// +apigen:subresource:name=docking\n", 1)
		return strings.Replace(data, "\tSpec ShipSpec     `json:\"spec\"`\n",
			"\tSpec ShipSpec     `json:\"spec\"`\n\tStatus ShipStatus `json:\"status\"`\n", 1) +
			"\ntype ShipStatus struct{ Lights int32 `json:\"lights\"` }\n"
	})
}

const partHooks = `
func (s *Ship) PrepareForBerthUpdate(ctx context.Context, old *Ship)                   {}
func (s *Ship) ValidateBerthUpdate(ctx context.Context, old *Ship) field.ErrorList     { return nil }
func (s *Ship) PrepareForStatusUpdate(ctx context.Context, old *Ship)                  {}
`

// TestPartsOfTheObject: the wiring copies the fields that the paths of each version lead to.
func TestPartsOfTheObject(t *testing.T) {
	o := partial(t, func(version string) string {
		harbour := ".spec.harbour"
		if version == "v1beta1" {
			harbour = ".spec.port"
		}
		return "// +apigen:subresource:name=berth,parts=" + harbour + ",metadata=labels;annotations,methods=PUT;GET\n" +
			"// +apigen:subresource:name=cabins,parts=.spec.cabins[*].guests;.spec.hull.paint;.spec.cabins[*].limit;" +
			".spec.cabins[*].berths[*].linen,metadata=*\n// +apigen:subresource:name=status,metadata=annotations\n"
	}, partHooks)
	hub := filepath.Join(o.Dir, "apis/fleet/types.go")
	source, err := os.ReadFile(hub)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(string(source), "\n)\n", "\n\t\"k8s.io/apimachinery/pkg/util/validation/field\"\n)\n", 1)
	if err := os.WriteFile(hub, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	wiring := compiledWiring(t, o)
	for _, want := range []string{
		`Fields:   map[string][]string{"v1": {"spec.harbour"}, "v1beta1": {"spec.port"}},
			Metadata: []string{"annotations", "labels"},
			Verbs:    []string{"get", "update"},
			Copy: func(from, to *fleet.Ship) {
				to.Spec.Harbour = from.Spec.Harbour
			},
			Prepare: func(ctx context.Context, obj, old *fleet.Ship) {
				obj.PrepareForBerthUpdate(ctx, old)
			},
			Validate: func(ctx context.Context, obj, old *fleet.Ship) field.ErrorList {
				return obj.ValidateBerthUpdate(ctx, old)
			},`,
		`Metadata: []string{"annotations", "finalizers", "labels", "ownerReferences"},
			Copy: func(from, to *fleet.Ship) {
				for from, to := range subresource.Items(from.Spec.Cabins, to.Spec.Cabins, ` +
			`func(item *fleet.Cabin) string { return item.Name }) {
					to.Guests = from.DeepCopy().Guests
					to.Limit = from.DeepCopy().Limit
					for from, to := range subresource.Items(from.Berths, to.Berths, ` +
			`func(item *fleet.Berth) int32 { return item.Number }) {
						to.Linen = from.Linen
					}
				}
				to.Spec.Hull.Paint = from.Spec.Hull.Paint
			},
			Match: func(obj, old *fleet.Ship) field.ErrorList {
				var errs field.ErrorList
				errs = append(errs, subresource.SameItems(field.NewPath("spec", "cabins"), "name", ` +
			`obj.Spec.Cabins, old.Spec.Cabins, func(item *fleet.Cabin) string { return item.Name })...)
				for i := range min(len(obj.Spec.Cabins), len(old.Spec.Cabins)) {
					obj, old, path := &obj.Spec.Cabins[i], &old.Spec.Cabins[i], field.NewPath("spec", "cabins").Index(i)
					errs = append(errs, subresource.SameItems(path.Child("berths"), "number", ` +
			`obj.Berths, old.Berths, func(item *fleet.Berth) int32 { return item.Number })...)
				}
				return errs
			},
		}},`,
		`			Name:     "status",
			Metadata: []string{"annotations"},`,
		"obj.PrepareForStatusUpdate(ctx, old)",
	} {
		if !strings.Contains(wiring, want) {
			t.Errorf("the wiring has no %s in\n%s", want, wiring)
		}
	}
}

// TestPartErrors: a part that can't be served is an error at its marker.
func TestPartErrors(t *testing.T) {
	bad := map[string]string{
		"name=x0,parts=.spec.none":                `in version v1 of Ship: ShipSpec has no field "none"`,
		"name=x1,parts=.spec.crew.wanted":         "it leads through crew, which is a pointer: declare crew whole",
		"name=x2,parts=.spec.holds.a":             "it leads through a map, whose values an object may lack",
		"name=x3,parts=.spec.loose[*].paint":      "the items of a list are no structs that one key tells apart",
		"name=x4,parts=.spec.cabins[0].guests":    "it leads to fields, and [*] stands for the items of a list",
		"name=x5,parts=.spec.cabins[*]":           "it leads to fields, and [*] stands for the items of a list",
		"name=x6,parts=.metadata.labels":          "members of metadata are declared by metadata=",
		"name=x7,parts=.spec.harbour":             "in version v1beta1 of Ship: ShipSpec has no field \"harbour\"",
		"name=x8,parts=.spec.hull,methods=POST":   "and methods= may be GET, PATCH, PUT",
		"name=x9,parts=.spec.hull,subpath=true":   "subpath= and contentType= mean nothing here",
		"name=docking,parts=.spec.hull":           "and method Docking of Ship has its name",
		"name=log,metadata=labels":                "are a part of the object, and method Log of Ship is the",
		"name=x12,parts=.spec.hull,metadata=name": `"name" is no member of metadata that a subresource changes`,
		"name=status":                        "the subresource status needs no +apigen:subresource: a Status field",
		"name=status,metadata=*,parts=.spec": "the status of Ship is the field Status: write metadata= alone",
	}
	o := partial(t, func(version string) (lines string) {
		if version == "v1" {
			for marker := range bad {
				lines += "// +apigen:subresource:" + marker + "\n"
			}
		}
		return lines
	}, "")
	_, err := generator.Build(t.Context(), o)
	if err == nil {
		t.Fatal("it was built")
	}
	got := report.Describe(err, o.Dir)
	for marker, want := range bad {
		if !strings.Contains(got, want) {
			t.Errorf("%s: no %q in\n%s", marker, want, got)
		}
	}
	if n := strings.Count(got, "apis/fleet/v1/types.go:"); n != len(bad) {
		t.Errorf("%d errors for %d markers:\n%s", n, len(bad), got)
	}
}
