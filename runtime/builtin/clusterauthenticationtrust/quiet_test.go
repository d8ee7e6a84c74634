package clusterauthenticationtrust

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"apigen.dev/runtime/reach"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// published is the ConfigMap, of which a test counts reads and tells changes. It can't be written.
type published struct {
	reach.Objects[*corev1.ConfigMap]
	data  map[string]string
	told  chan string // names of ConfigMaps that change
	blind bool        // nothing can be followed
	reads atomic.Int32
}

func (p *published) Get(context.Context, string, string) (*corev1.ConfigMap, error) {
	p.reads.Add(1)
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: p.data}, nil
}

func (p *published) Follow(
	ctx context.Context, _ string, changes func(reach.Changes[*corev1.ConfigMap]),
) error {
	if p.blind {
		return errors.New("no watch")
	}
	for {
		select {
		case changed := <-p.told:
			object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: changed}}
			changes(reach.Changes[*corev1.ConfigMap]{Put: []*corev1.ConfigMap{object}})
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// TestQuiet: a ConfigMap that publishes the trust already is read again when it has changed, once an hour, and every
// ten seconds where nobody tells of changes. It isn't written.
func TestQuiet(t *testing.T) {
	ca := authority(t, "a", time.Now().Add(1000*time.Hour))
	for title, test := range map[string]struct {
		blind bool
		tell  []string
		want  int32
	}{
		"nothing changes":   {want: 1},
		"it changes":        {tell: []string{name, "another", name}, want: 3},
		"nobody would tell": {blind: true, want: 7},
	} {
		synctest.Test(t, func(t *testing.T) {
			data := map[string]string{clientCA: string(ca)}
			objects := &published{data: data, told: make(chan string), blind: test.blind}
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			p := publisher{objects, func() Trust { return Trust{ClientCA: ca} }, func(FrontProxy) {},
				slog.New(slog.DiscardHandler)}
			go func() { _ = p.run(ctx) }()
			synctest.Wait()
			for _, changed := range test.tell {
				objects.told <- changed
				synctest.Wait()
			}
			time.Sleep(time.Minute + time.Second)
			if got := objects.reads.Load(); got != test.want {
				t.Errorf("%s: %d reads in a minute, want %d", title, got, test.want)
			}
			if test.blind {
				return
			}
			time.Sleep(time.Hour)
			if got := objects.reads.Load(); got != test.want+1 {
				t.Errorf("%s: %d reads an hour later, want %d", title, got, test.want+1)
			}
		})
	}
}
