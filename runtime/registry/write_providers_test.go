package registry_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"apigen.dev/runtime/internal/object/ownership"
	"apigen.dev/runtime/internal/shop"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/storage/memory"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// keeper is a provider that keeps widgets as storage would: with a UID and a resourceVersion for each.
type keeper struct {
	widgets  map[string]*shop.Widget
	revision int
}

func (k *keeper) provider() registry.Provider[*shop.Widget] {
	s := &shelf{widgets: k.widgets}
	p := s.provider()
	p.Create = func(_ context.Context, obj *shop.Widget, dryRun bool) (*shop.Widget, error) {
		if k.widgets[obj.Name] != nil {
			return nil, apierrors.NewAlreadyExists(schema.GroupResource{Group: "shop.example.com", Resource: "widgets"},
				obj.Name)
		}
		obj.UID, obj.CreationTimestamp = types.UID("u-"+obj.Name), metav1.Now()
		return k.put(obj, dryRun), nil
	}
	p.Update = func(_ context.Context, obj, _ *shop.Widget, dryRun bool) (*shop.Widget, error) {
		return k.put(obj, dryRun), nil
	}
	return p
}

func (k *keeper) put(obj *shop.Widget, dryRun bool) *shop.Widget {
	if !dryRun {
		k.revision++
		obj.ResourceVersion = fmt.Sprint(k.revision)
		k.widgets[obj.Name] = obj.DeepCopyObject().(*shop.Widget)
	}
	return obj
}

// endsOf opens a kind twice: with storage, and with a provider that keeps objects in the same way. Each has the object
// a.
func endsOf(t *testing.T, d registry.Definition[*shop.Widget]) map[string]verb.Handle {
	t.Helper()
	d.Subresources = nil // a provider has none
	backend := memory.New()
	t.Cleanup(func() { backend.Close() })
	k := &keeper{widgets: map[string]*shop.Widget{}}
	handles := map[string]verb.Handle{}
	for name, resource := range map[string]registry.Resource{
		"storage": registry.New(d), "provider": registry.NewProvided(d, k.provider()),
	} {
		h, err := resource.Open(t.Context(), registry.Config{
			Backend: backend, Prefix: "/registry", DisableCache: true,
			Schemas: ownership.NewSchemas("shop.example.com", shop.Documents()),
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { h.Close() })
		a := body(`{"metadata":{"name":"a","labels":{"a":"b"}},"spec":{"color":"red","size":3}}`)
		if _, err = h.Create(t.Context(), "ns", a, verb.WriteOptions{Form: v1, FieldManager: "setup"}); err != nil {
			t.Fatal(err)
		}
		handles[name] = h
	}
	return handles
}

// endCase is a write that means the same at both ends.
type endCase struct {
	name string
	// verb is create, update, delete or a patch type. The object is a, unless target says otherwise.
	verb, target, data string
	dryRun             bool
	// want is part of the answer: the error's code and message, or warnings and object.
	want string
}

const missing = `Widget.shop.example.com "x" is invalid: metadata.`

var endCases = []endCase{
	{"create", "create", "", `{"metadata":{"name":"x"},"spec":{"color":"blue"}}`, false, `"color":"blue"`},
	{"create again", "create", "", `{"metadata":{"name":"a"}}`, false,
		`409 widgets.shop.example.com "a" already exists`},
	{"generate a name", "create", "", `{"metadata":{"generateName":"x-"}}`, false, `"name":"x-`},
	{"a name and a generateName", "create", "", `{"metadata":{"name":"a","generateName":"x-"}}`, false,
		`the server was not able to generate`},
	{"create with warnings", "create", "", `{"metadata":{"name":"x"},"spec":{"color":"beige"}}`, false,
		`[spec.color: beige is out of fashion]`},
	{"create in a dry run", "create", "", `{"metadata":{"name":"x"},"spec":{"color":"blue"}}`, true, `"color":"blue"`},
	{"create with a bad label", "create", "", `{"metadata":{"name":"x","labels":{"a b":"c"}}}`, false, `422 ` +
		missing + `labels`},
	{"create with a bad annotation", "create", "", `{"metadata":{"name":"x","annotations":{"a b":"c"}}}`, false,
		`422 ` + missing + `annotations`},
	{"create with a bad finalizer", "create", "", `{"metadata":{"name":"x","finalizers":["no no"]}}`, false, `422 ` +
		missing + `finalizers`},
	{"create with a bad owner", "create", "", `{"metadata":{"name":"x","ownerReferences":[{"name":"o"}]}}`, false,
		`metadata.ownerReferences[0].uid: Required value`},
	{"create with a bad name", "create", "", `{"metadata":{"name":"X_y"}}`, false,
		`422 Widget.shop.example.com "X_y" is invalid: metadata.name`},
	{"create with a bad generateName", "create", "", `{"metadata":{"generateName":"X_"}}`, false,
		`metadata.generateName`},
	{"create of what is deleted", "create", "", `{"metadata":{"name":"x","uid":"mine",` +
		`"creationTimestamp":"2001-01-01T00:00:00Z",` +
		`"deletionTimestamp":"2001-01-01T00:00:00Z","deletionGracePeriodSeconds":3,"selfLink":"/x"}}`, false,
		`{"metadata":{"name":"x","namespace":"ns"}`},
	{"create with an owner twice", "create", "", `{"metadata":{"name":"x","ownerReferences":[` + dependentOf + `,` +
		dependentOf + `]}}`, false,
		`[.metadata.ownerReferences contains duplicate entries; API server dedups`},
	{"update", "update", "", `{"metadata":{"name":"a"},"spec":{"color":"blue"}}`, false, `"color":"blue"`},
	{"update in a dry run", "update", "", `{"metadata":{"name":"a"},"spec":{"color":"blue"}}`, true, `"color":"blue"`},
	{"update of another UID", "update", "", `{"metadata":{"name":"a","uid":"other"}}`, false,
		`409 Operation cannot be fulfilled on widgets.shop.example.com "a": Precondition failed: UID`},
	{"update of a stale version", "update", "", `{"metadata":{"name":"a","resourceVersion":"99"}}`, false,
		`409 Operation cannot be fulfilled`},
	{"update of version 0", "update", "", `{"metadata":{"name":"a","resourceVersion":"0"},"spec":{"color":"blue"}}`,
		false, `"color":"blue"`},
	{"update of a bad version", "update", "", `{"metadata":{"name":"a","resourceVersion":"x"}}`, false,
		`400 invalid resource version`},
	{"update of nothing", "update", "x", `{"metadata":{"name":"x"}}`, false,
		`404 widgets.shop.example.com "x" not found`},
	{"a bad update of nothing", "update", "x", `{"metadata":`, false, `400 `},
	{"update of another name", "update", "", `{"metadata":{"name":"b"}}`, false, `400 the name of the object (b)`},
	{"update in another namespace", "update", "", `{"metadata":{"name":"a","namespace":"b"}}`, false,
		`400 the namespace of the provided object`},
	{"update with a bad label", "update", "", `{"metadata":{"name":"a","labels":{"a b":"c"}}}`, false, `422 `},
	{"update of what is invalid", "update", "", `{"metadata":{"name":"a"},"spec":{"size":-1}}`, false, `422 `},
	{"update with an owner twice", "update", "", `{"metadata":{"name":"a","ownerReferences":[` + dependentOf + `,` +
		dependentOf + `]}}`, false,
		`[.metadata.ownerReferences contains duplicate entries; API server dedups`},
	{"warnings of a refused update", "update", "", `{"metadata":{"name":"a","uid":"other","ownerReferences":[` +
		dependentOf + `,` + dependentOf + `]}}`, false, `409 `},
	{"update of a bad path", "update", "..", `{"metadata":{"name":".."}}`, false, `400 Name parameter invalid`},
	{"merge patch", string(verb.MergePatch), "", `{"spec":{"color":"blue"}}`, false, `"color":"blue"`},
	{"merge patch in a dry run", string(verb.MergePatch), "", `{"spec":{"color":"blue"}}`, true, `"color":"blue"`},
	{"JSON patch", string(verb.JSONPatch), "", `[{"op":"replace","path":"/spec/color","value":"blue"}]`, false,
		`"color":"blue"`},
	{"JSON patch that fails", string(verb.JSONPatch), "", `[{"op":"test","path":"/spec/color","value":"blue"}]`, false,
		`422 `},
	{"strategic merge patch", string(verb.StrategicPatch), "", `{"spec":{"color":"blue"}}`, false, `"color":"blue"`},
	{"patch of the UID", string(verb.MergePatch), "", `{"metadata":{"uid":"other"}}`, false, `422 `},
	{"patch of the version", string(verb.MergePatch), "", `{"metadata":{"resourceVersion":"99"}}`, false, `409 `},
	{"patch with a bad label", string(verb.MergePatch), "", `{"metadata":{"labels":{"a b":"c"}}}`, false, `422 `},
	{"patch of nothing", string(verb.MergePatch), "x", `{"spec":{"color":"blue"}}`, false, `404 `},
	{"a bad patch of nothing", string(verb.MergePatch), "x", `{"spec":`, false, `404 `},
	{"a bad patch", string(verb.MergePatch), "", `{"spec":`, false, `400 `},
	{"patch with an owner twice", string(verb.MergePatch), "", `{"metadata":{"ownerReferences":[` + dependentOf + `,` +
		dependentOf + `]}}`, false,
		`[.metadata.ownerReferences contains duplicate entries after mutating admission happens`},
	{"apply", string(verb.ApplyPatch), "", appliedWidget(`"a"`, `,"spec":{"size":7}`), false,
		`409 Apply failed with 1 conflict`},
	{"apply of what nobody has", string(verb.ApplyPatch), "", appliedWidget(`"a"`, `,"spec":{"notes":{"n":"1"}}`),
		false, `"notes":{"n":"1"}`},
	{"apply that creates", string(verb.ApplyPatch), "x", appliedWidget(`"x"`, `,"spec":{"size":7}`), false, `"size":7`},
	{"apply of a UID to nothing", string(verb.ApplyPatch), "x", appliedWidget(`"x","uid":"u"`, ``), false, `409 `},
	{"apply with a bad label", string(verb.ApplyPatch), "x", appliedWidget(`"x","labels":{"a b":"c"}`, ``), false,
		`422 `},
	{"delete", "delete", "", ``, false, `deleted`},
	{"delete in a dry run", "delete", "", ``, true, `deleted`},
	{"delete of nothing", "delete", "x", ``, false, `404 `},
	{"delete of another UID", "delete", "", `{"preconditions":{"uid":"other"}}`, false, `409 `},
	{"delete by an unknown policy", "delete", "", `{"propagationPolicy":"Sometimes"}`, false, `422 `},
}

const dependentOf = `{"apiVersion":"v1","kind":"Pod","name":"p","uid":"1"}`

func appliedWidget(name, rest string) string {
	return `{"apiVersion":"shop.example.com/v1","kind":"Widget","metadata":{"name":` + name + `}` + rest + `}`
}

// TestWritesAtBothEnds runs each write against a kind with storage, and against one that a provider keeps, and expects
// the
// same answer and the same object afterwards.
func TestWritesAtBothEnds(t *testing.T) {
	for _, c := range endCases {
		t.Run(c.name, func(t *testing.T) {
			answers := map[string]string{}
			for end, h := range endsOf(t, shop.Definition()) {
				answer := c.run(t, h)
				answers[end] = answer + "\n" + c.left(t, h)
				if !strings.Contains(answer, c.want) {
					t.Errorf("%s answers\n%s\nwant %s", end, answer, c.want)
				}
			}
			if answers["storage"] != answers["provider"] {
				t.Errorf("storage:\n%s\nprovider:\n%s", answers["storage"], answers["provider"])
			}
		})
	}
}

func (c *endCase) object() string {
	if c.target != "" {
		return c.target
	}
	return "a"
}

// run makes the write, and tells what a client sees of it.
func (c *endCase) run(t *testing.T, h verb.Handle) string {
	t.Helper()
	opts := verb.WriteOptions{Form: v1, FieldManager: "test", DryRun: c.dryRun}
	var r verb.Result
	var err error
	switch c.verb {
	case "create":
		r, err = h.Create(t.Context(), "ns", body(c.data), opts)
	case "update":
		r, err = h.Update(t.Context(), "ns", c.object(), "", body(c.data), opts)
	case "delete":
		err = c.remove(t, h, opts)
	default:
		r, err = h.Patch(t.Context(), "ns", c.object(), "", verb.PatchType(c.verb), body(c.data), opts)
	}
	if err != nil {
		return fmt.Sprintln(statusOf(t, err), r.Warnings)
	}
	if c.verb == "delete" {
		return "deleted"
	}
	return fmt.Sprintln(r.Created, r.Warnings, seenOf(t, r.Object))
}

func (c *endCase) remove(t *testing.T, h verb.Handle, opts verb.WriteOptions) error {
	t.Helper()
	options := metav1.DeleteOptions{}
	if c.data != "" {
		if err := json.Unmarshal([]byte(c.data), &options); err != nil {
			t.Fatal(err)
		}
	}
	_, err := h.Delete(t.Context(), "ns", c.object(), verb.DeleteOptions{
		WriteOptions: opts, Preconditions: options.Preconditions, Propagation: options.PropagationPolicy,
	})
	return err
}

// left is what there is afterwards.
func (c *endCase) left(t *testing.T, h verb.Handle) string {
	t.Helper()
	page, err := h.List(t.Context(), "ns", verb.ListOptions{}, v1)
	if err != nil {
		t.Fatal(err)
	}
	defer page.Close()
	var all []string
	for r := range page.Items {
		all = append(all, seenOf(t, r))
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}

var (
	changing  = regexp.MustCompile(`u-[a-z]+|[0-9a-f]{8}-[0-9a-f-]{27}`)
	generated = regexp.MustCompile(`"(x-|X_)[bcdfghjklmnpqrstvwxz2456789]{5}"`)
)

func statusOf(t *testing.T, err error) string {
	t.Helper()
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		t.Fatalf("%v is no status", err)
	}
	text := changing.ReplaceAllString(fmt.Sprint(status.Status().Code, " ", status.Status().Message), "<uid>")
	return generated.ReplaceAllString(text, `"x-generated"`)
}

// seenOf is an object but for what each end counts for itself.
func seenOf(t *testing.T, r verb.Rendition) string {
	t.Helper()
	var object map[string]any
	if err := json.Unmarshal([]byte(whole(r)), &object); err != nil {
		t.Fatal(err)
	}
	metadata := object["metadata"].(map[string]any)
	for _, name := range []string{"uid", "resourceVersion", "generation", "creationTimestamp"} {
		delete(metadata, name)
	}
	if entries, ok := metadata["managedFields"].([]any); ok {
		for _, e := range entries {
			delete(e.(map[string]any), "time")
		}
	}
	delete(object, "apiVersion")
	delete(object, "kind")
	fields := metadata["managedFields"]
	delete(metadata, "managedFields")
	seen, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return generated.ReplaceAllString(fmt.Sprint(string(seen), fields), `"x-generated"`)
}
