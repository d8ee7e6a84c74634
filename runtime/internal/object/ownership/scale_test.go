package ownership

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// TestReplicasAreKubernetes compares managedFields of random objects and scales with those of apimachinery.
func TestReplicasAreKubernetes(t *testing.T) {
	version := schema.GroupVersion{Group: "apps", Version: "v1"}
	paths := map[string]fieldpath.Path{
		"apps/v1": fieldpath.MakePathOrDie("spec", "replicas"), "apps/v2": fieldpath.MakePathOrDie("spec", "count"),
		"apps/v3": nil,
	}
	ours := Replicas{Paths: paths, Sets: &Sets{}}
	moved := 0
	for seed := range uint64(3000) {
		random := rand.New(rand.NewPCG(seed, 0))
		object := randomEntries(random, []string{"apps/v1", "apps/v2", "apps/v3", "apps/v4"},
			[]string{`{"f:spec":{"f:replicas":{}}}`, `{"f:spec":{"f:count":{},"f:paused":{}}}`,
				`{"f:spec":{"f:paused":{}}}`,
				`{"f:spec":{"f:replicas":{},"f:paused":{}}}`, `{"f:metadata":{"f:labels":{"f:a":{}}}}`})
		theirs := managedfields.NewScaleHandler(object, version, paths)
		want, wantErr := theirs.ToSubresource()
		got, err := ours.InScale(object)
		compareEntries(t, fmt.Sprint("scale of ", seed), got, want, err, wantErr)
		scale := append(got, randomEntries(random, []string{"autoscaling/v1"},
			[]string{`{"f:spec":{"f:replicas":{}}}`, `{"f:metadata":{"f:labels":{}}}`})...)
		if len(scale) > 0 {
			scale = scale[random.IntN(len(scale)):]
		}
		want, wantErr = theirs.ToParent(scale)
		got, err = ours.InObject(version, object, scale)
		compareEntries(t, fmt.Sprint("object of ", seed), got, want, err, wantErr)
		if !reflect.DeepEqual(got, object) {
			moved++
		}
	}
	if moved < 1000 {
		t.Errorf("only %d objects changed", moved)
	}
}

func randomEntries(random *rand.Rand, versions, fields []string) (entries []metav1.ManagedFieldsEntry) {
	seen := map[string]bool{}
	for range random.IntN(6) {
		e := metav1.ManagedFieldsEntry{Manager: string(rune('a' + random.IntN(4))),
			Operation:  []metav1.ManagedFieldsOperationType{"Apply", "Update"}[random.IntN(2)],
			APIVersion: versions[random.IntN(len(versions))], FieldsType: "FieldsV1",
			FieldsV1: metav1.NewFieldsV1(fields[random.IntN(len(fields))])}
		if random.IntN(3) == 0 {
			e.Subresource = "scale"
		}
		if random.IntN(4) > 0 {
			e.Time = &metav1.Time{Time: time.Unix(int64(random.IntN(5)), 0)}
		}
		key := fmt.Sprint(e.Manager, e.Operation, e.Subresource)
		if e.Operation == "Update" {
			key += e.APIVersion
		}
		if !seen[key] {
			entries = append(entries, e)
		}
		seen[key] = true
	}
	return entries
}

func compareEntries(t *testing.T, what string, got, want []metav1.ManagedFieldsEntry, err, wantErr error) {
	t.Helper()
	if err != nil || wantErr != nil {
		t.Fatalf("%s: %v, theirs %v", what, err, wantErr)
	}
	if len(got) == 0 && len(want) == 0 {
		return
	}
	if !reflect.DeepEqual(shown(got), shown(want)) {
		t.Fatalf("%s:\n got %v\nwant %v", what, shown(got), shown(want))
	}
}

// shown returns entries as text, in an order that doesn't depend on maps.
func shown(entries []metav1.ManagedFieldsEntry) map[string]int {
	out := map[string]int{}
	for _, e := range entries {
		at := "no time"
		if e.Time != nil {
			at = fmt.Sprint(e.Time.Unix())
		}
		out[fmt.Sprint(e.Manager, e.Operation, e.APIVersion, e.Subresource, at, e.FieldsV1.GetRawString())]++
	}
	return out
}
