// Package harbour implements the providers of the kinds without storage: tides, moorings, and reviews of passages. It
// holds its data in memory.
package harbour

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/registry"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	fleetv1 "example.com/fleet/apis/fleet/v1"
)

// Tides is a wiring.TideProvider. Its zero value has no harbours; it is safe for concurrent use.
type Tides struct {
	mu      sync.Mutex // guards all
	heights map[string]*fleetv1.Tide
	// changed is closed at the next change.
	changed chan struct{}
}

// Set sets the height of the water in a harbour.
func (t *Tides) Set(namespace, name string, height int32) {
	tide := &fleetv1.Tide{Harbour: name, HeightCentimetres: height}
	tide.Namespace, tide.Name = namespace, name
	tide.Labels = map[string]string{"water": "low"}
	if height > 200 {
		tide.Labels["water"] = "high"
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.heights == nil {
		t.heights = map[string]*fleetv1.Tide{}
	}
	t.heights[namespace+"/"+name] = tide
	if t.changed != nil {
		close(t.changed)
		t.changed = nil
	}
}

// now returns the state, and a channel that is closed at the next change.
func (t *Tides) now() (map[string]*fleetv1.Tide, <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.changed == nil {
		t.changed = make(chan struct{})
	}
	return maps.Clone(t.heights), t.changed
}

// Get implements wiring.TideProvider.
func (t *Tides) Get(_ context.Context, namespace, name string) (*fleetv1.Tide, error) {
	heights, _ := t.now()
	tide := heights[namespace+"/"+name]
	if tide == nil {
		return nil, apierrors.NewNotFound(fleetv1.SchemeGroupVersion.WithResource("tides").GroupResource(), name)
	}
	return tide.DeepCopy(), nil
}

// List implements wiring.TideProvider. The runtime selects.
func (t *Tides) List(_ context.Context, _ string, _ api.Selection) (*registry.List[*fleetv1.Tide], error) {
	heights, _ := t.now()
	list := &registry.List[*fleetv1.Tide]{}
	for _, key := range slices.Sorted(maps.Keys(heights)) {
		list.Items = append(list.Items, heights[key].DeepCopy())
	}
	return list, nil
}

// Watch implements wiring.TideProvider.
func (t *Tides) Watch(context.Context, string, api.WatchOptions) (registry.ObjectWatch[*fleetv1.Tide], error) {
	return &watch{tides: t, seen: map[string]*fleetv1.Tide{}}, nil
}

// watch sends the differences from the state that it sent before.
type watch struct {
	tides *Tides
	seen  map[string]*fleetv1.Tide
}

// Next implements registry.ObjectWatch.
func (w *watch) Next(ctx context.Context) ([]registry.WatchEvent[*fleetv1.Tide], error) {
	for {
		heights, changed := w.tides.now()
		var events []registry.WatchEvent[*fleetv1.Tide]
		for _, key := range slices.Sorted(maps.Keys(heights)) {
			tide, known := heights[key], w.seen[key]
			if tide == known {
				continue
			}
			event := registry.WatchEvent[*fleetv1.Tide]{Type: api.Added, Object: tide.DeepCopy()}
			if known != nil {
				event.Type = api.Modified
			}
			events = append(events, event)
		}
		if w.seen = heights; len(events) > 0 {
			return events, nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-changed:
		}
	}
}

// Close implements registry.ObjectWatch.
func (w *watch) Close() {}

// Pilot is a wiring.PassageReviewProvider over the tides.
type Pilot struct{ Tides *Tides }

// Create implements wiring.PassageReviewProvider.
func (p Pilot) Create(ctx context.Context, review *fleetv1.PassageReview, _ bool) (*fleetv1.PassageReview, error) {
	namespace, name, _ := strings.Cut(review.Spec.Harbour, "/")
	tide, err := p.Tides.Get(ctx, namespace, name)
	if err != nil {
		review.Status = fleetv1.PassageReviewStatus{Reason: "there is no such harbour"}
		return review, nil //nolint:nilerr // it is the answer
	}
	review.Status.Allowed = tide.HeightCentimetres > review.Spec.DraughtCentimetres
	review.Status.Reason = fmt.Sprintf("the water is %d cm high", tide.HeightCentimetres)
	return review, nil
}
