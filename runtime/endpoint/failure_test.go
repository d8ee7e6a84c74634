package endpoint

import (
	"bytes"
	"io"
	"testing"

	"apigen.dev/runtime/api"
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
	status := statusOf(t.Context(), apierrors.NewResourceExpired("too old"))
	for f := range formats {
		if formats[f].stream == "" {
			continue
		}
		var out bytes.Buffer
		pools := newPools()
		frame := frameFor(&out, &pools.streamFrames)
		encoders[formats[f].encoding].failure(frame, status)
		frame.flush()
		info, _ := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), formats[f].mediaType)
		events := streaming.NewDecoder(info.StreamSerializer.NewFrameReader(io.NopCloser(&out)), info.StreamSerializer.Serializer)
		var event metav1.WatchEvent
		if _, _, err := events.Decode(nil, &event); err != nil || event.Type != "ERROR" {
			t.Fatal(formats[f].mediaType, event, err)
		}
		got, _, err := info.Serializer.Decode(event.Object.Raw, nil, nil)
		if known, ok := got.(*metav1.Status); err != nil || !ok || known.Code != 410 || known.Reason != metav1.StatusReasonExpired {
			t.Errorf("%s: %v %+v", formats[f].mediaType, err, got)
		}
	}
	if len(encoders) != int(api.Protobuf)+1 {
		t.Error("an encoding has no encoder")
	}
}
