package endpoint

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"apigen.dev/runtime/internal/http/encoder"
	"apigen.dev/runtime/internal/http/negotiation"
	"apigen.dev/runtime/internal/http/respond"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	"k8s.io/apimachinery/pkg/runtime/serializer/streaming"
)

// TestStreamsEndWithTheirReason reads the last event of a stream as clients do.
func TestStreamsEndWithTheirReason(t *testing.T) {
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	codecs := serializer.NewCodecFactory(scheme, serializer.WithSerializer(cbor.NewSerializerInfo))
	status := respond.StatusOf(apierrors.NewResourceExpired("too old"))
	for f := range negotiation.FormatCount {
		if !f.Streams() {
			continue
		}
		var out bytes.Buffer
		frame := encoder.NewFrames(streamFrameSize).Get(&out)
		encoder.For(f.Encoding()).Failure(frame, status)
		frame.Flush()
		info, _ := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), f.MediaType())
		events := streaming.NewDecoder(info.StreamSerializer.NewFrameReader(io.NopCloser(&out)),
			info.StreamSerializer.Serializer)
		var event metav1.WatchEvent
		if _, _, err := events.Decode(nil, &event); err != nil || event.Type != "ERROR" {
			t.Fatal(f.MediaType(), event, err)
		}
		got, _, err := info.Serializer.Decode(event.Object.Raw, nil, nil)
		if known, ok := got.(*metav1.Status); err != nil || !ok || known.Code != 410 ||
			known.Reason != metav1.StatusReasonExpired {
			t.Errorf("%s: %v %+v", f.MediaType(), err, got)
		}
	}
}

// TestWithheldCausesAreLogged: what a client is not told is told to the log that the API was given, also where a stream
// ends with it.
func TestWithheldCausesAreLogged(t *testing.T) {
	const cause = "the disk is on fire"
	for name, arrange := range map[string]func(*fake) (path string){
		"get":   func(f *fake) string { f.fail = errors.New(cause); return "/a" },
		"watch": func(f *fake) string { f.endWith = errors.New(cause); return "?watch=1" },
	} {
		var heard bytes.Buffer
		a, fakes := serve(t, widgets)
		a.log = slog.New(slog.NewTextHandler(&heard, nil))
		w := do(a, http.MethodGet, "/apis/shop.example.com/v1/namespaces/n/widgets"+arrange(fakes[0]), "")
		if !strings.Contains(w.Body.String(), "InternalError") || strings.Contains(w.Body.String(), cause) {
			t.Errorf("%s: the answer is %s", name, w.Body)
		}
		if !strings.Contains(heard.String(), cause) {
			t.Errorf("%s: the log has %q", name, &heard)
		}
	}
}
