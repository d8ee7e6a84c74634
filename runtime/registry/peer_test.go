package registry_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/jsondoc"
	"apigen.dev/runtime/internal/object/ownership"
	"apigen.dev/runtime/internal/shop"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/storage/memory"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/conversion"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// peer is what kube-apiserver does with the ownership of a widget's fields: apimachinery's FieldManager over a Scheme.
type peer struct {
	testing.TB
	scheme   *runtime.Scheme
	managers map[[2]string]*managedfields.FieldManager
	live     *shop.Widget // nil: absent
}

var (
	hubVersion = schema.GroupVersion{Group: "shop.example.com", Version: runtime.APIVersionInternal}
	wireTypes  = map[string]func() api.Object{
		"v1":      func() api.Object { return &shop.WidgetV1{} },
		"v1beta1": func() api.Object { return &shop.WidgetV1beta1{} },
	}
)

func kindOf(version string) schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: "shop.example.com", Version: version, Kind: "Widget"}
}

func newPeer(t testing.TB) *peer {
	p := &peer{TB: t, scheme: runtime.NewScheme(), managers: map[[2]string]*managedfields.FieldManager{}}
	p.scheme.AddKnownTypeWithName(hubVersion.WithKind("Widget"), &shop.Widget{})
	for version, fresh := range wireTypes {
		p.scheme.AddKnownTypeWithName(kindOf(version), fresh())
	}
	shop.AddConversions(func(from, to any, convert func(from, to any) error) {
		if err := p.scheme.AddConversionFunc(from, to, func(a, b any, _ conversion.Scope) error {
			return convert(a,
				b)
		}); err != nil {
			t.Fatal(err)
		}
	})
	p.scheme.AddTypeDefaultingFunc(&shop.WidgetV1{}, func(w any) { shop.DefaultV1(w.(*shop.WidgetV1)) })
	p.scheme.AddTypeDefaultingFunc(&shop.WidgetV1beta1{}, func(any) {})
	schemas := map[string]*spec.Schema{}
	for _, packed := range shop.Documents() {
		data, err := packed.JSON()
		if err != nil {
			t.Fatal(err)
		}
		var document struct {
			Components struct{ Schemas map[string]*spec.Schema }
		}
		if err := json.Unmarshal(data, &document); err != nil {
			t.Fatal(err)
		}
		for name, s := range document.Components.Schemas {
			schemas[name] = s
		}
	}
	types, err := managedfields.NewTypeConverter(schemas, false)
	if err != nil {
		t.Fatal(err)
	}
	filters := map[string]fieldpath.Filter{
		"":       fieldpath.NewExcludeSetFilter(fieldpath.NewSet(fieldpath.MakePathOrDie("status"))),
		"status": fieldpath.NewIncludeMatcherFilter(fieldpath.MakePrefixMatcherOrDie("status")),
	}
	for version := range wireTypes {
		for subresource, filter := range filters {
			reset := map[fieldpath.APIVersion]fieldpath.Filter{"shop.example.com/v1": filter,
				"shop.example.com/v1beta1": filter}
			p.managers[[2]string{version, subresource}], err = managedfields.NewDefaultFieldManager(types,
				runtime.UnsafeObjectConvertor(p.scheme),
				p.scheme, p.scheme, kindOf(version), hubVersion, subresource, reset)
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	return p
}

// read is what a body means in the hub.
func (p *peer) read(version string, data []byte) *shop.Widget {
	p.Helper()
	obj := wireTypes[version]()
	if err := json.Unmarshal(data, obj); err != nil {
		p.Fatal(err)
	}
	obj.GetObjectKind().SetGroupVersionKind(kindOf(version))
	p.scheme.Default(obj)
	hub, err := p.scheme.ConvertToVersion(obj, hubVersion)
	if err != nil {
		p.Fatal(err)
	}
	return hub.(*shop.Widget)
}

func (p *peer) write(version string) []byte {
	p.Helper()
	obj, err := p.scheme.ConvertToVersion(p.live.DeepCopyObject(), kindOf(version).GroupVersion())
	if err != nil {
		p.Fatal(err)
	}
	data, err := json.Marshal(obj)
	if err != nil {
		p.Fatal(err)
	}
	return data
}

// set does a create, an update or a patch, given the object that comes out.
func (p *peer) set(version, subresource, manager string, next *shop.Widget) {
	p.Helper()
	var live runtime.Object = &shop.Widget{}
	if p.live != nil {
		live = p.live.DeepCopyObject()
	} else if empty, err := p.scheme.New(kindOf(version)); err == nil {
		live = empty
	}
	p.keep(subresource, p.managers[[2]string{version, subresource}].UpdateNoErrors(live, next, manager).(*shop.Widget))
}

// keep is what strategies do: the object can't set the status, and the status can't set anything else.
func (p *peer) keep(subresource string, next *shop.Widget) {
	switch {
	case subresource != "":
		updated := p.live.DeepCopyObject().(*shop.Widget)
		updated.Phase, updated.Clicks, updated.ManagedFields = next.Phase, next.Clicks, next.ManagedFields
		next = updated
	case p.live != nil:
		next.Phase, next.Clicks, next.UID = p.live.Phase, p.live.Clicks, p.live.UID
	default:
		next.Phase, next.Clicks, next.UID = "", 0, "uid"
	}
	p.live = next
	// What is stored is read with its defaults.
	p.live = p.read("v1", p.write("v1"))
}

func (p *peer) apply(version, subresource, manager, config string, force bool) error {
	p.Helper()
	patch := &unstructured.Unstructured{}
	if err := json.Unmarshal([]byte(config), &patch.Object); err != nil {
		p.Fatal(err)
	}
	integers(patch.Object)
	var live runtime.Object
	if p.live != nil {
		live = p.live.DeepCopyObject()
	} else {
		live, _ = p.scheme.New(kindOf(version))
	}
	out, err := p.managers[[2]string{version, subresource}].Apply(live, patch, manager, force)
	if err == nil {
		p.keep(subresource, out.(*shop.Widget))
	}
	return err
}

// integers makes numbers what apimachinery's decoders make of them.
func integers(object map[string]any) {
	for key, v := range object {
		switch v := v.(type) {
		case float64:
			object[key] = int64(v)
		case map[string]any:
			integers(v)
		}
	}
}

// Writer makes random writes.
type writer struct{ *rand.Rand }

func (w writer) one(of ...string) string { return of[w.IntN(len(of))] }

// members are some of those that are given, each as it is or with another value.
func (w writer) members(all ...string) string {
	var some []string
	for _, m := range all {
		if w.IntN(3) > 0 {
			some = append(some, m)
		}
	}
	return "{" + strings.Join(some, ",") + "}"
}

// object is a widget with some fields.
func (w writer) object(version, extra string) string {
	color, parts := `"color":`, w.one(`["a"]`, `["a","b"]`, `["b","c"]`, `["c","a","d"]`)
	if version == "v1beta1" {
		color, parts = `"colour":`, w.one(`"a"`, `"a,b"`, `"b,c"`, `"c,a,d"`)
	}
	spec := w.members(color+w.one(`"red"`, `"blue"`), `"size":`+w.one("2", "3"), `"parts":`+parts,
		`"notes":`+w.members(`"m":`+w.one(`"1"`, `"2"`), `"n":`+w.one(`"1"`, `"2"`)))
	status := w.members(`"phase":`+w.one(`"Up"`, `"Down"`), `"clicks":`+w.one("1", "2"))
	metadata := `"name":"a","namespace":"ns"` + extra
	if w.IntN(2) == 0 {
		metadata += `,"labels":` + w.members(`"x":`+w.one(`"1"`, `"2"`), `"y":`+w.one(`"1"`, `"2"`))
	}
	return fmt.Sprintf(`{"apiVersion":"shop.example.com/%s","kind":"Widget","metadata":{%s},"spec":%s,"status":%s}`,
		version, metadata, spec, status)
}

// patch is a merge patch.
func (w writer) patch(version string) string {
	color := `"color":`
	if version == "v1beta1" {
		color = `"colour":`
	}
	return fmt.Sprintf(`{"metadata":{"labels":%s},"spec":%s,"status":%s}`,
		w.members(`"x":`+w.one(`"1"`, `"2"`, "null"), `"z":`+w.one(`"1"`, "null")),
		w.members(color+w.one(`"red"`, `"blue"`, "null"), `"size":`+w.one("2", "3", "null"), `"notes":`+
			w.one(`{"m":null}`, `{"n":"3"}`, "null")),
		w.members(`"phase":`+w.one(`"Up"`, `"Down"`, "null")))
}

// TestOwnershipIsKubernetes makes random writes of several managers, versions and subresources, and compares owners,
// objects and conflicts with what apimachinery's own FieldManager makes of them.
func TestOwnershipIsKubernetes(t *testing.T) {
	sequences := uint64(60)
	if testing.Short() {
		sequences = 20
	}
	for seed := range sequences {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			w := writer{rand.New(rand.NewPCG(seed, 1))}
			p, b := newPeer(t), openSchema(t)
			for step := range 12 {
				if text := w.step(p, b); text != "" {
					t.Fatalf("step %d: %s", step, text)
				}
			}
		})
	}
}

func documents() *ownership.Schemas {
	return ownership.NewSchemas("shop.example.com", shop.Documents())
}

func brokenDocuments() *ownership.Schemas {
	document := jsondoc.New([]byte(`{"components":{"schemas":{"x":7}}}`))
	return ownership.NewSchemas("shop.example.com", map[string]api.Document{"v1": document})
}

func openSchema(t testing.TB) *bench {
	return openOver(t, memory.New(), registry.New(shop.Definition()), registry.Config{Schemas: documents()})
}

// step makes one write on both sides and tells how they differ.
func (w writer) step(p *peer, b *bench) string {
	version, manager, subresource := w.one("v1", "v1", "v1beta1"), w.one("m1", "m2", "m3", "kubectl"),
		w.one("", "", "status")
	opts := verb.WriteOptions{Form: verb.Form{Version: version}, FieldManager: manager, Force: w.IntN(3) == 0}
	if p.live == nil {
		subresource = ""
	}
	var err, want error
	var did string
	switch action := w.one("put", "patch", "apply", "apply"); {
	case action == "apply":
		did = w.object(version, "")
		want = p.apply(version, subresource, manager, did, opts.Force)
		_, err = b.Patch(b.ctx(), "ns", "a", subresource, verb.ApplyPatch, versioned(version, did), opts)
	case p.live == nil:
		did = w.object(version, "")
		p.set(version, "", manager, p.read(version, []byte(did)))
		_, err = b.Create(b.ctx(), "ns", versioned(version, did), opts)
	case action == "put":
		did = w.object(version, w.one("", "", "", `,"managedFields":[]`))
		p.set(version, subresource, manager, p.read(version, []byte(did)))
		_, err = b.Update(b.ctx(), "ns", "a", subresource, versioned(version, did), opts)
	default:
		did = w.patch(version)
		merged, mergeErr := jsonpatch.MergePatch(p.write(version), []byte(did))
		if mergeErr != nil {
			p.Fatal(mergeErr)
		}
		p.set(version, subresource, manager, p.read(version, merged))
		_, err = b.Patch(b.ctx(), "ns", "a", subresource, verb.MergePatch, versioned(version, did), opts)
	}
	did = fmt.Sprintf("%s by %s (force %t) of %q: %s", version, manager, opts.Force, subresource, did)
	if !sameError(err, want) {
		return fmt.Sprintf("%s\nerror %v\nwant  %v", did, err, want)
	}
	if p.live == nil {
		return ""
	}
	got, err := b.Get(b.ctx(), "ns", "a", "", v1)
	if err != nil {
		return err.Error()
	}
	if a, b := bare(b.parse(got)), bare(p.wire()); a != b {
		return fmt.Sprintf("%s\ngot  %s\nwant %s", did, a, b)
	}
	return ""
}

func versioned(version, data string) verb.Body {
	return verb.Body{Version: version, Data: []byte(data), Validation: metav1.FieldValidationStrict}
}

func (p *peer) wire() *shop.WidgetV1 {
	var w shop.WidgetV1
	if err := json.Unmarshal(p.write("v1"), &w); err != nil {
		p.Fatal(err)
	}
	return &w
}

// comparable is what of a widget doesn't depend on when and where it was written.
func bare(w *shop.WidgetV1) string {
	w.ObjectMeta = metav1.ObjectMeta{Name: w.Name, Labels: w.Labels, Annotations: w.Annotations,
		ManagedFields: w.ManagedFields}
	w.TypeMeta = metav1.TypeMeta{}
	if len(w.Labels) == 0 {
		w.Labels = nil
	}
	var owners []string
	for _, m := range w.ManagedFields {
		owners = append(owners, fmt.Sprintf("\n  %s %s %s %q %s %s", m.Manager, m.Operation, m.APIVersion,
			m.Subresource, m.FieldsType, m.FieldsV1.GetRawString()))
	}
	slices.Sort(owners)
	w.ManagedFields = nil
	data, _ := json.Marshal(w)
	return string(data) + strings.Join(owners, "")
}

// sameError compares conflicts as clients see them, in whatever order they come.
func sameError(a, b error) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	var statusA, statusB apierrors.APIStatus
	if !errors.As(a, &statusA) || !errors.As(b, &statusB) {
		return false
	}
	causes := func(s metav1.Status) (out []string) {
		for _, c := range s.Details.Causes {
			out = append(out, fmt.Sprint(c))
		}
		slices.Sort(out)
		return append(out, fmt.Sprint(s.Code, s.Reason), fmt.Sprint(len(s.Message)))
	}
	return slices.Equal(causes(statusA.Status()), causes(statusB.Status()))
}
