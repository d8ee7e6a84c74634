package conformance

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// eventAbout is an event as a recorder of events.k8s.io writes it.
func eventAbout(name, pod string) *eventsv1.Event {
	return &eventsv1.Event{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"},
		EventTime:  metav1.NowMicro(), ReportingController: "example.com/c", ReportingInstance: "i", Action: "Pull",
		Reason: "Pulled", Regarding: corev1.ObjectReference{Kind: "Pod", Namespace: "default", Name: pod},
		Note: "Image pulled", Type: "Normal",
	}
}

func kubernetesClient(t *testing.T, config *rest.Config, contentType string) *kubernetes.Clientset {
	t.Helper()
	config = rest.CopyConfig(config)
	config.ContentType = contentType
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// nextObject returns the object of the next event of a watch.
func nextObject(t *testing.T, w watch.Interface) runtime.Object {
	t.Helper()
	select {
	case e := <-w.ResultChan():
		return e.Object
	case <-patience():
		t.Fatalf("there is no event after %s", bound)
		return nil
	}
}

// TestEventsInTwoGroups tests that client-go's clients of both groups write, read and watch the same events, in JSON
// and in protobuf, also after the server was killed.
func TestEventsInTwoGroups(t *testing.T) {
	onEachCluster(t, func(t *testing.T, server *target) {
		for _, contentType := range []string{runtime.ContentTypeJSON, runtime.ContentTypeProtobuf} {
			client := kubernetesClient(t, server.config, contentType)
			_, subtype, _ := strings.Cut(contentType, "/")
			name := strings.ReplaceAll(subtype, "+", "-")
			events, core := client.EventsV1().Events("default"), client.CoreV1().Events("default")
			about := metav1.ListOptions{FieldSelector: "regarding.name=" + name}
			ofCore := metav1.ListOptions{FieldSelector: "involvedObject.name=" + name}
			watchEvents, err := events.Watch(t.Context(), about)
			if err != nil {
				t.Fatal(err)
			}
			defer watchEvents.Stop()
			watchCore, err := core.Watch(t.Context(), ofCore)
			if err != nil {
				t.Fatal(err)
			}
			defer watchCore.Stop()
			if _, err := events.Create(t.Context(), eventAbout(name, name), metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			if got, ok := nextObject(t, watchCore).(*corev1.Event); !ok || got.Message != "Image pulled" ||
				got.InvolvedObject.Name != name || got.ReportingController != "example.com/c" {
				t.Errorf("the watch of core has %v", got)
			}
			nextObject(t, watchEvents)
			_, err = core.Patch(t.Context(), name, types.StrategicMergePatchType, []byte(`{"message":"N"}`),
				metav1.PatchOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if got, ok := nextObject(t, watchEvents).(*eventsv1.Event); !ok || got.Note != "N" {
				t.Errorf("the watch of events.k8s.io has %v", got)
			}
			if server.process != nil {
				server.process.crash()
			}
			list, err := core.List(t.Context(), ofCore)
			if err != nil || len(list.Items) != 1 || list.Items[0].Message != "N" {
				t.Fatalf("%v, %v", list, err)
			}
			if err := events.DeleteCollection(t.Context(), metav1.DeleteOptions{}, about); err != nil {
				t.Fatal(err)
			}
			if _, err := core.Get(t.Context(), name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
				t.Errorf("what was deleted in the other group is found: %v", err)
			}
		}
	})
}

// TestGarbageInTwoGroups tests that the collector, and the metrics, count an object that two groups serve once, and
// that a reference may name an owner in the group that doesn't store it.
func TestGarbageInTwoGroups(t *testing.T) {
	client := kubernetesClient(t, memoryCluster(t).config, runtime.ContentTypeJSON)
	events, maps := client.EventsV1().Events("default"), client.CoreV1().ConfigMaps("default")
	owner, err := maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "owner"}},
		metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	gone, err := events.Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer gone.Stop()
	reference := metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "owner", UID: owner.UID}
	for _, name := range []string{"a", "b", "c"} {
		event := eventAbout(name, "p")
		event.OwnerReferences = []metav1.OwnerReference{reference}
		made, err := events.Create(t.Context(), event, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		nextObject(t, gone)
		reference = metav1.OwnerReference{APIVersion: "events.k8s.io/v1", Kind: "Event", Name: name, UID: made.UID}
	}
	mustMeasure(t, client, `apiserver_storage_objects{resource="events"} 3`, "apigen_garbage_collector_objects 3")
	if err := maps.Delete(t.Context(), "owner", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b", "c"} {
		if event, ok := nextObject(t, gone).(*eventsv1.Event); !ok || event.Name != name {
			t.Errorf("%v is deleted before %s", event, name)
		}
	}
	if text := mustMeasure(t, client, `apigen_garbage_collector_actions_total{action="delete"} 3`,
		`apiserver_storage_objects{resource="events"} 0`); strings.Contains(text, `resource="events.events.k8s.io"`) {
		t.Error("the events are counted for both groups")
	}
}

// mustMeasure waits until the server's metrics have lines, and returns them.
func mustMeasure(t *testing.T, client *kubernetes.Clientset, lines ...string) string {
	t.Helper()
	var metrics string
	eventually(t, func() bool {
		data, err := client.RESTClient().Get().AbsPath("/metrics").DoRaw(t.Context())
		metrics = string(data)
		return err == nil && !slices.ContainsFunc(lines, func(line string) bool {
			return !strings.Contains(metrics, "\n"+line+"\n")
		})
	}, func() string { return fmt.Sprintf("the metrics lack one of %q:\n%s", lines, metrics) })
	return metrics
}

// TestOneOfTwoGroups tests that either group can be switched off.
func TestOneOfTwoGroups(t *testing.T) {
	t.Parallel()
	p := startServing(t, clusterName)
	both := kubernetesClient(t, newTarget(t, p.kubeconfig()).config, runtime.ContentTypeJSON)
	if _, err := both.EventsV1().Events("default").Create(t.Context(), eventAbout("a", "p"),
		metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	arguments := slices.Clone(p.arguments)
	for off, served := range map[string]bool{"api/v1/events": false, "events.k8s.io/v1": true} {
		p.kill()
		p.arguments = append(slices.Clip(arguments), "--runtime-config="+off+"=false")
		p.start()
		client := kubernetesClient(t, newTarget(t, p.kubeconfig()).config, runtime.ContentTypeJSON)
		_, coreErr := client.CoreV1().Events("default").Get(t.Context(), "a", metav1.GetOptions{})
		_, eventsErr := client.EventsV1().Events("default").Get(t.Context(), "a", metav1.GetOptions{})
		if (coreErr == nil) != served || (eventsErr == nil) == served {
			t.Errorf("without %s: core %v, events.k8s.io %v", off, coreErr, eventsErr)
		}
	}
}
